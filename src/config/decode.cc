// SPDX-License-Identifier: Apache-2.0
// Reading and defaulting a KubeSchedulerConfiguration. Defaults mirror kube-scheduler v1.36.4
// pkg/scheduler/apis/config/v1/defaults.go: a zero is "not set" for those fields that are no pointers there.
#include "config/decode.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "api/base64.h"
#include "berth/pod.h"
#include "config/default_plugins.h"

namespace berth::config {
namespace {

void ReadOptional(ArgsReader& in, std::string_view field, std::optional<int32_t>& out) {
  if (!in.Has(field)) return;
  int32_t value = 0;
  in.Int32(field, value);
  out = value;
}

// For the fields in which Go cannot tell zero from absent.
void TimeOrDefault(ArgsReader& in, std::string_view field, Duration& out) {
  Duration value = out;
  in.Time(field, value);
  if (value.ns != 0) out = value;
}
void StringOrDefault(ArgsReader& in, std::string_view field, std::string& out) {
  std::string value;
  in.String(field, value);
  if (!value.empty()) out = std::move(value);
}

void ReadLeaderElection(ArgsReader& in, LeaderElection& out) {
  in.Bool("leaderElect", out.leader_elect);
  TimeOrDefault(in, "leaseDuration", out.lease_duration);
  TimeOrDefault(in, "renewDeadline", out.renew_deadline);
  TimeOrDefault(in, "retryPeriod", out.retry_period);
  StringOrDefault(in, "resourceLock", out.resource_lock);
  StringOrDefault(in, "resourceName", out.resource_name);
  StringOrDefault(in, "resourceNamespace", out.resource_namespace);
}

void ReadClientConnection(ArgsReader& in, ClientConnection& out) {
  in.String("kubeconfig", out.kubeconfig);
  in.String("acceptContentTypes", out.accept_content_types);
  StringOrDefault(in, "contentType", out.content_type);
  double qps = 0;
  in.Float("qps", qps);
  if (qps > std::numeric_limits<float>::max() || qps < std::numeric_limits<float>::lowest()) {
    in.Invalid("qps", in.Raw("qps")->ToJson(), "must fit in a 32-bit float");
  } else if (qps != 0) {
    out.qps = static_cast<float>(qps);
  }
  int32_t burst = 0;
  in.Int32("burst", burst);
  if (burst != 0) out.burst = burst;
}

void ReadRefs(ArgsReader& in, std::string_view field, std::vector<PluginRef>& out) {
  in.Objects(field, [&](ArgsReader& item) {
    PluginRef ref;
    item.String("name", ref.name);
    item.Int32("weight", ref.weight);
    out.push_back(std::move(ref));
  });
}

void ReadPluginSet(ArgsReader& in, std::string_view field, PluginSet& out) {
  in.Object(field, [&](ArgsReader& set) {
    ReadRefs(set, "enabled", out.enabled);
    ReadRefs(set, "disabled", out.disabled);
  });
}

void ReadPlugins(ArgsReader& in, Plugins& out) {
  for (size_t i = 0; i < kPointCount; ++i) ReadPluginSet(in, PluginsKey(static_cast<Point>(i)), out.at[i]);
  ReadPluginSet(in, "multiPoint", out.multi_point);
  ReadPluginSet(in, "placementGenerate", out.placement_generate);
  ReadPluginSet(in, "placementScore", out.placement_score);
}

void ReadProfile(ArgsReader& in, Profile& out) {
  in.String("schedulerName", out.scheduler_name);
  ReadOptional(in, "percentageOfNodesToScore", out.percentage_of_nodes_to_score);
  in.Object("plugins", [&](ArgsReader& plugins) { ReadPlugins(plugins, out.plugins); });
  in.Objects("pluginConfig", [&](ArgsReader& item) {
    PluginConfig entry;
    item.String("name", entry.name);
    if (const Value* args = item.Raw("args")) entry.args = *args;
    out.plugin_config.push_back(std::move(entry));
  });
}

// Keys among them: no complaint shows the value.
void ReadBytes(ArgsReader& in, std::string_view field, std::string& out) {
  std::string text;
  if (const Value* value = in.Raw(field); value != nullptr && value->kind() != Value::Kind::kString) {
    return in.Complain(field, "Invalid value: must be a string");
  }
  in.String(field, text);
  const Result<std::string> bytes = DecodeBase64(text);
  if (bytes.ok()) {
    out = *bytes;
  } else {
    in.Complain(field, bytes.error().text());
  }
}

void ReadExtender(ArgsReader& in, Extender& out) {
  in.String("urlPrefix", out.url_prefix);
  in.String("filterVerb", out.filter_verb);
  in.String("preemptVerb", out.preempt_verb);
  in.String("prioritizeVerb", out.prioritize_verb);
  in.Int("weight", out.weight);
  in.String("bindVerb", out.bind_verb);
  in.Bool("enableHTTPS", out.enable_https);
  in.Object("tlsConfig", [&](ArgsReader& tls) {
    ExtenderTls& to = out.tls.emplace();
    tls.Bool("insecure", to.insecure);
    tls.String("serverName", to.server_name);
    tls.String("certFile", to.cert_file);
    tls.String("keyFile", to.key_file);
    tls.String("caFile", to.ca_file);
    ReadBytes(tls, "certData", to.cert_data);
    ReadBytes(tls, "keyData", to.key_data);
    ReadBytes(tls, "caData", to.ca_data);
  });
  in.Time("httpTimeout", out.http_timeout);
  in.Bool("nodeCacheCapable", out.node_cache_capable);
  in.Objects("managedResources", [&](ArgsReader& item) {
    ManagedResource resource;
    item.String("name", resource.name);
    item.Bool("ignoredByScheduler", resource.ignored_by_scheduler);
    out.managed_resources.push_back(std::move(resource));
  });
  in.Bool("ignorable", out.ignorable);
}

}  // namespace

const char* PluginsKey(Point point) {
  switch (point) {
    case Point::kPreEnqueue:
      return "preEnqueue";
    case Point::kQueueSort:
      return "queueSort";
    case Point::kPreFilter:
      return "preFilter";
    case Point::kFilter:
      return "filter";
    case Point::kPostFilter:
      return "postFilter";
    case Point::kPreScore:
      return "preScore";
    case Point::kScore:
      return "score";
    case Point::kReserve:
      return "reserve";
    case Point::kPermit:
      return "permit";
    case Point::kPreBind:
      return "preBind";
    case Point::kBind:
      return "bind";
    case Point::kPostBind:
      return "postBind";
  }
  return "";
}

SchedulerConfiguration Decode(const Value& document, std::vector<FieldError>& errors, bool default_plugins) {
  SchedulerConfiguration config;
  ArgsReader in(&document, "", &errors);
  in.Int32("parallelism", config.parallelism);
  in.Object("leaderElection", [&](ArgsReader& nested) { ReadLeaderElection(nested, config.leader_election); });
  in.Object("clientConnection", [&](ArgsReader& nested) { ReadClientConnection(nested, config.client_connection); });
  in.Bool("enableProfiling", config.enable_profiling);
  config.enable_contention_profiling = config.enable_profiling;
  in.Bool("enableContentionProfiling", config.enable_contention_profiling);
  config.percentage_of_nodes_to_score = 0;
  ReadOptional(in, "percentageOfNodesToScore", config.percentage_of_nodes_to_score);
  in.Int("podInitialBackoffSeconds", config.pod_initial_backoff_seconds);
  in.Int("podMaxBackoffSeconds", config.pod_max_backoff_seconds);
  std::vector<bool> named;
  in.Objects("profiles", [&](ArgsReader& item) {
    Profile profile;
    ReadProfile(item, profile);
    named.push_back(item.Has("schedulerName"));
    config.profiles.push_back(std::move(profile));
  });
  in.Objects("extenders", [&](ArgsReader& item) {
    Extender extender;
    ReadExtender(item, extender);
    config.extenders.push_back(std::move(extender));
  });
  in.Bool("delayCacheUntilActive", config.delay_cache_until_active);
  in.Finish();

  if (config.profiles.empty()) {
    config.profiles.emplace_back();
    named.push_back(false);
  }
  // Several profiles must all be named by the user.
  if (config.profiles.size() == 1 && !named[0]) config.profiles[0].scheduler_name = kDefaultScheduler;
  if (default_plugins) {
    for (Profile& profile : config.profiles) profile.plugins = MergePlugins(profile.plugins);
  }
  return config;
}

}  // namespace berth::config
