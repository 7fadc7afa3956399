// SPDX-License-Identifier: Apache-2.0
// PodParts: what of pods was read before. Every change of a pod brings all of it again, and pods of one template have
// much in common to begin with.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "api/known_parts.h"
#include "berth/labels.h"
#include "berth/pod.h"

namespace berth {

class ProtoMessage;
struct ProtoValue;

// The API server sends a pod's whole spec with every change of its status, and once more when it is bound: all of it is
// as before, but for the node's name.
//
// Thread safety: none.
class PodSpecs {
 public:
  explicit PodSpecs(size_t most = 4096, size_t most_bytes = size_t{4} << 20) : known_(most, most_bytes) {}

  // A pod is going to be read: nothing was found yet, and what the last Find was about is not kept any more.
  void Begin() { found_ = missed_ = false; }
  bool found() const { return found_; }
  // The pod that was kept with the same spec, without metadata, node and status; null: there is none. Of `spec`, a
  // PodSpec, the fields that are read count, but for the node's name, which `node_name` becomes. Valid until the next
  // Keep.
  const Pod* Find(std::string_view spec, const ProtoMessage& message, std::optional<ProtoValue>& node_name);
  // Keeps the spec of `pod`, which is what the last Find has not found, unless more went into it than these bytes.
  void Keep(const Pod& pod);
  size_t size() const { return known_.size(); }

 private:
  // A spec that was found, without its node's name.
  struct Found {
    const Pod* pod = nullptr;  // null: nothing was since the last Keep
    std::string bytes;
    size_t name_at = 0;  // where the node's name is, or would be
  };
  // The one that was found last comes again: replicas do so one after another, and nothing needs to be gathered.
  const Pod* FindLast(std::string_view spec, const ProtoMessage& message, std::optional<ProtoValue>& node_name) const;

  KnownParts<Pod> known_;
  Found last_;
  std::string read_;                     // the bytes that count, of the last Find
  bool found_ = false, missed_ = false;  // by the last Find
};

// Of one watch. Lists are shared ones (host/share_lists.h). Nodes have labels, too.
struct PodParts {
  PodSpecs specs;
  KnownParts<Labels> labels;
  KnownParts<List<OwnerReference>> owners;
  KnownParts<List<PodCondition>> conditions;
  std::string scratch;  // for bytes that are looked for
};

// The bytes of `value`, a list or a map, that count: equal ones say the same. Of a list of messages those are the
// fields that are read, so that a condition's time makes no difference. In `value` or in `scratch`. No value: it is
// neither, or broken, or too long to be kept.
std::optional<std::string_view> BytesThatCount(const ProtoValue& value, std::string& scratch);

// `pod.resources` is that of its spec alone: its status says nothing about resources.
bool HasPlainResources(const Pod& pod);

}  // namespace berth
