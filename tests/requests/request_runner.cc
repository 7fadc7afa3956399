// SPDX-License-Identifier: Apache-2.0
// Reads requests to an extender that Go's encoding/json has read before, and compares: whether they are taken, and what
// is in them. What is known to be read in another way is listed in COMPATIBILITY.md; the recording names it.
#include <algorithm>
#include <array>
#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "berth/value.h"
#include "extender/extender_args.h"
#include "extender/node_cache.h"
#include "recorded/recordings.h"

namespace berth {
namespace {

using namespace extender;  // the file is about nothing else

std::string FromBase64(std::string_view text) {
  std::string bytes;
  uint32_t bits = 0;
  int have = 0;
  for (const char c : text) {
    constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) break;  // the padding
    bits = bits << 6 | static_cast<uint32_t>(digit);
    have += 6;
    if (have < 8) continue;
    have -= 8;
    bytes += static_cast<char>(bits >> have & 0xff);
  }
  return bytes;
}

Value ToValue(const Labels& labels) {
  Value object = Value::Object();
  for (const auto& [key, value] : labels) object.Set(key, Value::String(value));
  return object;
}

Value ToValue(const std::optional<Pod>& pod) {
  if (!pod) return {};
  Value object = Value::Object();
  object.Set("namespace", Value::String(pod->meta.namespace_));
  object.Set("name", Value::String(pod->name()));
  object.Set("uid", Value::String(pod->uid()));
  object.Set("scheduler", Value::String(pod->scheduler_name));
  object.Set("labels", ToValue(pod->meta.labels));
  return object;
}

Value ToValue(const Node& node) {
  Value object = Value::Object();
  object.Set("name", Value::String(node.name()));
  object.Set("uid", Value::String(node.meta.uid));
  object.Set("unschedulable", Value::Bool(node.unschedulable));
  object.Set("labels", ToValue(node.meta.labels));
  Value taints = Value::Array();
  for (const Taint& taint : node.taints) {
    Value entry = Value::Object();
    entry.Set("key", Value::String(taint.key));
    entry.Set("value", Value::String(taint.value));
    taints.Append(std::move(entry));
  }
  object.Set("taints", std::move(taints));
  object.Set("pods", Value::Number(std::to_string(node.allocatable.pods)));
  return object;
}

Value ToValue(const std::optional<std::vector<std::string>>& texts) {
  if (!texts) return {};
  Value array = Value::Array();
  for (const std::string& text : *texts) array.Append(Value::String(text));
  return array;
}

Value ToValue(const std::optional<VictimMap>& map) {
  if (!map) return {};
  Value object = Value::Object();
  for (const auto& [node, victims] : *map) {
    Value entry = Value::Object();
    entry.Set("uids", ToValue(victims.uids));
    entry.Set("pdb", Value::Number(std::to_string(victims.pdb_violations)));
    object.Set(node, std::move(entry));
  }
  return object;
}

// What was read, in the form of the recording; or the error.
Result<Value> ReadMessage(std::string_view message, std::string body, NodeCache* cache) {
  Value object = Value::Object();
  if (message == "args") {
    const Result<ExtenderArgs> args = DecodeExtenderArgs(body, cache);
    if (!args.ok()) return args.error();
    object.Set("pod", ToValue(args->pod));
    Value nodes;
    if (args->nodes) {
      nodes = Value::Array();
      for (const RequestNode& node : *args->nodes) nodes.Append(ToValue(*node.node));
    }
    object.Set("nodes", std::move(nodes));
    object.Set("names", ToValue(args->node_names));
  } else if (message == "preemption") {
    const Result<ExtenderPreemptionArgs> args = DecodePreemptionArgs(body);
    if (!args.ok()) return args.error();
    object.Set("pod", ToValue(args->pod));
    object.Set("victims", ToValue(args->victims));
    object.Set("meta", ToValue(args->meta_victims));
  } else {
    const Result<ExtenderBindingArgs> args = DecodeBindingArgs(body);
    if (!args.ok()) return args.error();
    object.Set("name", Value::String(args->pod_name));
    object.Set("namespace", Value::String(args->pod_namespace));
    object.Set("uid", Value::String(args->pod_uid));
    object.Set("node", Value::String(args->node));
  }
  return object;
}

// Fields whose types we check as Go does; of others, only that they are JSON.
bool TypeIsChecked(std::string_view field) {
  if (field.find('.') == std::string_view::npos) return true;  // the message's own
  constexpr std::array kPrefixes = {"NodeNameToMetaVictims."};
  constexpr std::array kEnds = {"NodeNames",
                                "Nodes.items",
                                ".Pods",
                                ".NumPDBViolations",
                                ".UID",
                                "items.metadata.labels",
                                "Pod.metadata.labels",
                                "items.spec.unschedulable",
                                "items.spec.taints",
                                "Pod.metadata.name",
                                "items.metadata.name",
                                ".metadata.uid",
                                "Pod.spec.schedulerName",
                                "Pod.spec.priority"};
  // A victim's own parts are not looked at, but for its uid.
  if (field.starts_with("NodeNameToVictims.") && field.find(".metadata.uid") == std::string_view::npos &&
      !field.ends_with(".Pods") && !field.ends_with(".NumPDBViolations")) {
    return false;
  }
  return std::any_of(kPrefixes.begin(), kPrefixes.end(), [&](const char* text) { return field.starts_with(text); }) ||
         std::any_of(kEnds.begin(), kEnds.end(), [&](const char* text) { return field.ends_with(text); });
}

std::vector<std::string> Check(const Value& recording) {
  const auto text = [&](const char* field) {
    const Value* value = recording.Find(field);
    return value ? value->text() : std::string();
  };
  const std::string body = recording.Find("body64") ? FromBase64(text("body64")) : text("body");
  const Result<Value> ours = ReadMessage(text("message"), body, nullptr);
  // Once to fill a cache, once from it; the cache outlives the recording, so that nodes are met again.
  static NodeCache cache;
  for (int round = 0; round < 2; ++round) {
    const Result<Value> cached = ReadMessage(text("message"), body, &cache);
    if (cached.ok() != ours.ok() ||
        (ours.ok() ? cached->ToJson() != ours->ToJson() : cached.error().text() != ours.error().text())) {
      return {"read with a cache, it is another"};
    }
  }
  const std::vector<std::string> apart = recorded::Strings(recording, "apart");
  const auto is = [&](const char* name) { return std::find(apart.begin(), apart.end(), name) != apart.end(); };
  const std::string go = text("go");

  if (go == "syntax") {
    if (ours.ok()) return {"taken, though it is no JSON"};
    return {};
  }
  // Refused by us alone: text that is no Unicode, null as a request, too deep.
  if (!ours.ok() && (is("text") || is("null") || is("deep"))) return {};
  // Read in another way: the rest of a request with such a part cannot be compared.
  if (is("merge") || is("case") || is("escape")) return {};
  if (go == "type" || go == "value") {
    if (ours.ok() && go == "type" && TypeIsChecked(text("field"))) {
      return {"taken, though " + text("field") + " has a wrong type"};
    }
    return {};
  }
  if (!ours.ok()) return {"refused: " + ours.error().text()};
  const Value* theirs = recording.Find("read");
  if (theirs == nullptr) return {"the recording does not say what was read"};
  if (ours->ToJson() == theirs->ToJson()) return {};
  return {"ours: " + ours->ToJson(), "Go's: " + theirs->ToJson()};
}

}  // namespace
}  // namespace berth

int main(int argc, char** argv) {
  return berth::recorded::Run(argc, argv, {"request", "name", {"message", "go"}}, berth::Check);
}
