// SPDX-License-Identifier: Apache-2.0
// DecisionLog: the last decision about every pod of a run, small enough to be kept for all of them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "berth/clock.h"
#include "cycle/scheduler.h"
#include "framework/explanation.h"
#include "sim/sim_run.h"
#include "util/secret_hash.h"

namespace berth::sim {

struct Decision {
  std::string uid;
  std::string node;     // empty: none
  std::string message;  // why none
  std::string nominated;
  Time time;
  uint32_t feasible = 0, victims = 0;
  bool was_nominated = false;  // it went where status.nominatedNodeName said
  std::optional<int64_t> total;
  // Why the node won: the best of the rest, by how much, and the plugin whose score differs most in its favour.
  std::string runner_up;
  int64_t ahead = 0, term_ahead = 0;
  const std::string* term = nullptr;  // the profile's

  // "best of 3, ahead of b by 12 (NodeResourcesFit +12)", or the message.
  std::string Why() const;
};

// REQUIRES: the scheduler that reports here lives as long as decisions are read.
class DecisionLog final : public cycle::Observer {
 public:
  // `explain`: the pod whose last decision is kept in full; empty: none.
  explicit DecisionLog(std::string explain) : explain_(std::move(explain)) {}
  // Before the first attempt. REQUIRES: both outlive the log.
  void Attach(cycle::Scheduler& scheduler, const Clock& clock) {
    scheduler_ = &scheduler;
    clock_ = &clock;
  }

  bool WantsJudgement(const Pod& pod) override { return !explain_.empty() && FullName(pod) == explain_; }
  void OnAttempt(const cycle::Attempt& attempt) override;
  void OnBound(const Pod& pod, const std::string& node) override;
  void OnDifference(const std::string& text) override { verification_.Add(text); }

  // Null when the pod was never tried, or was another pod of that name.
  const Decision* Find(const std::string& pod, const std::string& uid) const;
  // Of the last pod of that name.
  const Decision* FindAny(const std::string& pod) const;
  void Forget(const std::string& pod) { decisions_.erase(pod); }
  const std::optional<framework::Explanation>& explanation() const { return explanation_; }
  uint64_t attempts() const { return attempts_; }
  uint64_t bound() const { return bound_; }
  const Verification& verification() const { return verification_; }

  std::function<void()> on_bound;  // may be empty

 private:
  std::string explain_;
  cycle::Scheduler* scheduler_ = nullptr;
  const Clock* clock_ = nullptr;
  std::unordered_map<std::string, Decision, SecretStringHash> decisions_;
  std::optional<framework::Explanation> explanation_;
  uint64_t attempts_ = 0, bound_ = 0;
  Verification verification_;
};

}  // namespace berth::sim
