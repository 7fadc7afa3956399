// SPDX-License-Identifier: Apache-2.0
#include "client/wire_walk.h"

namespace berth::client::wire {

bool IsKind(Context& context, std::string_view found, std::string_view wanted) {
  if (found.empty() || found == wanted) return true;
  At at(context, "kind");
  context.Invalid(found, "must be " + std::string(wanted));
  return false;
}

bool HasKind(Context& context, const ProtoValue&, std::string_view envelope, std::string_view kind) {
  return IsKind(context, envelope, kind);
}

bool HasKind(Context& context, JsonValue value, std::string_view /*envelope*/, std::string_view kind) {
  simdjson::ondemand::json_type type;
  if (auto error = value.type().get(type)) return context.Broken(error), false;
  if (type != simdjson::ondemand::json_type::object) return context.WrongType("an object", value), false;
  if (IsEmptyObject(context, value)) return true;
  if (context.broken()) return false;
  simdjson::ondemand::object object;
  if (auto error = value.get_object().get(object)) return context.Broken(error), false;
  std::string found;
  JsonValue text;
  const auto error = object.find_field_unordered("kind").get(text);
  if (error != simdjson::NO_SUCH_FIELD) {
    if (error) return context.Broken(error), false;
    {
      At at(context, "kind");
      Read(context, text, found);
    }
    IsKind(context, found, kind);
  }
  bool filled = false;
  if (context.broken()) return false;
  if (auto failed = object.reset().get(filled)) return context.Broken(failed), false;
  return true;
}

}  // namespace berth::client::wire
