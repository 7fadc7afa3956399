// SPDX-License-Identifier: Apache-2.0
// Objects made up.
#include "conform/samples.h"

#include <cstdio>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "api/json_value.h"
#include "berth/value.h"

namespace berth::conform {
namespace {

std::string Digits(const char* form, size_t number) {
  char text[64];
  std::snprintf(text, sizeof(text), form, number);
  return text;
}

// What a kubelet reports; most of a node's bytes.
const std::string& Images() {
  static const std::string text = [] {
    std::string list;
    for (size_t i = 0; i < 31; ++i) {
      const std::string number = Digits("%02zu", i);
      list += (i == 0 ? "" : ",");
      list += R"({"names":["registry.example/team/service-)" + number + "@sha256:" + std::string(62, 'a') + number +
              R"(","registry.example/team/service-)" + number + R"(:v1.4.)" + number + R"("],"sizeBytes":)" +
              std::to_string(20'000'000 + i * 1'000'003) + "}";
    }
    return list;
  }();
  return text;
}

std::string Conditions() {
  std::string list;
  for (const std::string_view kind : {"MemoryPressure", "DiskPressure", "PIDPressure", "Ready"}) {
    const bool ready = kind == "Ready";
    list += (list.empty() ? "" : ",");
    list += R"({"type":")" + std::string(kind) + R"(","status":")" + (ready ? "True" : "False") +
            R"(","lastHeartbeatTime":"2026-01-02T03:04:05Z","lastTransitionTime":"2026-01-01T00:00:00Z","reason":)" +
            (ready ? R"("KubeletReady","message":"kubelet is posting ready status"})"
                   : R"("KubeletHasSufficient","message":"kubelet has sufficient of it"})");
  }
  return list;
}

// Calls change(object) for the member `key` of `object`, which stays as it is without one.
template <class Change>
Value Changed(const Value& object, std::string_view key, const Change& change) {
  Value result = Value::Object();
  for (const auto& [name, value] : object.members()) {
    result.Set(name, name == key && value.kind() == Value::Kind::kObject ? change(value) : value);
  }
  return result;
}

Value Parse(const std::string& object) {
  std::vector<FieldError> errors;
  return ParseJson(object, errors);
}

// With the member `key` changed, or added.
Value With(const Value& object, const std::string& key, Value value) {
  Value result = Value::Object();
  for (const auto& [name, old] : object.members()) {
    if (name != key) result.Set(name, old);
  }
  result.Set(key, std::move(value));
  return result;
}

const Value& Get(const Value& object, std::string_view key) {
  static const Value null;
  const Value* found = object.Find(key);
  return found == nullptr ? null : *found;
}

// The fields that the object does not have, as null.
Value FilledWithNulls(Value object, std::initializer_list<const char*> fields) {
  for (const char* field : fields) {
    if (object.Find(field) == nullptr) object.Set(field, Value());
  }
  return object;
}

}  // namespace

SampleNode MakeNode(size_t index, const Labels& labels) {
  SampleNode node;
  node.name = Digits("berth-conform-%05zu", index);
  const size_t size = index % 4;
  const std::string cpu = std::to_string(size_t{4} << size), memory = std::to_string(size_t{16} << size) + "Gi";
  std::string own = R"("kubernetes.io/arch":"amd64","kubernetes.io/os":"linux","kubernetes.io/hostname":)" +
                    Quote(node.name) + R"(,"topology.kubernetes.io/region":"r1","topology.kubernetes.io/zone":"r1-)" +
                    std::string(1, static_cast<char>('a' + index % 3)) + "\"";
  if (index % 3 != 2) {
    for (const auto& [key, value] : labels) own += "," + Quote(key) + ":" + Quote(value);
  }
  const std::string amounts =
      R"({"cpu":")" + cpu + R"(","ephemeral-storage":"100Gi","memory":")" + memory + R"(","pods":"110"})";
  node.json =
      R"({"metadata":{"name":)" + Quote(node.name) + R"(,"uid":"00000000-0000-4000-8000-)" + Digits("%012zu", index) +
      R"(","resourceVersion":")" + std::to_string(1000 + index) +
      R"(","creationTimestamp":"2026-01-01T00:00:00Z","labels":{)" + own +
      R"(},"annotations":{"node.alpha.kubernetes.io/ttl":"0"},"managedFields":[{"manager":"kubelet","operation":"Update",)"
      R"("apiVersion":"v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":)"
      R"({".":{},"f:kubernetes.io/arch":{},"f:kubernetes.io/os":{}}},"f:status":{"f:conditions":{},"f:images":{}}}}]},)"
      R"("spec":{"podCIDR":"10.)" +
      std::to_string(index / 256 % 256) + "." + std::to_string(index % 256) + R"(.0/24","providerID":"example://)" +
      node.name + R"("},"status":{"capacity":)" + amounts + R"(,"allocatable":)" + amounts + R"(,"conditions":[)" +
      Conditions() + R"(],"addresses":[{"type":"InternalIP","address":"192.168.)" + std::to_string(index / 256 % 256) +
      "." + std::to_string(index % 256) + R"("},{"type":"Hostname","address":)" + Quote(node.name) +
      R"(}],"daemonEndpoints":{"kubeletEndpoint":{"Port":10250}},"nodeInfo":{"machineID":"0123456789abcdef",)"
      R"("systemUUID":"0123456789abcdef","bootID":"0123456789abcdef","kernelVersion":"6.1.0","osImage":"Debian 12",)"
      R"("containerRuntimeVersion":"containerd://2.0.0","kubeletVersion":"v1.36.4","kubeProxyVersion":"",)"
      R"("operatingSystem":"linux","architecture":"amd64"},"images":[)" +
      Images() + "]}}";
  return node;
}

std::string MakePod() {
  return R"({"metadata":{"name":"berth-conform","namespace":"default","uid":"00000000-0000-4000-9000-000000000000",)"
         R"("resourceVersion":"4711","creationTimestamp":"2026-01-01T00:00:00Z","labels":{"app":"berth-conform"}},)"
         R"("spec":{"containers":[{"name":"main","image":"registry.example/team/service-01:v1.4.01","resources":)"
         R"({"requests":{"cpu":"100m","memory":"64Mi"}},"terminationMessagePath":"/dev/termination-log",)"
         R"("terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}],"restartPolicy":"Always",)"
         R"("terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"default",)"
         R"("securityContext":{},"schedulerName":"default-scheduler","priority":1000,"enableServiceLinks":true,)"
         R"("preemptionPolicy":"PreemptLowerPriority","tolerations":[{"key":"node.kubernetes.io/not-ready",)"
         R"("operator":"Exists","effect":"NoExecute","tolerationSeconds":300}]},"status":{"phase":"Pending",)"
         R"("qosClass":"Burstable"}})";
}

std::string WithUnknownFields(const std::string& object) {
  const Value unknown = Value::Object(
      {{"list", Value::Array({Value(), Value::Int(7), Value::String("\xc3\xa9\n")})}, {"flag", Value::Bool(true)}});
  const auto add = [&](Value part) { return part.Set("berthConformUnknown", unknown); };
  Value value = Parse(object);
  for (const char* part : {"metadata", "spec", "status"}) value = Changed(value, part, add);
  return value.Set("berthConformUnknown", unknown).ToJson();
}

std::string PodWithUnsetTime(const std::string& pod) {
  const Value value = Parse(pod);
  const Value& status = Get(value, "status");
  Value conditions = Value::Array();
  bool tried = false;
  for (const Value& condition : Get(status, "conditions").items()) {
    tried = tried || Get(condition, "type").text() == "PodScheduled";
    conditions.Append(With(condition, "lastProbeTime", Value()));
  }
  if (!tried) {
    const bool bound = !Get(Get(value, "spec"), "nodeName").text().empty();
    conditions.Append(
        Parse(bound ? R"({"type":"PodScheduled","status":"True","lastProbeTime":null,)"
                      R"("lastTransitionTime":"2026-01-01T00:00:00Z"})"
                    : R"({"type":"PodScheduled","status":"False","lastProbeTime":null,"lastTransitionTime":)"
                      R"("2026-01-01T00:00:01Z","reason":"Unschedulable","message":"0/1 nodes are available"})"));
  }
  return With(value, "status", With(status, "conditions", std::move(conditions))).ToJson();
}

std::string NodeWithNamelessImage(const std::string& node) {
  const Value value = Parse(node);
  const Value& status = Get(value, "status");
  Value images = Value::Array(Get(status, "images").items());
  images.Append(Value::Object({{"names", Value()}, {"sizeBytes", Value::Int(177'332'929)}}));
  return With(value, "status", With(status, "images", std::move(images))).ToJson();
}

std::string PodWithNulls(const std::string& pod) {
  Value value = Parse(pod);
  value = Changed(value, "metadata", [](const Value& part) {
    return FilledWithNulls(part, {"annotations", "labels", "ownerReferences", "finalizers", "deletionTimestamp"});
  });
  value = Changed(value, "spec", [](const Value& part) {
    return FilledWithNulls(part, {"volumes", "nodeSelector", "affinity", "tolerations", "initContainers", "overhead",
                                  "topologySpreadConstraints"});
  });
  value = Changed(value, "status", [](const Value& part) {
    return FilledWithNulls(part, {"conditions", "startTime"});
  });
  return value.ToJson();
}

std::string NodeWithNulls(const std::string& node) {
  Value value = Parse(node);
  value = Changed(value, "metadata", [](const Value& part) {
    return FilledWithNulls(part, {"annotations", "labels", "finalizers", "deletionTimestamp"});
  });
  value = Changed(value, "spec", [](const Value& part) { return FilledWithNulls(part, {"taints", "podCIDRs"}); });
  value = Changed(value, "status", [](const Value& part) {
    return FilledWithNulls(part, {"images", "conditions", "volumesInUse", "volumesAttached"});
  });
  return value.ToJson();
}

}  // namespace berth::conform
