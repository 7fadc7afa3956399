// SPDX-License-Identifier: Apache-2.0
// SlowExtender: stands in for an extender of a workload's configuration, without a network.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "berth/clock.h"
#include "config/types.h"
#include "framework/extender.h"
#include "util/timer_queue.h"

namespace berth::bench {

// Has the verbs, the weight and the managed resources of the configuration, except that it does not bind. It objects to
// nothing: all nodes pass, none gets a score, candidates stay as they are. Every answer takes a second of virtual time,
// one call after the other, as servers may rely on it.
// Thread safety: one thread.
class SlowExtender final : public framework::Extender {
 public:
  static constexpr Duration kTakes = Duration::Seconds(1);
  // REQUIRES: both outlive it.
  SlowExtender(const config::Extender& config, util::TimerQueue& timers, const Clock& clock);

  const framework::ExtenderTraits& traits() const override { return traits_; }
  bool IsInterested(const Pod& pod) const override;
  void Filter(framework::PodInTurn asked, Nodes nodes, std::function<void(Result<Filtered>)> done) override;
  void Prioritize(framework::PodInTurn asked, Nodes nodes, std::function<void(Result<Scores>)> done) override;
  void Preempt(framework::PodInTurn asked, std::vector<PreemptionCandidate> candidates,
               std::function<void(Result<VictimMap>)> done) override;
  void Bind(std::shared_ptr<const Pod> pod, const std::string& node, std::function<void(Error)> done) override;

  size_t waiting() const { return waiting_.size(); }

 private:
  struct Call {
    framework::Turn turn;
    std::function<void()> answer;
  };
  void Take(framework::Turn turn, std::function<void()> answer);
  void Next();

  framework::ExtenderTraits traits_;
  std::unordered_set<uint32_t> managed_;  // resources; empty: all pods
  util::TimerQueue& timers_;
  const Clock& clock_;
  std::vector<Call> waiting_;  // in the order in which they came
  bool busy_ = false;
};

}  // namespace berth::bench
