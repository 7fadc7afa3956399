// SPDX-License-Identifier: Apache-2.0
// Reads pods and nodes that Go has written as JSON and as protobuf, and compares: both encodings have to give the same
// struct, and so do a list and an event of a watch with the object in it.
#include <string>
#include <string_view>
#include <vector>

#include "api/base64.h"
#include "api/decode.h"
#include "berth/value.h"
#include "client/wire.h"
#include "recorded/recordings.h"

namespace berth {
namespace {

using Differences = std::vector<std::string>;

void Differ(const ObjectMeta& json, const ObjectMeta& protobuf, Differences& out) {
  const auto compare = [&](const char* what, const auto& a, const auto& b) {
    if (a != b) out.push_back(std::string("metadata.") + what);
  };
  compare("name", json.name, protobuf.name);
  compare("namespace", json.namespace_, protobuf.namespace_);
  compare("uid", json.uid, protobuf.uid);
  compare("resourceVersion", json.resource_version, protobuf.resource_version);
  compare("generation", json.generation, protobuf.generation);
  compare("labels", json.labels, protobuf.labels);
  compare("annotations", json.annotations, protobuf.annotations);
  compare("creationTimestamp", json.creation_time, protobuf.creation_time);
  compare("deletionTimestamp", json.deletion_time, protobuf.deletion_time);
  compare("ownerReferences", json.owners, protobuf.owners);
}

// Which parts differ; the last line holds whatever is not listed.
Differences Differ(const Pod& json, const Pod& protobuf) {
  Differences out;
  Differ(json.meta, protobuf.meta, out);
  const auto compare = [&](const char* what, const auto& a, const auto& b) {
    if (a != b) out.emplace_back(what);
  };
  compare("schedulerName", json.scheduler_name, protobuf.scheduler_name);
  compare("nodeName", json.node_name, protobuf.node_name);
  compare("priority", json.priority, protobuf.priority);
  compare("preemptionPolicy", json.preemption_policy, protobuf.preemption_policy);
  compare("nodeSelector", json.node_selector, protobuf.node_selector);
  compare("affinity", json.affinity, protobuf.affinity);
  compare("tolerations", json.tolerations, protobuf.tolerations);
  compare("topologySpreadConstraints", json.topology_spread, protobuf.topology_spread);
  compare("containers", json.containers, protobuf.containers);
  compare("initContainers", json.init_containers, protobuf.init_containers);
  compare("overhead", json.overhead, protobuf.overhead);
  compare("resources.requests", json.pod_requests, protobuf.pod_requests);
  compare("schedulingGates", json.scheduling_gates, protobuf.scheduling_gates);
  compare("volumes", json.volumes, protobuf.volumes);
  compare("resourceClaims", json.resource_claims, protobuf.resource_claims);
  compare("hostUsers", json.host_users, protobuf.host_users);
  compare("status.phase", json.phase, protobuf.phase);
  compare("status.startTime", json.start_time, protobuf.start_time);
  compare("status.conditions", json.conditions, protobuf.conditions);
  compare("status.containerStatuses", json.container_statuses, protobuf.container_statuses);
  compare("status.initContainerStatuses", json.init_container_statuses, protobuf.init_container_statuses);
  compare("status.resources", json.status_requests, protobuf.status_requests);
  if (json != protobuf) out.emplace_back("the pod as a whole");
  return out;
}

Differences Differ(const Node& json, const Node& protobuf) {
  Differences out;
  Differ(json.meta, protobuf.meta, out);
  const auto compare = [&](const char* what, const auto& a, const auto& b) {
    if (a != b) out.emplace_back(what);
  };
  compare("taints", json.taints, protobuf.taints);
  compare("allocatable", json.allocatable, protobuf.allocatable);
  compare("images", json.images, protobuf.images);
  compare("declaredFeatures", json.declared_features, protobuf.declared_features);
  compare("conditions", json.conditions, protobuf.conditions);
  if (json != protobuf) out.emplace_back("the node as a whole");
  return out;
}

Differences Differ(const ClusterObject& json, const ClusterObject& protobuf) {
  if (const auto* pod = std::get_if<Ptr<Pod>>(&json)) return Differ(**pod, *std::get<Ptr<Pod>>(protobuf));
  return Differ(*std::get<Ptr<Node>>(json), *std::get<Ptr<Node>>(protobuf));
}

Differences Prefixed(const std::string& where, Differences list) {
  for (std::string& one : list) one.insert(0, where + ": ");
  return list;
}

Differences Check(const Value& recording) {
  using client::Encoding;
  const auto bytes = [&](const char* field) {
    const Value* value = recording.Find(field);
    return value ? DecodeBase64(value->text()).value() : std::string();
  };
  static const AnnotationKeys keep{{"kept", "größe"}, {"kept", "größe"}};
  const Kind kind = FindKind(recording.Find("kind")->text()).value();
  DecodedObject json = DecodeObject(recording.Find("json")->text(), DecodeMode::kPeer, keep);
  if (!json.errors.empty()) return {"JSON: " + json.errors.front().Text()};
  DecodedObject protobuf = DecodeProtobuf(bytes("protobuf"), keep);
  if (!protobuf.errors.empty()) return {"protobuf: " + protobuf.errors.front().Text()};
  if (json.kind != protobuf.kind || json.api_version != protobuf.api_version) return {"kind or apiVersion"};
  const ClusterObject wanted = ToClusterObject(std::move(json.object)).value();
  Differences out = Differ(wanted, ToClusterObject(std::move(protobuf.object)).value());
  if (!out.empty()) return out;

  if (std::string list = bytes("list"); !list.empty()) {
    const Result<client::ListPage> page = client::ReadListPage(list, Encoding::kProtobuf, kind, keep);
    if (!page.ok()) return {"list: " + page.error().text()};
    if (page->resource_version != "17" || page->objects.size() != 1 || !page->warnings.empty()) return {"list"};
    out = Prefixed("list", Differ(wanted, page->objects.front()));
  }
  if (const std::string frame = bytes("frame"); !frame.empty()) {
    const Result<client::WatchLine> line = client::ReadWatchFrame(std::string_view(frame).substr(4), kind, keep);
    if (!line.ok()) return {"frame: " + line.error().text()};
    if (!line->event || !line->event->object || line->event->type != client::WatchEvent::Type::kModified)
      return {"frame: " + line->warning};
    out = Prefixed("frame", Differ(wanted, *line->event->object));
  }
  return out;
}

}  // namespace
}  // namespace berth

int main(int argc, char** argv) {
  return berth::recorded::Run(argc, argv, {"object", "name", {"kind", "json", "protobuf"}}, berth::Check);
}
