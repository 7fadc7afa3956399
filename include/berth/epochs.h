// SPDX-License-Identifier: Apache-2.0
// Epochs: the groups of what lies outside a row, in which plugins say what else an answer depends on.
#pragma once

#include <cstdint>

namespace berth {
inline namespace v1 {

// What lies outside the judged row, as counters that grow with every change.
using Epochs = uint32_t;
namespace epoch {
inline constexpr Epochs kNodeSet = 1 << 0;      // nodes come and go
inline constexpr Epochs kImageSpread = 1 << 1;  // on how many nodes an image is
inline constexpr Epochs kOwnIndex = 1 << 2;     // the plugin's own index
inline constexpr Epochs kOtherRows = 1 << 3;    // anything about other nodes and their pods, without an index
inline constexpr Epochs kNodeLabels = 1 << 4;   // any node's labels
inline constexpr Epochs kNamespaces = 1 << 5;   // namespaces and their labels
inline constexpr Epochs kWorkloads = 1 << 6;    // services, replication controllers, replica sets, stateful sets
inline constexpr Epochs kDevices = 1 << 7;      // resource claims and slices, device classes
inline constexpr Epochs kVolumes = 1 << 8;      // claims, volumes, storage classes, CSI objects, attachments
inline constexpr Epochs kSets = 1 << 9;         // any node's taints, images or features, and which set an id stands for
inline constexpr Epochs kAffinityPods = 1 << 10;  // placed pods that have pod (anti-)affinity
inline constexpr Epochs kBudgets = 1 << 11;       // pod disruption budgets
inline constexpr Epochs kObjects = kNamespaces | kWorkloads | kDevices | kVolumes | kBudgets;
// A clock, randomness, which nodes the filters have left, the outside world. Objects that are read all the same are to
// be named besides: a scheduler does not watch what nobody names.
inline constexpr Epochs kUnrememberable = 1u << 31;
inline constexpr Epochs kAnything = kUnrememberable | 1u << 30;  // that, and any object there is
}  // namespace epoch

}  // namespace v1
}  // namespace berth
