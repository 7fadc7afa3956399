// SPDX-License-Identifier: Apache-2.0
// Recorder: the Kubernetes events that a scheduler writes, with upstream's reasons, actions and texts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "client/event_writer.h"
#include "cycle/core.h"

namespace berth::cycle {

// An event's note is at most this long; what is cut ends in " ...".
inline constexpr size_t kNoteLimit = 1024;
std::string TruncateNote(std::string_view message);

// Thread safety: scheduling thread.
class Recorder {
 public:
  explicit Recorder(Core& core) : core_(core) {
    if (core.options.events) writer_.emplace(core.api, core.clock, WriterOptions(core));
  }

  void Scheduled(const Pod& pod, const std::string& node);
  void Failed(const Pod& pod, std::string_view message);
  void SkippedTerminating(const Pod& pod);
  // `in_memory`: the victim was not deleted, only its binding was given up.
  void Preempted(const Pod& victim, const Pod& by, const std::string& node, bool in_memory);

  // What brings events to the server; null where every event is posted once and nobody hears what became of it
  // (SchedulerOptions::events).
  client::EventWriter* writer() { return writer_ ? &*writer_ : nullptr; }
  const client::EventWriter* writer() const { return writer_ ? &*writer_ : nullptr; }
  // Whether there is room for the events of another decision.
  bool has_room() const { return !writer_ || writer_->has_room(); }

 private:
  void Post(const Pod& pod, const char* type, const char* reason, const char* action, std::string note,
            std::string related = "");
  static client::EventWriterOptions WriterOptions(const Core& core);

  Core& core_;
  std::optional<client::EventWriter> writer_;
};

}  // namespace berth::cycle
