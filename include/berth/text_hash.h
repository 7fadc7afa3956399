// SPDX-License-Identifier: Apache-2.0
// TextHash: for tables whose keys others choose.
#pragma once

#include <cstddef>
#include <string_view>

namespace berth {
inline namespace v1 {

// For unordered containers keyed by names, labels or other texts of a cluster. It has a secret of this process: whoever
// writes objects cannot make keys that collide, which would turn the table into a list. It differs from one run to the
// next, so no answer may depend on the order of such a table.
// Thread safety: any thread.
struct TextHash {
  using is_transparent = void;  // with std::equal_to<>: tables of strings can be asked for a string_view
  size_t operator()(std::string_view text) const;
};

}  // namespace v1
}  // namespace berth
