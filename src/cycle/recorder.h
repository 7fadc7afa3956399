// SPDX-License-Identifier: Apache-2.0
// Recorder: the Kubernetes events that a scheduler writes, with upstream's reasons, actions and texts.
#pragma once

#include <string>
#include <string_view>

#include "cycle/core.h"

namespace berth::cycle {

// An event's note is at most this long; what is cut ends in " ...".
inline constexpr size_t kNoteLimit = 1024;
std::string TruncateNote(std::string_view message);

// Thread safety: scheduling thread.
class Recorder {
 public:
  explicit Recorder(Core& core) : core_(core) {}

  void Scheduled(const Pod& pod, const std::string& node);
  void Failed(const Pod& pod, std::string_view message);
  void SkippedTerminating(const Pod& pod);
  // `in_memory`: the victim was not deleted, only its binding was given up.
  void Preempted(const Pod& victim, const Pod& by, const std::string& node, bool in_memory);

 private:
  void Post(const Pod& pod, const char* type, const char* reason, const char* action, std::string note,
            std::string related = "");
  Core& core_;
};

}  // namespace berth::cycle
