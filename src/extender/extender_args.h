// SPDX-License-Identifier: Apache-2.0
// What kube-scheduler sends to an extender: the requests of all verbs, read as Go's encoding/json reads them into
// k8s.io/kube-scheduler/extender/v1: keys in any case, unknown ones passed over, of a repeated key the last one counts,
// null told apart from an empty list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/annotations.h"
#include "berth/error.h"
#include "berth/node.h"
#include "berth/pod.h"

namespace berth::extender {

class NodeCache;

// No request that a cluster could send comes near these; without them a few bytes of JSON could ask for a thousand
// times as much memory.
inline constexpr size_t kMaxNodes = 200'000;                // also names, candidates, victims of one request
inline constexpr size_t kMaxObjectBytes = size_t{4} << 20;  // one pod or node; etcd takes less than that
// Items of all lists and maps of all nodes of a request of so many bytes: five times as many as a cluster's nodes have.
constexpr size_t MaxItems(size_t bytes) { return 100'000 + bytes / 16; }
// Those, and one for each node itself, times the items of the pod's lists: plugins compare each with each (tolerations
// with taints, terms with nodes).
inline constexpr size_t kMaxPairs = 2'000'000'000;
// `others`: what the pod's items are compared with, in words that follow a number.
Error CheckPairs(size_t pod_items, size_t count, std::string_view others);

struct RequestNode {
  std::string_view json;  // its slice of the request, for the reply
  std::shared_ptr<const Node> node;
};

// Filter and prioritize. No value: null or absent.
struct ExtenderArgs {
  std::optional<Pod> pod;
  std::optional<std::vector<RequestNode>> nodes;
  std::optional<std::vector<std::string>> node_names;
  bool nodes_cached = false;             // all of `nodes` are in a NodeCache, so that keeping them costs nothing
  size_t pod_items = 0, node_items = 0;  // of all lists and maps of the pod, and of all nodes

  // How many nodes are asked about, and their names: Nodes, or NodeNames without those.
  size_t node_count() const { return nodes ? nodes->size() : node_names ? node_names->size() : 0; }
  const std::string& node_name(size_t i) const { return nodes ? (*nodes)[i].node->name() : (*node_names)[i]; }
};

// The pods that preemption would evict from one node, most important first.
struct Victims {
  std::optional<std::vector<std::string>> uids;  // no value: Pods is null
  int64_t pdb_violations = 0;
  bool operator==(const Victims&) const = default;
};
// By node name. Nodes that are mapped to null are left out: kube-scheduler crashes when it gets one back.
using VictimMap = std::map<std::string, Victims, std::less<>>;

struct ExtenderPreemptionArgs {
  std::optional<Pod> pod;
  std::optional<VictimMap> victims;       // NodeNameToVictims; of the pods only their uid is kept
  std::optional<VictimMap> meta_victims;  // NodeNameToMetaVictims
  size_t pod_items = 0;                   // of all lists and maps of the pod
};

struct ExtenderBindingArgs {
  std::string pod_name, pod_namespace, pod_uid, node;
};

// Each reads one JSON object. `body` gets simdjson's padding behind its end if its capacity has no room for it yet;
// what ExtenderArgs returns refers to it, so it must stay where it is. An Error is one sentence that names field and
// value; reading ends at the first. All of the body must be JSON; the types of parts that nobody reads do not matter.
// Thread safety: any thread.
//
// Of pods and nodes the annotations of the given keys are kept. With a cache, nodes that it knows are not read again,
// and the others are put into it. REQUIRES: the keys are the same for every request of one cache.
Result<ExtenderArgs> DecodeExtenderArgs(std::string& body, NodeCache* cache = nullptr, const AnnotationKeys& keep = {});
Result<ExtenderPreemptionArgs> DecodePreemptionArgs(std::string& body, const AnnotationKeys& keep = {});
Result<ExtenderBindingArgs> DecodeBindingArgs(std::string& body);

}  // namespace berth::extender
