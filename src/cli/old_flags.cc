// SPDX-License-Identifier: Apache-2.0
// Upstream: cmd/kube-scheduler/app/options/deprecated.go, insecure_serving.go (1.14 to 1.27).
#include "cli/old_flags.h"

#include <algorithm>
#include <array>
#include <utility>

#include "berth/value.h"
#include "cli/error_list.h"
#include "config/load.h"
#include "legacy/table.h"
#include "util/text.h"

namespace berth::cli {
namespace {

// Those that say what a configuration file says.
constexpr std::array<std::string_view, 7> kConfiguring = {
    "policy-config-file", "policy-configmap", "policy-configmap-namespace",        "use-legacy-policy-config",
    "algorithm-provider", "scheduler-name",   "hard-pod-affinity-symmetric-weight"};

bool FromFile(const OldFlags& flags) {
  return !flags.policy_config_file.empty() && (flags.use_legacy_policy_config || flags.policy_configmap.empty());
}
bool FromPolicy(const OldFlags& flags) { return !flags.policy_config_file.empty() || !flags.policy_configmap.empty(); }

Value WithName(const OldFlags& flags) {
  return Value::Object({{"schedulerName", Value::String(flags.scheduler_name)}});
}

// Today's default plugins with what the flags say of them.
Value TodaysDocument(const OldFlags& flags) {
  Value profile = WithName(flags), args = Value::Array();
  const auto add = [&](const char* plugin, Value values) {
    args.Append(Value::Object({{"name", Value::String(plugin)}, {"args", std::move(values)}}));
  };
  if (flags.Given("hard-pod-affinity-symmetric-weight"))
    add("InterPodAffinity",
        Value::Object({{"hardPodAffinityWeight", Value::Int(flags.hard_pod_affinity_symmetric_weight)}}));
  if (flags.algorithm_provider == "ClusterAutoscalerProvider")
    add("NodeResourcesFit",
        Value::Object({{"scoringStrategy", Value::Object({{"type", Value::String("MostAllocated")}})}}));
  if (!args.items().empty()) profile.Set("pluginConfig", std::move(args));
  return Value::Object({{"apiVersion", Value::String(std::string(config::kApiVersion))},
                        {"kind", Value::String(std::string(config::kKind))},
                        {"profiles", Value::Array({std::move(profile)})}});
}

}  // namespace

bool OldFlags::Given(std::string_view name) const { return std::ranges::find(given, name) != given.end(); }

void AddOldFlags(FlagSet& set, OldFlags& out) {
  set.Hide(true);
  set.String("policy-config-file", &out.policy_config_file, "");
  set.String("policy-configmap", &out.policy_configmap, "");
  set.String("policy-configmap-namespace", &out.policy_configmap_namespace, "");
  set.Bool("use-legacy-policy-config", &out.use_legacy_policy_config, "");
  set.String("algorithm-provider", &out.algorithm_provider, "");
  set.String("scheduler-name", &out.scheduler_name, "");
  set.Int32("hard-pod-affinity-symmetric-weight", &out.hard_pod_affinity_symmetric_weight, "");
  set.String("lock-object-name", &out.lock_object_name, "");
  set.String("lock-object-namespace", &out.lock_object_namespace, "");
  set.String("failure-domains", &out.failure_domains, "");
  set.String("address", &out.address, "");
  set.Int32("port", &out.port, "");
  set.Hide(false);
}

Error CheckOldFlags(const OldFlags& flags, const std::string& config, const std::string& resource_name,
                    const std::string& resource_namespace) {
  std::vector<std::string> errors;
  if (!config.empty()) {
    for (const std::string_view flag : kConfiguring) {
      if (!flags.Given(flag)) continue;
      errors.push_back("--" + std::string(flag) + " and --config=" + config +
                       " are two sources of a configuration: give one of them");
    }
  }
  if (flags.use_legacy_policy_config && flags.policy_config_file.empty())
    errors.emplace_back("policyConfigFile: Required value: required when --use-legacy-policy-config is true");
  const int32_t weight = flags.hard_pod_affinity_symmetric_weight;
  if (weight < 0 || weight > 100) {
    errors.push_back("hardPodAffinitySymmetricWeight: Invalid value: " + std::to_string(weight) +
                     ": not in valid range [0-100]");
  }
  const std::string& provider = flags.algorithm_provider;
  if (!provider.empty() && provider != "DefaultProvider" && provider != "ClusterAutoscalerProvider") {
    errors.push_back("--algorithm-provider: algorithm provider " + util::Quoted(provider) +
                     " is not registered: there are DefaultProvider and ClusterAutoscalerProvider");
  }
  if (FromPolicy(flags) && flags.Given("hard-pod-affinity-symmetric-weight")) {
    errors.emplace_back(
        "--hard-pod-affinity-symmetric-weight: the Policy says hardPodAffinitySymmetricWeight: give one of "
        "them");
  }
  if (flags.Given("scheduler-name") && flags.scheduler_name.empty())
    errors.emplace_back("--scheduler-name: Required value: must not be empty");
  if (flags.port < 0 || flags.port > 65535) {
    errors.push_back("port: Invalid value: " + std::to_string(flags.port) +
                     ": must be between 0 and 65535, inclusive. 0 for turning off insecure (HTTP) port");
  }
  const auto twice = [&](const char* old_name, const std::string& old_value, const char* name,
                         const std::string& value) {
    if (!flags.Given(old_name) || value.empty() || value == old_value) return;
    errors.push_back(std::string("--") + old_name + "=" + old_value + " and --" + name + "=" + value +
                     " are two names of one lock: give one of them");
  };
  twice("lock-object-name", flags.lock_object_name, "leader-elect-resource-name", resource_name);
  twice("lock-object-namespace", flags.lock_object_namespace, "leader-elect-resource-namespace", resource_namespace);
  return Together(errors);
}

std::vector<std::string> WarningsOf(const OldFlags& flags) {
  std::vector<std::string> warnings;
  for (const std::string& name : flags.given) {
    if (name == "port" && flags.port == 0) continue;
    const std::string flag = "--" + name;
    const legacy::Row* row = legacy::FindRow(legacy::RowKind::kFlag, flag);
    std::string warning =
        flag + " is a flag of kube-scheduler " + (row == nullptr ? "" : std::string(row->when)) + " and older";
    const bool dropped = row != nullptr && row->fate == legacy::Fate::kDropped;
    if (row != nullptr) warning += (dropped ? ", which changes nothing here. " : ". ") + std::string(row->text);
    if (name == "policy-config-file" && !FromFile(flags)) warning += " It is not read: --policy-configmap is given.";
    if (name == "policy-configmap" && FromFile(flags))
      warning += " It is not read: --use-legacy-policy-config is given.";
    if (name == "algorithm-provider" && FromPolicy(flags)) warning += " It does not count: a Policy is given.";
    warnings.push_back(std::move(warning));
  }
  return warnings;
}

bool ConfigureSomething(const OldFlags& flags) {
  return std::ranges::any_of(kConfiguring, [&](std::string_view flag) { return flags.Given(flag); });
}

legacy::Loaded LoadOldFlags(const OldFlags& flags, const Registry& registry, const legacy::LoadOptions& options) {
  if (!FromPolicy(flags)) return legacy::Load(TodaysDocument(flags).ToJson(), "the flags", registry, options);
  Value source = Value::Object();
  if (FromFile(flags)) {
    source.Set("file", Value::Object({{"path", Value::String(flags.policy_config_file)}}));
  } else {
    source.Set("configMap", Value::Object({{"namespace", Value::String(flags.policy_configmap_namespace)},
                                           {"name", Value::String(flags.policy_configmap)}}));
  }
  Value document = WithName(flags);
  document.Set("algorithmSource", Value::Object({{"policy", std::move(source)}}));
  document.Set("leaderElection", Value::Object({{"resourceLock", Value::String("leases")}}));
  return legacy::LoadFlags(std::move(document), FromFile(flags) ? "--policy-config-file" : "--policy-configmap",
                           registry, options);
}

}  // namespace berth::cli
