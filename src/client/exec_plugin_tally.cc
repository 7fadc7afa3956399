// SPDX-License-Identifier: Apache-2.0
// Upstream: client-go plugin/pkg/client/auth/exec/metrics.go (v0.36.4).
#include "client/exec_plugin_tally.h"

#include <algorithm>

namespace berth::client {
namespace {

constexpr size_t kMaxAges = 1000;

}  // namespace

ExecPluginTally& ExecPluginTally::OfProcess() {
  static ExecPluginTally tally;
  return tally;
}

void ExecPluginTally::Called(int code, const std::string& status) {
  const std::lock_guard lock(mutex_);
  ++calls_[{code, status}];
}

void ExecPluginTally::Rotated(double age_seconds) {
  const std::lock_guard lock(mutex_);
  ages_.push_back(age_seconds);
  if (ages_.size() > kMaxAges) ages_.pop_front();
  ++rotations_;
}

void ExecPluginTally::Expires(const void* plugin, std::optional<Time> when) {
  const std::lock_guard lock(mutex_);
  expiries_.erase(plugin);
  if (when) expiries_.emplace(plugin, *when);
}

ExecPluginTally::Calls ExecPluginTally::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

std::vector<double> ExecPluginTally::RotationsSince(uint64_t& seen) const {
  const std::lock_guard lock(mutex_);
  const auto fresh = static_cast<std::ptrdiff_t>(std::min<uint64_t>(rotations_ - seen, ages_.size()));
  seen = rotations_;
  return {ages_.end() - fresh, ages_.end()};
}

std::optional<Time> ExecPluginTally::FirstExpiry() const {
  const std::lock_guard lock(mutex_);
  std::optional<Time> first;
  for (const auto& [plugin, when] : expiries_)
    if (!first || when < *first) first = when;
  return first;
}

}  // namespace berth::client
