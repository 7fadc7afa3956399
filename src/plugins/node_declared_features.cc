// SPDX-License-Identifier: Apache-2.0
// NodeDeclaredFeatures; rules of component-helpers' nodedeclaredfeatures/features (v0.36).
#include "plugins/node_declared_features.h"

#include <algorithm>

#include "plugins/common/set_memo.h"

namespace berth::plugins {
namespace {

using Features = std::vector<std::string_view>;  // sorted

Features Required(const Pod& pod) {
  Features required;
  const auto restarts_all = [](const Container& c) { return c.restarts_all_containers; };
  if (std::any_of(pod.containers.begin(), pod.containers.end(), restarts_all) ||
      std::any_of(pod.init_containers.begin(), pod.init_containers.end(), restarts_all)) {
    required.push_back(kRestartAllContainersFeature);
  }
  if (pod.host_network && pod.host_users == false) required.push_back(kUserNamespacesHostNetworkFeature);
  return required;
}

struct FeatureState : StateOf<FeatureState> {
  Features required;
};

bool HasAll(const std::vector<std::string>& declared, const Features& required) {
  return std::all_of(required.begin(), required.end(), [&](std::string_view feature) {
    return std::find(declared.begin(), declared.end(), feature) != declared.end();
  });
}

QueueingHint AfterNodeChange(const Pod&, const EventObjects& objects) {
  const bool same = objects.node_before != nullptr && objects.node_after != nullptr &&
                    objects.node_before->declared_features == objects.node_after->declared_features;
  return same ? QueueingHint::kSkip : QueueingHint::kQueue;
}

QueueingHint AfterPodUpdate(const Pod& rejected, const EventObjects& objects) {
  if (objects.pod_after == nullptr || objects.pod_after->uid() != rejected.uid()) return QueueingHint::kSkip;
  const bool same = objects.pod_before != nullptr && Required(*objects.pod_before) == Required(*objects.pod_after);
  return same ? QueueingHint::kSkip : QueueingHint::kQueue;
}

}  // namespace

PreFilterOutcome NodeDeclaredFeatures::PreFilter(const Cycle& cycle) const {
  Features required = Required(cycle.pod());
  if (required.empty()) return PreFilterOutcome::Skip();
  auto state = std::make_unique<FeatureState>();
  state->required = std::move(required);
  return PreFilterOutcome::Ok(std::move(state));
}

Error NodeDeclaredFeatures::Filter(const Cycle&, const PluginState* state, const NodeBatch& nodes,
                                   Rejections& out) const {
  if (state == nullptr) return Error("error reading \"PreFilterNodeDeclaredFeatures\" from cycle-state: not found");
  const Features& required = static_cast<const FeatureState*>(state)->required;
  const auto sets = nodes.snapshot().feature_sets();
  const std::span<const uint32_t> set_of = nodes.feature_set();
  SetMemo<uint8_t> satisfied(sets.size(), nodes.size());
  const VerdictId rejected = out.Intern(kFeatureMissing);
  for (size_t i = 0; i < set_of.size(); ++i) {
    if (!satisfied.Get(set_of[i], [&](uint32_t set) { return HasAll(sets[set], required); })) out.Reject(i, rejected);
  }
  return Error::Ok();
}

Depends NodeDeclaredFeatures::DependsOn(Point point) const {
  return Depends::OnRow(point == Point::kFilter ? row_field::kFeatures : 0);
}

bool NodeDeclaredFeatures::Sign(const Pod& pod, Signature& out) const {
  const Features required = Required(pod);
  out.Add(static_cast<int64_t>(required.size()));
  for (const std::string_view feature : required) out.Add(feature);
  return true;
}

std::optional<std::vector<EventRegistration>> NodeDeclaredFeatures::EventsToRegister() const {
  return std::vector<EventRegistration>{
      {{EventResource::kNode, action::kAdd | action::kUpdateNodeDeclaredFeature}, AfterNodeChange},
      {{EventResource::kPod, action::kUpdate}, AfterPodUpdate}};
}

}  // namespace berth::plugins
