// SPDX-License-Identifier: Apache-2.0
// From what plugins depend on to the objects that are behind it.
#include "berth/host/reach.h"

namespace berth {
inline namespace v1 {
namespace {

// What a Node object is the source of.
constexpr RowFields kOfNode = row_field::kName | row_field::kAllocatable | row_field::kLabels | row_field::kTaints |
                              row_field::kUnschedulable | row_field::kImages | row_field::kFeatures |
                              row_field::kAnnotations;

}  // namespace

Reach ReachOf(const Depends& depends) {
  if ((depends.row & ~row_field::kName) == 0 && (depends.epochs & ~epoch::kNodeSet) == 0) return Reach::kNames;
  return (depends.row & ~kOfNode) == 0 && (depends.epochs & ~kEpochsOfNodes) == 0 ? Reach::kNodes : Reach::kCluster;
}

std::vector<Kind> KindsRead(const Depends& depends) {
  switch (ReachOf(depends)) {
    case Reach::kNames:
      return {};
    case Reach::kNodes:
      return {Kind::kNode};
    case Reach::kCluster:
      break;
  }
  std::vector<Kind> kinds = {Kind::kNode, Kind::kPod};
  for (const KindInfo& info : kKinds) {
    if (info.kind == Kind::kNode || info.kind == Kind::kPod || !IsWatched(info.kind)) continue;
    const bool anything = (depends.epochs & epoch::kAnything) == epoch::kAnything;
    if (anything || (depends.epochs & info.epochs) != 0) kinds.push_back(info.kind);
  }
  return kinds;
}

}  // namespace v1
}  // namespace berth
