// SPDX-License-Identifier: Apache-2.0
// Tolerations and small look-ups in a pod.
#include "berth/pod.h"

#include <algorithm>

namespace berth {
inline namespace v1 {

bool Toleration::Tolerates(const Taint& taint) const {
  // An unknown effect is several different texts in one value, so it equals nothing.
  if (effect != TaintEffect::kNone && (effect != taint.effect || effect == TaintEffect::kUnknown)) return false;
  if (!key.empty() && key != taint.key) return false;
  switch (op) {
    case TolerationOp::kEqual:
      return value == taint.value;
    case TolerationOp::kExists:
      return true;
    case TolerationOp::kLt:  // behind the gate TaintTolerationComparisonOperators, which is off in v1.36
    case TolerationOp::kGt:
    case TolerationOp::kUnknown:
      break;
  }
  return false;
}

bool Tolerates(const std::vector<Toleration>& tolerations, const Taint& taint) {
  return std::any_of(tolerations.begin(), tolerations.end(), [&](const Toleration& t) { return t.Tolerates(taint); });
}

const PodCondition* Pod::FindCondition(std::string_view type) const {
  const auto it = std::find_if(conditions.begin(), conditions.end(), [&](const auto& c) { return c.type == type; });
  return it != conditions.end() ? &*it : nullptr;
}

}  // namespace v1
}  // namespace berth
