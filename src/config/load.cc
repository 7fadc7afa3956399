// SPDX-License-Identifier: Apache-2.0
// Loading: documents out of text, apiVersion and kind, then decode, default, validate.
#include "config/load.h"

#include <string>
#include <utility>

#include "api/json_value.h"
#include "api/yaml.h"
#include "berth/value.h"
#include "config/decode.h"
#include "config/validate.h"

namespace berth::config {
namespace {

const char* TypeName(Value::Kind kind) {
  switch (kind) {
    case Value::Kind::kNull:
      return "null";
    case Value::Kind::kBool:
      return "a boolean";
    case Value::Kind::kNumber:
      return "a number";
    case Value::Kind::kString:
      return "a string";
    case Value::Kind::kArray:
      return "a list";
    case Value::Kind::kObject:
      return "an object";
  }
  return "";
}

// False: this is not a document we can read further. Nothing of it is shown then but what its kind and version claim to
// be: it may be a key, or anything else that was named by mistake.
bool CheckKind(const Value& document, std::vector<FieldError>& errors) {
  if (document.kind() != Value::Kind::kObject) {
    errors.push_back({"", "a " + std::string(kKind) + " must be an object, not " + TypeName(document.kind())});
    return false;
  }
  const std::string version = document.TextAt("apiVersion");
  const std::string kind = document.TextAt("kind");
  if (kind.empty()) errors.push_back({"kind", "Required value: must be " + Quote(kKind)});
  if (version.empty()) errors.push_back({"apiVersion", "Required value: must be " + Quote(kApiVersion)});
  if (kind.empty() || version.empty()) return false;
  if (version != kApiVersion || kind != kKind) {
    errors.push_back({"", "no kind " + Quote(kind) + " is registered for version " + Quote(version)});
    return false;
  }
  return true;
}

}  // namespace

namespace {
// A configuration is small; it does not need room for what aliases make of it.
constexpr size_t kConfigBudget = size_t{4} << 20;
}  // namespace

Loaded LoadConfiguration(std::string_view text, const Registry& registry, UnnamedPlugins unnamed,
                         const std::function<void(SchedulerConfiguration&)>& adjust) {
  Loaded loaded;
  Value document;
  int documents = 0;
  const Error error = ForEachDocument(
      text,
      [&](const std::string& json) {
        // kube-scheduler silently reads the first document only; a file that says more than is heard is refused here.
        if (++documents > 1) return Error("more than one document; a configuration file holds one");
        document = ParseJson(json, loaded.errors);
        return Error::Ok();
      },
      kConfigBudget);
  if (!error.ok()) {
    loaded.errors.push_back({"", error.text()});
    return loaded;
  }
  if (documents == 0) {
    loaded.errors.push_back({"", "empty configuration: apiVersion and kind are required"});
    return loaded;
  }
  if (!CheckKind(document, loaded.errors)) return loaded;
  Loaded read = LoadDocument(document, registry, unnamed, adjust);
  read.errors.insert(read.errors.begin(), loaded.errors.begin(), loaded.errors.end());
  return read;
}

Loaded LoadDocument(const Value& document, const Registry& registry, UnnamedPlugins unnamed,
                    const std::function<void(SchedulerConfiguration&)>& adjust) {
  Loaded loaded;
  loaded.config = Decode(document, loaded.errors, unnamed == UnnamedPlugins::kDefaults);
  if (adjust) adjust(loaded.config);
  Validate(loaded.config, registry, loaded.errors);
  return loaded;
}

SchedulerConfiguration DefaultConfiguration(const Registry&) {
  std::vector<FieldError> errors;  // an empty object has none
  return Decode(Value::Object(), errors);
}

}  // namespace berth::config
