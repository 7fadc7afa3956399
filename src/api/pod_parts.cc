// SPDX-License-Identifier: Apache-2.0
#include "api/pod_parts.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "api/proto_fields.h"
#include "api/proto_value.h"

namespace berth {

namespace {

constexpr uint32_t kNodeName = 10;  // number of a spec's nodeName

[[maybe_unused]] bool IsNodeName(const ProtoField* field) { return field != nullptr && field->name == "nodeName"; }

}  // namespace

const Pod* PodSpecs::FindLast(std::string_view spec, const ProtoMessage& message,
                              std::optional<ProtoValue>& node_name) const {
  const std::string_view known = last_.bytes;
  if (last_.pod == nullptr || !spec.starts_with(known.substr(0, last_.name_at))) return nullptr;
  std::string_view rest = spec.substr(last_.name_at);
  ProtoFields fields(rest);
  std::optional<ProtoValue> name;
  if (fields.Next() && fields.number() == kNodeName) {
    assert(IsNodeName(message.Find(kNodeName)));
    name = ProtoValue::Of(fields, *message.Find(kNodeName));
    rest.remove_prefix(fields.field().size());
  }
  if (rest != known.substr(last_.name_at)) return nullptr;
  node_name = name;
  return last_.pod;
}

const Pod* PodSpecs::Find(std::string_view spec, const ProtoMessage& message, std::optional<ProtoValue>& node_name) {
  Begin();
  if (const Pod* last = FindLast(spec, message, node_name)) {
    found_ = true;
    return last;
  }
  GatheredBytes gathered(read_);
  ProtoFields fields(spec);
  // An API server writes fields in the order of their numbers.
  std::string_view name, after;
  while (fields.Next()) {
    if (fields.number() > kNodeName && after.empty()) after = fields.from_here();
    const ProtoField* field = message.Find(fields.number());
    if (!field) continue;
    assert(IsNodeName(field) == (fields.number() == kNodeName));
    if (fields.number() != kNodeName) {
      gathered.Add(fields.field());
    } else if (!node_name) {
      node_name = ProtoValue::Of(fields, *field);
      name = fields.field();
      after = fields.from_here().substr(name.size());
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
  if (found_ && spec.size() <= KnownParts<Pod>::kMaxPartBytes) {
    last_.pod = known;
    last_.name_at = spec.size() - after.size() - name.size();
    last_.bytes.assign(spec, 0, last_.name_at).append(after);
  }
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
  last_.pod = nullptr;
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
