// SPDX-License-Identifier: Apache-2.0
// What an extender answers, read as kube-scheduler reads it: by Go's encoding/json into
// k8s.io/kube-scheduler/extender/v1. Keys in any case, unknown ones passed over, null told apart from an empty list;
// what Go would not take is an Error.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/error.h"
#include "conform/request.h"

namespace berth::conform {

struct ReplyNode {
  std::string name;
  std::string_view json;  // in the body
};

struct HostPriority {
  std::string host;
  int64_t score = 0;
};

struct MetaVictims {
  std::vector<std::optional<std::string>> uids;  // no value: null
  int64_t pdb_violations = 0;
};

// The fields of the verb that was asked.
struct Reply {
  // Filter.
  std::optional<std::vector<ReplyNode>> nodes;
  std::optional<std::vector<std::string>> node_names;
  std::map<std::string, std::string> failed, unresolvable;
  // Prioritize.
  std::vector<HostPriority> priorities;
  // Preempt. A node without value is null. `other_map`: NodeNameToVictims is there, which kube-scheduler does not read.
  std::map<std::string, std::optional<MetaVictims>> victims;
  bool other_map = false;
  // Filter and bind.
  std::string error;

  // Something in it is no character, bad UTF-8 or half of a surrogate pair; as in Go it has become U+FFFD.
  bool repaired = false;

  std::shared_ptr<const std::string> body;  // what the nodes refer to
};

// The Error names the field and the value.
Result<Reply> ReadReply(Verb verb, std::string body);

// The nodes that kube-scheduler goes on with, in its order.
std::vector<std::string> PassedNodes(Shape shape, const Reply& reply);
// What the reply decides, without texts and order: equal decisions give equal strings.
std::string Decision(Target target, const Reply& reply);
// Every node that the reply names, as often as it does.
std::vector<std::string> NodesNamed(Target target, const Reply& reply);

}  // namespace berth::conform
