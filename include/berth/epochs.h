// SPDX-License-Identifier: Apache-2.0
// Epochs: the groups of what lies outside a row, in which plugins say what else an answer depends on.
#pragma once

#include <cstdint>

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
    kSets = 1 << 9,           // any node's set of taints, images or features, and which set an id stands for
    kAffinityPods = 1 << 10,  // placed pods that have pod (anti-)affinity
    kNamespaces = 1 << 5,
                        kWorkloads = 1 << 6,  // services, replication controllers, replica sets, stateful sets
    kDevices = 1 << 7,                        // resource claims and slices, device classes
    kVolumes = 1 << 8,                        // claims, volumes, storage classes, CSI objects, attachments
    kObjects = kNamespaces | kWorkloads | kDevices | kVolumes,
                        kUnrememberable = 1u << 31;  // a clock, randomness, the outside world
}  // namespace epoch

}  // namespace v1
}  // namespace berth
