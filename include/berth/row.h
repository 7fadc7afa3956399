// SPDX-License-Identifier: Apache-2.0
// Rows and the groups of columns that a row has.
#pragma once

#include <cstdint>

namespace berth {
inline namespace v1 {

// The index of a node in every column. Rows are reused after a node is gone.
using Row = uint32_t;
inline constexpr Row kNoRow = 0xffffffffu;

// Column groups of one row: the change log says in these which columns changed, plugins say in them what an answer
// about the row depends on.
using RowFields = uint32_t;
namespace row_field {
inline constexpr RowFields kName = 1 << 0, kAllocatable = 1 << 1, kRequested = 1 << 2, kPodCount = 1 << 3,
                           kLabels = 1 << 4, kTaints = 1 << 5, kUnschedulable = 1 << 6, kImages = 1 << 7,
                           kFeatures = 1 << 8, kPorts = 1 << 9, kPods = 1 << 10, kNominated = 1 << 11,
                           kAnnotations = 1 << 12, kAll = (1 << 13) - 1;
}  // namespace row_field

}  // namespace v1
}  // namespace berth
