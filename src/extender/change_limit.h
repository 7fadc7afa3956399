// SPDX-License-Identifier: Apache-2.0
// MaxChanges: when a copy of a cluster is built anew.
#pragma once

#include <cstddef>

namespace berth::extender {

// A copy of `nodes` nodes that was changed more often than this is given up or built anew, so that what it interned for
// nodes that are gone is freed.
inline size_t MaxChanges(size_t nodes) { return 10'000 + 32 * nodes; }

}  // namespace berth::extender
