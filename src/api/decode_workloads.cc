// SPDX-License-Identifier: Apache-2.0
// Namespaces, services, workload owners, priority classes and disruption budgets.
#include <algorithm>

#include "api/decode_internal.h"
#include "api/defaults.h"

namespace berth {
namespace {

constexpr int32_t kHighestUserPriority = 1'000'000'000;

void CheckSystemClass(Context& context, const PriorityClass& pc) {
  const bool cluster = pc.meta.name == "system-cluster-critical";
  const int32_t expected = cluster ? 2'000'000'000 : 2'000'001'000;
  std::string error;
  if (!cluster && pc.meta.name != "system-node-critical") {
    error = pc.meta.name + " is not a known system priority class";
  } else if (pc.value != expected) {
    error = "value of " + pc.meta.name + " PriorityClass must be " + std::to_string(expected);
  } else if (pc.global_default) {
    error = "globalDefault of " + pc.meta.name + " PriorityClass must be false";
  }
  if (error.empty()) return;
  At at(context, "metadata");
  At name(context, "name");
  context.Forbidden("priority class names with 'system-' prefix are reserved for system use only. error: " + error);
}

// A selector that must be there and select something.
void CheckOwnerSelector(Context& context, const std::optional<LabelSelector>& selector, std::string_view kind) {
  if (!context.strict()) return;
  At spec(context, "spec");
  At at(context, "selector");
  if (!selector) {
    context.Required();
  } else if (selector->empty()) {
    context.InvalidRaw("{}", "empty selector is invalid for " + std::string(kind));
  }
}

// Reads metadata and spec.selector; what ReplicaSets and StatefulSets have in common.
template <class T>
T DecodeWorkload(Context& context, JsonValue value) {
  T owner;
  ForEachMember(context, value, [&](std::string_view key, JsonValue item) {
    if (key == "metadata") {
      owner.meta = DecodeMeta(context, item, /*keep_annotations=*/false);
    } else if (key == "spec") {
      ForEachMember(context, item, [&](std::string_view member, JsonValue part) {
        if (member == "selector") owner.selector = DecodeSelector(context, part);
      });
    }
  });
  return owner;
}

}  // namespace

template <>
Namespace DecodeAs<Namespace>(Context& context, JsonValue value) {
  Namespace ns;
  ForEachMember(context, value, [&](std::string_view key, JsonValue item) {
    if (key == "metadata") ns.meta = DecodeMeta(context, item, /*keep_annotations=*/false);
  });
  if (context.strict()) ApplyDefaults(ns);
  return ns;
}

template <>
Service DecodeAs<Service>(Context& context, JsonValue value) {
  Service service;
  ForEachMember(context, value, [&](std::string_view key, JsonValue item) {
    if (key == "metadata") {
      service.meta = DecodeMeta(context, item, /*keep_annotations=*/false);
    } else if (key == "spec") {
      ForEachMember(context, item, [&](std::string_view member, JsonValue part) {
        if (member != "selector") return;
        service.selector.reset();
        if (!IsNull(context, part)) service.selector = DecodeLabels(context, part);
      });
    }
  });
  return service;
}

template <>
ReplicationController DecodeAs<ReplicationController>(Context& context, JsonValue value) {
  ReplicationController controller;
  Labels template_labels;
  ForEachMember(context, value, [&](std::string_view key, JsonValue item) {
    if (key == "metadata") {
      controller.meta = DecodeMeta(context, item, /*keep_annotations=*/false);
    } else if (key == "spec") {
      ForEachMember(context, item, [&](std::string_view member, JsonValue part) {
        if (member == "selector") {
          controller.selector.reset();
          if (!IsNull(context, part)) controller.selector = DecodeLabels(context, part);
        } else if (member == "template") {
          ForEachMember(context, part, [&](std::string_view in_template, JsonValue meta) {
            if (in_template == "metadata") template_labels = DecodeMeta(context, meta, false).labels;
          });
        }
      });
    }
  });
  if (context.strict()) {
    ApplyDefaults(controller, template_labels);
    if (controller.selector->empty()) {
      At spec(context, "spec");
      At at(context, "selector");
      context.Required();
    }
  }
  return controller;
}

template <>
ReplicaSet DecodeAs<ReplicaSet>(Context& context, JsonValue value) {
  ReplicaSet set = DecodeWorkload<ReplicaSet>(context, value);
  CheckOwnerSelector(context, set.selector, "deployment");
  return set;
}

template <>
StatefulSet DecodeAs<StatefulSet>(Context& context, JsonValue value) {
  StatefulSet set = DecodeWorkload<StatefulSet>(context, value);
  CheckOwnerSelector(context, set.selector, "statefulset");
  return set;
}

template <>
PriorityClass DecodeAs<PriorityClass>(Context& context, JsonValue value) {
  PriorityClass pc;
  ForEachMember(context, value, [&](std::string_view key, JsonValue item) {
    if (key == "metadata") {
      pc.meta = DecodeMeta(context, item, /*keep_annotations=*/false);
    } else if (key == "value") {
      Read(context, item, pc.value);
    } else if (key == "globalDefault") {
      Read(context, item, pc.global_default);
    } else if (key == "preemptionPolicy") {
      if (!Read(context, item, pc.preemption_policy)) return;
      if (pc.preemption_policy.empty()) {
        if (context.strict()) context.Required();
      } else {
        context.CheckEnum(pc.preemption_policy, {"PreemptLowerPriority", "Never"});
      }
    }
  });
  if (!context.strict()) return pc;
  if (pc.meta.name.substr(0, 7) == "system-") {
    CheckSystemClass(context, pc);
  } else if (pc.value > kHighestUserPriority) {
    At at(context, "value");
    context.Forbidden("maximum allowed value of a user defined priority is 1000000000");
  }
  return pc;
}

template <>
PodDisruptionBudget DecodeAs<PodDisruptionBudget>(Context& context, JsonValue value) {
  PodDisruptionBudget budget;
  bool min_available = false, max_unavailable = false;
  ForEachMember(context, value, [&](std::string_view key, JsonValue item) {
    if (key == "metadata") {
      budget.meta = DecodeMeta(context, item, /*keep_annotations=*/false);
    } else if (key == "spec") {
      ForEachMember(context, item, [&](std::string_view member, JsonValue part) {
        if (member == "selector") {
          budget.selector = DecodeSelector(context, part);
        } else if (member == "minAvailable") {
          min_available = !IsNull(context, part);
        } else if (member == "maxUnavailable") {
          max_unavailable = !IsNull(context, part);
        }
      });
      if (context.strict() && min_available && max_unavailable) {
        context.InvalidRaw("{}", "minAvailable and maxUnavailable cannot be both set");
      }
    } else if (key == "status") {
      ForEachMember(context, item, [&](std::string_view member, JsonValue part) {
        if (member == "disruptionsAllowed") {
          Read(context, part, budget.disruptions_allowed);
          if (context.strict() && budget.disruptions_allowed < 0) {
            context.InvalidNumber(budget.disruptions_allowed, "must be greater than or equal to 0");
          }
        } else if (member == "disruptedPods") {
          budget.disrupted_pods.clear();
          ForEachMember(
              context, part, [&](std::string_view pod, JsonValue) { budget.disrupted_pods.emplace_back(pod); },
              /*bracketed=*/true);
          std::sort(budget.disrupted_pods.begin(), budget.disrupted_pods.end());
        }
      });
    }
  });
  return budget;
}

}  // namespace berth
