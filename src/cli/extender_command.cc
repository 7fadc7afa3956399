// SPDX-License-Identifier: Apache-2.0
// `berth extender`: flags to options, start, wait for a signal, drain.
#include "cli/extender_command.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <sstream>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

#include "berth/version.h"
#include "cli/flags.h"
#include "cli/inputs.h"
#include "cli/log_flags.h"
#include "cli/signals.h"
#include "client/kubeconfig.h"
#include "client/live_cluster.h"
#include "extender/cluster_feed.h"
#include "extender/extender_server.h"
#include "extender/preset_plugins.h"
#include "extender/presets.h"
#include "net/server_process.h"
#include "util/log.h"
#include "util/secret_file.h"
#include "util/steady_clock.h"
#include "util/system_clock.h"

namespace berth::cli {
namespace {

using extender::ClusterFeed;
using extender::ExtenderServer;
using extender::ExtenderServerOptions;
using extender::Route;
using extender::Verb;

constexpr char kExtenderUsage[] =
    "usage: berth extender --preset demo|label-priority|demo-index [FLAGS]\n"
    "       berth extender --config FILE [--profile NAME] [FLAGS]\n"
    "\n"
    "Serves plugins to a kube-scheduler as an HTTP extender (`extenders` in its configuration). With --config exactly\n"
    "the plugins that the profile names are served, none by default; one that the protocol cannot carry is refused.\n"
    "GET /version, /healthz, /livez, /readyz and /metrics are answered as well. The environment variable LOG_LEVEL is\n"
    "DEBUG (-v=4), INFO (-v=0), WARN (or WARNING) or ERROR. Ends on SIGTERM or SIGINT, once calls under way are\n"
    "answered.\n"
    "\n"
    "Who reaches the port can bind pods with this program's rights, unless --bind-verb is empty: docs/extender.md.\n"
    "\n";

// Calls under way when a signal comes get so long; kube-scheduler waits 5 s for an answer.
constexpr Duration kPatience = Duration::Seconds(10);

// With --preset. A binding takes two requests, and kube-scheduler itself binds up to 50 pods a second.
constexpr int64_t kPresetQps = 100, kPresetBurst = 200;
constexpr int64_t kMaxRate = 1'000'000;

struct ExtenderArguments {
  std::string preset, label, config, profile;
  std::string prefix;
  // Not given: the default ones with --config, the preset's own routes with --preset.
  std::optional<std::string> filter_verb, prioritize_verb, preempt_verb, bind_verb;
  bool only_best = false;
  std::string address = "127.0.0.1";
  int64_t port = 8080;
  std::string tls_cert_file, tls_private_key_file, client_ca_file;
  std::string kubeconfig;
  std::optional<int64_t> qps, burst;  // not given: clientConnection's with --config, our own with --preset
  client::LiveOptions live;
  std::vector<std::string> scheduler_names;
  int64_t max_request_bytes = int64_t{256} << 20;
  LogFlags log;
};

void DeclareExtender(Command& command, ExtenderArguments& out) {
  command.Choice("preset", &out.preset, {"demo", "label-priority", "demo-index"},
                 "serve one of the ready-made extenders");
  command.String("label", &out.label, "the label that label-priority reads (default priority.lixueduan.com)");
  command.String("config", &out.config,
                 "a KubeSchedulerConfiguration; the plugins that a profile of it names are served");
  command.String("profile", &out.profile, "schedulerName of that profile; needed when there are several");
  command.String("prefix", &out.prefix, "path in front of all verbs, as in urlPrefix");
  command.String("filter-verb", &out.filter_verb, "path of filter (default filter); empty: not served");
  command.String("prioritize-verb", &out.prioritize_verb, "path of prioritize (default prioritize); empty: not served");
  command.String("preempt-verb", &out.preempt_verb, "path of preempt (default preempt); empty: not served");
  command.String("bind-verb", &out.bind_verb, "path of bind (default bind); empty: not served");
  command.Bool("only-best", &out.only_best, "filter lets only the node with the highest total pass");
  command.String("address", &out.address, "where to listen (default 127.0.0.1)");
  command.Int("port", &out.port, "TCP port (default 8080); 0: any that is free, which the log tells");
  command.String("tls-cert-file", &out.tls_cert_file, "PEM certificate and chain: serve HTTPS");
  command.String("tls-private-key-file", &out.tls_private_key_file, "PEM key of that certificate");
  command.String("client-ca-file", &out.client_ca_file, "PEM: only clients with a certificate of one of these CAs");
  command.String("kubeconfig", &out.kubeconfig,
                 "how to reach the API server; within a cluster that is known without it");
  command.Int("kube-api-qps", &out.qps,
              "requests to the API server per second; a binding takes two; 0: no limit (default clientConnection's, "
              "or 100)");
  command.Int("kube-api-burst", &out.burst, "and so many at once (default clientConnection's, or 200)");
  command.Strings("scheduler-name", &out.scheduler_names, "bind pods of this scheduler only; may repeat (default any)");
  command.Int("max-request-bytes", &out.max_request_bytes, "larger requests are refused (default 268435456)");
  out.log.Declare(command);
}

// What is wrong with the flags themselves; empty: nothing.
std::string Objection(const ExtenderArguments& args) {
  if (args.preset.empty() == args.config.empty()) return "give either --preset or --config";
  if (!args.preset.empty() && !args.profile.empty()) return "--profile belongs to --config, not to --preset";
  if (!args.label.empty() && args.preset != "label-priority") return "--label belongs to --preset label-priority";
  if (args.address.empty()) return "flag --address: must not be empty; 0.0.0.0 is every address of this machine";
  if (args.port < 0 || args.port > 65535) return "flag --port: must be 0 to 65535, got " + std::to_string(args.port);
  for (const auto& [flag, value, least] :
       {std::tuple{"--kube-api-qps", args.qps, int64_t{0}}, std::tuple{"--kube-api-burst", args.burst, int64_t{1}}}) {
    if (value && (*value < least || *value > kMaxRate)) {
      return std::string("flag ") + flag + ": must be " + std::to_string(least) + " to " + std::to_string(kMaxRate) +
             ", got " + std::to_string(*value);
    }
  }
  if (args.max_request_bytes < 1) {
    return "flag --max-request-bytes: must be at least 1, got " + std::to_string(args.max_request_bytes);
  }
  if (std::string objection = args.log.Objection(); !objection.empty()) return objection;
  const bool cert = !args.tls_cert_file.empty(), key = !args.tls_private_key_file.empty();
  if (cert && !key) return "--tls-cert-file " + args.tls_cert_file + " needs --tls-private-key-file";
  if (key && !cert) return "--tls-private-key-file " + args.tls_private_key_file + " needs --tls-cert-file";
  if (!args.client_ca_file.empty() && !cert) {
    return "--client-ca-file " + args.client_ca_file + " needs --tls-cert-file and --tls-private-key-file";
  }
  for (const auto& [flag, file] : {std::pair{"--tls-cert-file", &args.tls_cert_file},
                                   std::pair{"--tls-private-key-file", &args.tls_private_key_file},
                                   std::pair{"--client-ca-file", &args.client_ca_file}}) {
    if (!file->empty() && ::access(file->c_str(), R_OK) != 0) return std::string(flag) + ": cannot read " + *file;
  }
  return "";
}

// The preset's routes below the prefix; verbs that were given take the place of the preset's own.
Result<std::vector<Route>> PresetRoutes(const std::vector<Route>& own, const ExtenderArguments& args) {
  extender::Verbs given;
  given.only_best = args.only_best;
  if (args.filter_verb) given.filter = *args.filter_verb;
  if (args.prioritize_verb) given.prioritize = *args.prioritize_verb;
  if (args.preempt_verb) given.preempt = *args.preempt_verb;
  if (args.bind_verb) given.bind = *args.bind_verb;
  const Result<std::vector<Route>> replaced_routes = extender::RoutesOf(args.prefix, given);
  if (!replaced_routes.ok()) return replaced_routes.error();
  std::vector<Route> routes = *replaced_routes;
  std::string base = args.prefix;
  while (base.ends_with('/')) base.pop_back();
  if (!base.empty() && !base.starts_with('/')) base.insert(0, 1, '/');
  for (const Route& route : own) {
    const std::optional<std::string>& replacement = route.verb == Verb::kPrioritize ? args.prioritize_verb
                                                    : route.verb == Verb::kPreempt  ? args.preempt_verb
                                                    : route.verb == Verb::kBind     ? args.bind_verb
                                                                                    : args.filter_verb;
    if (replacement) continue;
    const bool best = args.only_best && route.verb == Verb::kFilter;
    routes.push_back({base + route.path, best ? Verb::kFilterBest : route.verb});
  }
  return routes;
}

Error FillFromPreset(const ExtenderArguments& args, ExtenderServerOptions& options) {
  const Result<extender::Preset> preset = extender::MakePreset(args.preset, args.label);
  if (!preset.ok()) return preset.error();
  Result<std::vector<Route>> routes = PresetRoutes(preset->routes, args);
  if (!routes.ok()) return routes.error();
  options.profile = preset->profile;
  options.service = preset->options;
  options.routes = std::move(routes).value();
  return Error::Ok();
}

Error FillFromProfile(const ExtenderArguments& args, const config::SchedulerConfiguration& config,
                      ExtenderServerOptions& options) {
  std::string names;
  const config::Profile* found = nullptr;
  for (const config::Profile& profile : config.profiles) {
    names += (names.empty() ? "" : ", ") + profile.scheduler_name;
    if (profile.scheduler_name == args.profile) found = &profile;
  }
  if (args.profile.empty() && config.profiles.size() == 1) found = &config.profiles.front();
  if (found == nullptr) {
    return Error(args.profile.empty()
                     ? args.config + " has several profiles; name one with --profile: " + names
                     : "--profile: " + args.config + " has no profile \"" + args.profile + "\"; there are " + names);
  }
  Result<std::vector<Route>> routes = extender::RoutesOf(
      args.prefix, {args.filter_verb.value_or("filter"), args.prioritize_verb.value_or("prioritize"),
                    args.preempt_verb.value_or("preempt"), args.bind_verb.value_or("bind"), args.only_best});
  if (!routes.ok()) return routes.error();
  options.profile = *found;
  options.routes = std::move(routes).value();
  return Error::Ok();
}

Error CheckRoutes(const ExtenderArguments& args, const std::vector<Route>& routes) {
  if (routes.empty()) return Error("all verbs are empty: there is nothing to serve");
  const auto best = [](const Route& route) { return route.verb == Verb::kFilterBest; };
  if (args.only_best && std::none_of(routes.begin(), routes.end(), best)) {
    return Error("--only-best needs a filter, but --filter-verb is empty");
  }
  return Error::Ok();
}

std::string UrlOf(const ExtenderArguments& args, uint16_t port) {
  const bool v6 = args.address.find(':') != std::string::npos && !args.address.starts_with('[');
  return (args.tls_cert_file.empty() ? "http://" : "https://") + (v6 ? "[" + args.address + "]" : args.address) + ":" +
         std::to_string(port);
}

void Announce(const ExtenderArguments& args, const ExtenderServerOptions& options, const ExtenderServer& server,
              util::Log& log) {
  log.Say(LogSeverity::kInfo,
          "server listening on the port : " + std::to_string(server.port()) + ", at " + UrlOf(args, server.port()));
  for (const Route& route : options.routes) {
    log.Say(LogSeverity::kInfo, "serves " + std::string(ToString(route.verb)) + " at POST " + route.path);
  }
  const std::string warning = extender::OpenDoorWarning(options.server, options.routes);
  if (!warning.empty()) log.Say(LogSeverity::kError, warning);  // whatever the level
}

// No value: there is no API server to ask.
Result<std::optional<client::Kubeconfig>> ApiServerFor(const ExtenderArguments& args, util::Log& log) {
  const client::InCluster place = client::InClusterFromEnvironment();
  if (args.kubeconfig.empty() && place.host.empty()) return std::optional<client::Kubeconfig>();
  // Every pod has the address, but not every one an account.
  std::error_code failure;
  if (args.kubeconfig.empty() && !std::filesystem::exists(place.folder + "/token", failure) && !failure) {
    log.Say(LogSeverity::kWarning,
            "this is a pod of a cluster, but without a service account token: there is no " + place.folder + "/token");
    return std::optional<client::Kubeconfig>();
  }
  Result<client::Kubeconfig> found =
      args.kubeconfig.empty() ? client::LoadInCluster(place) : client::LoadKubeconfig(args.kubeconfig);
  if (!found.ok()) return found.error();
  return std::optional<client::Kubeconfig>(std::move(found).value());
}

std::string RateOf(const client::LiveOptions& live) {
  if (live.qps <= 0) return "any number of requests a second";
  std::ostringstream text;
  text << "at most " << live.qps << " requests a second and " << live.burst << " at once";
  return text.str();
}

Result<std::unique_ptr<ClusterFeed>> MakeFeed(const ExtenderArguments& args, const Clock& clock, util::Log& log) {
  const Result<std::optional<client::Kubeconfig>> server = ApiServerFor(args, log);
  if (!server.ok()) return server.error();
  if (!server->has_value()) {
    log.Say(LogSeverity::kInfo,
            "there is no API server: bind, and NodeNames where plugins need node data, will be answered with an error");
    return std::unique_ptr<ClusterFeed>();
  }
  log.Say(LogSeverity::kInfo,
          "API server " + server->value().server + ", from " + server->value().source + ", " + RateOf(args.live));
  for (const std::string& warning : client::WarningsOf(server->value())) log.Say(LogSeverity::kWarning, warning);
  client::LiveOptions live = args.live;
  live.user_agent = std::string("berth-extender/") + kVersion;
  live.warning = [&log](const std::string& sentence) { log.Say(LogSeverity::kWarning, sentence); };
  static const util::SteadyClock timers;
  return ClusterFeed::Make(
      [&](util::Inbox& inbox) -> Result<std::unique_ptr<client::ClusterApi>> {
        auto api = client::LiveCluster::Connect(server->value(), inbox, clock, live);
        if (!api.ok()) return api.error();
        return std::unique_ptr<client::ClusterApi>(std::move(api).value());
      },
      timers, log);
}

// Nothing in here writes to stderr but the log: it alone knows how not to wait for the reader.
int Serve(const ExtenderArguments& args, ExtenderServerOptions options, const Registry& registry, const Clock& clock,
          util::Log& log) {
  const NoBrokenPipes no_broken_pipes;
  const std::string complaint = args.log.Complaint(util::log_level::kInfo);
  if (!complaint.empty()) log.Say(LogSeverity::kWarning, complaint);
  log.Say(LogSeverity::kInfo, "Log level was set to " + std::string(util::LogLevelName(log.verbosity())) +
                                  ", -v=" + std::to_string(log.verbosity()));

  net::TlsOptions tls;
  tls.certificate_file = args.tls_cert_file;
  tls.key_file = args.tls_private_key_file;
  tls.client_ca_file = args.client_ca_file;
  tls.on_warning = [&log](const Error& error) { log.Say(LogSeverity::kWarning, error.text()); };
  if (!args.tls_cert_file.empty()) options.server.tls = &tls;
  if (const std::string who = util::WhoElseReads(args.tls_private_key_file); !who.empty()) {
    log.Say(LogSeverity::kWarning, "--tls-private-key-file " + args.tls_private_key_file + ": " + who);
  }

  net::PrepareToServe();
  std::optional<Signals> signals(std::in_place, std::initializer_list<int>{SIGTERM, SIGINT});
  const Result<std::unique_ptr<ClusterFeed>> feed = MakeFeed(args, clock, log);
  if (!feed.ok()) {
    log.Print("berth extender: " + feed.error().text());
    return kBadInput;
  }
  auto server = ExtenderServer::Start(options, registry, clock, feed->get(), log);
  if (!server.ok()) {
    log.Print("berth extender: " + server.error().text());
    return kBadInput;
  }
  Announce(args, options, **server, log);
  const int signal = signals->Wait();
  log.Say(LogSeverity::kInfo,
          std::string(signal == SIGINT ? "SIGINT" : "SIGTERM") + ": calls under way are answered, then this ends");
  signals.reset();  // another one ends it at once
  (*server)->Stop(kPatience);
  if (*feed) (*feed)->Stop();
  log.Say(LogSeverity::kInfo, "stopped");
  return kDone;
}

}  // namespace

int ExtenderCommand(const std::vector<std::string>& args, const Registry& registry, std::ostream& out,
                    std::ostream& err, int log_fd) {
  ExtenderArguments arguments;
  Command command("extender", kExtenderUsage, out, err);
  DeclareExtender(command, arguments);
  if (const std::optional<int> done = command.Read(args)) return *done;
  if (!command.rest().empty()) return command.Complain("unexpected argument \"" + command.rest().front() + "\"");
  if (const std::string objection = Objection(arguments); !objection.empty()) return command.Complain(objection);

  ExtenderServerOptions options;
  Error error = Error::Ok();
  if (!arguments.preset.empty()) {
    error = FillFromPreset(arguments, options);
    arguments.live.qps = kPresetQps;
    arguments.live.burst = kPresetBurst;
  } else {
    const std::optional<config::SchedulerConfiguration> config = ReadConfiguration(
        arguments.config, registry, err,
        {.unnamed = config::UnnamedPlugins::kNone,
         .how = "berth extender serves plugins that a profile names, not a Policy",
         .no_policy = "a Policy names predicates and priorities, but berth extender serves plugins that "
                      "a profile names; berth config convert shows which plugins they are today"});
    if (!config) return kBadInput;
    error = FillFromProfile(arguments, *config, options);
    if (arguments.kubeconfig.empty()) arguments.kubeconfig = config->client_connection.kubeconfig;
    arguments.live.qps = config->client_connection.qps;
    arguments.live.burst = config->client_connection.burst;
    arguments.live.encodings = client::EncodingOptions::From(config->client_connection.accept_content_types,
                                                             config->client_connection.content_type);
  }
  if (arguments.qps) arguments.live.qps = static_cast<double>(*arguments.qps);
  if (arguments.burst) arguments.live.burst = static_cast<int>(*arguments.burst);
  if (error.ok()) error = CheckRoutes(arguments, options.routes);
  if (!error.ok()) return command.Complain(error.text());
  options.service.scheduler_names = arguments.scheduler_names;

  options.server.address = arguments.address;
  options.server.port = static_cast<uint16_t>(arguments.port);
  options.server.threads = options.workers = std::clamp(std::thread::hardware_concurrency(), 1u, 4u);
  options.plugins_are_quick = !arguments.preset.empty();
  options.server.max_request_bytes = static_cast<uint64_t>(arguments.max_request_bytes);
  options.server.max_total_bytes = std::max(options.server.max_total_bytes, options.server.max_request_bytes);
  // A preset means our plugins, whatever others have their names.
  Registry own;
  extender::RegisterPresetPlugins(own);
  const util::SystemClock clock;
  const util::LogOptions log_options = arguments.log.Options(util::log_level::kInfo);
  const std::unique_ptr<util::Log> log = log_fd < 0 ? std::make_unique<util::Log>(err, log_options, clock)
                                                    : std::make_unique<util::Log>(log_fd, log_options, clock);
  return Serve(arguments, std::move(options), arguments.preset.empty() ? registry : own, clock, *log);
}

}  // namespace berth::cli
