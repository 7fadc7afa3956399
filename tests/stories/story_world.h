// SPDX-License-Identifier: Apache-2.0
// StoryWorld: the production scheduler on a simulated cluster without delays, driven one event and one attempt at a
// time, in the way in which upstream's was driven when the stories were recorded.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "berth/error.h"
#include "berth/registry.h"
#include "berth/value.h"
#include "client/cluster_api.h"
#include "config/types.h"
#include "cycle/scheduler.h"
#include "sim/simulated_cluster.h"
#include "util/inbox.h"
#include "util/timer_queue.h"
#include "util/virtual_clock.h"

namespace berth::stories {

// The cluster as the scheduler sees it: pods that a story has marked as terminating are, without anybody stopping them,
// slow bindings wait for an answer, and slow evictions for somebody who deletes the pod.
class Door final : public client::ClusterApi {
 public:
  Door(sim::SimulatedCluster& cluster, const Clock& clock, util::Inbox& inbox)
      : cluster_(cluster), clock_(clock), inbox_(inbox) {}
  client::ApiStatus Terminate(const client::ObjectName& pod);
  void SlowBindings() { slow_bindings_ = true; }
  void SlowEvictions() { slow_evictions_ = true; }
  // Pods that the scheduler has deleted since the last call: namespace/name, sorted.
  std::vector<std::string> TakeEvicted();
  // Lets the newest binding of a pod of this name through; false when there is none.
  bool AnswerBinding(const std::string& full_name);

  void List(Kind kind, std::function<void(client::ListAnswer)> done) override { cluster_.List(kind, done); }
  std::unique_ptr<client::Watch> StartWatch(Kind kind, const std::string& resource_version,
                                            client::WatchCallbacks callbacks) override;
  void GetPod(const std::string& ns, const std::string& name,
              std::function<void(const client::ApiStatus&, Ptr<Pod>)> done) override {
    cluster_.GetPod(ns, name, done);
  }
  void Bind(const client::ObjectName& pod, const std::string& node, client::Answer done) override;
  void PatchPodStatus(const client::PodStatusPatch& patch, client::Answer done) override {
    cluster_.PatchPodStatus(patch, done);
  }
  void DeletePod(const client::ObjectName& pod, client::Answer done) override;
  void PatchVolume(const VolumeClaimPatch& patch, client::VersionAnswer done) override {
    cluster_.PatchVolume(patch, std::move(done));
  }
  void PatchClaim(const ClaimNodePatch& patch, client::VersionAnswer done) override {
    cluster_.PatchClaim(patch, std::move(done));
  }
  void PostEvent(const client::EventRecord& event, client::Answer done) override {
    cluster_.PostEvent(event, std::move(done));
  }
  void PatchEvent(const client::EventRecord& event, client::Answer done) override {
    cluster_.PatchEvent(event, std::move(done));
  }
  void GetLease(const std::string& ns, const std::string& name,
                std::function<void(const client::ApiStatus&, const client::Lease&)> done) override {
    cluster_.GetLease(ns, name, done);
  }
  void PutLease(const client::Lease& lease,
                std::function<void(const client::ApiStatus&, const client::Lease&)> done) override {
    cluster_.PutLease(lease, done);
  }

 private:
  sim::SimulatedCluster& cluster_;
  const Clock& clock_;
  util::Inbox& inbox_;
  std::map<std::string, Time> terminating_;  // by uid
  std::vector<std::string> evicted_;
  bool slow_bindings_ = false, slow_evictions_ = false;
  std::map<std::string, std::function<void()>> bindings_;  // not answered yet, by namespace/name
};

class StoryWorld final : public cycle::Observer {
 public:
  // REQUIRES: the registry outlives it.
  static Result<std::unique_ptr<StoryWorld>> Make(const config::SchedulerConfiguration& config,
                                                  const Registry& registry, bool slow_bindings, bool slow_evictions);

  // Does what a step says at its time and lets the scheduler hear of it. Empty, or why it could not be done.
  std::string Apply(const Value& step);
  // Pods that would be tried now: namespace/name to active or backoff.
  Value Queued() const;
  // Tries pods until none is left to try. Returns a recording's `expect` of this step, without `queued`.
  Value Attempts();
  // Empty, or what is wrong inside.
  std::string CheckInvariants() const { return scheduler_->CheckInvariants(); }

  void OnAttempt(const cycle::Attempt& attempt) override;
  void OnComplaint(const std::string& text) override { complaints_.push_back(text); }
  void OnDifference(const std::string& text) override { complaints_.push_back("remembered wrongly: " + text); }
  const std::vector<std::string>& complaints() const { return complaints_; }

 private:
  StoryWorld();
  void Settle();
  std::string ChangePod(const std::string& full_name, const std::string& op, const Value& step);
  std::string ChangeObject(const Value& object, const std::string& op);
  std::set<std::string> Waiting() const;  // of the pods in active and backoff

  util::VirtualClock clock_;
  util::TimerQueue agenda_;
  util::Inbox inbox_;
  sim::SimulatedCluster cluster_;
  Door door_;
  Value attempts_ = Value::Array();
  std::vector<std::string> complaints_;
  std::unique_ptr<cycle::Scheduler> scheduler_;  // last: it uses all of the above
};

}  // namespace berth::stories
