// SPDX-License-Identifier: Apache-2.0
#include "live/gathering.h"

#include <algorithm>
#include <numeric>

namespace berth::live {
namespace {

constexpr int64_t kWindowNs = Gathering::kWindow.ns;

}  // namespace

void Gathering::EndWindows(Time now) {
  if (longest_.ns <= 0) return;
  for (int64_t left = (now - began_).ns / kWindowNs; left > 0; --left) {
    // Of a long time without pods only the end matters: a pause may be over.
    if (phase_ != Phase::kGathering && pods_ + lately() == 0) {
      began_ = began_ + Duration{(left - 1) * kWindowNs};
      left = 1;
    }
    began_ = began_ + kWindow;
    last_ = {pods_, last_[0], last_[1]};
    pods_ = 0;
    ++windows_;
    EndWindow();
  }
}

void Gathering::EndWindow() {
  switch (phase_) {
    case Phase::kWatching:
      return Watched();
    case Phase::kGathering:
      return Gathered();
    case Phase::kPausing:
      if (fell_ && windows_ == last_.size() && 2 * lately() < plain_) {
        // It is just as slow without patience, which is not what slowed it down.
        pause_ = std::max(Duration{pause_.ns / 2}, kFirstPause);
        return Restart();
      }
      if (began_ >= paused_until_) Enter(Phase::kWatching);
      return;
  }
}

void Gathering::Watched() {
  if (last_[0] < (compares_ ? kStream / 2 : kStream)) return Restart();  // nothing keeps it waiting now
  if (windows_ < 1 + last_.size()) return;
  if (compares_) {
    if (slowed_down()) return Pause();
    span_ = std::min(2 * span_, kLongestSpan);
    pause_ = kFirstPause;
  }
  plain_ = lately();
  gathered_ = 0;
  Enter(Phase::kGathering);
  SetPatience();
}

void Gathering::Gathered() {
  gathered_ += last_[0];
  // Patience makes for gaps that are shorter than a window; one of two is the stream's end.
  if (last_[0] == 0) return last_[1] == 0 ? Restart() : SetPatience();
  // Long before the end of the span, where it is plain to see.
  if (windows_ >= last_.size() && 2 * lately() < plain_) {
    Pause();
    fell_ = true;
    return;
  }
  if (windows_ < span_) return SetPatience();
  span_ = windows_;  // more, if there was a gap at its end
  compares_ = true;
  Enter(Phase::kWatching);
}

// By more than a quarter, compared with the time before the span and that after it: either alone is so short that
// chance would often end a stream of pods that come as they like.
bool Gathering::slowed_down() const {
  const size_t watched = plain_ + lately(), windows = 2 * last_.size();
  return gathered_ * windows * 4 < watched * span_ * 3;
}

void Gathering::SetPatience() {
  const int64_t enough = kEnough * kWindowNs * static_cast<int64_t>(last_.size()) / static_cast<int64_t>(lately());
  patience_ = Duration{std::min(longest_.ns, enough)};
}

void Gathering::Restart() {
  compares_ = fell_ = false;
  span_ = kFirstSpan;
  Enter(Phase::kWatching);
}

void Gathering::Pause() {
  Restart();
  paused_until_ = began_ + pause_;
  pause_ = std::min(Duration{2 * pause_.ns}, kLongestPause);
  Enter(Phase::kPausing);
}

void Gathering::Enter(Phase phase) {
  phase_ = phase;
  windows_ = 0;
  patience_ = {};
}

size_t Gathering::lately() const { return std::accumulate(last_.begin(), last_.end(), size_t{0}); }

void NoteTry(Gathering& gathering, const cycle::Scheduler& scheduler, bool leads, Time now) {
  // What is tried again has not just arrived, and says nothing of those that will.
  if (leads && scheduler.attempted_first()) gathering.Tried(now);
}

Duration PatienceOf(Gathering& gathering, const cycle::Scheduler& scheduler, bool leads, Time now) {
  const Duration patience = gathering.Patience(now);
  // Most of the time there is no stream, and nothing else has to be looked at.
  const bool waits = patience.ns > 0 && leads && !scheduler.waits_for_news(now + patience);
  gathering.Waits(waits);
  return waits ? patience : Duration{};
}

}  // namespace berth::live
