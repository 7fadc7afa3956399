// SPDX-License-Identifier: Apache-2.0
// Two results side by side.
#include "sim/compare.h"

#include <algorithm>
#include <map>

namespace berth::sim {
namespace {

// By pod: the node, empty when pending. Keys and values point into the result.
std::map<std::string_view, std::string_view> NodesOf(const RunResult& result) {
  std::map<std::string_view, std::string_view> nodes;
  for (const auto* list : {&result.placements, &result.pending})
    for (const PodLine& line : *list) nodes.emplace(line.pod, line.node);
  return nodes;
}

Value FirstOf(const std::vector<std::string>& texts) {
  Value array = Value::Array();
  for (size_t i = 0; i < std::min(texts.size(), Comparison::kShown); ++i) array.Append(Value::String(texts[i]));
  return array;
}

}  // namespace

Comparison Compare(const RunResult& base, const RunResult& other) {
  Comparison out;
  const auto before = NodesOf(base), after = NodesOf(other);
  for (const auto& [pod, from] : before) {
    const auto it = after.find(pod);
    if (it == after.end()) {
      out.lost.emplace_back(pod);
    } else if (from == it->second) {
      out.same += !from.empty();
    } else if (from.empty()) {
      out.relieved.emplace_back(pod);
    } else if (it->second.empty()) {
      out.waits.emplace_back(pod);
    } else {
      out.moved.push_back({std::string(pod), std::string(from), std::string(it->second)});
    }
  }
  for (const auto& [pod, node] : after)
    if (!before.count(pod)) out.found.emplace_back(pod);
  return out;
}

Value ToValue(const Comparison& comparison) {
  auto count = [](size_t n) { return Value::Int(static_cast<int64_t>(n)); };
  Value moved = Value::Array();
  for (size_t i = 0; i < std::min(comparison.moved.size(), Comparison::kShown); ++i) {
    const Comparison::Move& move = comparison.moved[i];
    moved.Append(Value::Object(
        {{"pod", Value::String(move.pod)}, {"from", Value::String(move.from)}, {"to", Value::String(move.to)}}));
  }
  Value out = Value::Object();
  out.Set("sameNode", count(comparison.same));
  out.Set("movedCount", count(comparison.moved.size()));
  out.Set("moved", std::move(moved));
  out.Set("pendingOnlyHereCount", count(comparison.waits.size()));
  out.Set("pendingOnlyHere", FirstOf(comparison.waits));
  out.Set("pendingOnlyInBaseCount", count(comparison.relieved.size()));
  out.Set("pendingOnlyInBase", FirstOf(comparison.relieved));
  out.Set("goneOnlyHereCount", count(comparison.lost.size()));
  out.Set("goneOnlyHere", FirstOf(comparison.lost));
  out.Set("goneOnlyInBaseCount", count(comparison.found.size()));
  out.Set("goneOnlyInBase", FirstOf(comparison.found));
  return out;
}

}  // namespace berth::sim
