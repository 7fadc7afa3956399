// SPDX-License-Identifier: Apache-2.0
// Hashing of what others choose: names, labels, texts of requests. Who does not know the secret of this process cannot
// make keys that collide, which would turn a table into a list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace berth {

// Differ from one run to the next: nothing that anybody sees may depend on them, nor on the order of a table that is
// built with them. Thread safety: any thread.
uint64_t SecretHash64(std::string_view bytes);

struct Hash128 {
  uint64_t high = 0, low = 0;
  bool operator==(const Hash128&) const = default;
};
Hash128 SecretHash128(std::string_view bytes);

// For unordered containers keyed by string that are looked up by string_view.
struct SecretStringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return static_cast<size_t>(SecretHash64(text)); }
};

}  // namespace berth
