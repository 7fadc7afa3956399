// SPDX-License-Identifier: Apache-2.0
// The flags, in the order of their sections. Upstream: cmd/kube-scheduler/app/options and what it adds from apiserver,
// component-base and klog (v1.36.4).
#include "cli/scheduler_flags.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "berth/version.h"
#include "config/emulation.h"
#include "config/feature_gates.h"
#include "util/go_values.h"
#include "util/text.h"

namespace berth::cli {
namespace {

std::string Joined(const std::vector<std::string>& parts, const char* between) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) text += (i > 0 ? between : "") + parts[i];
  return text;
}

std::string ShowCertificates(const std::vector<net::NamedCertificate>& all) {
  std::vector<std::string> shown;
  for (const net::NamedCertificate& one : all) {
    shown.push_back(one.certificate_file + "," + one.key_file + (one.names.empty() ? "" : ":") +
                    Joined(one.names, ","));
  }
  return "[" + Joined(shown, ";") + "]";
}

std::string ReadVmodule(const std::string& value, std::vector<util::FileVerbosity>& out) {
  for (size_t from = 0; from <= value.size();) {
    const size_t to = std::min(value.find(',', from), value.size());
    const std::string item = value.substr(from, to - from);
    from = to + 1;
    if (item.empty()) continue;
    const size_t equals = item.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == item.size() ||
        item.find('=', equals + 1) != std::string::npos) {
      return util::Quoted(item) + " does not have the pattern=N format";
    }
    const util::GoParsed<uint64_t> level = util::ParseGoUint(std::string_view(item).substr(equals + 1), 10, 31);
    if (!level.ok()) return "parsing verbosity in " + util::Quoted(item) + ": " + level.error;
    out.push_back({item.substr(0, equals), static_cast<int>(level.value)});
  }
  return "";
}

std::string ShowVmodule(const std::vector<util::FileVerbosity>& all) {
  std::vector<std::string> shown;
  for (const util::FileVerbosity& one : all) shown.push_back(one.pattern + "=" + std::to_string(one.verbosity));
  return Joined(shown, ",");
}

void AddQuantity(FlagSet& set, const char* name, Quantity* out, const char* help) {
  const auto written = std::make_shared<std::string>("0");  // as given, which is how it is shown
  set.Add({.name = name,
           .shorthand = "",
           .type = "quantity",
           .help = help,
           .set =
               [out, written](const std::string& value) {
                 const Result<Quantity> parsed = Quantity::Parse(value);
                 if (!parsed.ok()) return parsed.error().text();
                 *out = *parsed;
                 *written = value;
                 return std::string();
               },
           .text = [written] { return *written; },
           .shows_default = false});
}

void AddServing(FlagSet& set, SchedulerFlags& flags) {
  serving::ServingOptions& out = flags.serving;
  set.Section("Secure serving");
  set.Ip("bind-address", &out.bind_address,
         "address on which --secure-port listens; 0.0.0.0 and :: are every address of the machine, of either family");
  set.Int("secure-port", &out.secure_port, "port for HTTPS, with authentication and authorization; 0 serves nothing");
  set.Bool("disable-http2-serving", &flags.disable_http2, "do not serve HTTP/2; Berth never does");
  set.String("cert-dir", &out.cert_dir,
             "folder in which the self-signed certificate is kept, unless --tls-cert-file is given");
  set.String("tls-cert-file", &out.tls_cert_file,
             "certificate to serve with, then its CA's, if any; without it one is made and signed by itself");
  set.String("tls-private-key-file", &out.tls_private_key_file, "key that belongs to --tls-cert-file");
  set.Strings("tls-cipher-suites", &out.tls_cipher_suites,
              "cipher suites of TLS 1.2 and older that are offered, by their Go names; without it a safe choice");
  set.Int32s("tls-curve-preferences", &out.tls_curve_preferences,
             "key exchanges that are allowed, by their numbers in Go's crypto/tls, CurveID; without it a safe choice");
  set.String("tls-min-version", &out.tls_min_version,
             "oldest version of TLS: VersionTLS10, VersionTLS11, VersionTLS12 (if not given), VersionTLS13");
  set.Add({.name = "tls-sni-cert-key",
           .shorthand = "",
           .type = "namedCertKey",
           .help = "certificate and key for some names: cert,key or cert,key:name,*.name; may be given several times",
           .set =
               [&out](const std::string& value) {
                 Result<net::NamedCertificate> certificate = serving::ParseNamedCertificate(value);
                 if (!certificate.ok()) return certificate.error().text();
                 out.tls_sni_cert_keys.push_back(std::move(certificate).value());
                 return std::string();
               },
           .text = [&out] { return ShowCertificates(out.tls_sni_cert_keys); }});
  set.Int("http2-max-streams-per-connection", &flags.http2_max_streams, "streams of an HTTP/2 connection");
  set.Bool("permit-address-sharing", &out.permit_address_sharing, "bind the port with SO_REUSEADDR");
  set.Bool("permit-port-sharing", &out.permit_port_sharing,
           "bind the port with SO_REUSEPORT: several processes may have it");
}

void AddAuthentication(FlagSet& set, serving::ServingOptions& out) {
  set.Section("Authentication");
  set.String("authentication-kubeconfig", &out.authentication_kubeconfig,
             "API server to ask about tokens and client CAs; without it tokens are ignored");
  set.Bool("authentication-skip-lookup", &out.authentication_skip_lookup,
           "do not look for client CAs in the cluster that no flag has named");
  set.Time("authentication-token-webhook-cache-ttl", &out.authentication_token_webhook_cache_ttl,
           "how long an answer about a token holds");
  set.Bool("authentication-tolerate-lookup-failure", &out.authentication_tolerate_lookup_failure,
           "start although client CAs could not be looked up; requests may then be anonymous");
  set.String("client-ca-file", &out.client_ca_file,
             "CAs whose client certificates are accepted: the common name is the user, organizations are the groups");
  set.Strings("requestheader-allowed-names", &out.requestheader.allowed_clients,
              "common names of front proxies that may name users in headers; empty: any that the CA signed");
  set.String("requestheader-client-ca-file", &out.requestheader_client_ca_file,
             "CAs of front proxies that may name users in headers");
  set.Strings("requestheader-extra-headers-prefix", &out.requestheader.extra_prefixes,
              "how headers begin that say more of a user");
  set.Strings("requestheader-group-headers", &out.requestheader.group, "headers that name a user's groups");
  set.Strings("requestheader-uid-headers", &out.requestheader.uid, "headers that have a user's uid");
  set.Strings("requestheader-username-headers", &out.requestheader.user, "headers that name a user");
}

void AddAuthorization(FlagSet& set, serving::ServingOptions& out) {
  set.Section("Authorization");
  set.Strings("authorization-always-allow-paths", &out.authorization_always_allow_paths,
              "paths that everybody may ask for; a * at the end stands for anything");
  set.String("authorization-kubeconfig", &out.authorization_kubeconfig,
             "API server to ask who may do what; without it other paths are forbidden");
  set.Time("authorization-webhook-cache-authorized-ttl", &out.authorization_webhook_cache_authorized_ttl,
           "how long a yes holds");
  set.Time("authorization-webhook-cache-unauthorized-ttl", &out.authorization_webhook_cache_unauthorized_ttl,
           "how long a no holds");
}

void AddDeprecated(FlagSet& set, DeprecatedFlags& out) {
  set.Section("Deprecated");
  set.Bool("contention-profiling", &out.contention_profiling,
           "DEPRECATED: profile locks; without effect here. Ignored with --config.");
  set.Int32("kube-api-burst", &out.burst,
            "DEPRECATED: requests to the API server that may come at once. Ignored with --config.");
  set.String("kube-api-content-type", &out.content_type,
             "DEPRECATED: form of requests to the API server: protobuf, or JSON. Ignored with --config.");
  set.Float("kube-api-qps", &out.qps, "DEPRECATED: requests to the API server in a second. Ignored with --config.");
  set.String("kubeconfig", &out.kubeconfig,
             "DEPRECATED: file that says which API server, and as whom. Ignored with --config.");
  set.Time("pod-max-in-unschedulable-pods-duration", &out.pod_max_in_unschedulable_pods,
           "DEPRECATED: after so long a pod that no event has helped is tried again.");
  set.Bool("profiling", &out.profiling, "DEPRECATED: serve /debug/flags/v. Ignored with --config.");
}

void AddLeaderElection(FlagSet& set, LeaderElectionFlags& out) {
  set.Section("Leader election");
  set.Bool("leader-elect", &out.leader_elect, "schedule only while leading, so that of several processes one does");
  set.Time("leader-elect-lease-duration", &out.lease_duration, "how long others wait for a leader that does not renew");
  set.Time("leader-elect-renew-deadline", &out.renew_deadline,
           "how long a leader tries to renew before it gives up; less than the lease's duration");
  set.String("leader-elect-resource-lock", &out.resource_lock, "kind of the lock: leases");
  set.String("leader-elect-resource-name", &out.resource_name, "name of the lock");
  set.String("leader-elect-resource-namespace", &out.resource_namespace, "namespace of the lock");
  set.Time("leader-elect-retry-period", &out.retry_period, "how long to wait between two tries");
}

std::string GatesHelp() {
  std::vector<std::string> known;
  for (const config::FeatureGate& gate : config::AllFeatureGates()) {
    if (gate.stage != config::GateStage::kAlpha && gate.stage != config::GateStage::kBeta) continue;
    known.push_back("kube:" + std::string(gate.name) + "=true|false (" + std::string(config::StageName(gate.stage)) +
                    " - default=" + (gate.on ? "true" : "false") + ")");
  }
  std::ranges::sort(known);
  return "feature gates as name=true,name=false; may be given several times. A value that would make kube-scheduler\n"
         "decide, wait or write in a way that Berth does not have is refused. Known are:\n" +
         Joined(known, "\n");
}

void AddGates(FlagSet& set, SchedulerFlags& out) {
  set.Section("Feature gate");
  set.Strings("emulated-version", &out.emulated_version, "release to behave like: kube=1.36, which is the only one");
  set.Add({.name = "feature-gates",
           .shorthand = "",
           .type = "colonSeparatedMultimapStringString",
           .help = GatesHelp(),
           .set = [&out](const std::string& value) { return out.feature_gates.push_back(value), std::string(); },
           .text = [&out] { return config::FeatureGatesText(out.feature_gates); },
           .shows_default = false});
  set.Strings("min-compatibility-version", &out.min_compatibility_version,
              "oldest release of other control plane components: kube=1.33 to kube=1.36");
}

void AddMetrics(FlagSet& set, MetricsFlags& out) {
  set.Section("Metrics");
  set.StringMap("allow-metric-labels", &out.allow_labels,
                "values that a label may have: metric,label=value,value; others become \"unexpected\"");
  set.String("allow-metric-labels-manifest", &out.allow_labels_manifest, "file that has the same as a map in YAML");
  set.Strings("disabled-metrics", &out.disabled, "metrics that are not to be there, by their full names");
  set.String("show-hidden-metrics-for-version", &out.show_hidden_for_version,
             "show metrics that this release hides and the one before it did not");
}

void AddLogs(FlagSet& set, LogsFlags& out) {
  set.Section("Logs");
  set.Time("log-flush-frequency", &out.flush_frequency, "how long a line may wait; here none does");
  AddQuantity(set, "log-json-info-buffer-size", &out.json_info_buffer_size, "[Alpha] not supported");
  set.Bool("log-json-split-stream", &out.json_split_stream, "[Alpha] not supported");
  AddQuantity(set, "log-text-info-buffer-size", &out.text_info_buffer_size, "[Alpha] not supported");
  set.Bool("log-text-split-stream", &out.text_split_stream, "[Alpha] not supported");
  set.String("logging-format", &out.format, "form of log lines: json or text");
  set.Add({.name = "v",
           .shorthand = "v",
           .type = "Level",
           .help = "how much is logged: 0 the least, 2 what operators want, 4 and more for developers",
           .set =
               [&out](const std::string& value) {
                 const util::GoParsed<uint64_t> level = util::ParseGoUint(value, 10, 31);
                 if (level.ok()) out.verbosity = static_cast<uint32_t>(level.value);
                 return level.error;
               },
           .text = [&out] { return std::to_string(out.verbosity); },
           .shows_default = false});
  set.Add({.name = "vmodule",
           .shorthand = "",
           .type = "pattern=N,...",
           .help = "the same for some source files, by patterns of their names without folder and ending (text only)",
           .set = [&out](const std::string& value) { return ReadVmodule(value, out.vmodule); },
           .text = [&out] { return ShowVmodule(out.vmodule); },
           .shows_default = false});
}

// --version: true, false, raw, or the version that is to be reported.
std::string ReadVersionWish(const std::string& value, std::string& text, SchedulerFlags& out) {
  if (value == "raw") {
    out.version = VersionWish::kRaw;
    return text = value, std::string();
  }
  if (value.starts_with('v')) {
    std::string error = config::CheckReportedVersion(value);
    if (!error.empty()) return error;
    out.version = VersionWish::kNone;
    text = out.reported_version = value;
    return "";
  }
  const util::GoParsed<bool> wish = util::ParseGoBool(value);
  if (!wish.ok()) return wish.error;
  out.version = wish.value ? VersionWish::kShort : VersionWish::kNone;
  text = wish.value ? "true" : "false";
  return "";
}

void AddGlobal(FlagSet& set, SchedulerFlags& out) {
  set.Section("Global");
  set.Bool("help", &out.help, "this text", "h");
  const auto text = std::make_shared<std::string>("false");
  set.Add({.name = "version",
           .shorthand = "",
           .type = "version[=true]",
           .help = "print the version, with =raw all of it; =vX.Y.Z... is the version to report",
           .set = [text, &out](const std::string& value) { return ReadVersionWish(value, *text, out); },
           .text = [text] { return *text; },
           .bare = "true",
           .shows_default = false});
}

std::string ReadExtenderCalls(const std::string& value, std::map<size_t, size_t>& out) {
  for (size_t from = 0; from <= value.size();) {
    const size_t to = std::min(value.find(',', from), value.size());
    const std::string_view item = std::string_view(value).substr(from, to - from);
    from = to + 1;
    const size_t equals = std::min(item.find('='), item.size());
    const util::GoParsed<uint64_t> index = util::ParseGoUint(item.substr(0, equals), 10, 31);
    const util::GoParsed<uint64_t> calls = util::ParseGoUint(item.substr(std::min(equals + 1, item.size())), 10, 31);
    if (!index.ok() || !calls.ok())
      return util::Quoted(item) +
             ": must be INDEX=N, the place of an extender in the configuration, from 0, and a number";
    if (calls.value < 1 || calls.value > OwnFlags::kMostExtenderCalls)
      return util::Quoted(item) + ": must be from 1 to " + std::to_string(OwnFlags::kMostExtenderCalls);
    if (!out.emplace(index.value, calls.value).second) return util::Quoted(item) + ": this extender was given before";
  }
  return "";
}

std::string ShowExtenderCalls(const std::map<size_t, size_t>& all) {
  std::vector<std::string> shown;
  for (const auto& [index, calls] : all) shown.push_back(std::to_string(index) + "=" + std::to_string(calls));
  return Joined(shown, ",");
}

std::string ReadGatherPods(const std::string& value, Duration& out) {
  const Result<Duration> parsed = ParseDuration(value);
  if (!parsed.ok()) return parsed.error().text();
  if (parsed->ns < 0 || parsed->ns > OwnFlags::kLongestGather.ns)
    return util::Quoted(value) + ": must be from 0 to " + FormatDuration(OwnFlags::kLongestGather);
  out = *parsed;
  return "";
}

constexpr std::string_view kExtenderCalls = "extender-calls-at-a-time", kGatherPods = "gather-pods";

void AddOwn(FlagSet& set, OwnFlags& out, bool listed) {
  if (listed) set.Section("Berth");
  set.Hide(!listed);
  set.Add({.name = std::string(kExtenderCalls),
           .shorthand = "",
           .type = "INDEX=N,...",
           .help =
               "calls of filter, prioritize and preempt that the extender at this place of the configuration, from 0,\n"
               "gets at the same time: 1 to 64; without it one, as from kube-scheduler",
           .set = [&out](const std::string& value) { return ReadExtenderCalls(value, out.extender_calls); },
           .text = [&out] { return ShowExtenderCalls(out.extender_calls); },
           .shows_default = false});
  set.Add(
      {.name = std::string(kGatherPods),
       .shorthand = "",
       .type = "duration",
       .help =
           "longest time that a pod waits for others while pods arrive in a stream, 20 a second and more: some at a\n"
           "time cost less CPU. Answers to bindings wait with them; 0 lets none wait",
       .set = [&out](const std::string& value) { return ReadGatherPods(value, out.gather_pods); },
       .text = [&out] { return FormatDuration(out.gather_pods); }});
  set.Hide(false);
}

// REQUIRES: `out` outlives the set.
FlagSet SchedulerFlagSet(SchedulerFlags& out, bool lists_own) {
  FlagSet set;
  set.Section("Misc");
  set.String("config", &out.config, "configuration file, a KubeSchedulerConfiguration");
  set.String("master", &out.master, "address of the API server; goes before that of a kubeconfig");
  set.String("write-config-to", &out.write_config_to,
             "write the configuration with all defaults to this file, and end");
  AddServing(set, out);
  AddAuthentication(set, out.serving);
  AddAuthorization(set, out.serving);
  AddDeprecated(set, out.deprecated);
  AddOldFlags(set, out.old);
  AddLeaderElection(set, out.leader_election);
  AddGates(set, out);
  AddMetrics(set, out.metrics);
  AddLogs(set, out.logs);
  AddGlobal(set, out);
  AddOwn(set, out.own, lists_own);
  return set;
}

}  // namespace

void DeclareProcessFlags(FlagSet& set, SchedulerFlags& out) {
  AddServing(set, out);
  AddAuthentication(set, out.serving);
  AddAuthorization(set, out.serving);
  AddLeaderElection(set, out.leader_election);
  AddMetrics(set, out.metrics);
  AddLogs(set, out.logs);
}

bool SchedulerFlags::Given(std::string_view name) const {
  const auto at = std::ranges::find(values, name, &FlagValue::name);
  return at != values.end() && at->given;
}

Result<SchedulerFlags> ParseSchedulerFlags(const std::vector<std::string>& args) {
  SchedulerFlags flags;
  flags.reported_version = kUpstreamVersion;
  FlagSet set = SchedulerFlagSet(flags, /*lists_own=*/false);
  Result<std::vector<std::string>> rest = set.Parse(args);
  if (!rest.ok()) return rest.error();
  flags.arguments = std::move(rest).value();
  flags.values = set.Values();
  for (const FlagValue& flag : flags.values)
    if (flag.hidden && flag.name != kExtenderCalls && flag.name != kGatherPods) flags.old.given.push_back(flag.name);
  return flags;
}

std::string SchedulerUsage(std::string_view program) {
  SchedulerFlags flags;
  return "Usage:\n  " + std::string(program) + " [flags]\n" +
         SchedulerFlagSet(flags, program != "kube-scheduler").Help();
}

std::string SchedulerHelp(std::string_view program) {
  return "Berth watches a cluster and binds each pending pod to the node that suits it best, as kube-scheduler\n" +
         std::string(kUpstreamVersion) + " would, with the same configuration and the same flags.\n\n" +
         SchedulerUsage(program);
}

const std::vector<std::string_view>& FlagsWithoutEffect() {
  static const std::vector<std::string_view> flags{
      "contention-profiling", "disable-http2-serving",     "http2-max-streams-per-connection",
      "log-flush-frequency",  "min-compatibility-version", "show-hidden-metrics-for-version"};
  return flags;
}

}  // namespace berth::cli
