// SPDX-License-Identifier: Apache-2.0
// BindingCycles: takes decided pods through Reserve, Permit, PreBind, Bind and PostBind; many at a time, none of them
// waiting for another.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "cycle/core.h"
#include "cycle/recorder.h"
#include "cycle/status_writer.h"
#include "framework/binding_stages.h"
#include "framework/extender_calls.h"
#include "queue/pod_ticket.h"
#include "util/secret_hash.h"

namespace berth::cycle {

// How an attempt failed, for the failure handler.
struct Failure {
  const framework::Profile* profile = nullptr;
  Code code = Code::kError;  // rejected: the pod is unschedulable; otherwise an error
  std::string message;
  queue::Rejectors rejectors;
  std::optional<std::string> nominate;  // what becomes of the nomination; no value: as the pod's status says

  bool rejected() const { return IsRejected(code); }
};

// A rejection of the chosen node after the decision, as upstream words it: `0/1 nodes are available: 1 <reason>.`
Failure OneNodeFailure(const framework::Profile& profile, const Verdict& verdict, const std::string& plugin);

//   Begin: assume, Reserve, Permit ──▶ (waits at Permit) ──▶ PreBind ──▶ Bind ──▶ PostBind, Scheduled
//        │                                  │                   │          │
//        └──────────────────────────────────┴───────────────────┴──────────┴──▶ Unreserve, forget, failure handler
//
// Failures up to Permit are rejections that events can cure; later ones are errors with error backoff.
// Thread safety: scheduling thread. Plugins may answer from any thread; their answers come through the inbox.
class BindingCycles {
 public:
  using OnFailure = std::function<void(queue::PodTicket ticket, Failure failure)>;
  BindingCycles(Core& core, Recorder& recorder, StatusWriter& statuses, framework::ExtenderCalls& calls,
                OnFailure on_failure)
      : core_(core), recorder_(recorder), statuses_(statuses), calls_(calls), on_failure_(std::move(on_failure)) {}

  // Why a pod is not on its way.
  struct Refusal {
    std::string message;
    bool error;  // not a rejection
  };
  // The scheduling cycle's part. No value: the pod is on its way. Otherwise the ticket was given to on_failure.
  std::optional<Refusal> Begin(queue::PodTicket ticket, const framework::Profile& profile, const std::string& node,
                               std::vector<StateSlot> states);
  // Gives up a binding whose PreBind is under way; false when there is none.
  bool Cancel(const std::string& uid, const std::string& cause);
  size_t size() const { return running_.size(); }
  // Those whose Bind was asked for and not answered.
  size_t binding() const { return binding_; }

 private:
  struct Run {
    Run(queue::PodTicket t, const framework::Profile& p, Ptr<Pod> assumed, const std::string& n)
        : ticket(std::move(t)), profile(&p), pod(std::move(assumed)), node(n) {}
    queue::PodTicket ticket;
    const framework::Profile* profile;
    Ptr<Pod> pod;  // assumed: with its node
    std::string node;
    std::shared_ptr<framework::BindingStages> stages;
    framework::PreBindPlan plan;
    AttemptFacts attempt;
    std::optional<Time> waits_since;  // at Permit
    bool in_pre_bind = false;
    std::string cancelled;  // the cause
    // The answer of the stage that is under way, if it comes before the stage's call returns.
    std::mutex mutex;
    bool returned = false;  // the call has
    std::optional<framework::Ruling> early;
  };
  using RunPtr = std::shared_ptr<Run>;

  void AfterPermit(const RunPtr& run, const Verdict& verdict, const std::string& plugin);
  void AfterPreBind(const RunPtr& run, const framework::Ruling& ruling);
  // By the extender whose business it is, or else by the Bind plugins.
  void Bind(const RunPtr& run);
  void BindByPlugins(const RunPtr& run);
  void AfterBind(const RunPtr& run, const framework::Ruling& ruling);
  void Fail(const RunPtr& run, Failure failure);
  void TellStageFailed(const Run& run, framework::PluginFunction stage, const framework::Ruling& ruling) const;
  // Runs an asynchronous stage and then `then`: at once if it is done when it returns, else through the inbox.
  void Await(const RunPtr& run, const std::function<void(framework::BindingStages::DoneWith)>& stage,
             void (BindingCycles::*then)(const RunPtr&, const framework::Ruling&));

  Core& core_;
  Recorder& recorder_;
  StatusWriter& statuses_;
  framework::ExtenderCalls& calls_;
  OnFailure on_failure_;
  std::unordered_map<std::string, RunPtr, SecretStringHash, std::equal_to<>> running_;  // by uid
  size_t binding_ = 0;
};

}  // namespace berth::cycle
