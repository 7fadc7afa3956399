// SPDX-License-Identifier: Apache-2.0
// The per-node adapter: loops over the batch and asks the author's functions.
#include "berth/node_plugin.h"

#include <algorithm>
#include <cstddef>
#include <exception>

#include "berth/plugin.h"
#include "util/crash_note.h"

namespace berth {
inline namespace v1 {

std::string_view ToString(Point point) {
  static constexpr std::string_view kNames[kPointCount] = {"PreEnqueue", "QueueSort", "PreFilter", "Filter",
                                                           "PostFilter", "PreScore",  "Score",     "Reserve",
                                                           "Permit",     "PreBind",   "Bind",      "PostBind"};
  return kNames[static_cast<size_t>(point)];
}

Verdict NodePlugin::FilterNode(const Pod&, NodeView) const { return kFits; }
int64_t NodePlugin::ScoreNode(const Pod&, NodeView) const { return 0; }

namespace {

// A node on which the author's code throws is that node's failure, not the batch's.
Verdict Ask(const NodePlugin& plugin, const Pod& pod, NodeView node) {
  try {
    return plugin.FilterNode(pod, node);
  } catch (const std::exception& e) {
    return Verdict::Fail(std::string("plugin threw: ") + e.what());
  }
}

// To make a column is to ask all nodes: not for a few of them.
bool IsWorthColumns(const NodeBatch& nodes) {
  constexpr std::ptrdiff_t kMany = 64;
  return std::count_if(nodes.active().begin(), nodes.active().end(), [](uint8_t active) { return active != 0; }) >=
         kMany;
}

}  // namespace

Error NodePlugin::Filter(const Cycle& cycle, const PluginState*, const NodeBatch& nodes, Rejections& out) const {
  LabelReader labels(nodes.snapshot());
  LabelReader* const reader = IsWorthColumns(nodes) ? &labels : nullptr;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes.active()[i]) continue;
    util::CrashNote::Step(i);
    const Verdict verdict = Ask(*this, cycle.pod(), nodes.view(i, reader));
    if (verdict.fits()) continue;
    out.Reject(i, out.Intern(verdict.rejected() ? verdict : Verdict::Fail(verdict.message())));
  }
  return Error::Ok();
}

Error NodePlugin::Score(const Cycle& cycle, const PluginState*, const NodeBatch& nodes,
                        std::span<int64_t> scores) const {
  LabelReader labels(nodes.snapshot());
  LabelReader* const reader = IsWorthColumns(nodes) ? &labels : nullptr;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes.active()[i]) continue;
    util::CrashNote::Step(i);
    scores[i] = ScoreNode(cycle.pod(), nodes.view(i, reader));
  }
  return Error::Ok();
}

}  // namespace v1
}  // namespace berth
