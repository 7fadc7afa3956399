// SPDX-License-Identifier: Apache-2.0
// Pods: spec, and the rules between its fields.
#include <algorithm>
#include <set>
#include <utility>

#include "api/decode_internal.h"
#include "api/pod_parts.h"
#include "api/resource_rules.h"

namespace berth {
namespace {

template <class Value>
std::string DecodeGate(Context& context, Value value) {
  std::string name;
  ForEachMember(context, value, [&](MemberName key, const Value& item) {
    if (key == "name") Read(context, item, name);
  });
  CheckForm(context, name, CheckQualifiedName);
  return name;
}

template <class Value>
std::string DecodeClaim(Context& context, Value value) {
  std::string name;
  std::optional<std::string> claim, claim_template;
  ForEachMember(context, value, [&](MemberName key, const Value& item) {
    if (key == "name") {
      Read(context, item, name);
    } else if (key == "resourceClaimName") {
      if (Read(context, item, claim)) CheckForm(context, *claim, CheckDnsSubdomain);
    } else if (key == "resourceClaimTemplateName") {
      if (Read(context, item, claim_template)) CheckForm(context, *claim_template, CheckDnsSubdomain);
    }
  });
  if (!context.strict()) return name;
  {
    At at(context, "name");
    if (name.empty()) {
      context.Required();
    } else {
      CheckForm(context, name, CheckDnsLabel);
    }
  }
  if (claim && claim_template) {
    context.Invalid(name, "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified");
  } else if (!claim && !claim_template) {
    context.Invalid(name, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`");
  }
  return name;
}

// Complains about names that come twice in a list of a pod.
void CheckUnique(Context& context, const std::vector<std::string>& names) {
  std::set<std::string_view> seen;
  for (size_t i = 0; context.strict() && i < names.size(); ++i) {
    if (seen.insert(names[i]).second || names[i].empty()) continue;
    At at(context, i);
    context.Duplicate(names[i]);
  }
}

void CheckEphemeral(Context& context, const Pod& pod) {
  std::set<std::string> created;
  for (const PodVolume& volume : pod.volumes) {
    if (volume.kind == VolumeKind::kEphemeral) created.insert(pod.meta.name + "-" + volume.name);
  }
  std::set<std::string_view> names;
  At volumes(context, "volumes");
  for (size_t i = 0; i < pod.volumes.size(); ++i) {
    const PodVolume& volume = pod.volumes[i];
    At index(context, i);
    if (!volume.name.empty() && !names.insert(volume.name).second) {
      At at(context, "name");
      context.Duplicate(volume.name);
    }
    if (volume.kind == VolumeKind::kClaim && created.count(volume.source)) {
      At source(context, "persistentVolumeClaim");
      At at(context, "claimName");
      context.Invalid(volume.source, "must not reference a PVC that gets created for an ephemeral volume");
    }
  }
}

template <class Value>
void ReadNodeName(Context& context, const Value& value, Pod& pod) {
  if (Read(context, value, pod.node_name) && !pod.node_name.empty())
    CheckForm(context, pod.node_name, CheckDnsSubdomain);
}

template <class Value>
void DecodeSpec(Context& context, const Value& value, Pod& pod, PodExtras& extras) {
  ForEachMember(context, value, [&](MemberName key, const Value& item) {
    if (key == "containers") {
      ReadList(context, item, pod.containers, DecodeContainer<Value>);
    } else if (key == "initContainers") {
      ReadList(context, item, pod.init_containers, DecodeContainer<Value>);
    } else if (key == "nodeName") {
      ReadNodeName(context, item, pod);
    } else if (key == "schedulerName") {
      if (Read(context, item, pod.scheduler_name) && pod.scheduler_name.empty()) pod.scheduler_name = kDefaultScheduler;
    } else if (key == "priority") {
      Read(context, item, extras.priority);
      pod.priority = extras.priority.value_or(0);
    } else if (key == "priorityClassName") {
      if (Read(context, item, pod.priority_class_name) && !pod.priority_class_name.empty()) {
        CheckForm(context, pod.priority_class_name, CheckDnsSubdomain);
      }
    } else if (key == "preemptionPolicy") {
      pod.preemption_policy = PreemptionPolicy::kPreemptLowerPriority;
      std::string policy;
      if (!Read(context, item, policy)) return;
      if (policy.empty()) {
        if (context.strict()) context.Required();
      } else {
        context.CheckEnum(policy, {"PreemptLowerPriority", "Never"});
      }
      if (policy == "Never") pod.preemption_policy = PreemptionPolicy::kNever;
    } else if (key == "nodeSelector") {
      pod.node_selector.reset();
      if (!IsNull(context, item)) pod.node_selector = DecodeLabels(context, item);
    } else if (key == "affinity") {
      pod.affinity = DecodeAffinity(context, item, extras);
    } else if (key == "tolerations") {
      ReadList(context, item, pod.tolerations, DecodeToleration<Value>);
    } else if (key == "topologySpreadConstraints") {
      pod.topology_spread = DecodeTopologySpread(context, item, extras);
    } else if (key == "overhead") {
      pod.overhead = DecodeResourceList(context, item);
      CheckOverhead(context, pod.overhead);
    } else if (key == "resources") {
      const std::optional<Requirements> resources = DecodeRequirements(context, item);
      if (!resources) return;
      CheckRequirements(context, *resources, ResourceOwner::kPod);
      pod.pod_requests = resources->requests;
      extras.pod_limits = resources->limits.value_or(ResourceList());
    } else if (key == "schedulingGates") {
      ReadList(context, item, pod.scheduling_gates, DecodeGate<Value>);
      CheckUnique(context, pod.scheduling_gates);
    } else if (key == "volumes") {
      ReadList(context, item, pod.volumes, DecodeVolume<Value>);
    } else if (key == "resourceClaims") {
      ReadList(context, item, pod.resource_claims, DecodeClaim<Value>);
      CheckUnique(context, pod.resource_claims);
    } else if (key == "hostNetwork") {
      Read(context, item, pod.host_network);
    } else if (key == "hostUsers") {
      Read(context, item, pod.host_users);
    }
  });
}

// True: the spec is known from before, and `pod` has it now. `pod`, unless null, has a spec or status already, as no
// API server sends it.
bool TakeKnownSpec(Context&, const JsonValue&, std::shared_ptr<Pod>&) { return false; }
bool TakeKnownSpec(Context& context, const ProtoValue& value, std::shared_ptr<Pod>& pod) {
  if (!context.parts() || value.wire != ProtoWire::kBytes) return false;
  PodSpecs& specs = context.parts()->specs;
  if (pod) return specs.Begin(), false;
  std::optional<ProtoValue> node_name;
  const Pod* known = specs.Find(value.bytes, *value.message, node_name);
  if (!known) return false;
  pod = std::make_shared<Pod>(*known);
  if (node_name) {
    At at(context, "nodeName");
    ReadNodeName(context, *node_name, *pod);
  }
  return true;
}

// Host ports that two of `containers` want; each init container is judged alone, as they run one by one.
void CheckHostPorts(Context& context, const std::vector<Container>& containers, bool together) {
  std::set<std::string> seen;
  for (size_t i = 0; i < containers.size(); ++i) {
    At index(context, i);
    At ports(context, "ports");
    if (!together) seen.clear();
    for (size_t p = 0; p < containers[i].ports.size(); ++p) {
      const ContainerPort& port = containers[i].ports[p];
      if (port.host_port == 0) continue;
      const std::string text = port.protocol + "/" + port.host_ip + "/" + std::to_string(port.host_port);
      if (seen.insert(text).second) continue;
      At port_index(context, p);
      At at(context, "hostPort");
      context.Duplicate(text);
    }
  }
}

void CheckContainers(Context& context, const Pod& pod) {
  std::set<std::string_view> names;
  {
    At at(context, "containers");
    if (pod.containers.empty()) context.Required();
    for (size_t i = 0; i < pod.containers.size(); ++i) {
      At index(context, i);
      if (!names.insert(pod.containers[i].name).second && !pod.containers[i].name.empty()) {
        At name(context, "name");
        context.Duplicate(pod.containers[i].name);
      }
      for (size_t p = 0; pod.host_network && p < pod.containers[i].ports.size(); ++p) {
        const ContainerPort& port = pod.containers[i].ports[p];
        if (port.host_port == port.container_port) continue;
        At ports(context, "ports");
        At port_index(context, p);
        At host_port(context, "hostPort");
        context.InvalidNumber(port.host_port, "must match `containerPort` when `hostNetwork` is true");
      }
    }
    CheckHostPorts(context, pod.containers, /*together=*/true);
  }
  At at(context, "initContainers");
  for (size_t i = 0; i < pod.init_containers.size(); ++i) {
    if (names.insert(pod.init_containers[i].name).second || pod.init_containers[i].name.empty()) continue;
    At index(context, i);
    At name(context, "name");
    context.Duplicate(pod.init_containers[i].name);
  }
  CheckHostPorts(context, pod.init_containers, /*together=*/false);
}

}  // namespace

template <class Value>
std::shared_ptr<Pod> DecodePod(Context& context, const Value& value, PodExtras& extras) {
  std::optional<ObjectMeta> meta;
  std::shared_ptr<Pod> pod;  // null: nothing else than metadata was met
  const auto rest = [&]() -> Pod& {
    if (!pod) pod = std::make_shared<Pod>();
    return *pod;
  };
  ForEachMember(context, value, [&](MemberName key, const Value& item) {
    if (key == "metadata") {
      DecodeMeta(context, item, context.annotations().pods, meta.emplace());
    } else if (key == "spec") {
      if (!TakeKnownSpec(context, item, pod)) DecodeSpec(context, item, rest(), extras);
    } else if (key == "status") {
      DecodePodStatus(context, item, rest());
    }
  });
  if (meta) rest().meta = *std::move(meta);
  const auto ephemeral = [](const PodVolume& volume) { return volume.kind == VolumeKind::kEphemeral; };
  const List<PodVolume>& volumes = rest().volumes;
  if (std::any_of(volumes.begin(), volumes.end(), ephemeral)) {
    // The claim that the ephemeral volume controller creates.
    for (PodVolume& volume : pod->volumes.Edit())
      if (ephemeral(volume)) volume.source = pod->meta.name + "-" + volume.name;
  }
  return pod;
}
template std::shared_ptr<Pod> DecodePod(Context&, const JsonValue&, PodExtras&);
template std::shared_ptr<Pod> DecodePod(Context&, const ProtoValue&, PodExtras&);

template <>
DecodedPod DecodeAs<Pod>(Context& context, JsonValue value) {
  DecodedPod decoded;
  decoded.pod = std::move(*DecodePod(context, value, decoded.extras));
  return decoded;
}

void CheckPod(Context& context, const DecodedPod& decoded) {
  if (!context.strict()) return;
  const Pod& pod = decoded.pod;
  for (const auto* list : {&decoded.extras.affinity_keys, &decoded.extras.spread_keys}) {
    for (const PodExtras::LabelKeys& keys : *list) CheckMergedKeys(context, pod.meta.labels, keys);
  }
  At spec(context, "spec");
  CheckContainers(context, pod);
  CheckEphemeral(context, pod);
  if (!pod.node_name.empty() && !pod.scheduling_gates.empty()) {
    At at(context, "nodeName");
    context.Forbidden("cannot be set until all schedulingGates have been cleared");
  }
  if (decoded.extras.pod_limits) {
    At at(context, "resources");
    CheckPodLevel(context, pod, *decoded.extras.pod_limits);
  }
}

}  // namespace berth
