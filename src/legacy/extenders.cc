// SPDX-License-Identifier: Apache-2.0
// Upstream: K/config/v1/types.go of 1.18 and 1.22 (Extender.UnmarshalJSON, LegacyExtender).
#include "legacy/extenders.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

namespace berth::legacy {
namespace {

bool SameButForCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

const std::vector<std::string_view>& Keys() {
  static const std::vector<std::string_view> kKeys = {"urlPrefix",        "filterVerb",  "preemptVerb",
                                                      "prioritizeVerb",   "weight",      "bindVerb",
                                                      "enableHTTPS",      "tlsConfig",   "insecure",
                                                      "serverName",       "certFile",    "keyFile",
                                                      "caFile",           "certData",    "keyData",
                                                      "caData",           "httpTimeout", "nodeCacheCapable",
                                                      "managedResources", "name",        "ignoredByScheduler",
                                                      "ignorable"};
  return kKeys;
}

constexpr std::array<std::string_view, 12> kFields = {
    "urlPrefix",   "filterVerb", "preemptVerb", "prioritizeVerb",   "weight",           "bindVerb",
    "enableHTTPS", "tlsConfig",  "httpTimeout", "nodeCacheCapable", "managedResources", "ignorable"};
constexpr std::array<std::string_view, 8> kTlsFields = {"insecure", "serverName", "certFile", "keyFile",
                                                        "caFile",   "certData",   "keyData",  "caData"};
constexpr std::array<std::string_view, 2> kResourceFields = {"name", "ignoredByScheduler"};

// Without what v1 does not know, which the draft is told of.
template <size_t N>
Value Known(const Value& object, const std::array<std::string_view, N>& fields, const std::string& path, Draft& draft) {
  if (object.kind() != Value::Kind::kObject) return object;
  Value kept = Value::Object();
  for (const auto& [key, value] : object.members()) {
    if (std::ranges::find(fields, key) != fields.end()) {
      kept.Set(key, value);
    } else {
      draft.Take({{Join(path, key), "unknown field " + Value::String(key).ToJson()}});
    }
  }
  return kept;
}

// Nanoseconds as a duration; anything else as it is.
Value Timeout(const Value& value, const std::string& path, Draft& draft) {
  if (value.kind() != Value::Kind::kNumber) return value;
  int64_t ns = 0;
  const std::string& text = value.text();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ns);
  if (error != std::errc() || end != text.data() + text.size()) {
    draft.Invalid(path, text, "must be a whole number of nanoseconds, or a duration such as \"10s\"");
    return Value();
  }
  if (ns == 0) return Value();
  Value written = Value::String(FormatDuration({ns}));
  draft.Remark(Fate::kChanged, path, path,
               text + " nanoseconds. " + TextOf(RowKind::kField, "extenders[].httpTimeout"));
  return written;
}

Value ConvertOne(const Value& extender, const std::string& path, bool any_case, Draft& draft) {
  if (extender.kind() != Value::Kind::kObject) return extender;
  const Value spelled = any_case ? SpellKeys(extender, Keys()) : extender;
  Value renamed = Value::Object();
  for (const auto& [key, value] : spelled.members()) {
    const std::string name = key == "enableHttps" ? "enableHTTPS" : key;
    if (renamed.Find(name) != nullptr) {
      draft.Refuse(Join(path, key), "duplicate field " + Value::String(name).ToJson());
      continue;
    }
    renamed.Set(name, value);
  }
  const Value known = Known(renamed, kFields, path, draft);
  Value made = Value::Object();
  for (const auto& [key, value] : known.members()) {
    const std::string field = Join(path, key);
    if (value.is_null()) continue;
    // What is not set is not written; nor what v1 does not write either.
    const bool empty = (value.kind() == Value::Kind::kString && value.text().empty()) ||
                       (value.kind() == Value::Kind::kBool && !value.bool_value());
    if (empty && key != "urlPrefix") continue;
    if (key == "tlsConfig") {
      made.Set(key, Known(value, kTlsFields, field, draft));
    } else if (key == "managedResources" && value.kind() == Value::Kind::kArray) {
      Value list = Value::Array();
      for (size_t i = 0; i < value.items().size(); ++i)
        list.Append(Known(value.items()[i], kResourceFields, field + "[" + std::to_string(i) + "]", draft));
      made.Set(key, std::move(list));
    } else if (key == "httpTimeout") {
      Value timeout = Timeout(value, field, draft);
      if (!timeout.is_null()) made.Set(key, std::move(timeout));
    } else {
      made.Set(key, value);
    }
  }
  return made;
}

}  // namespace

Value SpellKeys(const Value& value, const std::vector<std::string_view>& keys) {
  if (value.kind() == Value::Kind::kArray) {
    Value list = Value::Array();
    for (const Value& item : value.items()) list.Append(SpellKeys(item, keys));
    return list;
  }
  if (value.kind() != Value::Kind::kObject) return value;
  Value object = Value::Object();
  for (const auto& member : value.members()) {
    const std::string& key = member.first;
    const auto at = std::ranges::find_if(keys, [&](std::string_view one) { return SameButForCase(one, key); });
    object.Set(at == keys.end() ? key : std::string(*at), SpellKeys(member.second, keys));
  }
  return object;
}

Value ConvertExtenders(const Value& list, Draft& draft) {
  if (list.is_null()) return Value();
  if (list.kind() != Value::Kind::kArray) {
    const bool object = list.kind() == Value::Kind::kObject;
    draft.Refuse("extenders", object ? "Invalid value: must be a list, not an object"
                                     : "Invalid value: " + list.ToJson() + ": must be a list");
    return Value();
  }
  if (list.items().empty()) return Value();
  const bool any_case = draft.version() == Version::kPolicy || draft.version() == Version::kV1alpha2;
  Value made = Value::Array();
  for (size_t i = 0; i < list.items().size(); ++i) {
    const std::string path = "extenders[" + std::to_string(i) + "]";
    made.Append(ConvertOne(list.items()[i], path, any_case, draft));
    draft.ComesFrom(path, path);
  }
  return made;
}

}  // namespace berth::legacy
