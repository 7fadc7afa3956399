// SPDX-License-Identifier: Apache-2.0
// Consultations: decisions that wait for extenders.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cycle/core.h"
#include "cycle/turns.h"
#include "framework/decision.h"
#include "framework/extender_calls.h"
#include "queue/pod_ticket.h"

namespace berth::cycle {

//   Begin: judge ──▶ filter (the nominated node alone, then all others) ──▶ prioritize ──▶ judge what passed ──▶
//   decided
//            ▲                                                                                │
//            └───────────────────── none of it fits any more ─────────────────────────────────┘
//   Review: preempt ──▶ judge ──▶ decided with what was left of the candidates
//
// While its answer is out a pod holds no place: others are decided meanwhile, and what came of them counts when the
// answer is in, because the pod is judged again, on the cluster as it is then, among the nodes that passed. Only if
// none of these fits any more are the extenders asked again. A pod that was overtaken so three times in one attempt,
// preemption's questions included, is waited for: its calls go first, and nobody else is popped until its answer is in.
// If the extenders passed no node, the attempt fails; what has happened since the pod was popped is with its ticket, so
// that the queue knows whether to try again at once.
//
// Calls that wait for an extender are made in the queue's order (Turns).
// Thread safety: scheduling thread.
class Consultations {
 public:
  struct Handlers {
    // It is known where to, or that nowhere. `advice`: what extenders said, for the review of a preemption.
    std::function<void(queue::PodTicket, const framework::Profile&, framework::Decision&,
                       std::optional<framework::Judgement>&, framework::Advice advice)>
        decided;
    // An extender that is not ignorable has failed.
    std::function<void(queue::PodTicket, const framework::Profile&, const Error&)> failed;
    // The pod is gone, bound or terminating by now.
    std::function<void(queue::PodTicket, const Pod&)> skip;
    // It fits by now, though nobody was asked about nodes.
    std::function<void(queue::PodTicket)> again;
  };
  // `next_start`: where the next search begins, which is everybody's.
  Consultations(Core& core, framework::ExtenderCalls& calls, size_t& next_start, Handlers handlers)
      : core_(core),
        calls_(calls),
        next_start_(next_start),
        handlers_(std::move(handlers)),
        turns_([this](const QueuedPod& a, const QueuedPod& b) { return Before(a, b); }) {}

  bool Concerns(const Pod& pod) const { return !calls_.empty() && calls_.AsksAboutNodes(pod); }
  // REQUIRES: Concerns(pod). `handlers` may be called before it returns.
  void Begin(queue::PodTicket ticket, const framework::Profile& profile);
  // A pod that fits nowhere and would preempt: true if extenders have a say in that, and the ticket was taken.
  bool Review(queue::PodTicket& ticket, const framework::Profile& profile, const framework::Decision& decision,
              framework::Advice& advice);

  size_t size() const { return open_.size(); }
  // Lets go whose pods need no decision any more: they would keep others waiting.
  void DropGone();
  // Somebody was overtaken so often that nobody else may be decided now.
  bool exclusive() const { return exclusive_ > 0; }

 private:
  struct Open {
    queue::PodTicket ticket;
    const framework::Profile* profile;
    AttemptFacts attempt;
    std::shared_ptr<const Turns::Held> place;
    bool nominated = false;  // the question is about the nominated node alone
    size_t start = 0;        // of the search
    framework::Advice advice;
    std::vector<size_t> passed;  // by place in advice.asked
    uint16_t planner = framework::kNoPlugin;
  };
  void Ask(Open open, bool nominated_first);
  // Somebody else took what would have been this pod's.
  void Overtaken(Open& open);
  // By the queue's own order.
  bool Before(const QueuedPod& a, const QueuedPod& b) const;
  uint64_t Suspend(Open open);
  // No value: it is over already.
  std::optional<Open> Resume(uint64_t number);
  void AfterFilter(uint64_t number, framework::ExtenderCalls::Filtered filtered);
  void AfterScores(uint64_t number, std::vector<framework::Advice::Scores> scores);
  void AfterReview(uint64_t number, Result<framework::ExtenderCalls::Candidates> left);
  void Settle(Open open);
  void End(Open open, std::optional<framework::Judgement> judged, const Snapshot& snapshot);
  framework::ExtenderCalls::PodsOn PodsOn() const;

  Core& core_;
  framework::ExtenderCalls& calls_;
  size_t& next_start_;
  const Handlers handlers_;
  Turns turns_;
  std::map<uint64_t, Open> open_;  // by number, in the order in which they were suspended
  uint64_t suspensions_ = 0;
  uint64_t departures_ = 0;  // those that have been looked at
  size_t exclusive_ = 0;     // of those that are open: they were overtaken so often
};

}  // namespace berth::cycle
