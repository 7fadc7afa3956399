// SPDX-License-Identifier: Apache-2.0
#include "live/gathering.h"

#include <algorithm>

namespace berth::live {
namespace {

constexpr Duration kWindow = Duration::Millis(500);
// By then both windows before the present one are of the stream.
constexpr int64_t kWindowsToJudge = 3;
// A stream that has lasted so long is one.
constexpr int64_t kWindowsToTrust = 20;

}  // namespace

void Gathering::Roll(Time now) {
  const int64_t windows = (now - began_).ns / kWindow.ns;
  if (windows <= 0) return;
  for (int64_t i = 0; i < std::min<int64_t>(windows, 3); ++i) tried_ = {0, tried_[0], tried_[1]};
  began_ = began_ + Duration{windows * kWindow.ns};
  windows_ += windows;
}

void Gathering::Tried(Time now) {
  Roll(now);
  ++tried_[0];
}

Duration Gathering::Patience(Time now) {
  if (longest_.ns <= 0) return {};
  Roll(now);
  const size_t fewest = std::min(tried_[1], tried_[2]);
  if (!streaming_) {
    if (fewest < kStream || now < paused_until_) return {};
    streaming_ = true;
    at_first_ = lately();
    windows_ = 0;
  } else if (fewest < kStream / 2 || (windows_ >= kWindowsToJudge && lately() < at_first_ * 3 / 4)) {
    streaming_ = false;
    if (windows_ >= kWindowsToTrust) pause_ = kFirstPause;
    paused_until_ = now + pause_;
    pause_ = std::min(Duration{2 * pause_.ns}, kLongestPause);
    return {};
  }
  return Duration{std::min(longest_.ns, kEnough * 2 * kWindow.ns / static_cast<int64_t>(lately()))};
}

}  // namespace berth::live
