// SPDX-License-Identifier: Apache-2.0
// Validation. Mirrors kube-scheduler v1.36.4 pkg/scheduler/apis/config/validation/validation.go and component-base's
// config/validation; what plugins accept as arguments is theirs to say.
#include "config/validate.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "api/validate_names.h"
#include "berth/resources.h"
#include "berth/value.h"
#include "config/decode.h"
#include "config/default_plugins.h"
#include "config/load.h"

namespace berth::config {
namespace {

std::string At(const std::string& path, size_t index) { return path + "[" + std::to_string(index) + "]"; }

class Validator {
 public:
  Validator(const SchedulerConfiguration& config, const Registry& registry, std::vector<FieldError>& errors)
      : config_(config), registry_(registry), errors_(errors) {}

  void Run() {
    if (config_.client_connection.burst < 0) {
      Invalid("clientConnection.burst", config_.client_connection.burst, "must be non-negative");
    }
    CheckLeaderElection(config_.leader_election);
    if (config_.parallelism <= 0) {
      Invalid("parallelism", config_.parallelism, "should be an integer value greater than zero");
    }
    CheckProfiles();
    CheckPercentage("percentageOfNodesToScore", config_.percentage_of_nodes_to_score);
    if (config_.pod_initial_backoff_seconds <= 0) {
      Invalid("podInitialBackoffSeconds", config_.pod_initial_backoff_seconds, "must be greater than 0");
    }
    if (config_.pod_max_backoff_seconds < config_.pod_initial_backoff_seconds) {
      Invalid("podMaxBackoffSeconds", config_.pod_max_backoff_seconds,
              "must be greater than or equal to PodInitialBackoffSeconds");
    }
    CheckExtenders();
  }

 private:
  void Complain(std::string path, std::string text) { errors_.push_back({std::move(path), std::move(text)}); }
  void Invalid(std::string path, const std::string& value, const std::string& text) {
    Complain(std::move(path), "Invalid value: " + value + ": " + text);
  }
  void Invalid(std::string path, int64_t value, const std::string& text) {
    Invalid(std::move(path), std::to_string(value), text);
  }

  void CheckLeaderElection(const LeaderElection& election) {
    if (!election.leader_elect) return;
    const auto positive = [&](const char* field, Duration value) {
      if (value.ns <= 0) {
        Invalid(std::string("leaderElection.") + field, Quote(FormatDuration(value)), "must be greater than zero");
      }
    };
    positive("leaseDuration", election.lease_duration);
    positive("renewDeadline", election.renew_deadline);
    positive("retryPeriod", election.retry_period);
    if (election.lease_duration <= election.renew_deadline) {
      // kube-scheduler shows the deadline here, too.
      Invalid("leaderElection.leaseDuration", Quote(FormatDuration(election.renew_deadline)),
              "must be greater than `RenewDeadline`");
    }
    if (election.resource_lock != "leases") {
      Invalid("leaderElection.resourceLock", Quote(election.resource_lock), "resourceLock value must be \"leases\"");
    }
  }

  void CheckPercentage(const std::string& path, const std::optional<int32_t>& percentage) {
    if (percentage && (*percentage < 0 || *percentage > 100)) Invalid(path, *percentage, "not in valid range [0-100]");
  }

  void CheckProfiles() {
    std::set<std::string> names;
    for (size_t i = 0; i < config_.profiles.size(); ++i) {
      const Profile& profile = config_.profiles[i];
      const std::string path = At("profiles", i);
      if (profile.scheduler_name.empty()) Complain(path + ".schedulerName", "Required value");
      CheckPercentage(path + ".percentageOfNodesToScore", profile.percentage_of_nodes_to_score);
      for (size_t p = 0; p < kPointCount; ++p) {
        CheckRemovedPlugins(path + ".plugins." + PluginsKey(static_cast<Point>(p)), profile.plugins.at[p]);
      }
      CheckPluginConfig(path + ".pluginConfig", profile);
      if (!names.insert(profile.scheduler_name).second) {
        Complain(path + ".schedulerName", "Duplicate value: " + Quote(profile.scheduler_name));
      }
    }
    CheckQueueSort();
  }

  bool CheckRemoved(const std::string& path, const std::string& name) {
    static const std::set<std::string_view> kRemoved = {"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"};
    if (!kRemoved.contains(name)) return false;
    Invalid(path, Quote(name),
            "was invalid in version \"v1\" (KubeSchedulerConfiguration is version " + Quote(kApiVersion) + ")");
    return true;
  }

  void CheckRemovedPlugins(const std::string& path, const PluginSet& set) {
    for (size_t i = 0; i < set.enabled.size(); ++i) CheckRemoved(At(path + ".enabled", i), set.enabled[i].name);
  }

  void CheckPluginConfig(const std::string& list, const Profile& profile) {
    std::set<std::string> seen;
    for (size_t i = 0; i < profile.plugin_config.size(); ++i) {
      const PluginConfig& entry = profile.plugin_config[i];
      const std::string path = At(list, i);
      if (!seen.insert(entry.name).second) Complain(path, "Duplicate value: " + Quote(entry.name));
      if (CheckRemoved(path, entry.name)) continue;
      if (!CheckArgsKind(path + ".args", entry)) continue;
      // Arguments of a plugin that is not in this program are left alone.
      const PluginDescriptor* plugin = registry_.Find(entry.name);
      if (plugin == nullptr || !plugin->complete_args) continue;
      plugin->complete_args(entry.args.is_null() ? nullptr : &entry.args, path + ".args", errors_);
    }
  }

  // False: these are arguments of another kind, so their fields need no look.
  bool CheckArgsKind(const std::string& path, const PluginConfig& entry) {
    if (!HasArgsKind(entry.name) || entry.args.kind() != Value::Kind::kObject) return true;
    const auto text = [&](const char* field, std::string otherwise) {
      const Value* value = entry.args.Find(field);
      if (value == nullptr || value->is_null()) return otherwise;
      if (value->kind() != Value::Kind::kString) {
        Invalid(path + "." + field, value->ToJson(), "must be a string");
        return otherwise;
      }
      return value->text().empty() ? otherwise : value->text();
    };
    const std::string want = entry.name + "Args";
    const std::string version = text("apiVersion", std::string(kApiVersion));
    const std::string kind = text("kind", want);
    const bool known = kind == kKind || (kind.ends_with("Args") && HasArgsKind(kind.substr(0, kind.size() - 4)));
    if (version != kApiVersion || !known) {
      Complain(path, "no kind " + Quote(kind) + " is registered for version " + Quote(version));
      return false;
    }
    if (kind != want) {
      const std::string group = ".kubescheduler.config.k8s.io";
      Complain(path, "args for plugin " + entry.name + " were not of type " + want + group + ", got " + kind + group);
      return false;
    }
    return true;
  }

  void CheckQueueSort() {
    const PluginSet& first = config_.profiles[0].plugins[Point::kQueueSort];
    if (first.enabled.size() > 1) {
      Invalid("profiles[0].plugins.queueSort.Enabled", static_cast<int64_t>(first.enabled.size()),
              "only one queue sort plugin can be enabled");
    }
    const std::string name = first.enabled.empty() ? "" : first.enabled[0].name;
    const Value* args = nullptr;
    for (const PluginConfig& entry : config_.profiles[0].plugin_config) {
      if (!name.empty() && entry.name == name) args = &entry.args;
    }
    for (size_t i = 1; i < config_.profiles.size(); ++i) {
      const Profile& profile = config_.profiles[i];
      const std::string path = At("profiles", i);
      const PluginSet& set = profile.plugins[Point::kQueueSort];
      if (!(set == first)) Invalid(path + ".plugins.queueSort", ShowSet(set), "must be the same for all profiles");
      for (const PluginConfig& entry : profile.plugin_config) {
        if (name.empty() || entry.name != name || (args != nullptr && *args == entry.args)) continue;
        Invalid(path + ".pluginConfig.args", entry.args.ToJson(), "queueSort must be the same for all profiles");
      }
    }
  }

  // A plugin set as kube-scheduler's complaint shows it.
  static std::string ShowSet(const PluginSet& set) {
    const auto list = [](const std::vector<PluginRef>& refs) {
      Value items;
      for (const PluginRef& ref : refs) {
        items.Append(Value::Object({{"Name", Value::String(ref.name)}, {"Weight", Value::Int(ref.weight)}}));
      }
      return items;
    };
    return Value::Object({{"Enabled", list(set.enabled)}, {"Disabled", list(set.disabled)}}).ToJson();
  }

  void CheckExtenders() {
    int binders = 0;
    std::set<std::string> resources;
    for (size_t i = 0; i < config_.extenders.size(); ++i) {
      const Extender& extender = config_.extenders[i];
      const std::string path = At("extenders", i);
      if (!extender.prioritize_verb.empty() && extender.weight <= 0) {
        Invalid(path + ".weight", extender.weight, "must have a positive weight applied to it");
      }
      if (!extender.bind_verb.empty()) ++binders;
      for (size_t j = 0; j < extender.managed_resources.size(); ++j) {
        const std::string& name = extender.managed_resources[j].name;
        const std::string name_path = At(path + ".managedResources", j) + ".name";
        const Complaints complaints = CheckQualifiedName(name);
        for (const std::string& text : complaints) Invalid(name_path, Quote(name), text);
        if (complaints.empty() && !IsExtendedResource(name)) {
          Invalid(name_path, Quote(name), "is an invalid extended resource name");
        }
        if (!resources.insert(name).second) {
          Invalid(name_path, Quote(name), "duplicate extender managed resource name");
        }
      }
    }
    if (binders > 1) {
      Invalid("extenders", Quote("found " + std::to_string(binders) + " extenders implementing bind"),
              "only one extender can implement bind");
    }
  }

  const SchedulerConfiguration& config_;
  const Registry& registry_;
  std::vector<FieldError>& errors_;
};

}  // namespace

void Validate(const SchedulerConfiguration& config, const Registry& registry, std::vector<FieldError>& errors) {
  Validator(config, registry, errors).Run();
}

}  // namespace berth::config
