// SPDX-License-Identifier: Apache-2.0
// What a plugin's answers depend on, the signature of a pod, and indexes a plugin may own. Declaring them is what lets
// answers be remembered and only the rows that changed be judged again; the default, "everything", is always right and
// never remembered. Remembering must never change a decision.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "berth/snapshot.h"

namespace berth {
inline namespace v1 {

// What lies outside the judged row, as counters that grow with every change.
using Epochs = uint32_t;
namespace epoch {
inline constexpr Epochs kNodeSet = 1 << 0,  // nodes come and go
    kImageSpread = 1 << 1,                  // on how many nodes an image is
    kOwnIndex = 1 << 2,                     // the plugin's own index
    kOtherRows = 1 << 3,                    // anything about other nodes and their pods, without an index
    kNodeLabels = 1 << 4,                   // any node's labels
    kSets = 1 << 9,                         // which set of taints, images or features an id stands for
    kAffinityPods = 1 << 10,                // placed pods that have pod (anti-)affinity
    kNamespaces = 1 << 5,
                        kWorkloads = 1 << 6,  // services, replication controllers, replica sets, stateful sets
    kDevices = 1 << 7,                        // resource claims and slices, device classes
    kVolumes = 1 << 8,                        // claims, volumes, storage classes, CSI objects, attachments
    kObjects = kNamespaces | kWorkloads | kDevices | kVolumes,
                        kUnrememberable = 1u << 31;  // a clock, randomness, the outside world
}  // namespace epoch

// The counters of `epochs` as one number, which changes whenever one of them does. Not for kOwnIndex, which the
// plugin's index has, nor for kUnrememberable.
uint64_t Stamp(const Snapshot& snapshot, Epochs epochs);

// What one answer depends on. For PreFilter and PreScore, which judge no row, only the epochs count.
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
  // Grows whenever an answer that reads the index may have changed.
  virtual uint64_t epoch() const { return 0; }
};

}  // namespace v1
}  // namespace berth
