// SPDX-License-Identifier: Apache-2.0
#include "bench/live_pods.h"

#include <algorithm>
#include <utility>

#include "bench/live_bodies.h"
#include "bench/value_edit.h"

namespace berth::bench {

Error LivePods::Expect(const Value& body, bool paced, bool awaited) {
  LivePod pod;
  pod.ns = At(At(body, "metadata"), "namespace").text();
  pod.name = At(At(body, "metadata"), "name").text();
  pod.labels = LabelsOf(body);
  pod.node = At(At(body, "spec"), "nodeName").text();
  pod.paced = paced;
  const std::string key = pod.ns + "/" + pod.name;
  if (const auto old = pods_.find(key); old != pods_.end()) {
    if (!old->second.deleted) return Error("Pod " + key + " exists already");
    // News of its end may come later than the answer to its deletion did.
    measurement_.GivenUp(old->second);
    Settle(old->second);
    pod.not_uid = old->second.uid;
    pods_.erase(old);
  }
  LivePod& added = pods_.emplace(key, std::move(pod)).first->second;
  if (paced) measurement_.Created(added);
  added.awaited = awaited && added.node.empty();
  awaited_ += added.awaited;
  if (awaited) attempt_is_enough_ = false;
  return Error::Ok();
}

void LivePods::Forget(const std::string& ns, const std::string& name) {
  const auto found = pods_.find(ns + "/" + name);
  if (found == pods_.end()) return;
  Settle(found->second);
  pods_.erase(found);
}

void LivePods::Deleting(const std::string& ns, const std::string& name) {
  const auto found = pods_.find(ns + "/" + name);
  if (found == pods_.end()) return;
  found->second.deleted = true;
  Settle(found->second);
}

std::vector<std::string> LivePods::NamesIn(const std::string& ns, const PodSelector& selector) const {
  std::vector<std::string> names;
  for (const auto& [key, pod] : pods_)
    if (pod.ns == ns && !pod.deleted && selector.Matches(pod.ns, pod.labels)) names.push_back(pod.name);
  return names;
}

void LivePods::Await(const PodSelector& selector, bool attempt_is_enough) {
  attempt_is_enough_ = attempt_is_enough;
  for (auto& [key, pod] : pods_) {
    if (!pod.paced || !pod.node.empty() || pod.deleted || pod.awaited) continue;
    if ((attempt_is_enough && pod.attempted) || !selector.Matches(pod.ns, pod.labels)) continue;
    pod.awaited = true;
    ++awaited_;
  }
}

std::string LivePods::AwaitedText() const {
  const auto one = std::find_if(pods_.begin(), pods_.end(), [](const auto& entry) { return entry.second.awaited; });
  std::string text = std::to_string(awaited_) + (awaited_ == 1 ? " pod is" : " pods are") +
                     (attempt_is_enough_ ? " still not tried" : " still pending");
  if (one == pods_.end()) return text;
  const LivePod& pod = one->second;
  return text + ", among them " + one->first +
         (pod.uid.empty()       ? ", which the watch has not shown"
          : !pod.attempted      ? ", which no scheduler has tried"
          : pod.message.empty() ? ""
                                : ": " + pod.message);
}

void LivePods::See(const Pod& pod) {
  const auto found = pods_.find(FullName(pod));
  if (found == pods_.end() || found->second.not_uid == pod.uid()) return;
  LivePod& known = found->second;
  known.uid = pod.uid();
  if (const PodCondition* scheduled = pod.FindCondition("PodScheduled")) {
    known.attempted = true;
    if (scheduled->status == "False") known.message = scheduled->message;
  }
  if (known.node.empty() && !pod.node_name.empty()) {
    known.node = pod.node_name;
    measurement_.Bound(known, clock_.Now());
    if (on_bound) on_bound(known);
  }
  // One that is terminating before it was bound: nobody will schedule it.
  if (!known.node.empty() || (attempt_is_enough_ && known.attempted) || pod.terminating()) Settle(known);
}

void LivePods::OnDelete(const ClusterObject& before) {
  const Pod& pod = *std::get<Ptr<Pod>>(before);
  const auto found = pods_.find(FullName(pod));
  if (found == pods_.end() || found->second.uid != pod.uid()) return;
  measurement_.GivenUp(found->second);
  Settle(found->second);
  pods_.erase(found);
}

void LivePods::Settle(LivePod& pod) {
  if (!pod.awaited) return;
  pod.awaited = false;
  --awaited_;
}

}  // namespace berth::bench
