// SPDX-License-Identifier: Apache-2.0
// Judges recorded cases with Berth and compares with what kube-scheduler said: the full table first, then the decision
// of an engine that remembers, as long as nothing of importance changes.
//
//   conformance_runner [--case ID] FILE...
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/load.h"
#include "berth/registry.h"
#include "cluster/cluster_state.h"
#include "framework/engine.h"
#include "framework/explanation.h"
#include "plugins/builtin.h"
#include "recorded/compare.h"
#include "recorded/decided.h"
#include "recorded/recordings.h"
#include "sim/offline.h"

namespace berth {
namespace {

using framework::Engine;

// Changes that no verdict depends on, as long as they are all there is: a note on every node, a namespace without
// pods, a pod that comes and goes.
void ChangeNothing(cluster::ClusterState& state, const LoadedObjects& objects) {
  for (const auto& node : objects.of<Node>()) {
    auto noted = std::make_shared<Node>(*node);
    noted->meta.annotations = Labels({{"note", "of no importance"}});
    state.PutNode(std::move(noted));
  }
  auto ns = std::make_shared<Namespace>();
  ns->meta.name = "of-no-importance";
  state.PutObject<Namespace>(std::move(ns));
  if (objects.of<Node>().empty()) return;
  auto passer_by = std::make_shared<Pod>();
  passer_by->meta.name = passer_by->meta.namespace_ = passer_by->meta.uid = "of-no-importance";
  passer_by->node_name = objects.of<Node>().front()->name();
  (void)state.AssumePod(passer_by);
  (void)state.AddPod(passer_by);
  (void)state.RemovePod(passer_by->uid());
}

// Over all cases.
struct Totals {
  size_t cases = 0, decisions = 0;
  framework::Memory::Stats memory;
};

// What is wrong with the decisions of an engine that remembers: the first about this pod, the next, one after changes,
// and, of a pod with a nomination that some node fits, one as if it had none: the table judges all nodes, too.
std::vector<std::string> CheckMemory(const LoadedObjects& objects, const Pod& pod, const Value& expected,
                                     const std::vector<std::string>& unstable, Engine& engine, Engine& reference,
                                     Totals& totals) {
  const framework::Profile* profile = engine.FindProfile(pod.scheduler_name);
  if (!profile) profile = &engine.first_profile();
  Pod asked = pod;
  asked.node_name.clear();
  if (framework::FindGate(*profile, asked)) return {};  // gated pods are not decided about
  std::vector<std::string> wrong;
  cluster::ClusterState state;
  sim::Fill(state, objects, engine, &pod);
  recorded::RememberAndVerify(engine, reference, state, wrong);
  std::vector<std::string> occasions = {"first, ", "again, ", "after changes, "};
  if (!asked.nominated_node_name.empty() && !expected.Find("winners")->items().empty())
    occasions.push_back("without a nomination, ");
  for (const std::string& when : occasions) {
    if (when == "after changes, ") ChangeNothing(state, objects);
    if (when == "without a nomination, ") asked.nominated_node_name.clear();
    const Snapshot snapshot = state.snapshot();
    const framework::Decision decision = engine.Decide(*profile, asked, snapshot);
    ++totals.decisions;
    for (const std::string& text : recorded::DecisionDifferences(
             expected, unstable, asked, decision, engine.traces().last(), snapshot, *profile, engine.table()))
      wrong.push_back(when + text);
  }
  totals.memory.decisions += engine.memory_stats().decisions;
  totals.memory.hits += engine.memory_stats().hits;
  return wrong;
}

// What is wrong with our answer to one case; empty: nothing.
std::vector<std::string> Check(const Value& test, const Registry& registry, Totals& totals) {
  ++totals.cases;
  const Result<config::SchedulerConfiguration> configuration = recorded::ConfigurationOf(test, registry);
  if (!configuration.ok()) return {configuration.error().text()};
  const LoadResult loaded = LoadObjectsFromText(test.Find("objects")->ToJson());
  if (!loaded.ok()) {
    std::vector<std::string> texts;
    for (const LoadError& error : loaded.errors) texts.push_back("objects: " + error.Text());
    return texts;
  }
  const recorded::CaseClock clock;
  std::vector<std::unique_ptr<Engine>> engines;
  for (int i = 0; i < 3; ++i) {
    Result<std::unique_ptr<Engine>> engine = Engine::Make(*configuration, registry, clock);
    if (!engine.ok()) return {"config: " + engine.error().text()};
    engines.push_back(std::move(engine).value());
  }
  std::vector<std::string> wrong;
  engines[0]->WatchReads([&](const std::string& text) { wrong.push_back(text); });
  const std::shared_ptr<const Pod> pod = sim::FindPod(loaded.objects, test.Find("pod")->text());
  if (!pod) return {"pod: not among the objects"};
  const framework::Profile* profile = engines[0]->FindProfile(pod->scheduler_name);
  if (!profile) profile = &engines[0]->first_profile();
  const Value& expected = *test.Find("expected");
  const std::vector<std::string> unstable = recorded::Strings(test, "unstable");
  const Value got = framework::ToValue(sim::ExplainOffline(*engines[0], *profile, loaded.objects, *pod));
  for (std::string& text : recorded::Differences(expected, got, unstable)) wrong.push_back(std::move(text));
  for (std::string& text : CheckMemory(loaded.objects, *pod, expected, unstable, *engines[1], *engines[2], totals))
    wrong.push_back(std::move(text));
  return wrong;
}

int Judge(int argc, char** argv) {
  Registry registry;
  plugins::RegisterBuiltinPlugins(registry);
  Totals totals;
  const int code = recorded::Run(argc, argv, {"case", "id", {"pod", "objects", "expected"}},
                                 [&](const Value& test) { return Check(test, registry, totals); });
  // A single case may have nothing to remember; all of them cannot.
  return code != 0 || totals.cases < 2 || totals.decisions == 0 ? code : recorded::DemandUse(totals.memory);
}

}  // namespace
}  // namespace berth

int main(int argc, char** argv) { return berth::Judge(argc, argv); }
