// SPDX-License-Identifier: Apache-2.0
// Gathering: how long a scheduler may leave the cluster's news unread while pods arrive in a stream.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "berth/clock.h"
#include "cycle/scheduler.h"

namespace berth::live {

// A pod that arrives alone costs five times what one of many does: the way from its news to its binding is long, and
// nothing of it is in the processor's caches after a while. So pods of a stream are taken some at a time, as a network
// card raises fewer interrupts when packets keep coming. A pod that arrives alone is taken at once, and so is a crowd:
// the more pods arrive, the sooner there are enough.
//
// Whoever creates a pod when the one before is bound is slowed down by that, and more and more, since fewer pods make
// for more patience. Such a stream looks like any other until it is tried: after each span of patience come two seconds
// without, and if the stream was slower by more than a quarter in the span than before and after it, patience has a
// pause. Spans that slow nothing down become longer; so do pauses, as long as there is no such span between them. A
// stream that ends, or that falls and stays slow without patience, was not slowed down by it.
//
// Thread safety: one thread.
class Gathering {
 public:
  // All is counted, and decided, by windows of this length.
  static constexpr Duration kWindow = Duration::Millis(500);
  // So many pods in each of four windows in a row are a stream; after a span half as many still are.
  static constexpr size_t kStream = 10;
  // Pods that are worth waking up for.
  static constexpr int64_t kEnough = 8;
  // Windows of a span. The next one is twice as long if this one has slowed nothing down.
  static constexpr size_t kFirstSpan = 8, kLongestSpan = 64;
  // After a stream that was slowed down. The next one is twice as long unless a span has slowed nothing down meanwhile.
  static constexpr Duration kFirstPause = Duration::Seconds(10), kLongestPause = Duration::Seconds(300);

  // `longest`: 0, nothing ever waits. REQUIRES: at most a window, or a stream would seem to have gaps.
  explicit Gathering(Duration longest) : longest_(longest) {}

  // A pod is tried for the first time.
  void Tried(Time now) {
    Roll(now);
    ++pods_;
    gathered_pods_ += waits_ ? 1 : 0;
  }
  // So long after the look before the next one may come.
  Duration Patience(Time now) {
    Roll(now);
    return patience_;
  }
  // Whether anything was left to wait since: there may have been reasons not to, whatever patience there was.
  void Waits(bool waits) { waits_ = waits; }
  // Pods whose news may have waited, since the beginning.
  uint64_t gathered_pods() const { return gathered_pods_; }

 private:
  // kWatching: without patience, to see whether there is a stream, and how fast it is when nothing keeps it waiting.
  enum class Phase : uint8_t { kWatching, kGathering, kPausing };

  void Roll(Time now) {
    if (now - began_ >= kWindow) EndWindows(now);
  }
  void EndWindows(Time now);
  void EndWindow();
  void Watched();
  void Gathered();
  bool slowed_down() const;
  void SetPatience();
  void Restart();
  void Pause();
  void Enter(Phase phase);
  size_t lately() const;  // pods in last_

  const Duration longest_;
  Phase phase_ = Phase::kWatching;
  Duration patience_;   // 0 unless gathering
  Time began_;          // of the present window
  size_t pods_ = 0;     // in it
  size_t windows_ = 0;  // of this phase that have ended
  // Pods in the windows before the present one, the last one first. When watching ends, the window before these is not
  // counted: it may have begun before the stream did, or hold what patience had kept back.
  std::array<size_t, 3> last_{};
  size_t plain_ = 0;          // lately(), when it was last watched
  size_t span_ = kFirstSpan;  // of the present one, or the next
  size_t gathered_ = 0;       // pods of the span
  bool compares_ = false;     // it is over, and what comes after it is still being watched
  bool waits_ = false;
  uint64_t gathered_pods_ = 0;
  Time paused_until_;
  Duration pause_ = kFirstPause;  // the next one
  bool fell_ = false;             // the pause began because the stream was slower than half of what it was
};

// After a round of the scheduler. `leads`: it decides about pods at all.
void NoteTry(Gathering& gathering, const cycle::Scheduler& scheduler, bool leads, Time now);
// For how long its news may wait.
Duration PatienceOf(Gathering& gathering, const cycle::Scheduler& scheduler, bool leads, Time now);

}  // namespace berth::live
