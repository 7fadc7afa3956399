// SPDX-License-Identifier: Apache-2.0
// Small changes to documents in memory.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "berth/value.h"

namespace berth::bench {

// The object with one member replaced or added.
inline Value With(const Value& object, const std::string& key, Value value) {
  Value out = Value::Object();
  for (const auto& [name, old] : object.members())
    if (name != key) out.Set(name, old);
  out.Set(key, std::move(value));
  return out;
}

// The member; null when it is not there.
inline const Value& At(const Value& object, std::string_view key) {
  static const Value none;
  const Value* found = object.Find(key);
  return found ? *found : none;
}

}  // namespace berth::bench
