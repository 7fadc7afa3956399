// SPDX-License-Identifier: Apache-2.0
// Node: the fields of a Kubernetes node that a scheduler reads; taints and the node selectors that match nodes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/labels.h"
#include "berth/list.h"
#include "berth/object.h"
#include "berth/resources.h"

namespace berth {
inline namespace v1 {

enum class TaintEffect : uint8_t { kNone, kNoSchedule, kPreferNoSchedule, kNoExecute, kUnknown };
std::string_view ToString(TaintEffect effect);

struct Taint {
  std::string key, value;
  TaintEffect effect = TaintEffect::kNone;
  bool operator==(const Taint&) const = default;
};

// One image a node holds; `names` are compared as they are (tags and digests alike).
struct NodeImage {
  List<std::string> names;
  int64_t size_bytes = 0;
  bool operator==(const NodeImage&) const = default;
};

// How many nodes hold an image, and the size its first reporter gave.
struct ImageState {
  int64_t size_bytes = 0;
  uint32_t nodes = 0;
};
inline constexpr uint32_t kNoImage = 0xffffffffu;

struct NodeCondition {
  std::string type, status;
  bool operator==(const NodeCondition&) const = default;
};

// Immutable once it is in ClusterState. Most nodes of a cluster have equal lists; decoders let them share the memory.
struct Node {
  ObjectMeta meta;
  bool unschedulable = false;
  std::vector<Taint> taints;
  Resources allocatable;
  List<NodeImage> images;
  List<std::string> declared_features;  // sorted
  List<NodeCondition> conditions;

  const std::string& name() const { return meta.name; }
  // Null when absent, and where no plugin declares the key (Plugin::Annotations).
  const std::string* Annotation(std::string_view key) const;
  bool operator==(const Node&) const = default;
};

// One term of a node selector; expressions and fields are ANDed.
struct NodeSelectorTerm {
  std::vector<Requirement> match_expressions;
  std::vector<Requirement> match_fields;  // only metadata.name is defined
  // Not empty: upstream cannot parse this term (and then it does not match): the sentence.
  std::string invalid;

  bool empty() const { return match_expressions.empty() && match_fields.empty(); }
  // An empty term matches nothing.
  bool Matches(const std::string& node_name, const Labels& node_labels) const;
  bool operator==(const NodeSelectorTerm&) const = default;
};

// Terms are ORed; without terms it matches nothing.
struct NodeSelector {
  List<NodeSelectorTerm> terms;
  bool Matches(const std::string& node_name, const Labels& node_labels) const;
  bool operator==(const NodeSelector&) const = default;
};

struct PreferredSchedulingTerm {
  int32_t weight = 0;
  NodeSelectorTerm preference;
  bool operator==(const PreferredSchedulingTerm&) const = default;
};

}  // namespace v1
}  // namespace berth
