// SPDX-License-Identifier: Apache-2.0
// The texts of events.
#include "cycle/recorder.h"

#include <utility>

#include "util/random.h"

namespace berth::cycle {

std::string TruncateNote(std::string_view message) {
  constexpr std::string_view kCut = " ...";
  if (message.size() <= kNoteLimit) return std::string(message);
  size_t length = kNoteLimit - kCut.size();
  while (length > 0 && (static_cast<unsigned char>(message[length]) & 0xC0) == 0x80)
    --length;  // not within a character
  return std::string(message.substr(0, length)).append(kCut);
}

client::EventWriterOptions Recorder::WriterOptions(const Core& core) {
  const SchedulerOptions& options = core.options;
  client::EventWriterOptions writing = *options.events;
  if (options.log != nullptr) writing.log = Logger(*options.log, options.dates ? *options.dates : core.clock);
  if (!writing.random) writing.random = [random = util::Random(options.seed)]() mutable { return random.Next(); };
  return writing;
}

void Recorder::Post(const Pod& pod, const char* type, const char* reason, const char* action, std::string note,
                    std::string related) {
  client::EventRecord event;
  event.regarding = client::NameOf(pod);
  event.type = type;
  event.reason = reason;
  event.action = action;
  event.note = std::move(note);
  event.related = std::move(related);
  event.reporting_controller = pod.scheduler_name;
  event.time = core_.Date();
  event.resource_version = pod.meta.resource_version;
  if (writer_) return writer_->Record(std::move(event));
  core_.api.PostEvent(event, nullptr);
}

void Recorder::Scheduled(const Pod& pod, const std::string& node) {
  std::string note;
  note.reserve(128);
  note.append("Successfully assigned ");
  AppendFullName(pod.meta, note).append(" to ").append(node);
  Post(pod, "Normal", "Scheduled", "Binding", std::move(note));
}

void Recorder::Failed(const Pod& pod, std::string_view message) {
  Post(pod, "Warning", "FailedScheduling", "Scheduling", TruncateNote(message));
}

void Recorder::SkippedTerminating(const Pod& pod) {
  Post(pod, "Warning", "FailedScheduling", "Scheduling", "skip schedule deleting pod: " + FullName(pod));
}

void Recorder::Preempted(const Pod& victim, const Pod& by, const std::string& node, bool in_memory) {
  std::string note = "Preempted by pod " + by.uid() + " on node " + node;
  if (in_memory) note += " (in kube-scheduler memory).";
  Post(victim, "Normal", "Preempted", "Preempting", std::move(note), FullName(by));
}

}  // namespace berth::cycle
