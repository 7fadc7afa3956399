// SPDX-License-Identifier: Apache-2.0
#include "extender_client/extender_request.h"

#include <map>

#include "api/json_scan.h"
#include "api/source_text.h"
#include "berth/resources.h"
#include "berth/value.h"

namespace berth::extender_client {
namespace {

void AddText(std::string_view text, std::string& out) { AppendJsonString(text, out); }

Value MetaValue(const ObjectMeta& meta) {
  Value out = Value::Object();
  const auto set = [&](const char* key, const std::string& text) {
    if (!text.empty()) out.Set(key, Value::String(text));
  };
  set("name", meta.name);
  set("namespace", meta.namespace_);
  set("uid", meta.uid);
  set("resourceVersion", meta.resource_version);
  const auto add = [&](const char* key, const Labels& labels) {
    if (labels.begin() == labels.end()) return;
    Value map = Value::Object();
    for (const auto& [name, text] : labels) map.Set(name, Value::String(text));
    out.Set(key, std::move(map));
  };
  add("labels", meta.labels);
  add("annotations", meta.annotations);
  return out;
}

Value ResourcesValue(const ResourceList& list) {
  Value out = Value::Object();
  for (const auto& [id, quantity] : list) out.Set(ResourceName(id), Value::String(quantity.ToString()));
  return out;
}

Value ContainersValue(const List<Container>& containers) {
  Value out = Value::Array();
  for (const Container& container : containers) {
    Value resources = Value::Object();
    if (!container.requests.empty()) resources.Set("requests", ResourcesValue(container.requests));
    if (!container.limits.empty()) resources.Set("limits", ResourcesValue(container.limits));
    Value one = Value::Object({{"name", Value::String(container.name)}});
    if (!container.image.empty()) one.Set("image", Value::String(container.image));
    one.Set("resources", std::move(resources));
    out.Append(std::move(one));
  }
  return out;
}

// What a scheduler knows of a pod.
std::string PodJson(const Pod& pod) {
  Value spec = Value::Object();
  if (!pod.init_containers.empty()) spec.Set("initContainers", ContainersValue(pod.init_containers));
  spec.Set("containers", ContainersValue(pod.containers));
  if (!pod.node_name.empty()) spec.Set("nodeName", Value::String(pod.node_name));
  spec.Set("schedulerName", Value::String(pod.scheduler_name));
  spec.Set("priority", Value::Int(pod.priority));
  if (!pod.priority_class_name.empty()) spec.Set("priorityClassName", Value::String(pod.priority_class_name));
  Value status = Value::Object();
  if (!pod.phase.empty()) status.Set("phase", Value::String(pod.phase));
  if (!pod.nominated_node_name.empty()) status.Set("nominatedNodeName", Value::String(pod.nominated_node_name));
  Value out = Value::Object({{"metadata", MetaValue(pod.meta)}});
  out.Set("spec", std::move(spec));
  out.Set("status", std::move(status));
  return out.ToJson();
}

std::string NodeJson(const Node& node) {
  Value spec = Value::Object();
  if (node.unschedulable) spec.Set("unschedulable", Value::Bool(true));
  const Resources& has = node.allocatable;
  Value amounts = Value::Object();
  amounts.Set("cpu", Value::String(std::to_string(has.milli_cpu) + "m"));
  amounts.Set("memory", Value::String(std::to_string(has.memory)));
  amounts.Set("ephemeral-storage", Value::String(std::to_string(has.ephemeral_storage)));
  amounts.Set("pods", Value::String(std::to_string(has.pods)));
  for (const auto& [id, amount] : has.scalars) amounts.Set(ResourceName(id), Value::String(std::to_string(amount)));
  Value status = Value::Object();
  status.Set("capacity", amounts);
  status.Set("allocatable", std::move(amounts));
  Value out = Value::Object({{"metadata", MetaValue(node.meta)}});
  out.Set("spec", std::move(spec));
  out.Set("status", std::move(status));
  return out.ToJson();
}

std::string NamesJson(const framework::AskedNodes& nodes) {
  std::string out;
  size_t size = 2;
  for (const auto& node : nodes) size += node->name().size() + 3;
  out.reserve(size);
  for (const auto& node : nodes) {
    out += out.empty() ? '[' : ',';
    AddText(node->name(), out);
  }
  if (out.empty()) out = '[';
  out += ']';
  return out;
}

}  // namespace

std::string JsonOf(const std::shared_ptr<const Pod>& pod) {
  const std::string* source = SourceOf(pod);
  return source ? *source : PodJson(*pod);
}

std::string JsonOf(const std::shared_ptr<const Node>& node) {
  const std::string* source = SourceOf(node);
  return source ? *source : NodeJson(*node);
}

std::string ExtenderArgsJson(std::string_view pod, const framework::Extender::Nodes& nodes, bool names) {
  std::string out = "{\"Pod\":";
  if (names) {
    const std::string& list = nodes.Names(NamesJson);
    out.reserve(pod.size() + list.size() + 100);
    out += pod;
    out += ",\"Nodes\":null,\"NodeNames\":";
    out += list;
    return out += '}';
  }
  size_t size = pod.size() + 100;
  for (const auto& node : nodes)
    if (const std::string* source = SourceOf(node)) size += source->size() + 1;
  out.reserve(size);
  out += pod;
  out += ",\"Nodes\":{\"metadata\":{},\"items\":[";
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (i > 0) out += ',';
    const std::string* source = SourceOf(nodes[i]);  // without a copy: they are many, and long
    out += source ? *source : NodeJson(*nodes[i]);
  }
  return out += "]},\"NodeNames\":null}";
}

std::string PreemptionArgsJson(std::string_view pod, const std::vector<PreemptionCandidate>& candidates, bool uids) {
  std::map<std::string_view, const PreemptionCandidate*> sorted;  // as Go writes maps
  for (const PreemptionCandidate& candidate : candidates) sorted.emplace(candidate.node, &candidate);
  std::string map = "{";
  for (const auto& [node, candidate] : sorted) {
    if (map.size() > 1) map += ',';
    AddText(node, map);
    map += ":{\"Pods\":[";
    for (size_t i = 0; i < candidate->victims.size(); ++i) {
      if (i > 0) map += ',';
      if (uids) {
        map += "{\"UID\":";
        AddText(candidate->victims[i]->uid(), map);
        map += '}';
      } else {
        map += JsonOf(candidate->victims[i]);
      }
    }
    map += "],\"NumPDBViolations\":" + std::to_string(candidate->pdb_violations) + "}";
  }
  map += '}';
  std::string out = "{\"Pod\":";
  out += pod;
  out += ",\"NodeNameToVictims\":";
  out += uids ? "null" : map;
  out += ",\"NodeNameToMetaVictims\":";
  out += uids ? map : "null";
  return out += '}';
}

std::string BindingArgsJson(const Pod& pod, std::string_view node) {
  std::string out;
  const auto add = [&](const char* key, std::string_view text) {
    out += out.empty() ? "{\"" : ",\"";
    out += key;
    out += "\":";
    AddText(text, out);
  };
  add("PodName", pod.name());
  add("PodNamespace", pod.namespace_());
  add("PodUID", pod.uid());
  add("Node", node);
  return out += '}';
}

}  // namespace berth::extender_client
