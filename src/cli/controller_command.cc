// SPDX-License-Identifier: Apache-2.0
// The command line of `berth controller`: what it places, and the scheduler's own flags for everything around that.
#include "cli/controller_command.h"

#include <memory>
#include <utility>

#include "berth/version.h"
#include "cli/flags.h"
#include "cli/log_setup.h"
#include "cli/run_scheduler.h"
#include "controller/controller_config.h"
#include "controller/placements.h"
#include "util/go_values.h"
#include "util/system_clock.h"
#include "util/text.h"

namespace berth::cli {
namespace {

constexpr char kProgram[] = "berth-controller";
constexpr char kIntroduction[] =
    "berth controller watches pods whose spec.schedulerName is its own and binds each to a node that a placement\n"
    "chooses. Nobody asks whether the pod fits there, unless --plugin names somebody who does.\n\n";

struct ControllerFlags {
  controller::ControllerOptions options;
  SchedulerFlags process;  // what the process around the placement is told
  std::string kubeconfig;
  float qps = 50;
  int32_t burst = 100;
  std::optional<uint64_t> seed;
  bool help = false;
};

std::string ReadSeed(const std::string& text, std::optional<uint64_t>& out) {
  const util::GoParsed<uint64_t> number = util::ParseGoUint(text, 10, 64);
  if (number.ok()) out = number.value;
  return number.error;
}

// REQUIRES: `out` outlives the set.
FlagSet ControllerFlagSet(ControllerFlags& out) {
  FlagSet set;
  set.Section("Controller");
  set.String("scheduler-name", &out.options.scheduler_name, "bind pods with this spec.schedulerName; needed");
  set.String("placement", &out.options.placement,
             "random: any node; first: the first by name; least-pods: the one with the fewest pods");
  set.Add({.name = "plugin",
           .shorthand = "",
           .type = "string",
           .help = "a scheduler plugin that decides instead, by what it filters and scores: NAME, or with arguments\n"
                   "NAME={\"argument\": value}; may be given several times",
           .set = [&out](const std::string& value) { return out.options.plugins.push_back(value), std::string(); },
           .text =
               [&out] {
                 std::string all;
                 for (const std::string& one : out.options.plugins) all += (all.empty() ? "" : " ") + one;
                 return all;
               },
           .shows_default = false});
  set.Bool("ready-nodes-only", &out.options.ready_nodes_only, "leave nodes out that are not Ready, or cordoned");
  set.Add({.name = "seed",
           .shorthand = "",
           .type = "uint",
           .help = "of what is random, so that equal runs are equal; without it each is another one",
           .set = [&out](const std::string& value) { return ReadSeed(value, out.seed); },
           .text = [&out] { return out.seed ? std::to_string(*out.seed) : std::string(); },
           .shows_default = false});
  set.String("kubeconfig", &out.kubeconfig, "which API server, and as whom; within a cluster that is known without it");
  set.String("master", &out.process.master, "address of the API server; goes before that of a kubeconfig");
  set.Float("kube-api-qps", &out.qps, "requests to the API server in a second");
  set.Int32("kube-api-burst", &out.burst, "requests that may go out at once");
  DeclareProcessFlags(set, out.process);
  set.Section("Global");
  set.Bool("help", &out.help, "this text", "h");
  return set;
}

int Refuse(std::ostream& err, const std::string& sentence) {
  err << "berth controller: " << sentence << "\nberth controller --help says more.\n";
  return kBadInput;
}

config::LeaderElection ElectionOf(const LeaderElectionFlags& flags) {
  return {.leader_elect = flags.leader_elect,
          .lease_duration = flags.lease_duration,
          .renew_deadline = flags.renew_deadline,
          .retry_period = flags.retry_period,
          .resource_lock = flags.resource_lock,
          .resource_name = flags.resource_name,
          .resource_namespace = flags.resource_namespace};
}

}  // namespace

int RunController(const LoadedController& loaded, const Registry& registry, util::Log& log) {
  live::SchedulerProcessOptions options = ProcessOptionsOf(loaded.process, registry);
  options.program = kProgram;
  options.greeting = "Starting controller";
  options.may_end = true;
  options.seed = loaded.seed;
  return RunProcess(loaded.process.config, registry, std::move(options), log);
}

int ControllerCommand(const std::vector<std::string>& args, const Registry& registry, std::ostream& out,
                      std::ostream& err, int log_fd, const ControllerProcess& process) {
  ControllerFlags flags;
  flags.process.reported_version = kUpstreamVersion;
  flags.process.serving.component = kProgram;
  flags.process.leader_election.resource_name = "";  // the scheduler's name
  FlagSet set = ControllerFlagSet(flags);
  const Result<std::vector<std::string>> rest = set.Parse(args);
  if (!rest.ok()) return Refuse(err, rest.error().text());
  if (flags.help) {
    ControllerFlags defaults;
    defaults.process.leader_election.resource_name = "";
    out << kIntroduction << "Usage:\n  berth controller --scheduler-name NAME [flags]\n"
        << ControllerFlagSet(defaults).Help();
    return kDone;
  }
  if (!rest->empty()) return Refuse(err, "unexpected argument " + util::Quoted(rest->front()));
  flags.process.values = set.Values();
  const auto given = [&](std::string_view name) { return flags.process.Given(name); };
  if (given("placement") && given("plugin")) return Refuse(err, "give either --placement or --plugin");

  Registry all = registry;
  controller::RegisterPlacements(all);
  LeaderElectionFlags& election = flags.process.leader_election;
  if (election.resource_name.empty()) election.resource_name = flags.options.scheduler_name;
  flags.options.leader_election = ElectionOf(election);
  flags.options.client_connection.kubeconfig = flags.kubeconfig;
  flags.options.client_connection.qps = flags.qps;
  flags.options.client_connection.burst = flags.burst;
  Result<config::SchedulerConfiguration> config = controller::ControllerConfiguration(flags.options, all);
  if (!config.ok()) return Refuse(err, config.error().text());

  config::FeatureGates gates;
  if (const Error error = CheckLogs(flags.process.logs, gates); !error.ok()) return Refuse(err, error.text());
  std::vector<std::string> warnings;
  if (const Error error = CheckSchedulerFlags(flags.process, gates, warnings); !error.ok())
    return Refuse(err, error.text());
  if (const Error error = CheckElection(config->leader_election); !error.ok()) return Refuse(err, error.text());
  Result<LoadedScheduler> loaded =
      LoadProcess(std::move(config).value(), std::move(flags.process), std::move(gates), warnings);
  const util::SystemClock clock;
  const util::LogOptions options = LogOptionsOf(loaded.ok() ? loaded->flags.logs : LogsFlags());
  const std::unique_ptr<util::Log> log = log_fd < 0 ? std::make_unique<util::Log>(err, options, clock)
                                                    : std::make_unique<util::Log>(log_fd, options, clock);
  for (const std::string& warning : warnings) log->Say(LogSeverity::kWarning, warning);
  if (!loaded.ok()) {
    log->Error("command failed", {{"err", loaded.error().text()}});
    return kAnswerIsNo;
  }
  return process({std::move(loaded).value(), flags.seed}, all, *log);
}

}  // namespace berth::cli
