// SPDX-License-Identifier: Apache-2.0
// The messages that an extender gets, in the bytes that kube-scheduler would send, or in others that mean the same.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conform/samples.h"

namespace berth::conform {

enum class Verb : uint8_t { kFilter, kPrioritize, kPreempt, kBind };
// kNodes: whole objects. kNames: names and uids alone, what nodeCacheCapable asks for.
enum class Shape : uint8_t { kNodes, kNames };

// One kind of question.
struct Target {
  Verb verb;
  Shape shape;
  auto operator<=>(const Target&) const = default;
};
std::string_view ToString(Verb verb);    // "filter"
std::string_view ToString(Shape shape);  // "nodes"
std::string ToString(Target target);     // "filter.nodes"; "bind" has no shapes

// A filter, prioritize or preempt request.
struct Question {
  Target target;
  std::string_view pod;
  std::span<const SampleNode> nodes;  // the candidates, for preempt
  bool lower_case = false;            // keys as Go also reads them: nodeNames
  bool unknown_fields = false;        // beside the fields of the message
  bool list_nulls = false;            // in the node list's own fields
  bool unset_times = false;           // in the conditions of victims
};
std::string WriteQuestion(const Question& question);

// The pods that preemption would evict from the node, most important first. Equal names give equal victims.
struct Victim {
  std::string uid, json;
};
inline constexpr int kPdbViolations = 1;
std::vector<Victim> VictimsOn(const std::string& node);

std::string WriteBinding(std::string_view pod, std::string_view pod_namespace, std::string_view uid,
                         std::string_view node);

}  // namespace berth::conform
