// SPDX-License-Identifier: Apache-2.0
// What an untagged YAML scalar means, as go-yaml v2 (which kubectl uses) reads YAML 1.1.
#pragma once

#include <string>
#include <string_view>

namespace berth {

enum class ScalarKind : unsigned char { kNull, kBool, kInt, kFloat, kString };

struct Scalar {
  ScalarKind kind = ScalarKind::kString;
  // JSON text of a bool or number; for kString the text itself. Infinities and NaN have no JSON and an empty text.
  std::string json;
  // The scalar as a map key. Empty with `bad_key` when it cannot be one.
  std::string key;
  bool bad_key = false;
};

// A plain (unquoted, untagged) scalar.
Scalar ResolveScalar(std::string_view text);

}  // namespace berth
