// SPDX-License-Identifier: Apache-2.0
// What a plugin's answers depend on, the signature of a pod, and indexes a plugin may own. Declaring them is what will
// let answers be remembered and only the rows that changed be repaired (nothing does so yet); the default,
// "everything", is always right and never remembered. Remembering must never change a decision.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "berth/snapshot.h"

namespace berth {
inline namespace v1 {

// Column groups of the judged row. ClusterState's change log speaks in the same bits.
using RowFields = uint32_t;
namespace row_field {
inline constexpr RowFields kName = 1 << 0, kAllocatable = 1 << 1, kRequested = 1 << 2, kPodCount = 1 << 3,
                           kLabels = 1 << 4, kTaints = 1 << 5, kUnschedulable = 1 << 6, kImages = 1 << 7,
                           kFeatures = 1 << 8, kPorts = 1 << 9, kPods = 1 << 10, kNominated = 1 << 11,
                           kAll = (1 << 12) - 1;
}  // namespace row_field

// Counters of what lies outside the judged row.
using Epochs = uint32_t;
namespace epoch {
inline constexpr Epochs kNodeSet = 1 << 0,  // nodes come and go
    kImageSpread = 1 << 1,                  // on how many nodes an image is
    kOwnIndex = 1 << 2,                     // the plugin's own Index
    kOtherRows = 1 << 3,                    // pods or labels of other nodes, without an index
    kObjects = 1 << 4,                      // any object in the stores
    kUnrememberable = 1 << 31;              // a clock, randomness, the outside world
}  // namespace epoch

struct Depends {
  RowFields row = row_field::kAll;
  Epochs epochs = epoch::kUnrememberable;
  static constexpr Depends OnRow(RowFields fields) { return {fields, 0}; }
  static constexpr Depends Everything() { return {}; }
};

// Collects what makes two pods equal in a plugin's eyes. Equal signatures must get equal answers on equal clusters.
class Signature {
 public:
  void Add(std::string_view part) { text_.append(std::to_string(part.size())).append(":").append(part); }
  void Add(int64_t number) { text_.append(std::to_string(number)).append(";"); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Counts a plugin keeps as the cluster changes, instead of scanning pods in every PreFilter.
// Called on the scheduling thread only, after the columns changed, for assumed pods too. A row that was given up with
// its last pod or node may lie beyond snapshot.rows().
class PluginIndex {
 public:
  virtual ~PluginIndex() = default;
  virtual void PodAdded(const Snapshot& snapshot, const PodRecord& pod) = 0;
  virtual void PodRemoved(const Snapshot& snapshot, const PodRecord& pod) = 0;
  // `before` or `after` is null when the node appears or goes; its pods stay and are not reported again.
  virtual void NodeChanged(const Snapshot& snapshot, Row row, const Node* before, const Node* after) = 0;
  // An object of a kind kept in ObjectStores changed.
  virtual void ObjectsChanged(const Snapshot& snapshot) = 0;
};

}  // namespace v1
}  // namespace berth
