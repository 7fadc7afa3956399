// SPDX-License-Identifier: Apache-2.0
// From transitions of objects to a ClusterState.
#include "extender/cluster_mirror.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace berth::extender {

using client::ClusterObject;
using client::Kind;

ClusterMirror::ClusterMirror(client::ClusterApi& api, util::TimerQueue& timers, const Clock& clock,
                             std::function<void(const std::string&)> complain)
    : api_(api),
      timers_(timers),
      clock_(clock),
      complain_(std::move(complain)),
      random_(static_cast<uint64_t>(clock.Now().ns)) {}

ClusterMirror::~ClusterMirror() {
  reflectors_.clear();
  for (PluginIndex* index : indexes_) state_.RemoveIndex(index);
}

void ClusterMirror::Start(const std::vector<Kind>& kinds, const std::vector<PluginIndex*>& indexes) {
  indexes_ = indexes;
  for (PluginIndex* index : indexes_) state_.AddIndex(index);
  for (const Kind kind : kinds) {
    reflectors_.push_back(std::make_unique<client::Reflector>(kind, api_, *this, timers_, clock_, [this] {
      return random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    }));
  }
  for (const auto& reflector : reflectors_) reflector->Start();
}

bool ClusterMirror::synced() const {
  return std::all_of(reflectors_.begin(), reflectors_.end(), [](const auto& r) { return r->synced(); });
}

std::string ClusterMirror::Missing() const {
  std::string names;
  for (const auto& reflector : reflectors_) {
    if (!reflector->synced()) names += (names.empty() ? "" : ", ") + std::string(ToString(reflector->kind()));
  }
  return names;
}

bool ClusterMirror::Has(std::span<const std::shared_ptr<const Node>> nodes) const {
  const Snapshot snapshot = state_.snapshot();
  return std::all_of(nodes.begin(), nodes.end(), [&](const std::shared_ptr<const Node>& node) {
    const Row row = snapshot.FindRow(node->name());
    if (row == kNoRow || node->meta.resource_version.empty()) return false;
    const ObjectMeta& known = snapshot.node(row).meta;
    return known.resource_version == node->meta.resource_version && known.uid == node->meta.uid;
  });
}

std::unique_ptr<cluster::ClusterState> ClusterMirror::CopyWith(
    std::span<const std::shared_ptr<const Node>> nodes) const {
  auto copy = std::make_unique<cluster::ClusterState>();
  for (const auto& reflector : reflectors_) {
    reflector->ForEach([&](const ClusterObject& object) {
      std::visit(
          [&]<class T>(const std::shared_ptr<const T>& known) {
            if constexpr (std::is_same_v<T, Pod>) {
              if (!known->node_name.empty()) {
                Complain(copy->AddPod(known));
              } else if (!known->nominated_node_name.empty()) {
                copy->Nominate(known, known->nominated_node_name);
              }
            } else if constexpr (std::is_same_v<T, Node>) {
              copy->PutNode(known);
            } else {
              copy->PutObject<T>(known);
            }
          },
          object);
    });
  }
  for (const std::shared_ptr<const Node>& node : nodes) copy->PutNode(node);
  return copy;
}

void ClusterMirror::OnAdd(const ClusterObject& after) {
  std::visit(
      [&]<class T>(const std::shared_ptr<const T>& object) {
        if constexpr (std::is_same_v<T, Pod>) {
          AddPod(object);
        } else if constexpr (std::is_same_v<T, Node>) {
          state_.PutNode(object);
        } else {
          state_.PutObject<T>(object);
        }
      },
      after);
}

void ClusterMirror::OnUpdate(const ClusterObject& before, const ClusterObject& after) {
  if (client::KindOf(after) != Kind::kPod) return OnAdd(after);  // they replace the one of their name
  const auto& old = std::get<client::Ptr<Pod>>(before);
  const auto& now = std::get<client::Ptr<Pod>>(after);
  if (!old->node_name.empty() && !now->node_name.empty()) return Complain(state_.UpdatePod(now));
  RemovePod(*old);
  AddPod(now);
}

void ClusterMirror::OnDelete(const ClusterObject& before) {
  std::visit(
      [&]<class T>(const std::shared_ptr<const T>& object) {
        if constexpr (std::is_same_v<T, Pod>) {
          RemovePod(*object);
        } else if constexpr (std::is_same_v<T, Node>) {
          Complain(state_.RemoveNode(object->name()));
        } else {
          state_.RemoveObject<T>(object->meta.namespace_, object->meta.name);
        }
      },
      before);
}

void ClusterMirror::Complain(const Error& error) const {
  if (!error.ok()) complain_(error.text());
}

void ClusterMirror::AddPod(const client::Ptr<Pod>& pod) {
  if (!pod->node_name.empty()) {
    Complain(state_.AddPod(pod));
  } else if (!pod->nominated_node_name.empty()) {
    state_.Nominate(pod, pod->nominated_node_name);
  }
}

void ClusterMirror::RemovePod(const Pod& pod) {
  state_.ClearNomination(pod.uid());
  // The last state that came with a deletion may have a node that we had not heard of.
  if (state_.FindPod(pod.uid()) != nullptr) Complain(state_.RemovePod(pod.uid()));
}

}  // namespace berth::extender
