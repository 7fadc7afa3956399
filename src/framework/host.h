// SPDX-License-Identifier: Apache-2.0
// Host: the Handle that plugins of one profile are made with.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "berth/handle.h"
#include "framework/waiting_pods.h"

namespace berth::framework {

// A Writer for hosts that decide but do not write (explain, config check): every bind is refused with a sentence.
class NoWriter final : public Writer {
 public:
  void Bind(const Pod& pod, const std::string& node, std::function<void(Verdict)> done) override {
    done(Verdict::Fail("this command does not bind: " + FullName(pod) + " to " + node));
  }
};

struct HostOptions {
  std::string profile_name;
  uint64_t seed = 0;
  std::vector<std::string> extender_ignored_resources;
};

// REQUIRES: clock and writer outlive the host, and the host outlives its profile.
class Host final : public Handle {
 public:
  Host(HostOptions options, const Clock& clock, Writer& writer)
      : options_(std::move(options)), clock_(clock), writer_(writer), state_(options_.seed) {}

  const std::string& profile_name() const override { return options_.profile_name; }
  const Clock& clock() const override { return clock_; }
  // splitmix64: small, and the same everywhere.
  uint64_t Random() override {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  WaitingPods& waiting() override { return waiting_; }
  WaitingPodsMap& waiting_map() { return waiting_; }
  Writer& writer() override { return writer_; }
  const std::vector<std::string>& extender_ignored_resources() const override {
    return options_.extender_ignored_resources;
  }

 private:
  HostOptions options_;
  const Clock& clock_;
  Writer& writer_;
  uint64_t state_;
  WaitingPodsMap waiting_;
};

}  // namespace berth::framework
