// SPDX-License-Identifier: Apache-2.0
// KubeSchedulerConfiguration v1 in memory: what the file says, with defaults applied.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "berth/clock.h"
#include "berth/plugin.h"
#include "berth/value.h"

namespace berth::config {

struct PluginRef {
  std::string name;
  int32_t weight = 0;
  bool operator==(const PluginRef&) const = default;
};

struct PluginSet {
  std::vector<PluginRef> enabled;
  std::vector<PluginRef> disabled;
  bool operator==(const PluginSet&) const = default;
};

// The `plugins` block of a profile.
struct Plugins {
  PluginSet at[kPointCount];  // by Point
  PluginSet multi_point;
  PluginSet placement_generate, placement_score;  // accepted and checked; nothing runs there
  PluginSet& operator[](Point point) { return at[static_cast<size_t>(point)]; }
  const PluginSet& operator[](Point point) const { return at[static_cast<size_t>(point)]; }
  bool operator==(const Plugins&) const = default;
};

struct PluginConfig {
  std::string name;
  Value args;
};

struct Profile {
  std::string scheduler_name;
  std::optional<int32_t> percentage_of_nodes_to_score;
  Plugins plugins;
  std::vector<PluginConfig> plugin_config;
};

struct ManagedResource {
  std::string name;
  bool ignored_by_scheduler = false;
};

struct ExtenderTls {
  bool insecure = false;
  std::string server_name, cert_file, key_file, ca_file, cert_data, key_data, ca_data;
};

struct Extender {
  std::string url_prefix, filter_verb, preempt_verb, prioritize_verb, bind_verb;
  int64_t weight = 0;
  bool enable_https = false;
  std::optional<ExtenderTls> tls;
  Duration http_timeout;
  bool node_cache_capable = false;
  std::vector<ManagedResource> managed_resources;
  bool ignorable = false;
};

struct LeaderElection {
  bool leader_elect = true;
  Duration lease_duration = Duration::Seconds(15);
  Duration renew_deadline = Duration::Seconds(10);
  Duration retry_period = Duration::Seconds(2);
  std::string resource_lock = "leases", resource_name = "kube-scheduler", resource_namespace = "kube-system";
};

struct ClientConnection {
  std::string kubeconfig, accept_content_types, content_type = "application/vnd.kubernetes.protobuf";
  double qps = 50;
  int32_t burst = 100;
};

struct SchedulerConfiguration {
  int32_t parallelism = 16;
  LeaderElection leader_election;
  ClientConnection client_connection;
  bool enable_profiling = true;
  bool enable_contention_profiling = true;
  std::optional<int32_t> percentage_of_nodes_to_score;
  int64_t pod_initial_backoff_seconds = 1;
  int64_t pod_max_backoff_seconds = 10;
  std::vector<Profile> profiles;
  std::vector<Extender> extenders;
  bool delay_cache_until_active = false;
};

}  // namespace berth::config
