// SPDX-License-Identifier: Apache-2.0
// Value: construction, lookup and printing as JSON.
#include "berth/value.h"

#include <cassert>
#include <cstdio>

namespace berth {
inline namespace v1 {
namespace {

void AppendString(std::string_view text, std::string& out) {
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          char buffer[8];
          std::snprintf(buffer, sizeof buffer, "\\u%04x", static_cast<unsigned>(c));
          out += buffer;
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

void NewLine(int indent, int level, std::string& out) {
  if (indent <= 0) return;
  out += '\n';
  out.append(static_cast<size_t>(indent) * static_cast<size_t>(level), ' ');
}

void Append(const Value& value, int indent, int level, std::string& out) {
  switch (value.kind()) {
    case Value::Kind::kNull:
      out += "null";
      return;
    case Value::Kind::kBool:
      out += value.bool_value() ? "true" : "false";
      return;
    case Value::Kind::kNumber:
      out += value.text();
      return;
    case Value::Kind::kString:
      AppendString(value.text(), out);
      return;
    case Value::Kind::kArray: {
      out += '[';
      bool first = true;
      for (const Value& item : value.items()) {
        if (!first) out += ',';
        first = false;
        NewLine(indent, level + 1, out);
        Append(item, indent, level + 1, out);
      }
      if (!first) NewLine(indent, level, out);
      out += ']';
      return;
    }
    case Value::Kind::kObject: {
      out += '{';
      bool first = true;
      for (const auto& [key, member] : value.members()) {
        if (!first) out += ',';
        first = false;
        NewLine(indent, level + 1, out);
        AppendString(key, out);
        out += indent > 0 ? ": " : ":";
        Append(member, indent, level + 1, out);
      }
      if (!first) NewLine(indent, level, out);
      out += '}';
      return;
    }
  }
}

}  // namespace

Value Value::Bool(bool b) {
  Value value;
  value.kind_ = Kind::kBool;
  value.bool_ = b;
  return value;
}

Value Value::Int(int64_t n) { return Number(std::to_string(n)); }

Value Value::Number(std::string text) {
  Value value;
  value.kind_ = Kind::kNumber;
  value.text_ = std::move(text);
  return value;
}

Value Value::String(std::string text) {
  Value value;
  value.kind_ = Kind::kString;
  value.text_ = std::move(text);
  return value;
}

Value Value::Array(std::vector<Value> items) {
  Value value;
  value.kind_ = Kind::kArray;
  value.items_ = std::move(items);
  return value;
}

Value Value::Object(std::vector<Member> members) {
  Value value;
  value.kind_ = Kind::kObject;
  value.members_ = std::move(members);
  return value;
}

const Value* Value::Find(std::string_view key) const {
  for (const auto& [name, value] : members_) {
    if (name == key) return &value;
  }
  return nullptr;
}

std::string Value::TextAt(std::string_view key) const {
  const Value* value = Find(key);
  return value != nullptr && value->kind() == Kind::kString ? value->text() : "";
}

Value& Value::Set(std::string key, Value value) {
  assert(kind_ == Kind::kObject || kind_ == Kind::kNull);
  kind_ = Kind::kObject;
  members_.emplace_back(std::move(key), std::move(value));
  return *this;
}

Value& Value::Append(Value item) {
  assert(kind_ == Kind::kArray || kind_ == Kind::kNull);
  kind_ = Kind::kArray;
  items_.push_back(std::move(item));
  return *this;
}

std::string Value::ToJson(int indent) const {
  std::string out;
  v1::Append(*this, indent, 0, out);
  return out;
}

std::string Quote(std::string_view text) {
  std::string out;
  AppendString(text, out);
  return out;
}

}  // namespace v1
}  // namespace berth
