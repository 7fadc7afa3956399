// SPDX-License-Identifier: Apache-2.0
#include "api/pod_specs.h"

#include <algorithm>
#include <utility>

#include "api/proto_fields.h"
#include "api/proto_value.h"

namespace berth {

const Pod* PodSpecs::Find(std::string_view spec, const ProtoMessage& message) {
  Begin();
  read_.clear();
  ProtoFields fields(spec);
  while (fields.Next()) {
    const ProtoField* field = message.Find(fields.number());
    if (field && field->name != "nodeName") read_ += fields.field();
  }
  if (fields.broken()) return nullptr;
  const Hash128 key = SecretHash128(read_);
  const auto it = known_.find(key);
  if (it == known_.end()) {
    missed_ = key;
    return nullptr;
  }
  it->second->used = found_ = true;
  return &it->second->pod;
}

void PodSpecs::Keep(const Pod& pod) {
  if (!missed_) return;
  const Hash128 key = *std::exchange(missed_, std::nullopt);
  // The claim of an ephemeral volume is called after the pod.
  const auto ephemeral = [](const PodVolume& volume) { return volume.kind == VolumeKind::kEphemeral; };
  if (!HasPlainResources(pod) || std::any_of(pod.volumes.begin(), pod.volumes.end(), ephemeral)) return;
  auto entry = std::make_unique<Entry>(Entry{pod, false});
  entry->pod.meta = {};
  entry->pod.node_name.clear();
  entry->pod.phase.clear();
  entry->pod.nominated_node_name.clear();
  entry->pod.start_time.reset();
  entry->pod.conditions = {};
  if (round_.size() >= most_) {
    MakeRoom();
    round_[next_] = key;
    next_ = (next_ + 1) % round_.size();
  } else {
    round_.push_back(key);
  }
  known_.emplace(key, std::move(entry));
}

// Leaves next_ at the place that has become free.
void PodSpecs::MakeRoom() {
  for (;; next_ = (next_ + 1) % round_.size()) {
    const auto it = known_.find(round_[next_]);
    if (std::exchange(it->second->used, false)) continue;
    known_.erase(it);
    return;
  }
}

bool HasPlainResources(const Pod& pod) {
  return pod.container_statuses.empty() && pod.init_container_statuses.empty() && !pod.status_requests &&
         pod.status_allocated.empty();
}

}  // namespace berth
