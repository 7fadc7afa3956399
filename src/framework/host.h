// SPDX-License-Identifier: Apache-2.0
// Host: the Handle that plugins of one profile are made with.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/handle.h"
#include "framework/waiting_pods.h"
#include "util/random.h"

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
  LogSink* log = nullptr;        // null: what plugins log is not written; else it outlives the host
  const Clock* dates = nullptr;  // of log lines, where the host's clock is no date; outlives the host
};

// What the plugins of all profiles share, and what the owner of the cycles answers for them.
struct HostServices {
  WaitingPodsMap waiting;
  // Whether evictions for the pod of this uid are under way; empty: never.
  std::function<bool(std::string_view uid)> preempting;
  ClusterAccess* cluster = nullptr;  // null: the owner only judges
  // What plugins count, from any thread; empty: nobody wants to know.
  std::function<void(const PluginCounter& counter, const std::string& value)> count;
  // Pods that plugins want to be tried again; the owner takes them when a cycle is over.
  std::vector<std::shared_ptr<const Pod>> activations;
};

// REQUIRES: clock, writer and services outlive the host, and the host outlives its profile.
class Host final : public Handle {
 public:
  Host(HostOptions options, const Clock& clock, Writer& writer, HostServices& services)
      : options_(std::move(options)), clock_(clock), writer_(writer), services_(services), random_(options_.seed) {}

  const std::string& profile_name() const override { return options_.profile_name; }
  const Clock& clock() const override { return clock_; }
  Logger log() const override {
    return options_.log ? Logger(*options_.log, options_.dates ? *options_.dates : clock_) : Logger();
  }
  void Count(const PluginCounter& counter, const std::string& value) const override {
    if (services_.count) services_.count(counter, value);
  }
  uint64_t Random() override { return random_.Next(); }
  WaitingPods& waiting() override { return services_.waiting; }
  bool preempting(std::string_view uid) const override { return services_.preempting && services_.preempting(uid); }
  void Activate(const std::vector<std::shared_ptr<const Pod>>& pods) override {
    services_.activations.insert(services_.activations.end(), pods.begin(), pods.end());
  }
  Writer& writer() override { return writer_; }
  ClusterAccess* cluster() override { return services_.cluster; }
  const std::vector<std::string>& extender_ignored_resources() const override {
    return options_.extender_ignored_resources;
  }

 private:
  HostOptions options_;
  const Clock& clock_;
  Writer& writer_;
  HostServices& services_;
  util::Random random_;
};

}  // namespace berth::framework
