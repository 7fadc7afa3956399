// SPDX-License-Identifier: Apache-2.0
// A pod's containers and tolerations.
#include <algorithm>
#include <set>

#include "api/decode_internal.h"
#include "api/resource_rules.h"

namespace berth {
namespace {

struct NamedPort {
  ContainerPort port;
  std::string name;
};

template <class Value>
NamedPort DecodePort(Context& context, Value value) {
  NamedPort named;
  std::string protocol;
  ForEachMember(context, value, [&](MemberName key, const Value& item) {
    if (key == "containerPort") {
      Read(context, item, named.port.container_port);
    } else if (key == "hostPort") {
      Read(context, item, named.port.host_port);
    } else if (key == "hostIP") {
      Read(context, item, named.port.host_ip);
    } else if (key == "protocol") {
      Read(context, item, protocol);
    } else if (key == "name") {
      Read(context, item, named.name);
    }
  });
  if (!protocol.empty()) named.port.protocol = protocol;
  if (!context.strict()) return named;
  auto check_number = [&](std::string_view member, int32_t number) {
    At at(context, member);
    if (number < 1 || number > 65535) context.InvalidNumber(number, "must be between 1 and 65535, inclusive");
  };
  if (named.port.container_port == 0) {
    At at(context, "containerPort");
    context.Required();
  } else {
    check_number("containerPort", named.port.container_port);
  }
  if (named.port.host_port != 0) check_number("hostPort", named.port.host_port);
  At at(context, "protocol");
  context.CheckEnum(named.port.protocol, {"SCTP", "TCP", "UDP"});
  return named;
}

template <class Value>
void DecodePorts(Context& context, Value value, std::vector<ContainerPort>& ports) {
  ports.clear();
  std::set<std::string> names;
  ForEachItem(context, value, [&](Value item) {
    NamedPort named = DecodePort(context, item);
    if (context.strict() && !named.name.empty()) {
      At at(context, "name");
      const Complaints complaints = CheckPortName(named.name);
      context.Invalid(named.name, complaints);
      if (complaints.empty() && !names.insert(named.name).second) context.Duplicate(named.name);
    }
    ports.push_back(std::move(named.port));
  });
}

// True when some rule restarts all containers.
template <class Value>
bool DecodeRestartRules(Context& context, Value value, size_t& count) {
  bool all = false;
  count = 0;
  ForEachItem(context, value, [&](Value item) {
    ++count;
    std::string action;
    bool exit_codes = false;
    ForEachMember(context, item, [&](MemberName key, Value part) {
      if (key == "action") {
        Read(context, part, action);
      } else if (key == "exitCodes") {
        exit_codes = !IsNull(context, part);
      }
    });
    all = all || action == "RestartAllContainers";
    if (!context.strict()) return;
    {
      At at(context, "action");
      context.CheckEnum(action, {"Restart", "RestartAllContainers"});
    }
    if (!exit_codes) {
      At at(context, "exitCodes");
      context.Required("must be specified");
    }
  });
  return all;
}

}  // namespace

template <class Value>
Container DecodeContainer(Context& context, Value value) {
  Container container;
  std::optional<std::string> restart_policy;
  size_t rules = 0;
  ForEachMember(context, value, [&](MemberName key, const Value& item) {
    if (key == "name") {
      Read(context, item, container.name);
    } else if (key == "image") {
      Read(context, item, container.image);
    } else if (key == "resources") {
      const std::optional<Requirements> resources = DecodeRequirements(context, item);
      if (!resources) return;
      CheckRequirements(context, *resources, ResourceOwner::kContainer);
      container.requests = resources->requests.value_or(ResourceList());
      container.limits = resources->limits.value_or(ResourceList());
    } else if (key == "ports") {
      DecodePorts(context, item, container.ports);
    } else if (key == "restartPolicy") {
      if (Read(context, item, restart_policy)) context.CheckEnum(*restart_policy, {"Always", "Never", "OnFailure"});
    } else if (key == "restartPolicyRules") {
      container.restarts_all_containers = DecodeRestartRules(context, item, rules);
    }
  });
  container.sidecar = restart_policy == "Always";
  if (!context.strict()) return container;
  {
    At at(context, "name");
    if (container.name.empty()) {
      context.Required();
    } else {
      CheckForm(context, container.name, CheckDnsLabel);
    }
  }
  if (container.image.empty()) {
    At at(context, "image");
    context.Required();
  }
  if (rules > 0 && !restart_policy) {
    At at(context, "restartPolicy");
    context.Required("must specify restartPolicy when restart rules are used");
  }
  return container;
}

template <class Value>
Toleration DecodeToleration(Context& context, Value value) {
  Toleration toleration;
  std::string op, effect;
  bool seconds = false;
  ForEachMember(context, value, [&](MemberName key, const Value& item) {
    if (key == "key") {
      Read(context, item, toleration.key);
    } else if (key == "operator") {
      Read(context, item, op);
    } else if (key == "value") {
      Read(context, item, toleration.value);
    } else if (key == "effect") {
      Read(context, item, effect);
    } else if (key == "tolerationSeconds") {
      int64_t ignored = 0;
      seconds = Read(context, item, ignored);
    }
  });
  toleration.effect = TaintEffectFromText(effect);
  if (op.empty() || op == "Equal") {
    toleration.op = TolerationOp::kEqual;
  } else if (op == "Exists") {
    toleration.op = TolerationOp::kExists;
  } else if (op == "Lt") {
    toleration.op = TolerationOp::kLt;
  } else if (op == "Gt") {
    toleration.op = TolerationOp::kGt;
  } else {
    toleration.op = TolerationOp::kUnknown;
  }
  if (!context.strict()) return toleration;
  if (!toleration.key.empty()) CheckForm(context, "key", toleration.key, CheckQualifiedName);
  {
    At at(context, "operator");
    if (toleration.key.empty() && op != "Exists") {
      context.Invalid(op, "operator must be Exists when `key` is empty, which means \"match all values and all keys\"");
    }
    if (toleration.op == TolerationOp::kEqual) {
      if (const Complaints complaints = CheckLabelValue(toleration.value); !complaints.empty()) {
        context.Invalid(toleration.value, Join(complaints, ";"));
      }
    } else if (toleration.op == TolerationOp::kExists) {
      if (!toleration.value.empty()) {
        context.Invalid(toleration.value, "value must be empty when `operator` is 'Exists'");
      }
    } else {
      // Lt and Gt wait behind the gate TaintTolerationComparisonOperators, which is off.
      context.Unsupported(op, {"Equal", "Exists"});
    }
  }
  At at(context, "effect");
  if (seconds && effect != "NoExecute") {
    context.Invalid(effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
  }
  if (!effect.empty()) context.CheckEnum(effect, {"NoSchedule", "PreferNoSchedule", "NoExecute"});
  return toleration;
}

// For either encoding.
template Container DecodeContainer(Context&, JsonValue);
template Container DecodeContainer(Context&, ProtoValue);
template Toleration DecodeToleration(Context&, JsonValue);
template Toleration DecodeToleration(Context&, ProtoValue);

}  // namespace berth
