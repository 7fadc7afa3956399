// SPDX-License-Identifier: Apache-2.0
// Places the pending pods of a set of files and prints where each went and why.
#include "cli/sim_command.h"

#include "cli/flags.h"
#include "cli/inputs.h"
#include "cli/table.h"
#include "sim/placement.h"
#include "util/system_clock.h"

namespace berth::cli {
namespace {

constexpr char kUsage[] =
    "usage: berth sim -f FILE... [--config FILE] [-o table|json]\n"
    "\n"
    "Places the pending pods of the files, one after another in queue order, on the nodes of the files, and prints "
    "where\n"
    "each one went and why. Nothing is evicted: a pod that could preempt is pending, with what it would take.\n"
    "\n";

std::string Why(const sim::PodOutcome& outcome) {
  if (outcome.node.empty()) {
    std::string text = outcome.message;
    if (outcome.preemption_node.empty()) return text;
    text += " Evicting";
    for (size_t i = 0; i < outcome.victims.size(); ++i) text += (i ? ", " : " ") + outcome.victims[i];
    return text + " from " + outcome.preemption_node + " would make room.";
  }
  if (outcome.nominated) return "nominated to it, and it fits";
  if (outcome.feasible == 1) return "the only node that fits";
  std::string text = "best of " + std::to_string(outcome.feasible);
  if (!outcome.margin) return text;
  if (outcome.margin->by == 0) return text + ", level with " + outcome.margin->runner_up;
  text += ", ahead of " + outcome.margin->runner_up + " by " + std::to_string(outcome.margin->by);
  if (!outcome.margin->term.empty())
    text += " (" + outcome.margin->term + " +" + std::to_string(outcome.margin->term_by) + ")";
  return text;
}

void PrintTable(const sim::Placements& placements, std::ostream& out) {
  Table table({"POD", "NODE", "SCORE", "WHY"});
  size_t placed = 0;
  for (const sim::PodOutcome& outcome : placements.outcomes) {
    placed += !outcome.node.empty();
    table.Add({outcome.pod, outcome.node.empty() ? "<pending>" : outcome.node,
               outcome.total ? std::to_string(*outcome.total) : "-", Why(outcome)});
  }
  out << table.Text() << "\n"
      << placed << " placed, " << placements.outcomes.size() - placed << " pending, on " << placements.nodes
      << " nodes that already held " << placements.already_placed << " pods\n";
  for (const std::string& pod : placements.foreign) out << "not tried: " << pod << " belongs to another scheduler\n";
}

Value ToValue(const sim::Placements& placements) {
  Value placed = Value::Array(), pending = Value::Array();
  for (const sim::PodOutcome& outcome : placements.outcomes) {
    Value entry = Value::Object();
    entry.Set("pod", Value::String(outcome.pod));
    if (outcome.node.empty()) {
      entry.Set("message", Value::String(outcome.message));
      pending.Append(std::move(entry));
    } else {
      entry.Set("node", Value::String(outcome.node));
      entry.Set("total", outcome.total ? Value::Int(*outcome.total) : Value());
      placed.Append(std::move(entry));
    }
  }
  Value summary = Value::Object();
  summary.Set("nodes", Value::Int(static_cast<int64_t>(placements.nodes)));
  summary.Set("placed", Value::Int(static_cast<int64_t>(placed.items().size())));
  summary.Set("pending", Value::Int(static_cast<int64_t>(pending.items().size())));
  Value out = Value::Object();
  out.Set("apiVersion", Value::String("berth.dev/v1alpha1"));
  out.Set("kind", Value::String("SimulationResult"));
  out.Set("placements", std::move(placed));
  out.Set("pending", std::move(pending));
  out.Set("summary", std::move(summary));
  return out;
}

}  // namespace

int SimCommand(const std::vector<std::string>& args, const Registry& registry, std::ostream& out, std::ostream& err) {
  std::vector<std::string> files;
  std::string config, format = "table";
  Command command("sim", kUsage, out, err);
  command.Strings("f,filename", &files, "a file or folder of objects; may repeat");
  command.String("config", &config, "a KubeSchedulerConfiguration; default: kube-scheduler's defaults");
  command.Choice("o,output", &format, {"table", "json"}, "table (default) or json");
  if (const std::optional<int> done = command.Read(args)) return *done;
  if (!command.rest().empty()) return command.Complain("unexpected argument \"" + command.rest().front() + "\"");
  if (files.empty()) return command.Complain("no files: -f is required");

  const util::SystemClock clock;
  const std::unique_ptr<sim::Engine> engine = ReadEngine(config, registry, clock, err);
  const std::optional<LoadedObjects> objects = ReadObjects(files, err);
  if (!engine || !objects) return kBadInput;
  const sim::Placements placements = sim::PlaceAll(*engine, *objects);
  if (format == "json") {
    out << ToValue(placements).ToJson(2) << "\n";
  } else {
    PrintTable(placements, out);
  }
  return kDone;
}

}  // namespace berth::cli
