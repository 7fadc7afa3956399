// SPDX-License-Identifier: Apache-2.0
// What belongs to an engine: a queue, whose order, gates and hints are the plugins', and the kinds that are watched.
#pragma once

#include <vector>

#include "berth/host/kinds.h"
#include "config/types.h"
#include "framework/engine.h"
#include "queue/scheduling_queue.h"

namespace berth::cycle {

// QueueSort of the first profile, PreEnqueue of each pod's own, backoff of the configuration. REQUIRES: the engine
// outlives the queue.
queue::QueueOptions QueueOptionsOf(const framework::Engine& engine, const config::SchedulerConfiguration& config);

// The events that the plugins of all profiles registered for. REQUIRES: the engine outlives the hints.
queue::HintMap HintsOf(const framework::Engine& engine, bool with_extenders);

// Pods, nodes, and what plugins of any profile read, or registered for, so that it may wake the pods they rejected.
std::vector<Kind> KindsToWatch(const framework::Engine& engine);

}  // namespace berth::cycle
