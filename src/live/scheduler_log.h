// SPDX-License-Identifier: Apache-2.0
// SchedulerLog: the lines of kube-scheduler's log that people look for, about what this scheduler does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cycle/scheduler.h"
#include "util/log.h"
#include "util/seldom.h"

namespace berth::live {

// Messages, keys and verbosities are kube-scheduler's.
//
// Thread safety: scheduling thread.
class SchedulerLog final : public cycle::Observer {
 public:
  // REQUIRES: the log outlives it.
  explicit SchedulerLog(util::Log& log) : log_(log) {}
  void OnAttempt(const cycle::Attempt& attempt) override;
  void OnScheduled(const cycle::Scheduled& scheduled) override;
  void OnBindFailed(const Pod& pod, const std::string& node, const std::string& message) override;
  void OnQueueMove(const queue::QueuedPodInfo& info, queue::Place place, std::string_view event) override;
  void OnReturned(const queue::ReturnedPod& pod) override;
  bool WantsNotWoken() const override { return log_.V(5).enabled(); }
  void OnNotWoken(const queue::QueuedPodInfo& info, std::string_view event) override;
  void OnPostFiltered(const Pod& pod, const Verdict& verdict) override;
  void OnStageFailed(const cycle::StageFailure& failure) override;
  void OnListFailure(Kind kind, const std::string& sentence) override;
  void OnAssignedPod(const Pod* before, const Pod* after) override;
  void OnPendingPod(const Pod* before, const Pod* after) override;
  void OnNode(const Node* before, const Node* after) override;
  void OnTry(const Pod& pod) override;
  void OnFoundAssigned(const Pod& pod, const std::string& node) override;
  void OnCondition(const Pod& pod, const PodCondition& condition,
                   const std::optional<std::string>& nomination) override;
  void OnStatusLost(const client::ObjectName& pod, const std::string& why) override;
  void OnPreemptionBegun(const cycle::Preemption& preemption) override;
  void OnVictim(const cycle::Preemption& preemption, const Pod& victim) override;
  void OnPreemptionEnded(const cycle::Preemption& preemption) override;
  void OnExtenderSkipped(const framework::SkippedExtender& skipped) override;
  void OnNominatedNodeFailed(const Pod& pod, const std::string& error) override;
  void OnComplaint(const std::string& text) override;

 private:
  util::Log& log_;
  uint64_t traces_ = 0;  // so many decisions took long
  util::Seldom said_;
};

// Tells several observers, in order. REQUIRES: they outlive it.
class Observers final : public cycle::Observer {
 public:
  explicit Observers(std::vector<cycle::Observer*> all) : all_(std::move(all)) {}
  bool WantsJudgement(const Pod& pod) override {
    bool wanted = false;
    for (cycle::Observer* one : all_) wanted |= one->WantsJudgement(pod);
    return wanted;
  }
  void OnAttempt(const cycle::Attempt& attempt) override { Tell(&cycle::Observer::OnAttempt, attempt); }
  void OnSkipped(const Pod& pod) override { Tell(&cycle::Observer::OnSkipped, pod); }
  void OnBound(const Pod& pod, const std::string& node) override { Tell(&cycle::Observer::OnBound, pod, node); }
  void OnScheduled(const cycle::Scheduled& scheduled) override { Tell(&cycle::Observer::OnScheduled, scheduled); }
  void OnBindFailed(const Pod& pod, const std::string& node, const std::string& message) override {
    Tell(&cycle::Observer::OnBindFailed, pod, node, message);
  }
  void OnNotBound(const cycle::NotBound& failed) override { Tell(&cycle::Observer::OnNotBound, failed); }
  void OnQueueMove(const queue::QueuedPodInfo& info, queue::Place place, std::string_view event) override {
    Tell(&cycle::Observer::OnQueueMove, info, place, event);
  }
  void OnReturned(const queue::ReturnedPod& pod) override { Tell(&cycle::Observer::OnReturned, pod); }
  bool WantsNotWoken() const override {
    return std::any_of(all_.begin(), all_.end(), [](const cycle::Observer* one) { return one->WantsNotWoken(); });
  }
  void OnNotWoken(const queue::QueuedPodInfo& info, std::string_view event) override {
    Tell(&cycle::Observer::OnNotWoken, info, event);
  }
  void OnPostFiltered(const Pod& pod, const Verdict& verdict) override {
    Tell(&cycle::Observer::OnPostFiltered, pod, verdict);
  }
  void OnStageFailed(const cycle::StageFailure& failure) override { Tell(&cycle::Observer::OnStageFailed, failure); }
  void OnPermitWaited(Code code, Duration waited) override { Tell(&cycle::Observer::OnPermitWaited, code, waited); }
  void OnHint(const std::string& plugin, const ClusterEvent& event, QueueingHint said, Duration took) override {
    Tell(&cycle::Observer::OnHint, plugin, event, said, took);
  }
  bool TimesEvents() const override {
    return std::any_of(all_.begin(), all_.end(), [](const cycle::Observer* one) { return one->TimesEvents(); });
  }
  void OnEventHandled(const ClusterEvent& event, Duration took) override {
    Tell(&cycle::Observer::OnEventHandled, event, took);
  }
  void OnDifference(const std::string& text) override { Tell(&cycle::Observer::OnDifference, text); }
  void OnListFailure(Kind kind, const std::string& sentence) override {
    Tell(&cycle::Observer::OnListFailure, kind, sentence);
  }
  void OnAssignedPod(const Pod* before, const Pod* after) override {
    Tell(&cycle::Observer::OnAssignedPod, before, after);
  }
  void OnPendingPod(const Pod* before, const Pod* after) override {
    Tell(&cycle::Observer::OnPendingPod, before, after);
  }
  void OnNode(const Node* before, const Node* after) override { Tell(&cycle::Observer::OnNode, before, after); }
  void OnTry(const Pod& pod) override { Tell(&cycle::Observer::OnTry, pod); }
  void OnFoundAssigned(const Pod& pod, const std::string& node) override {
    Tell(&cycle::Observer::OnFoundAssigned, pod, node);
  }
  void OnCondition(const Pod& pod, const PodCondition& condition,
                   const std::optional<std::string>& nomination) override {
    Tell(&cycle::Observer::OnCondition, pod, condition, nomination);
  }
  void OnStatusLost(const client::ObjectName& pod, const std::string& why) override {
    Tell(&cycle::Observer::OnStatusLost, pod, why);
  }
  void OnPreemptionBegun(const cycle::Preemption& preemption) override {
    Tell(&cycle::Observer::OnPreemptionBegun, preemption);
  }
  void OnVictim(const cycle::Preemption& preemption, const Pod& victim) override {
    Tell(&cycle::Observer::OnVictim, preemption, victim);
  }
  void OnPreemptionEnded(const cycle::Preemption& preemption) override {
    Tell(&cycle::Observer::OnPreemptionEnded, preemption);
  }
  void OnExtenderSkipped(const framework::SkippedExtender& skipped) override {
    Tell(&cycle::Observer::OnExtenderSkipped, skipped);
  }
  void OnNominatedNodeFailed(const Pod& pod, const std::string& error) override {
    Tell(&cycle::Observer::OnNominatedNodeFailed, pod, error);
  }
  void OnComplaint(const std::string& text) override { Tell(&cycle::Observer::OnComplaint, text); }

 private:
  template <class... Declared, class... Args>
  void Tell(void (cycle::Observer::*what)(Declared...), const Args&... args) {
    for (cycle::Observer* one : all_) (one->*what)(args...);
  }
  const std::vector<cycle::Observer*> all_;
};

}  // namespace berth::live
