// SPDX-License-Identifier: Apache-2.0
// Value: a small JSON document in memory, for configuration and plugin arguments. Cluster objects never pass through
// it; they are decoded straight into structs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/error.h"

namespace berth {
inline namespace v1 {

class Value {
 public:
  enum class Kind : uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };
  using Member = std::pair<std::string, Value>;

  Value() = default;
  static Value Bool(bool b);
  static Value Int(int64_t n);
  // A number as written, e.g. "1.5e3"; REQUIRES: valid JSON number.
  static Value Number(std::string text);
  static Value String(std::string text);
  static Value Array(std::vector<Value> items = {});
  static Value Object(std::vector<Member> members = {});

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::kNull; }
  bool bool_value() const { return bool_; }
  // The string, or a number's text.
  const std::string& text() const { return text_; }
  const std::vector<Value>& items() const { return items_; }
  const std::vector<Member>& members() const { return members_; }  // in the order written
  // The member's value; null when absent or not an object.
  const Value* Find(std::string_view key) const;
  // Of that member; empty when there is none, or it is not a string.
  std::string TextAt(std::string_view key) const;
  // Appends a member (no check for duplicates) or an item.
  Value& Set(std::string key, Value value);
  Value& Append(Value item);
  // Compact JSON, or indented by `indent` spaces per level.
  std::string ToJson(int indent = 0) const;
  bool operator==(const Value&) const = default;

 private:
  Kind kind_ = Kind::kNull;
  bool bool_ = false;
  std::string text_;
  std::vector<Value> items_;
  std::vector<Member> members_;
};

// The text in quotes, as Kubernetes shows a bad value.
std::string Quote(std::string_view text);

}  // namespace v1
}  // namespace berth
