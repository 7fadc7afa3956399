// SPDX-License-Identifier: Apache-2.0
#include "api/pod_parts.h"

#include <algorithm>
#include <utility>

#include "api/proto_fields.h"
#include "api/proto_value.h"

namespace berth {

const Pod* PodSpecs::Find(std::string_view spec, const ProtoMessage& message, std::optional<ProtoValue>& node_name) {
  Begin();
  GatheredBytes gathered(read_);
  ProtoFields fields(spec);
  while (fields.Next()) {
    const ProtoField* field = message.Find(fields.number());
    if (!field) continue;
    if (MemberName(field->name) != "nodeName") {
      gathered.Add(fields.field());
    } else if (!node_name) {
      node_name = ProtoValue::Of(fields, *field);
    } else {
      return nullptr;  // no API server writes it twice
    }
  }
  if (fields.broken()) return nullptr;
  const std::string_view bytes = gathered.Text();
  if (bytes.size() > KnownParts<Pod>::kMaxPartBytes) {
    read_ = {};  // not even its memory
    return nullptr;
  }
  const Pod* known = known_.Find(bytes);
  found_ = known != nullptr;
  missed_ = !found_;
  if (missed_ && read_.empty()) read_ = bytes;
  return known;
}

void PodSpecs::Keep(const Pod& pod) {
  if (!std::exchange(missed_, false)) return;
  // The claim of an ephemeral volume is called after the pod.
  const auto ephemeral = [](const PodVolume& volume) { return volume.kind == VolumeKind::kEphemeral; };
  if (!HasPlainResources(pod) || std::any_of(pod.volumes.begin(), pod.volumes.end(), ephemeral)) return;
  Pod kept = pod;
  kept.meta = {};
  kept.node_name.clear();
  kept.phase.clear();
  kept.nominated_node_name.clear();
  kept.start_time.reset();
  kept.conditions = {};
  known_.Keep(read_, std::move(kept));
}

std::optional<std::string_view> BytesThatCount(const ProtoValue& value, std::string& scratch) {
  constexpr std::string_view kEndOfItem("\0", 1);  // no field begins with it
  constexpr size_t kMaxBytes = KnownParts<Labels>::kMaxPartBytes;
  if (value.form != ProtoForm::kList && value.form != ProtoForm::kMap) return std::nullopt;
  const ProtoMessage* message = value.form == ProtoForm::kList ? value.message : nullptr;
  GatheredBytes gathered(scratch);
  ProtoFields fields(value.bytes);
  while (fields.Next()) {
    if (fields.number() != value.number) continue;
    if (message == nullptr) {
      gathered.Add(fields.field());
      continue;
    }
    if (fields.wire() != ProtoWire::kBytes) return std::nullopt;
    ProtoFields item(fields.bytes());
    while (item.Next())
      if (message->Find(item.number())) gathered.Add(item.field());
    if (item.broken()) return std::nullopt;
    gathered.Add(kEndOfItem);
  }
  if (fields.broken()) return std::nullopt;
  const std::string_view text = gathered.Text();
  if (text.size() <= kMaxBytes) return text;
  scratch = {};
  return std::nullopt;
}

bool HasPlainResources(const Pod& pod) {
  return pod.container_statuses.empty() && pod.init_container_statuses.empty() && !pod.status_requests &&
         pod.status_allocated.empty();
}

}  // namespace berth
