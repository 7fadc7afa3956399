// SPDX-License-Identifier: Apache-2.0
// One pod judged on 5,000 nodes by the default profile: every node filtered, every feasible node scored.
//
// The cluster is upstream's scheduler_perf shape (4 cpu, 32Gi, 110 pods per node, three zones) with 10 pods of
// 100m/500Mi per node, some nodes cordoned, tainted or full. Before anything is timed, the feasible count is compared
// with a plain loop over the objects.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>

#include "berth/testing.h"
#include "config/load.h"
#include "framework/engine.h"
#include "framework/trace.h"
#include "plugins/builtin.h"

namespace berth {
namespace {

constexpr int kNodes = 5000;

struct World {
  World() {
    plugins::RegisterBuiltinPlugins(registry);
    engine = std::move(framework::Engine::Make(config::DefaultConfiguration(registry), registry, clock)).value();
    for (int i = 0; i < kNodes; ++i) {
      const std::string name = "node-" + std::to_string(i);
      MakeNode node(name);
      node.Capacity({{"cpu", "4"}, {"memory", "32Gi"}, {"pods", "110"}})
          .Label("kubernetes.io/hostname", name)
          .Label("topology.kubernetes.io/zone", "zone-" + std::to_string(i % 3));
      if (i % 50 == 7) node.Unschedulable();
      if (i % 20 == 3) node.Taint("dedicated", "db", TaintEffect::kNoSchedule);
      nodes.push_back(node);
      cluster.Add(nodes.back());
      for (int p = 0; p < 10; ++p)
        Place(MakePod(name + "-" + std::to_string(p)).OnNode(name).Request({{"cpu", "100m"}, {"memory", "500Mi"}}));
      if (i % 10 == 5) Place(MakePod(name + "-big").OnNode(name).Request({{"cpu", "2500m"}}));
    }
  }
  void Place(const MakePod& pod) {
    pods.push_back(pod.Build());
    cluster.Add(pods.back());
  }

  Registry registry;
  ManualClock clock;
  std::unique_ptr<framework::Engine> engine;
  std::vector<Node> nodes;
  std::vector<Pod> pods;
  TestCluster cluster;
};

World& TheWorld() {
  static World world;
  return world;
}

// Whether the pods judged below fit, told from the objects alone.
size_t PlainCount(const World& world, int64_t milli_cpu) {
  std::map<std::string, int64_t> free;
  for (const Node& node : world.nodes) free[node.name()] = node.allocatable.milli_cpu;
  for (const Pod& pod : world.pods) free[pod.node_name] -= pod.resources.held.milli_cpu;
  size_t count = 0;
  for (const Node& node : world.nodes)
    count += !node.unschedulable && node.taints.empty() && free[node.name()] >= milli_cpu;
  return count;
}

// Stops the program when the answer is wrong: a fast wrong answer is worth nothing.
framework::Judgement Checked(const Pod& pod, size_t want) {
  World& world = TheWorld();
  framework::Judgement judgement =
      world.engine->Judge(world.engine->first_profile(), pod, world.cluster.snapshot(), {});
  if (judgement.feasible.size() == want) return judgement;
  std::fprintf(stderr, "%s: %zu nodes fit, a plain loop says %zu\n%s\n", pod.name().c_str(), judgement.feasible.size(),
               want, judgement.message.c_str());
  std::abort();
}

void Judge(benchmark::State& state, const Pod& pod) {
  World& world = TheWorld();
  Checked(pod, PlainCount(world, pod.resources.request.milli_cpu));
  const Snapshot snapshot = world.cluster.snapshot();
  for (auto _ : state) benchmark::DoNotOptimize(world.engine->Judge(world.engine->first_profile(), pod, snapshot, {}));
}

void PlainPod(benchmark::State& state) { Judge(state, MakePod("plain").Request({{"cpu", "500m"}, {"memory", "1Gi"}})); }
BENCHMARK(PlainPod)->Unit(benchmark::kMicrosecond);

void PodWithSpreadAndAffinity(benchmark::State& state) {
  TopologySpreadConstraint spread;
  spread.max_skew = 1;
  spread.topology_key = "topology.kubernetes.io/zone";
  spread.when_unsatisfiable = WhenUnsatisfiable::kDoNotSchedule;
  spread.selector = SelectLabels({{"app", "web"}});
  PodAffinityTerm apart;
  apart.selector = SelectLabels({{"app", "web"}});
  apart.topology_key = "kubernetes.io/hostname";
  NodeSelectorTerm zone;
  zone.match_expressions = {Require("topology.kubernetes.io/zone", SelectorOp::kIn, {"zone-0", "zone-1"})};
  Judge(state, MakePod("web")
                   .Label("app", "web")
                   .Request({{"cpu", "500m"}})
                   .Spread(spread)
                   .PodAntiAffinity(apart)
                   .PreferNode(10, zone));
}
BENCHMARK(PodWithSpreadAndAffinity)->Unit(benchmark::kMicrosecond);

// Nothing fits, and preemption looks at every node (all pods have the same priority, so it finds nobody to evict).
void PodThatFitsNowhere(benchmark::State& state) { Judge(state, MakePod("whale").Request({{"cpu", "3500m"}})); }
BENCHMARK(PodThatFitsNowhere)->Unit(benchmark::kMicrosecond);

void PodThatCouldPreemptEverywhere(benchmark::State& state) {
  Judge(state, MakePod("important").Priority(1000).Request({{"cpu", "3500m"}}));
}
BENCHMARK(PodThatCouldPreemptEverywhere)->Unit(benchmark::kMicrosecond);

void Trace(benchmark::State& state) {
  World& world = TheWorld();
  const Pod pod = MakePod("plain").Request({{"cpu", "500m"}});
  const framework::Judgement judgement = Checked(pod, PlainCount(world, 500));
  const Snapshot snapshot = world.cluster.snapshot();
  for (auto _ : state)
    benchmark::DoNotOptimize(framework::MakeTrace(pod, snapshot, judgement, world.engine->table(), 0));
}
BENCHMARK(Trace)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace berth
