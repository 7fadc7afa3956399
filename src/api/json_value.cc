// SPDX-License-Identifier: Apache-2.0
// JSON text into a Value, by way of simdjson's on-demand reader.
#include "api/json_value.h"

#include <simdjson.h>

#include <set>
#include <string_view>
#include <utility>

namespace berth {
namespace {

using simdjson::ondemand::json_type;

// Nothing deeper is read; the text has been checked against a smaller limit when it was split into documents.
constexpr int kMaxDepth = 1000;

// A number may be followed by what separates it from the next value.
std::string_view WithoutTrailingBlanks(std::string_view text) {
  const size_t end = text.find_last_not_of(" \t\r\n");
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end + 1);
}

class Reader {
 public:
  explicit Reader(std::vector<FieldError>& errors) : errors_(errors) {}

  // Works on a simdjson document and on the values in it alike.
  template <class Json>
  Value Read(Json json, const std::string& path, int depth) {
    json_type type;
    if (depth > kMaxDepth) return Broken(simdjson::DEPTH_ERROR, path);
    if (const auto error = json.type().get(type)) return Broken(error, path);
    switch (type) {
      case json_type::null: {
        bool is_null = false;
        if (const auto error = simdjson::simdjson_result<bool>(json.is_null()).get(is_null)) return Broken(error, path);
        return Value();
      }
      case json_type::boolean: {
        bool value = false;
        if (const auto error = json.get_bool().get(value)) return Broken(error, path);
        return Value::Bool(value);
      }
      case json_type::number: {
        std::string_view token;
        if (const auto error = simdjson::simdjson_result<std::string_view>(json.raw_json_token()).get(token)) {
          return Broken(error, path);
        }
        return Value::Number(std::string(WithoutTrailingBlanks(token)));
      }
      case json_type::string: {
        std::string_view text;
        if (const auto error = json.get_string().get(text)) return Broken(error, path);
        return Value::String(std::string(text));
      }
      case json_type::array:
        return ReadArray(json, path, depth);
      case json_type::object:
        return ReadObject(json, path, depth);
    }
    return Value();
  }

 private:
  template <class Json>
  Value ReadArray(Json& json, const std::string& path, int depth) {
    simdjson::ondemand::array array;
    if (const auto error = json.get_array().get(array)) return Broken(error, path);
    Value result = Value::Array();
    size_t index = 0;
    for (auto item : array) {
      simdjson::ondemand::value value;
      const std::string item_path = path + "[" + std::to_string(index++) + "]";
      if (const auto error = item.get(value)) return Broken(error, item_path);
      result.Append(Read<simdjson::ondemand::value&>(value, item_path, depth + 1));
      if (broken_) break;
    }
    return result;
  }

  template <class Json>
  Value ReadObject(Json& json, const std::string& path, int depth) {
    simdjson::ondemand::object object;
    if (const auto error = json.get_object().get(object)) return Broken(error, path);
    Value result = Value::Object();
    std::set<std::string> seen;
    for (auto field : object) {
      std::string_view name;
      simdjson::ondemand::value value;
      if (const auto error = field.unescaped_key().get(name)) return Broken(error, path);
      std::string key(name);
      const std::string key_path = path.empty() ? key : path + "." + key;
      if (const auto error = field.value().get(value)) return Broken(error, key_path);
      Value member = Read<simdjson::ondemand::value&>(value, key_path, depth + 1);
      if (broken_) break;
      if (!seen.insert(key).second) {
        errors_.push_back({key_path, "duplicate field " + Value::String(key).ToJson()});
      } else {
        result.Set(std::move(key), std::move(member));
      }
    }
    return result;
  }

  Value Broken(simdjson::error_code error, const std::string& path) {
    if (!broken_) errors_.push_back({path, std::string("not JSON: ") + simdjson::error_message(error)});
    broken_ = true;
    return Value();
  }

  std::vector<FieldError>& errors_;
  bool broken_ = false;
};

}  // namespace

Value ParseJson(const std::string& json, std::vector<FieldError>& errors) {
  const simdjson::padded_string padded(json);
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  if (const auto error = parser.iterate(padded).get(document)) {
    errors.push_back({"", std::string("not JSON: ") + simdjson::error_message(error)});
    return Value();
  }
  return Reader(errors).Read<simdjson::ondemand::document&>(document, "", 0);
}

}  // namespace berth
