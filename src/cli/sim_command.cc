// SPDX-License-Identifier: Apache-2.0
// `berth sim`: reads everything, complains about everything, then lets time pass.
#include "cli/sim_command.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "berth/args.h"
#include "berth/host/annotations.h"
#include "cli/flags.h"
#include "cli/inputs.h"
#include "cli/log_flags.h"
#include "cli/progress.h"
#include "cli/rehearsed_extenders.h"
#include "cli/sim_command_text.h"
#include "sim/scenario.h"
#include "sim/sim_report.h"
#include "sim/sim_run.h"
#include "util/system_clock.h"

namespace berth::cli {
namespace {

constexpr char kSimUsage[] =
    "usage: berth sim [SCENARIO...] [-f FILE...] [--nodes N] [--pods N] [--config FILE]... [-o table|json|junit]\n"
    "                 [--extenders ignore|call] [--extender-url INDEX=URL]...\n"
    "\n"
    "Runs the scheduler on a simulated cluster in virtual time: on the objects of the files, on generated ones, "
    "through\n"
    "the steps of each SCENARIO file. Prints where every pod is at the end and why, and which expectations of the\n"
    "scenarios are not met (exit code 1). With several --config each runs on the same input; what differs is printed.\n"
    "\n"
    "A scenario is YAML or JSON: {apiVersion: berth.dev/v1alpha1, kind: Scenario, files: [...], config: FILE,\n"
    "steps: [{at: 10s, apply|patch|delete: ...}], expect: [{at: 20s, pod: ns/name, node: N | nodeIn: [...] |\n"
    "pending: true, message: TEXT}]}. examples/scenarios has some.\n"
    "\n";

struct SimArguments {
  std::vector<std::string> scenarios, files, configs;
  int64_t nodes = 0, pods = 0, churn = 0;
  std::optional<uint64_t> seed;
  std::optional<Duration> duration;
  bool faults = false, verify = false;
  std::string explain, format = "table";
  LogFlags log;
  RehearsedExtenders extenders;
};

// The exit code when there is nothing left to do.
std::optional<int> ReadArguments(Command& command, const std::vector<std::string>& args, SimArguments& out) {
  std::optional<int64_t> seed;
  std::optional<std::string> duration, explained;
  command.Strings("f,filename", &out.files, "a file or folder of objects; may repeat");
  command.Strings("config", &out.configs, "a KubeSchedulerConfiguration; may repeat, to compare");
  command.Int("nodes", &out.nodes, "generate so many nodes");
  command.Int("pods", &out.pods, "generate so many pods");
  command.Int("seed", &seed, "of what is generated, of faults and of the scheduler's own choices (default 0)");
  command.String("duration", &duration,
                 "virtual time: of the generated pods' arrival, and at most after the last step");
  command.Int("churn", &out.churn, "delete and create so many generated pods per virtual second of --duration");
  command.Bool("faults", &out.faults, "a cluster that misbehaves: cut watches, conflicts, lost answers and more");
  command.Bool("verify", &out.verify,
               "make every decision twice, from memory and in full; exit code 1 if any differs or a plugin reads "
               "what it does not declare");
  command.String("explain", &explained, "a pod, NAMESPACE/NAME, whose last decision is shown in full");
  command.Choice("o,output", &out.format, {"table", "json", "junit"}, "table (default), json or junit");
  out.extenders.Declare(command);
  out.log.Declare(command);
  if (const std::optional<int> done = command.Read(args)) return done;
  out.scenarios = command.rest();

  std::vector<std::string> errors = sim::Check({.nodes = out.nodes, .pods = out.pods});
  if (seed && *seed < 0) errors.push_back("flag --seed: must not be negative, got " + std::to_string(*seed));
  if (seed && *seed >= 0) out.seed = static_cast<uint64_t>(*seed);
  if (duration) {
    const Result<Duration> parsed = ParseDuration(*duration);
    constexpr Duration kLongest = Duration::Seconds(10LL * 365 * 24 * 3600);
    if (!parsed.ok()) {
      errors.push_back("flag --duration: " + parsed.error().text());
    } else if (*parsed <= Duration{} || *parsed > kLongest) {
      errors.push_back("flag --duration: must be above 0s and at most 87600h, got " + *duration);
    } else {
      out.duration = *parsed;
    }
  }
  if (const std::string objection = out.log.Objection(); !objection.empty()) errors.push_back(objection);
  if (const std::string objection = out.extenders.Objection(); !objection.empty()) errors.push_back(objection);
  if (out.churn < 0 || out.churn > sim::GenerateOptions::kMaxPods)
    errors.push_back("flag --churn: must be between 0 and " + std::to_string(sim::GenerateOptions::kMaxPods) +
                     ", got " + std::to_string(out.churn));
  if (out.churn > 0 && (!duration || out.pods == 0)) errors.push_back("flag --churn: needs --pods and --duration");
  if (std::count(out.files.begin(), out.files.end(), "-") > 0 && out.scenarios.size() > 1)
    errors.push_back("flag -f: standard input can be read for one scenario only");
  if (std::count(out.configs.begin(), out.configs.end(), "") > 0)
    errors.push_back("flag --config: must name a file, got \"\"");
  if (explained) out.explain = *explained;
  if (explained && explained->empty()) errors.push_back("flag --explain: must name a pod, got \"\"");
  if (!out.explain.empty() && out.explain.find('/') == std::string::npos) out.explain = "default/" + out.explain;
  if (out.scenarios.empty() && out.files.empty() && out.nodes == 0 && out.pods == 0)
    errors.push_back("no files: a scenario, -f, or --nodes and --pods are required");
  if (errors.empty()) return std::nullopt;
  std::string all;
  for (const std::string& error : errors) all += (all.empty() ? "" : "\n") + error;
  return command.Complain(all);
}

// Configurations by path, each read and checked once.
class Configurations {
 public:
  Configurations(const Registry& registry, const RehearsedExtenders& extenders, std::vector<std::string> objects,
                 std::ostream& err)
      : registry_(registry), extenders_(extenders), err_(err), use_{.objects = std::move(objects)} {}
  // Null after errors, which are written once. The pointer stays valid.
  const config::SchedulerConfiguration* Get(const std::string& path) {
    const auto it = read_.find(path);
    if (it != read_.end()) return it->second ? &*it->second : nullptr;
    std::optional<config::SchedulerConfiguration>& made = read_[path];
    made = ReadConfiguration(path, registry_, err_, use_);
    if (!made) return nullptr;
    if (const Error error = extenders_.Redirect(*made); !error.ok()) {
      err_ << (path.empty() ? "configuration" : path) << ": " << error.text() << "\n";
      made.reset();
      return nullptr;
    }
    const util::SystemClock clock;
    const auto engine = framework::Engine::Make(*made, registry_, clock);
    if (!engine.ok()) {
      err_ << (path.empty() ? "configuration" : path) << ": " << engine.error().text() << "\n";
      made.reset();
      return nullptr;
    }
    annotations_[path] = (*engine)->annotations();
    return &*made;
  }
  // What the plugins of all these read; of configurations with errors nothing.
  AnnotationKeys Annotations(const std::vector<std::string>& paths) {
    AnnotationKeys keys;
    for (const std::string& path : paths)
      if (Get(path)) AddKeys(keys, annotations_[path]);
    return keys;
  }

 private:
  const Registry& registry_;
  const RehearsedExtenders& extenders_;
  std::ostream& err_;
  const ConfigurationUse use_;
  std::map<std::string, std::optional<config::SchedulerConfiguration>> read_;
  std::map<std::string, AnnotationKeys> annotations_;
};

struct Plan {
  sim::Scenario scenario;
  bool named = false;                // it comes from a file
  std::vector<std::string> configs;  // paths; empty: the default one
};

std::optional<std::vector<Plan>> ReadSimPlans(SimArguments& arguments, Configurations& configurations,
                                              std::ostream& err) {
  std::vector<Plan> plans;
  std::set<std::string> said;  // what the files of -f have wrong is wrong in every scenario
  bool good = true;
  auto take = [&](sim::ScenarioLoad load, bool named) {
    for (const std::string& warning : load.warnings)
      if (said.insert(warning).second) err << "warning: " << warning << "\n";
    for (const std::string& error : load.errors)
      if (said.insert(error).second) err << error << "\n";
    good &= load.ok();
    Plan& plan = plans.emplace_back(Plan{std::move(load.scenario), named, arguments.configs});
    if (plan.configs.empty()) plan.configs.push_back(plan.scenario.config);
    for (const std::string& config : plan.configs) good &= configurations.Get(config) != nullptr;
  };
  sim::ScenarioInput input;
  input.files = arguments.files;
  input.generated = {arguments.nodes, arguments.pods, arguments.seed.value_or(0)};
  input.seed_given = arguments.seed.has_value();
  input.asked_for = arguments.explain;
  input.annotations = [&](const std::string& config) {
    return configurations.Annotations(arguments.configs.empty() ? std::vector{config} : arguments.configs);
  };
  input.source = [&](std::string_view kind, const std::string& name, std::string_view json) {
    arguments.extenders.Keep(kind, name, json);
  };
  for (const std::string& path : arguments.scenarios) take(sim::LoadScenario(path, input), true);
  if (arguments.scenarios.empty()) take(sim::LoadWithoutScenario(input), false);
  if (!good) return std::nullopt;
  return plans;
}

}  // namespace

int SimCommand(const std::vector<std::string>& args, const Registry& registry, std::ostream& out, std::ostream& err) {
  SimArguments arguments;
  Command command("sim", kSimUsage, out, err);
  if (const std::optional<int> done = ReadArguments(command, args, arguments)) return *done;
  Configurations configurations(registry, arguments.extenders, arguments.files, err);
  const std::optional<std::vector<Plan>> plans = ReadSimPlans(arguments, configurations, err);
  if (!plans) return kBadInput;

  const util::SystemClock wall;
  util::Log log(err, arguments.log.Options(util::log_level::kWarn), wall);
  std::vector<sim::ScenarioReport> reports;
  bool met = true;
  for (const Plan& plan : *plans) {
    sim::ScenarioReport& report = reports.emplace_back();
    if (plan.named) report.name = plan.scenario.name;
    report.file = plan.scenario.file;
    for (const std::string& config : plan.configs) {
      ProgressBar bar(err, wall, IsTerminal(err));
      sim::RunOptions options;
      options.seed = arguments.seed.value_or(plan.scenario.seed.value_or(0));
      options.faults = arguments.faults || plan.scenario.faults;
      options.duration = arguments.duration;
      options.churn = arguments.churn;
      options.verify = arguments.verify;
      options.explain = arguments.explain;
      options.log = &log;
      options.progress = [&](const sim::RunProgress& progress) {
        bar.Show(progress.bound, progress.pods,
                 std::to_string(progress.bound) + " of " + std::to_string(progress.pods) + " pods placed, " +
                     FormatDuration({progress.now.ns / 1'000'000'000 * 1'000'000'000}) + " " + report.name);
      };
      const config::SchedulerConfiguration& configuration = *configurations.Get(config);
      auto extenders = arguments.extenders.Make(configuration);
      if (!extenders.ok()) {
        err << (config.empty() ? "configuration" : config) << ": " << extenders.error().text() << "\n";
        return kBadInput;
      }
      options.extenders = std::move(extenders).value();
      Result<sim::RunResult> result = sim::Run(plan.scenario, configuration, registry, options);
      bar.Clear();
      if (!result.ok()) {
        err << (config.empty() ? "configuration" : config) << ": " << result.error().text() << "\n";
        return kBadInput;
      }
      for (std::string& note : arguments.extenders.NotAsked(configuration))
        result.value().notes.push_back(std::move(note));
      for (const std::string& note : result->notes)
        err << "note: " << (report.file.empty() ? "" : report.file + ": ") << note << "\n";
      if (result->verification)
        err << (report.file.empty() ? "" : report.file + ": ") << sim::VerificationText(*result->verification) << "\n";
      met &= result->met();
      report.runs.push_back({config.empty() ? "default" : config, std::move(result).value()});
    }
  }
  if (arguments.format == "json") {
    out << sim::ToValue(reports).ToJson(2) << "\n";
  } else if (arguments.format == "junit") {
    out << sim::ToJunit(reports);
  } else {
    out << SimulationText(reports);
  }
  return met ? kDone : kAnswerIsNo;
}

}  // namespace berth::cli
