// SPDX-License-Identifier: Apache-2.0
// Upstream: cmd/kube-scheduler/app/options/options.go, apiserver pkg/server/options, component-base
// metrics/api/v1/config.go and cli/flag/ciphersuites_flag.go, client-go tools/clientcmd and tools/leaderelection
// (v1.36.4).
#include "cli/load_scheduler.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "api/json_value.h"
#include "api/yaml.h"
#include "berth/value.h"
#include "berth/version.h"
#include "cli/error_list.h"
#include "cli/old_flags.h"
#include "cli/policy_sources.h"
#include "config/emulation.h"
#include "config/load.h"
#include "legacy/load.h"
#include "serving/serving_options.h"
#include "util/read_file.h"
#include "util/text.h"

namespace berth::cli {
namespace {

constexpr uint64_t kMaxFileBytes = uint64_t{16} << 20;

// Of an extender that has none.
constexpr Duration kExtenderTimeout = Duration::Seconds(5);

// Those that a configuration file makes void.
constexpr std::array<std::string_view, 6> kVoidWithConfig{"contention-profiling",  "kube-api-burst", "kube-api-qps",
                                                          "kube-api-content-type", "kubeconfig",     "profiling"};

// Go's words for what the system says: "stat FILE: no such file or directory".
Error SystemError(const char* what, const std::string& path, int number) {
  std::string text = std::strerror(number);
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return Error(std::string(what) + " " + path + ": " + text);
}

Error CheckThere(const char* what, const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? Error::Ok() : SystemError(what, path, errno);
}

bool IsName(std::string_view text, bool colons) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  return std::ranges::all_of(text, [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (colons && c == ':');
  });
}

using LabelLists = std::map<std::string, std::string>;

std::string Json(const LabelLists& lists) {
  Value object = Value::Object();
  for (const auto& [key, value] : lists) object.Set(key, Value::String(value));
  return object.ToJson();
}

std::string CheckLabelLists(const std::string& path, const LabelLists& lists) {
  const bool right = std::ranges::all_of(lists, [](const auto& entry) {
    const size_t comma = entry.first.find(',');
    return comma != std::string::npos && IsName(std::string_view(entry.first).substr(0, comma), true) &&
           IsName(std::string_view(entry.first).substr(comma + 1), false);
  });
  if (right) return "";
  return path + ": Invalid value: " + Json(lists) +
         ": must have keys with format `metricName,labelName` where metricName matches \"[a-zA-Z_:][a-zA-Z0-9_:]*\" "
         "and "
         "labelName matches \"[a-zA-Z_][a-zA-Z0-9_]*\"";
}

constexpr char kManifestField[] = "metrics.allowListMappingManifest";

// The error is the reason alone.
Result<LabelLists> ReadManifest(const std::string& path) {
  if (const Error there = CheckThere("open", path); !there.ok())
    return there.Wrap("failed to read allow list manifest");
  const util::FileContent file = util::ReadFile(path, {.max_bytes = kMaxFileBytes});
  if (!file.ok()) return Error("failed to read allow list manifest: " + file.problem);
  LabelLists lists;
  const Error error = ForEachDocument(file.text, [&](const std::string& json) {
    std::vector<FieldError> errors;
    const Value document = ParseJson(json, errors);
    if (!errors.empty()) return Error(errors.front().ToString());
    if (!document.is_null() && document.kind() != Value::Kind::kObject) return Error("it is not a map of texts");
    for (const auto& [key, value] : document.members()) {
      if (value.kind() != Value::Kind::kString) return Error("the value of " + util::Quoted(key) + " is not a text");
      lists[key] = value.text();
    }
    return Error::Ok();
  });
  if (!error.ok()) return error.Wrap("failed to parse allow list manifest");
  const std::string wrong = CheckLabelLists(kManifestField, lists);
  if (!wrong.empty()) return Error("invalid allow list mapping in manifest: [" + wrong + "]");
  return lists;
}

std::set<std::string> SplitAtCommas(std::string_view text) {
  std::set<std::string> parts;
  for (;;) {
    const size_t comma = text.find(',');
    parts.emplace(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

Result<util::MetricRules> MetricRulesOf(const MetricsFlags& flags) {
  util::MetricRules rules;
  rules.disabled.insert(flags.disabled.begin(), flags.disabled.end());
  Result<LabelLists> lists = flags.allow_labels;
  if (!flags.allow_labels_manifest.empty()) lists = ReadManifest(flags.allow_labels_manifest);
  if (!lists.ok()) return lists.error();
  for (const auto& [key, values] : *lists) {
    const size_t comma = key.find(',');
    rules.allowed[key.substr(0, comma)][key.substr(comma + 1)] = SplitAtCommas(values);
  }
  return rules;
}

void CheckMetrics(const MetricsFlags& flags, std::vector<std::string>& errors) {
  // The release before the one that is matched.
  const std::string release(kUpstreamVersion);
  const size_t dot = release.find('.');
  const std::string before = release.substr(1, dot) + std::to_string(std::stoi(release.substr(dot + 1)) - 1);
  if (!flags.show_hidden_for_version.empty() && flags.show_hidden_for_version != before) {
    errors.push_back(
        "metrics.showHiddenMetricsForVersion: Invalid value: " + util::Quoted(flags.show_hidden_for_version) +
        ": must be omitted or have the value '" + before + "'; only the previous minor version is allowed");
  }
  for (const std::string& name : flags.disabled) {
    if (IsName(name, true)) continue;
    Value names = Value::Array();
    for (const std::string& one : flags.disabled) names.Append(Value::String(one));
    errors.push_back("metrics.disabledMetrics: Invalid value: " + names.ToJson() +
                     ": must be fully qualified metric names matching \"^[a-zA-Z_:][a-zA-Z0-9_:]*$\", got " +
                     util::Quoted(name));
    break;
  }
  if (std::string error = CheckLabelLists("metrics.allowListMapping", flags.allow_labels); !error.empty())
    errors.push_back(std::move(error));
  if (flags.allow_labels_manifest.empty()) return;
  if (const Result<LabelLists> lists = ReadManifest(flags.allow_labels_manifest); !lists.ok()) {
    errors.push_back(std::string(kManifestField) + ": Invalid value: " + util::Quoted(flags.allow_labels_manifest) +
                     ": " + lists.error().text());
  }
  if (!flags.allow_labels.empty()) {
    Value both = Value::Object();
    if (!flags.show_hidden_for_version.empty())
      both.Set("showHiddenMetricsForVersion", Value::String(flags.show_hidden_for_version));
    if (!flags.disabled.empty()) {
      Value names = Value::Array();
      for (const std::string& one : flags.disabled) names.Append(Value::String(one));
      both.Set("disabledMetrics", std::move(names));
    }
    Value lists = Value::Object();
    for (const auto& [key, value] : flags.allow_labels) lists.Set(key, Value::String(value));
    both.Set("allowListMapping", std::move(lists));
    both.Set("allowListMappingManifest", Value::String(flags.allow_labels_manifest));
    errors.push_back("metrics: Invalid value: " + both.ToJson() +
                     ": cannot specify both allowListMapping and allowListMappingManifest");
  }
}

void ApplyElection(const SchedulerFlags& flags, config::SchedulerConfiguration& config) {
  const LeaderElectionFlags& from = flags.leader_election;
  config::LeaderElection& to = config.leader_election;
  if (flags.Given("leader-elect")) to.leader_elect = from.leader_elect;
  if (flags.Given("leader-elect-lease-duration")) to.lease_duration = from.lease_duration;
  if (flags.Given("leader-elect-renew-deadline")) to.renew_deadline = from.renew_deadline;
  if (flags.Given("leader-elect-retry-period")) to.retry_period = from.retry_period;
  if (flags.Given("leader-elect-resource-lock")) to.resource_lock = from.resource_lock;
  if (flags.old.Given("lock-object-name")) to.resource_name = flags.old.lock_object_name;
  if (flags.old.Given("lock-object-namespace")) to.resource_namespace = flags.old.lock_object_namespace;
  if (flags.Given("leader-elect-resource-name")) to.resource_name = from.resource_name;
  if (flags.Given("leader-elect-resource-namespace")) to.resource_namespace = from.resource_namespace;
}

void ApplyDeprecated(const SchedulerFlags& flags, config::SchedulerConfiguration& config) {
  const DeprecatedFlags& from = flags.deprecated;
  config::ClientConnection& client = config.client_connection;
  if (flags.Given("profiling")) config.enable_profiling = from.profiling;
  if (flags.Given("contention-profiling")) config.enable_contention_profiling = from.contention_profiling;
  if (flags.Given("kubeconfig")) client.kubeconfig = from.kubeconfig;
  if (flags.Given("kube-api-content-type")) client.content_type = from.content_type;
  if (flags.Given("kube-api-qps")) client.qps = from.qps;
  if (flags.Given("kube-api-burst")) client.burst = from.burst;
}

// As clientcmd.BuildConfigFromFlags: --master goes before the file, and without both there is the pod that we run in.
Result<client::Kubeconfig> FindApiServer(const std::string& path, const std::string& master,
                                         const client::InCluster& place, std::vector<std::string>& warnings) {
  client::Kubeconfig found;
  if (!path.empty()) {
    if (const Error there = CheckThere("stat", path); !there.ok()) return there;
    Result<client::Kubeconfig> read = client::LoadKubeconfig(path);
    if (!read.ok()) return read.error();
    found = std::move(read).value();
  } else if (master.empty()) {
    warnings.emplace_back(
        "Neither --kubeconfig nor --master was specified.  Using the inClusterConfig.  This might not work.");
    if (!place.host.empty() && !place.port.empty()) return client::LoadInCluster(place);
    warnings.emplace_back(
        "error creating inClusterConfig, falling back to default config: unable to load in-cluster configuration, "
        "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined");
    return Error(
        "invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment "
        "variable");
  }
  if (master.empty()) return found;
  const net::TlsClientOptions& tls = found.tls;
  const bool secure = tls.insecure || !tls.ca_file.empty() || !tls.ca_data.empty() || !tls.certificate_file.empty() ||
                      !tls.certificate_data.empty();
  const std::string server =
      master.find("://") != std::string::npos ? master : (secure ? "https://" : "http://") + master;
  if (Error error = client::SetServer(found, server); !error.ok()) return error;
  found.source = path.empty() ? "--master" : "--master and " + found.source;
  return found;
}

// The kubeconfig that a configuration names, before anything else of it is known.
std::string KubeconfigIn(const std::string& text) {
  legacy::Source source;
  std::vector<legacy::Problem> ignored;
  if (!legacy::ParseSource(text, "", source, ignored)) return "";
  const Value* connection = source.document.Find("clientConnection");
  return connection == nullptr ? "" : connection->TextAt("kubeconfig");
}

// What is wrong with a file of today is told in kube-scheduler's words alone.
std::string TextOf(const legacy::Problem& problem, legacy::Version version) {
  if (version == legacy::Version::kV1 && !problem.ours) return FieldError{problem.path, problem.text}.ToString();
  return problem.ToString();
}

Result<config::SchedulerConfiguration> FinishLoading(legacy::Loaded loaded, const std::string& name, bool of_flags,
                                                     std::vector<std::string>& warnings) {
  // Of what flags name, which may not be there, only when it was read.
  std::string warning = loaded.Warning(name);
  if (!warning.empty() && (loaded.ok() || !of_flags)) warnings.push_back(std::move(warning));
  std::vector<std::string> errors;
  for (const legacy::Problem& problem : loaded.problems) errors.push_back(TextOf(problem, loaded.version));
  // In a file of today kube-scheduler finds them when it makes the profiles, and so do we.
  if (loaded.version != legacy::Version::kV1)
    for (const legacy::Problem& problem : loaded.unknown) errors.push_back(problem.ToString());
  if (!errors.empty()) return Together(errors);
  return std::move(loaded.config);
}

Result<config::SchedulerConfiguration> LoadConfig(const SchedulerFlags& flags, const Registry& registry,
                                                  const client::InCluster& place, std::vector<std::string>& warnings) {
  legacy::LoadOptions options;
  std::string kubeconfig = flags.deprecated.kubeconfig;
  options.policy = PolicyFromCluster([&] {
    std::vector<std::string> said;  // again, when the scheduler's own client is made
    return FindApiServer(kubeconfig, flags.master, place, said);
  });
  if (flags.config.empty()) {
    const auto adjust = [&](config::SchedulerConfiguration& config) {
      ApplyDeprecated(flags, config);
      ApplyElection(flags, config);
    };
    if (ConfigureSomething(flags.old)) {
      options.adjust = adjust;
      legacy::Loaded loaded = LoadOldFlags(flags.old, registry, options);
      if (loaded.version != legacy::Version::kV1) loaded.version = legacy::Version::kPolicy;
      return FinishLoading(std::move(loaded),
                           flags.old.policy_config_file.empty() ? "the ConfigMap of --policy-configmap"
                                                                : "the file of --policy-config-file",
                           true, warnings);
    }
    config::SchedulerConfiguration config = config::DefaultConfiguration(registry);
    adjust(config);
    return config;
  }
  if (const Error there = CheckThere("open", flags.config); !there.ok()) return there;
  if (std::filesystem::is_directory(flags.config)) return SystemError("read", flags.config, EISDIR);
  const util::FileContent file = util::ReadFile(flags.config, {.max_bytes = kMaxFileBytes});
  if (!file.ok()) return Error("read " + flags.config + ": " + file.problem);
  kubeconfig = KubeconfigIn(file.text);
  options.adjust = [&](config::SchedulerConfiguration& config) { ApplyElection(flags, config); };
  options.no_policy =
      "this is a Policy, which --config does not take: give it with --policy-config-file, or write it as a "
      "configuration "
      "with berth config convert";
  return FinishLoading(legacy::Load(file.text, flags.config, registry, options), flags.config, false, warnings);
}

Error CheckLock(const config::LeaderElection& election) {
  const std::string& lock = election.resource_lock;
  if (!election.leader_elect || lock == "leases") return Error::Ok();
  const std::string head = "couldn't create resource lock: ";
  if (lock == "endpoints" || lock == "configmaps" || lock == "endpointsleases")
    return Error(head + lock + " lock is removed, migrate to leases");
  if (lock == "configmapsleases") return Error(head + lock + " lock is removed, migrated to leases");
  return Error(head + "Invalid lock-type " + lock);
}

}  // namespace

Result<config::FeatureGates> LoadGates(const SchedulerFlags& flags) {
  for (const std::vector<std::string>* values : {&flags.emulated_version, &flags.min_compatibility_version})
    if (const Result<std::string> version = config::ReadVersionFlag(*values); !version.ok()) return version.error();
  return config::ReadFeatureGates(flags.feature_gates);
}

Error CheckSchedulerFlags(const SchedulerFlags& flags, const config::FeatureGates& gates,
                          std::vector<std::string>& warnings) {
  std::vector<std::string> errors = config::CheckEmulation(*config::ReadVersionFlag(flags.emulated_version),
                                                           *config::ReadVersionFlag(flags.min_compatibility_version));
  if (const std::vector<std::string_view> alphas = gates.Alphas(); !alphas.empty()) {
    std::string names;
    for (const std::string_view name : alphas) names.append(names.empty() ? "" : " ").append(name);
    warnings.push_back("component has alpha features enabled in emulated version, this is unsupported: features=[" +
                       names + "]");
  }
  for (std::string& error : serving::Validate(flags.serving)) errors.push_back(std::move(error));
  for (std::string& warning : serving::WarningsOf(flags.serving)) warnings.push_back(std::move(warning));
  CheckMetrics(flags.metrics, errors);
  for (std::string& warning : WarningsOf(flags.old)) warnings.push_back(std::move(warning));
  const LeaderElectionFlags& election = flags.leader_election;
  const Error old =
      CheckOldFlags(flags.old, flags.config, flags.Given("leader-elect-resource-name") ? election.resource_name : "",
                    flags.Given("leader-elect-resource-namespace") ? election.resource_namespace : "");
  if (!old.ok()) errors.push_back(old.text());
  return Together(errors);
}

Result<LoadedScheduler> LoadScheduler(SchedulerFlags flags, config::FeatureGates gates, const Registry& registry,
                                      std::vector<std::string>& warnings, const client::InCluster& place) {
  Result<config::SchedulerConfiguration> config = LoadConfig(flags, registry, place, warnings);
  if (!config.ok()) return config.error();
  return LoadProcess(std::move(config).value(), std::move(flags), std::move(gates), warnings, place);
}

Result<LoadedScheduler> LoadProcess(config::SchedulerConfiguration config, SchedulerFlags flags,
                                    config::FeatureGates gates, std::vector<std::string>& warnings,
                                    const client::InCluster& place) {
  LoadedScheduler loaded;
  loaded.config = std::move(config);
  for (config::Extender& extender : loaded.config.extenders)
    if (extender.http_timeout.ns == 0) extender.http_timeout = kExtenderTimeout;
  for (const auto& [index, calls] : flags.own.extender_calls) {
    if (index < loaded.config.extenders.size()) continue;
    return Error("flag --extender-calls-at-a-time: " + std::to_string(index) + ": the configuration has " +
                 std::to_string(loaded.config.extenders.size()) + " extenders");
  }
  if (!flags.config.empty()) {
    for (const std::string_view flag : kVoidWithConfig) {
      if (!flags.Given(flag)) continue;
      warnings.push_back("--" + std::string(flag) + " is ignored, because there is --config");
    }
  }
  const config::ClientConnection& client = loaded.config.client_connection;
  Result<client::Kubeconfig> server = FindApiServer(client.kubeconfig, flags.master, place, warnings);
  if (!server.ok()) return server.error();
  loaded.api_server = std::move(server).value();
  if (const Error error = serving::CheckSettings(flags.serving); !error.ok()) return error;
  if (client.qps > 0 && client.burst <= 0) {
    return Error("burst is required to be greater than 0 when RateLimiter is not set and QPS is set to greater than 0");
  }
  if (const Error error = CheckLock(loaded.config.leader_election); !error.ok()) return error;
  Result<util::MetricRules> rules = MetricRulesOf(flags.metrics);
  if (!rules.ok()) return rules.error();
  loaded.metric_rules = std::move(rules).value();
  loaded.pod_max_in_unschedulable_pods = flags.deprecated.pod_max_in_unschedulable_pods;
  loaded.flags = std::move(flags);
  loaded.gates = std::move(gates);
  return loaded;
}

Error CheckElection(const config::LeaderElection& election) {
  if (!election.leader_elect) return Error::Ok();
  const std::string head = "couldn't create leader elector: ";
  if (election.lease_duration <= election.renew_deadline)
    return Error(head + "leaseDuration must be greater than renewDeadline");
  if (static_cast<double>(election.renew_deadline.ns) <= 1.2 * static_cast<double>(election.retry_period.ns))
    return Error(head + "renewDeadline must be greater than retryPeriod*JitterFactor");
  for (const auto& [name, time] :
       {std::pair{"leaseDuration", election.lease_duration}, std::pair{"renewDeadline", election.renew_deadline},
        std::pair{"retryPeriod", election.retry_period}})
    if (time.ns < 1) return Error(head + name + " must be greater than zero");
  return Error::Ok();
}

std::string NotBuiltYet() {
  return "This scheduler does not place pods yet that need resource claims: DynamicResources rejects them, and says so "
         "in their events";
}

}  // namespace berth::cli
