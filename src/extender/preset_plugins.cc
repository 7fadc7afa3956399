// SPDX-License-Identifier: Apache-2.0
// LabelPriority, and the list of the presets' plugins.
#include "extender/preset_plugins.h"

#include <algorithm>

#include "api/validate_names.h"

namespace berth::extender {

void LabelPriority::Args::Read(ArgsReader& in) {
  in.String("label", label);
  for (const std::string& complaint : CheckQualifiedName(label)) {
    in.Invalid("label", Value::String(label).ToJson(), complaint);
  }
}

LabelPriority::LabelPriority(const Args& args)
    : label_(args.label),
      none_("all node do not have label " + args.label),
      without_label_(Code::kUnschedulableAndUnresolvable, "node(s) didn't have label " + args.label) {}

Depends LabelPriority::DependsOn(Point point) const {
  if (point == Point::kPreFilter) return {0, epoch::kNodeSet | epoch::kNodeLabels};
  return Depends::OnRow(row_field::kLabels);
}

PreFilterOutcome LabelPriority::PreFilter(const Cycle& cycle) const {
  const Snapshot& snapshot = cycle.snapshot();
  const LabelColumn& labels = snapshot.labels(label_);
  for (Row row = 0; row < snapshot.rows(); ++row) {
    if (snapshot.live(row) && labels[row] != LabelColumn::kAbsent) return PreFilterOutcome::Ok();
  }
  return PreFilterOutcome::Reject(Verdict(Code::kUnschedulableAndUnresolvable, none_));
}

Verdict LabelPriority::FilterNode(const Pod&, NodeView node) const {
  return node.Label(label_) != nullptr ? Verdict() : without_label_;
}

int64_t LabelPriority::ScoreNode(const Pod&, NodeView node) const {
  return std::clamp(node.IntLabel(label_).value_or(0), -kMostPoints, kMostPoints);
}

Error LabelPriority::Normalize(const Cycle&, const PluginState*, std::span<const Row>,
                               std::span<int64_t> scores) const {
  if (scores.empty()) return Error::Ok();
  const auto [lowest, highest] = std::minmax_element(scores.begin(), scores.end());
  const int64_t low = *lowest, range = *highest - low;
  for (int64_t& score : scores) score = range == 0 ? kMaxScore : (score - low) * kMaxScore / range;
  return Error::Ok();
}

namespace {

template <class T>
void AddUnlessTaken(Registry& registry) {
  if (registry.Find(T::kName) == nullptr) registry.Add<T>();
}

}  // namespace

void RegisterPresetPlugins(Registry& registry) {
  AddUnlessTaken<TruePredicate>(registry);
  AddUnlessTaken<ZeroPriority>(registry);
  AddUnlessTaken<IndexPriority>(registry);
  AddUnlessTaken<LabelPriority>(registry);
}

}  // namespace berth::extender
