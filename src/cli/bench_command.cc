// SPDX-License-Identifier: Apache-2.0
// `berth bench`: reads all that was chosen, complains about everything, then runs one workload after the other.
#include "cli/bench_command.h"

#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "bench/workload_run.h"
#include "cli/bench_live.h"
#include "cli/flags.h"
#include "cli/inputs.h"
#include "cli/log_flags.h"
#include "cli/table.h"
#include "util/system_clock.h"

namespace berth::cli {
namespace {

constexpr char kBenchUsage[] =
    "usage: berth bench -f performance-config.yaml [--case C] [--workload W] [--mode engine] [--verify]\n"
    "                   [-o table|json]\n"
    "       berth bench -f performance-config.yaml [--case C] [--workload W] --mode live --kubeconfig FILE\n"
    "                   [--timeout DURATION] [--pid PID] [-o table|json]\n"
    "\n"
    "Runs workloads in the format of kube-scheduler's scheduler_perf and measures them. Thresholds, labels and "
    "feature\n"
    "gates of the file have no effect. A workload that needs what is not built yet is named and not run (exit code "
    "1).\n"
    "\n"
    "Mode engine is the scheduling thread alone, with all nodes judged and a cluster that answers at once instead of "
    "an\n"
    "API server. Time is virtual: 300 pods take a second. cpu_us_per_pod is CPU time from popping a pod to handing "
    "its\n"
    "binding over, over measured pods; event_us_per_pod is what news and answers cost besides.\n"
    "--verify times nothing: it makes every decision of the workload twice, from what is remembered of equal pods and\n"
    "from scratch, and compares node, scores, reasons and victims. Differences, and reads that a plugin does not\n"
    "declare, are counted and make the exit code 1.\n"
    "\n"
    "Mode live is a real API server, and whatever scheduler is at work there: kube-scheduler or Berth, started by\n"
    "somebody else. Objects are created there, in real time, and pods are watched: pods a second, the time to the "
    "first\n"
    "and the last binding and, with --pid, CPU time and memory of the scheduler's process. Whatever happens, SIGINT "
    "and\n"
    "SIGTERM included, all that was created is deleted, or named if it cannot be. An object that exists already is an\n"
    "error: nothing of anybody else's is changed. For a cluster that is there to be measured, not for one in use.\n"
    "\n";

struct BenchArguments {
  std::vector<std::string> files;
  std::string test_case, workload, mode = "engine", format = "table";
  bool verify = false;
  BenchLiveFlags live_flags;
  bool live() const { return mode == "live"; }
};

// One line for all feature gates of what is run.
void NoteGates(const std::string& path, const std::set<std::string>& gates, bool live, std::ostream& err) {
  if (gates.empty()) return;
  std::string names;
  for (const std::string& gate : gates) names += (names.empty() ? "" : ", ") + gate;
  err << "note: " << path << ": featureGates " << names << (gates.size() == 1 ? " has" : " have") << " no effect here"
      << (live ? ": whoever started the API server and the scheduler has set them\n" : "\n");
}

// Plans of all workloads that were chosen; nothing after errors, which are written.
std::optional<std::vector<bench::WorkloadPlan>> ReadPlans(const BenchArguments& arguments, std::ostream& err) {
  std::vector<bench::WorkloadPlan> plans;
  bool good = true;
  for (const std::string& path : arguments.files) {
    const bench::WorkloadFile file = bench::ReadWorkloadFile(path);
    for (const std::string& error : file.errors) err << error << "\n";
    good &= file.errors.empty();
    if (!file.errors.empty()) continue;
    std::set<std::string> gates;
    for (const bench::TestCase& test_case : file.cases) {
      if (!arguments.test_case.empty() && test_case.name != arguments.test_case) continue;
      for (const bench::Workload& workload : test_case.workloads) {
        if (!arguments.workload.empty() && workload.name != arguments.workload) continue;
        Result<bench::WorkloadPlan> plan = bench::MakePlan(test_case, workload, file.folder);
        if (!plan.ok()) {
          err << path << ": " << plan.error().text() << "\n";
          good = false;
          continue;
        }
        if (plan->not_built.empty()) {
          for (const std::string& note : plan->notes) err << "note: " << path << ": " << note << "\n";
          gates.insert(test_case.feature_gates.begin(), test_case.feature_gates.end());
          gates.insert(workload.feature_gates.begin(), workload.feature_gates.end());
        }
        plans.push_back(std::move(plan).value());
      }
    }
    NoteGates(path, gates, arguments.live(), err);
  }
  if (good && plans.empty()) {
    err << "berth bench: no workload";
    if (!arguments.workload.empty()) err << " \"" << arguments.workload << "\"";
    if (!arguments.test_case.empty()) err << " in a case \"" << arguments.test_case << "\"";
    err << "\n";
    good = false;
  }
  if (!good) return std::nullopt;
  return plans;
}

std::string Fixed(double number, int digits = 1) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, number);
  return text;
}

std::string TableText(const std::vector<bench::WorkloadResult>& results) {
  Table table({"CASE", "WORKLOAD", "NODES", "PODS", "SCHEDULED", "PODS/S", "CPU us/POD", "EVENTS us/POD", "P50 us",
               "P90 us", "P99 us", "RSS MB"});
  for (const bench::WorkloadResult& result : results)
    table.Add({result.test_case, result.workload, std::to_string(result.nodes), std::to_string(result.pods),
               std::to_string(result.scheduled), Fixed(result.PodsPerSecond(), 0), Fixed(result.CpuMicrosPerPod()),
               Fixed(result.EventMicrosPerPod()), Fixed(result.p50), Fixed(result.p90), Fixed(result.p99),
               Fixed(result.rss_mb)});
  return table.Text();
}

std::string ComparisonText(const std::vector<bench::WorkloadResult>& results) {
  Table table({"CASE", "WORKLOAD", "NODES", "PODS", "SCHEDULED", "DECISIONS", "DIFFERENCES"});
  for (const bench::WorkloadResult& result : results)
    table.Add({result.test_case, result.workload, std::to_string(result.nodes), std::to_string(result.pods),
               std::to_string(result.scheduled), std::to_string(result.comparison->decisions),
               std::to_string(result.comparison->differences)});
  return table.Text();
}

// Remarks on one result; false when it is not as it should be.
bool Remark(const bench::WorkloadResult& result, std::ostream& err) {
  const std::string name = result.test_case + "/" + result.workload;
  if (!result.not_built.empty()) {
    err << "not run: " << name << ": " << result.not_built << "\n";
    return false;
  }
  if (result.pods == 0) err << "note: " << name << ": no op measures pods\n";
  if (result.unschedulable > 0)
    err << "note: " << name << ": " << result.unschedulable << " of " << result.pods
        << " measured pods are not scheduled"
        << (result.unscheduled.empty() ? "" : ", among them " + result.unscheduled) << "\n";
  if (!result.comparison || result.comparison->differences == 0) return true;
  err << name << ": " << result.comparison->differences
      << " findings (decisions that differ from a full judgement, reads that a plugin does not declare); the first: "
      << result.comparison->first << "\n";
  return false;
}

int RunLive(const BenchArguments& arguments, std::vector<bench::WorkloadPlan>& plans, std::ostream& out,
            std::ostream& err) {
  BenchLiveResults run = RunLivePlans(plans, arguments.live_flags, err);
  bool all = true;
  std::vector<bench::WorkloadResult> results;
  for (bench::WorkloadResult& result : run.results) {
    all &= Remark(result, err);
    if (result.not_built.empty()) results.push_back(std::move(result));
  }
  out << (arguments.format == "json" ? bench::ToValue(results).ToJson(2) + "\n" : LiveTableText(results));
  return run.failed ? kBadInput : all ? kDone : kAnswerIsNo;
}

}  // namespace

int BenchCommand(const std::vector<std::string>& args, const Registry& registry, std::ostream& out, std::ostream& err) {
  BenchArguments arguments;
  Command command("bench", kBenchUsage, out, err);
  command.Strings("f,filename", &arguments.files, "a workload file; may repeat");
  command.String("case", &arguments.test_case, "only the test case of this name");
  command.String("workload", &arguments.workload, "only workloads of this name");
  command.Choice("mode", &arguments.mode, {"engine", "live"},
                 "engine (default): the scheduling thread alone; live: on a real API server");
  arguments.live_flags.Declare(command);
  command.Bool("verify", &arguments.verify,
               "make every decision twice, from memory and in full; exit code 1 if any differs or a plugin reads "
               "what it does not declare");
  command.Choice("o,output", &arguments.format, {"table", "json"}, "table (default) or json");
  LogFlags log_flags;
  log_flags.Declare(command);
  if (const std::optional<int> done = command.Read(args)) return *done;
  if (!command.rest().empty()) return command.Complain("unexpected argument \"" + command.rest().front() + "\"");
  if (arguments.files.empty()) return command.Complain("no file: -f is required");
  if (const std::string objection = log_flags.Objection(); !objection.empty()) return command.Complain(objection);
  if (arguments.live() && arguments.verify) return command.Complain("--verify: only with --mode engine");
  if (const std::string objection = arguments.live_flags.Objection(arguments.live()); !objection.empty())
    return command.Complain(objection);

  std::optional<std::vector<bench::WorkloadPlan>> plans = ReadPlans(arguments, err);
  if (!plans) return kBadInput;
  if (arguments.live()) return RunLive(arguments, *plans, out, err);
  std::map<std::string, config::SchedulerConfiguration> configurations;
  for (const bench::WorkloadPlan& plan : *plans) {
    if (configurations.contains(plan.scheduler_config)) continue;
    std::optional<config::SchedulerConfiguration> read =
        ReadConfiguration(plan.scheduler_config, registry, err,
                          {.how = "convert the configuration: berth config convert -f CONFIGMAP FILE"});
    if (!read) return kBadInput;
    configurations.emplace(plan.scheduler_config, std::move(*read));
  }

  const util::SystemClock wall;
  util::Log log(err, log_flags.Options(util::log_level::kWarn), wall);
  std::vector<bench::WorkloadResult> results;
  bool all = true, failed = false;
  for (bench::WorkloadPlan& plan : *plans) {
    Result<bench::WorkloadResult> result =
        bench::RunWorkload(plan, configurations.at(plan.scheduler_config), registry, arguments.verify, &log);
    if (!result.ok()) err << plan.test_case << "/" << plan.workload << ": " << result.error().text() << "\n";
    plan = {};  // its templates are not the next workload's memory
    failed |= !result.ok();
    if (!result.ok()) continue;
    all &= Remark(*result, err);
    if (result->not_built.empty()) results.push_back(std::move(result).value());
  }
  out << (arguments.format == "json" ? bench::ToValue(results).ToJson(2) + "\n"
          : arguments.verify         ? ComparisonText(results)
                                     : TableText(results));
  return failed ? kBadInput : all ? kDone : kAnswerIsNo;
}

}  // namespace berth::cli
