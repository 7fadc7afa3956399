// SPDX-License-Identifier: Apache-2.0
#include "api/pod_specs.h"

#include <algorithm>
#include <utility>

#include "api/proto_fields.h"
#include "api/proto_value.h"
#include "util/secret_hash.h"

namespace berth {

const Pod* PodSpecs::Find(std::string_view spec, const ProtoMessage& message) {
  Begin();
  read_.clear();
  ProtoFields fields(spec);
  while (fields.Next()) {
    const ProtoField* field = message.Find(fields.number());
    if (field && field->name != "nodeName") read_ += fields.field();
  }
  if (fields.broken() || read_.size() > kMaxSpecBytes) return nullptr;
  const uint64_t hash = SecretHash64(read_);
  const auto it = known_.find(hash);
  if (it == known_.end()) {
    missed_ = hash;
    return nullptr;
  }
  if (it->second->bytes != read_) return nullptr;  // two specs with one hash: the first has it
  it->second->used = found_ = true;
  return &it->second->pod;
}

void PodSpecs::Keep(const Pod& pod) {
  if (!missed_) return;
  const uint64_t hash = *std::exchange(missed_, std::nullopt);
  // The claim of an ephemeral volume is called after the pod.
  const auto ephemeral = [](const PodVolume& volume) { return volume.kind == VolumeKind::kEphemeral; };
  if (!HasPlainResources(pod) || std::any_of(pod.volumes.begin(), pod.volumes.end(), ephemeral)) return;
  MakeRoom(read_.size());
  auto entry = std::make_unique<Entry>(Entry{pod, read_, false});
  entry->pod.meta = {};
  entry->pod.node_name.clear();
  entry->pod.phase.clear();
  entry->pod.nominated_node_name.clear();
  entry->pod.start_time.reset();
  entry->pod.conditions = {};
  bytes_ += read_.size();
  known_.emplace(hash, std::move(entry));
  round_.push_back(hash);
}

// For one more spec of this size.
void PodSpecs::MakeRoom(size_t bytes) {
  while (!round_.empty() && (round_.size() >= most_ || bytes_ + bytes > most_bytes_)) {
    const uint64_t hash = round_.front();
    round_.pop_front();
    const auto it = known_.find(hash);
    if (std::exchange(it->second->used, false)) {
      round_.push_back(hash);
      continue;
    }
    bytes_ -= it->second->bytes.size();
    known_.erase(it);
  }
}

bool HasPlainResources(const Pod& pod) {
  return pod.container_statuses.empty() && pod.init_container_statuses.empty() && !pod.status_requests &&
         pod.status_allocated.empty();
}

}  // namespace berth
