// SPDX-License-Identifier: Apache-2.0
// SchedulerConfiguration back into kubescheduler.config.k8s.io/v1, members in the order in which kube-scheduler prints
// them.
#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <utility>

#include "api/base64.h"
#include "config/decode.h"
#include "config/default_plugins.h"
#include "config/load.h"
#include "config/yaml_text.h"

namespace berth::config {
namespace {

Value Text(const std::string& text) { return Value::String(text); }
Value Text(Duration duration) { return Value::String(FormatDuration(duration)); }

void SetIf(Value& object, const char* key, const std::string& text) {
  if (!text.empty()) object.Set(key, Text(text));
}
void SetIf(Value& object, const char* key, bool value) {
  if (value) object.Set(key, Value::Bool(true));
}

// The shortest text that reads back as the same 32-bit float, which is what qps is in the API.
Value Float(double number) {
  char buffer[64];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(number));
  return Value::Number(error == std::errc() ? std::string(buffer, end) : "0");
}

void SetRefs(Value& set, const char* key, const std::vector<PluginRef>& refs) {
  if (refs.empty()) return;
  Value list = Value::Array();
  for (const PluginRef& ref : refs) {
    list.Append(Value::Object({{"name", Text(ref.name)}, {"weight", Value::Int(ref.weight)}}));
  }
  set.Set(key, std::move(list));
}

Value Write(const PluginSet& plugins) {
  Value set = Value::Object();
  SetRefs(set, "enabled", plugins.enabled);
  SetRefs(set, "disabled", plugins.disabled);
  return set;
}

Value Write(const Plugins& plugins) {
  Value object = Value::Object();
  for (size_t i = 0; i < kPointCount; ++i) object.Set(PluginsKey(static_cast<Point>(i)), Write(plugins.at[i]));
  object.Set("multiPoint", Write(plugins.multi_point));
  object.Set("placementGenerate", Write(plugins.placement_generate));
  object.Set("placementScore", Write(plugins.placement_score));
  return object;
}

// The arguments with their defaults; null when the plugin has none or is not in this program.
Value CompleteArgs(const std::string& name, const Value* args, const Registry& registry) {
  const PluginDescriptor* plugin = registry.Find(name);
  if (plugin == nullptr || !plugin->has_args) return args == nullptr ? Value() : *args;
  std::vector<FieldError> ignored;  // loading has reported them
  Value complete = plugin->complete_args(args, "", ignored);
  if (!HasArgsKind(name) || complete.Find("kind") != nullptr) return complete;
  Value named = Value::Object();
  named.Set("kind", Text(name + "Args")).Set("apiVersion", Value::String(std::string(kApiVersion)));
  for (const auto& [key, value] : complete.members()) {
    if (key != "apiVersion") named.Set(key, value);
  }
  return named;
}

std::set<std::string> EnabledNames(const Plugins& plugins) {
  std::set<std::string> names;
  const auto add = [&](const PluginSet& set) {
    for (const PluginRef& ref : set.enabled) names.insert(ref.name);
  };
  for (const PluginSet& set : plugins.at) add(set);
  add(plugins.multi_point);
  add(plugins.placement_generate);
  add(plugins.placement_score);
  return names;
}

// What the file configures, in its order; then the defaults of the other enabled plugins, by name.
Value WritePluginConfig(const Profile& profile, const Registry& registry) {
  Value list = Value::Array();
  const auto append = [&](const std::string& name, const Value& args) {
    list.Append(Value::Object({{"name", Text(name)}, {"args", args}}));
  };
  std::set<std::string> rest = EnabledNames(profile.plugins);
  for (const PluginConfig& entry : profile.plugin_config) {
    rest.erase(entry.name);
    append(entry.name, CompleteArgs(entry.name, entry.args.is_null() ? nullptr : &entry.args, registry));
  }
  for (const std::string& name : rest) {
    const Value args = CompleteArgs(name, nullptr, registry);
    if (!args.is_null()) append(name, args);
  }
  return list;
}

Value Write(const Profile& profile, const Registry& registry) {
  Value object = Value::Object({{"schedulerName", Text(profile.scheduler_name)}});
  if (profile.percentage_of_nodes_to_score) {
    object.Set("percentageOfNodesToScore", Value::Int(*profile.percentage_of_nodes_to_score));
  }
  object.Set("plugins", Write(profile.plugins));
  Value plugin_config = WritePluginConfig(profile, registry);
  if (!plugin_config.items().empty()) object.Set("pluginConfig", std::move(plugin_config));
  return object;
}

Value Write(const ExtenderTls& tls) {
  Value object = Value::Object();
  SetIf(object, "insecure", tls.insecure);
  SetIf(object, "serverName", tls.server_name);
  SetIf(object, "certFile", tls.cert_file);
  SetIf(object, "keyFile", tls.key_file);
  SetIf(object, "caFile", tls.ca_file);
  SetIf(object, "certData", EncodeBase64(tls.cert_data));
  SetIf(object, "keyData", EncodeBase64(tls.key_data));
  SetIf(object, "caData", EncodeBase64(tls.ca_data));
  return object;
}

Value Write(const Extender& extender) {
  Value object = Value::Object({{"urlPrefix", Text(extender.url_prefix)}});
  SetIf(object, "filterVerb", extender.filter_verb);
  SetIf(object, "preemptVerb", extender.preempt_verb);
  SetIf(object, "prioritizeVerb", extender.prioritize_verb);
  if (extender.weight != 0) object.Set("weight", Value::Int(extender.weight));
  SetIf(object, "bindVerb", extender.bind_verb);
  SetIf(object, "enableHTTPS", extender.enable_https);
  if (extender.tls) object.Set("tlsConfig", Write(*extender.tls));
  object.Set("httpTimeout", Text(extender.http_timeout));
  SetIf(object, "nodeCacheCapable", extender.node_cache_capable);
  if (!extender.managed_resources.empty()) {
    Value list = Value::Array();
    for (const ManagedResource& resource : extender.managed_resources) {
      Value item = Value::Object({{"name", Text(resource.name)}});
      SetIf(item, "ignoredByScheduler", resource.ignored_by_scheduler);
      list.Append(std::move(item));
    }
    object.Set("managedResources", std::move(list));
  }
  SetIf(object, "ignorable", extender.ignorable);
  return object;
}

Value Sorted(const Value& value) {
  if (value.kind() == Value::Kind::kArray) {
    std::vector<Value> items;
    for (const Value& item : value.items()) items.push_back(Sorted(item));
    return Value::Array(std::move(items));
  }
  if (value.kind() != Value::Kind::kObject) return value;
  std::vector<Value::Member> members;
  for (const auto& [key, member] : value.members()) members.emplace_back(key, Sorted(member));
  std::ranges::sort(members, {}, &Value::Member::first);
  return Value::Object(std::move(members));
}

}  // namespace

std::string ConfigurationFile(const SchedulerConfiguration& config, const Registry& registry) {
  SchedulerConfiguration running = config;
  for (Profile& profile : running.profiles) {
    const std::set<std::string> enabled = EnabledNames(profile.plugins);
    for (const std::string& name : enabled) {
      const auto named = [&](const PluginConfig& entry) { return entry.name == name; };
      if (std::ranges::none_of(profile.plugin_config, named)) profile.plugin_config.push_back({name, Value()});
    }
    std::erase_if(profile.plugin_config, [&](const PluginConfig& entry) {
      return !enabled.contains(entry.name) ||
             CompleteArgs(entry.name, entry.args.is_null() ? nullptr : &entry.args, registry).is_null();
    });
    std::ranges::sort(profile.plugin_config, {}, &PluginConfig::name);
  }
  return ToYaml(Sorted(ToValue(running, registry)));
}

Value ToValue(const SchedulerConfiguration& config, const Registry& registry) {
  const LeaderElection& election = config.leader_election;
  const ClientConnection& client = config.client_connection;
  Value object = Value::Object();
  object.Set("kind", Value::String(std::string(kKind)));
  object.Set("apiVersion", Value::String(std::string(kApiVersion)));
  object.Set("parallelism", Value::Int(config.parallelism));
  object.Set("leaderElection", Value::Object({{"leaderElect", Value::Bool(election.leader_elect)},
                                              {"leaseDuration", Text(election.lease_duration)},
                                              {"renewDeadline", Text(election.renew_deadline)},
                                              {"retryPeriod", Text(election.retry_period)},
                                              {"resourceLock", Text(election.resource_lock)},
                                              {"resourceName", Text(election.resource_name)},
                                              {"resourceNamespace", Text(election.resource_namespace)}}));
  object.Set("clientConnection", Value::Object({{"kubeconfig", Text(client.kubeconfig)},
                                                {"acceptContentTypes", Text(client.accept_content_types)},
                                                {"contentType", Text(client.content_type)},
                                                {"qps", Float(client.qps)},
                                                {"burst", Value::Int(client.burst)}}));
  object.Set("enableProfiling", Value::Bool(config.enable_profiling));
  object.Set("enableContentionProfiling", Value::Bool(config.enable_contention_profiling));
  if (config.percentage_of_nodes_to_score) {
    object.Set("percentageOfNodesToScore", Value::Int(*config.percentage_of_nodes_to_score));
  }
  object.Set("podInitialBackoffSeconds", Value::Int(config.pod_initial_backoff_seconds));
  object.Set("podMaxBackoffSeconds", Value::Int(config.pod_max_backoff_seconds));
  Value profiles = Value::Array();
  for (const Profile& profile : config.profiles) profiles.Append(Write(profile, registry));
  object.Set("profiles", std::move(profiles));
  if (!config.extenders.empty()) {
    Value extenders = Value::Array();
    for (const Extender& extender : config.extenders) extenders.Append(Write(extender));
    object.Set("extenders", std::move(extenders));
  }
  SetIf(object, "delayCacheUntilActive", config.delay_cache_until_active);
  return object;
}

SchedulerConfiguration WithoutKeys(SchedulerConfiguration config) {
  for (Extender& extender : config.extenders)
    if (extender.tls) extender.tls->key_data.clear();
  return config;
}

}  // namespace berth::config
