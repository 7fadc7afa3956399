// SPDX-License-Identifier: Apache-2.0
// Pods and nodes inside other messages.
#include "api/decode_value.h"

#include "api/decode_internal.h"

namespace berth {
namespace {

template <class Container>
bool Raw(Context& context, Container container, std::string_view& text) {
  if (auto error = container.raw_json().get(text)) return context.Broken(error), false;
  bool filled = false;
  if (auto error = container.reset().get(filled)) return context.Broken(error), false;
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return true;
}

}  // namespace

Pod DecodePodValue(Context& context, JsonValue value) {
  DecodedPod decoded = DecodePod(context, value);
  decoded.pod.resources = ComputePodResources(decoded.pod);
  ShareLists(decoded.pod);
  return std::move(decoded.pod);
}

Node DecodeNodeValue(Context& context, JsonValue value) { return DecodeNode(context, value); }

bool RawText(Context& context, JsonValue value, std::string_view& text) {
  if (context.broken()) return false;
  simdjson::ondemand::json_type type;
  if (auto error = value.type().get(type)) return context.Broken(error), false;
  if (type == simdjson::ondemand::json_type::array) {
    simdjson::ondemand::array array;
    if (auto error = value.get_array().get(array)) return context.Broken(error), false;
    return Raw(context, array, text);
  }
  simdjson::ondemand::object object;
  if (auto error = value.get_object().get(object)) return context.Broken(error), false;
  return Raw(context, object, text);
}

}  // namespace berth
