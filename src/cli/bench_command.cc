// SPDX-License-Identifier: Apache-2.0
// `berth bench`: reads all that was chosen, complains about everything, then runs one workload after the other.
#include "cli/bench_command.h"

#include <cstdio>
#include <map>
#include <optional>
#include <utility>

#include "bench/workload_run.h"
#include "cli/flags.h"
#include "cli/inputs.h"
#include "cli/table.h"

namespace berth::cli {
namespace {

constexpr char kUsage[] =
    "usage: berth bench -f performance-config.yaml [--case C] [--workload W] [--mode engine] [-o table|json]\n"
    "\n"
    "Runs workloads in the format of kube-scheduler's scheduler_perf and measures them. Mode engine is the scheduling\n"
    "thread alone: queue, decision, assumption, with all nodes judged and no API server. Time is virtual: 300 pods "
    "take a\n"
    "second. cpu_us_per_pod is CPU time from popping a pod to assuming it, over measured pods; event_us_per_pod is "
    "what\n"
    "the news of pods and nodes cost besides. Thresholds, labels and feature gates of the file have no effect.\n"
    "A workload that needs what is not built yet is named and not run (exit code 1).\n"
    "\n";

struct Arguments {
  std::vector<std::string> files;
  std::string test_case, workload, mode = "engine", format = "table";
};

// Plans of all workloads that were chosen; nothing after errors, which are written.
std::optional<std::vector<bench::WorkloadPlan>> ReadPlans(const Arguments& arguments, std::ostream& err) {
  std::vector<bench::WorkloadPlan> plans;
  bool good = true;
  for (const std::string& path : arguments.files) {
    const bench::WorkloadFile file = bench::ReadWorkloadFile(path);
    for (const std::string& error : file.errors) err << error << "\n";
    good &= file.errors.empty();
    if (!file.errors.empty()) continue;
    for (const std::string& note : file.notes) err << "note: " << note << "\n";
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
        for (const std::string& note : plan->notes) err << "note: " << path << ": " << note << "\n";
        plans.push_back(std::move(plan).value());
      }
    }
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

}  // namespace

int BenchCommand(const std::vector<std::string>& args, const Registry& registry, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  Command command("bench", kUsage, out, err);
  command.Strings("f,filename", &arguments.files, "a workload file; may repeat");
  command.String("case", &arguments.test_case, "only the test case of this name");
  command.String("workload", &arguments.workload, "only workloads of this name");
  command.Choice("mode", &arguments.mode, {"engine"}, "engine (default): the scheduling thread alone");
  command.Choice("o,output", &arguments.format, {"table", "json"}, "table (default) or json");
  if (const std::optional<int> done = command.Read(args)) return *done;
  if (!command.rest().empty()) return command.Complain("unexpected argument \"" + command.rest().front() + "\"");
  if (arguments.files.empty()) return command.Complain("no file: -f is required");

  std::optional<std::vector<bench::WorkloadPlan>> plans = ReadPlans(arguments, err);
  if (!plans) return kBadInput;
  std::map<std::string, config::SchedulerConfiguration> configurations;
  for (const bench::WorkloadPlan& plan : *plans) {
    if (configurations.contains(plan.scheduler_config)) continue;
    std::optional<config::SchedulerConfiguration> read = ReadConfiguration(plan.scheduler_config, registry, err);
    if (!read) return kBadInput;
    configurations.emplace(plan.scheduler_config, std::move(*read));
  }

  std::vector<bench::WorkloadResult> results;
  bool all = true;
  for (bench::WorkloadPlan& plan : *plans) {
    const std::string name = plan.test_case + "/" + plan.workload;
    const Result<bench::WorkloadResult> result =
        bench::RunWorkload(plan, configurations.at(plan.scheduler_config), registry);
    if (!result.ok()) {
      err << name << ": " << result.error().text() << "\n";
      return kBadInput;
    }
    plan = {};  // its templates are not the next workload's memory
    if (!result->not_built.empty()) {
      err << "not run: " << name << ": " << result->not_built << "\n";
      all = false;
      continue;
    }
    if (result->pods == 0) err << "note: " << name << ": no op measures pods\n";
    if (result->unschedulable > 0)
      err << "note: " << name << ": " << result->unschedulable << " of " << result->pods
          << " measured pods are not scheduled"
          << (result->unscheduled.empty() ? "" : ", the first to be rejected: " + result->unscheduled) << "\n";
    results.push_back(*result);
  }
  out << (arguments.format == "json" ? bench::ToValue(results).ToJson(2) + "\n" : TableText(results));
  return all ? kDone : kAnswerIsNo;
}

}  // namespace berth::cli
