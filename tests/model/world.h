// SPDX-License-Identifier: Apache-2.0
// Runs a story and checks, after every step, that scheduler and cluster tell one story; at the end, that nothing was
// forgotten.
#pragma once

#include <cstdint>
#include <string>

#include "berth/registry.h"
#include "config/types.h"
#include "story.h"

namespace berth::model {

struct Outcome {
  // What is wrong, in a word or two: equal for failures of one kind. Empty: nothing is.
  std::string failure;
  std::string text;  // in full
  std::string log;   // attempts, bindings, queue moves, events, each with its time; only when asked for
  uint64_t steps = 0, attempts = 0, bindings = 0, preemptions = 0, bind_failures = 0, outside = 0;
  // Pods that would have fitted when all was quiet, but that only the timeout of unschedulable pods woke.
  uint64_t overslept = 0;
};

// REQUIRES: config is good; registry outlives the call. With `lenient`, nothing is checked on the way.
Outcome RunStory(const Story& story, const config::SchedulerConfiguration& config, const Registry& registry,
                 bool with_log, bool lenient = false);

}  // namespace berth::model
