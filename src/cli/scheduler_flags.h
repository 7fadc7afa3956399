// SPDX-License-Identifier: Apache-2.0
// SchedulerFlags: the command line of `berth scheduler`, which is kube-scheduler's: every flag, its default and its
// place in the help. What becomes of them is elsewhere: configuration and clients in load_scheduler.h, the log in
// log_setup.h; what is about the port is handed on to src/serving.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "berth/clock.h"
#include "berth/error.h"
#include "berth/quantity.h"
#include "cli/flag_set.h"
#include "cli/old_flags.h"
#include "serving/serving_options.h"
#include "util/log.h"

namespace berth::cli {

// Those before the last one are ignored when there is a configuration file.
struct DeprecatedFlags {
  bool profiling = true, contention_profiling = true;
  std::string kubeconfig, content_type = "application/vnd.kubernetes.protobuf";
  float qps = 50;
  int32_t burst = 100;
  Duration pod_max_in_unschedulable_pods = Duration::Seconds(300);
};

// Those that are given count more than the configuration file.
struct LeaderElectionFlags {
  bool leader_elect = true;
  Duration lease_duration = Duration::Seconds(15), renew_deadline = Duration::Seconds(10);
  Duration retry_period = Duration::Seconds(2);
  std::string resource_lock = "leases", resource_name = "kube-scheduler", resource_namespace = "kube-system";
};

struct MetricsFlags {
  std::map<std::string, std::string> allow_labels;  // "metric,label" to "value,value"
  std::string allow_labels_manifest, show_hidden_for_version;
  std::vector<std::string> disabled;
};

struct LogsFlags {
  Duration flush_frequency = Duration::Seconds(5);
  bool text_split_stream = false, json_split_stream = false;
  Quantity text_info_buffer_size, json_info_buffer_size;
  std::string format = "text";
  uint32_t verbosity = 0;
  std::vector<util::FileVerbosity> vmodule;
};

// What kube-scheduler has not.
struct OwnFlags {
  static constexpr size_t kMostExtenderCalls = 64;
  std::map<size_t, size_t> extender_calls;  // by the extender's place in the configuration: so many at a time
  static constexpr Duration kLongestGather = Duration::Millis(500);
  Duration gather_pods = Duration::Millis(100);  // so long one of a stream waits for others; 0: none waits
};

enum class VersionWish : uint8_t { kNone, kShort, kRaw };

struct SchedulerFlags {
  std::string config, master, write_config_to;
  serving::ServingOptions serving;  // with authentication and authorization
  bool disable_http2 = false;       // there is none
  int64_t http2_max_streams = 0;    // nor streams
  DeprecatedFlags deprecated;
  OldFlags old;
  LeaderElectionFlags leader_election;
  std::vector<std::string> feature_gates;  // one for each time that the flag is given
  std::vector<std::string> emulated_version, min_compatibility_version;
  MetricsFlags metrics;
  LogsFlags logs;
  OwnFlags own;
  VersionWish version = VersionWish::kNone;
  std::string reported_version;  // what --version=vX.Y.Z… wants it to be called; never empty
  bool help = false;
  std::vector<std::string> arguments;  // that are no flags: there must be none but empty ones

  std::vector<FlagValue> values;  // every flag by name, for FLAG lines and /flagz
  // Whether the flag of that name is on the command line.
  bool Given(std::string_view name) const;
};

// Errors are kube-scheduler's, without its "Error: ".
Result<SchedulerFlags> ParseSchedulerFlags(const std::vector<std::string>& args);

// Those about the process alone, whatever it decides: the port with who may ask there, leader election, metrics, logs.
// REQUIRES: `out` outlives the set.
void DeclareProcessFlags(FlagSet& set, SchedulerFlags& out);

// The flags in kube-scheduler's sections. `program`: how it was called; under kube-scheduler's name our own flags are
// not listed, though they are read.
std::string SchedulerUsage(std::string_view program);
// The same with what the program does.
std::string SchedulerHelp(std::string_view program);

// Flags of kube-scheduler's that change nothing here, by name. Whoever gives one is told. No flag that is there for
// security is among them.
const std::vector<std::string_view>& FlagsWithoutEffect();

}  // namespace berth::cli
