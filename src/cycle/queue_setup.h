// SPDX-License-Identifier: Apache-2.0
// The queue that belongs to an engine: its order, gates and hints are the plugins'.
#pragma once

#include "config/types.h"
#include "framework/engine.h"
#include "queue/scheduling_queue.h"

namespace berth::cycle {

// QueueSort of the first profile, PreEnqueue of each pod's own, backoff of the configuration. REQUIRES: the engine
// outlives the queue.
queue::QueueOptions QueueOptionsOf(const framework::Engine& engine, const config::SchedulerConfiguration& config);

// The events that the plugins of all profiles registered for. REQUIRES: the engine outlives the hints.
queue::HintMap HintsOf(const framework::Engine& engine, bool with_extenders);

}  // namespace berth::cycle
