// SPDX-License-Identifier: Apache-2.0
// What the scheduling queue costs per pod: enqueue, pop and done; and a round of hints over the pods that wait.
//
// 10,000 pods with long names and uids as a ReplicaSet gives them, priorities in three classes. Before anything is
// timed, order and moves are compared with what sorting and counting say.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "berth/testing.h"
#include "queue/scheduling_queue.h"

namespace berth::queue {
namespace {

constexpr int kPods = 10'000;
constexpr ClusterEvent kNodeAdd{EventResource::kNode, action::kAdd};
constexpr ClusterEvent kNodeLabel{EventResource::kNode, action::kUpdateNodeLabel};
constexpr ClusterEvent kNobodys{EventResource::kVolumeAttachment, action::kDelete};

std::vector<std::shared_ptr<const Pod>> MakePods() {
  std::vector<std::shared_ptr<const Pod>> pods;
  for (int i = 0; i < kPods; ++i) {
    char name[64], uid[64];
    std::snprintf(name, sizeof name, "web-frontend-%d-6b7f9c5d8-%05x", i % 100, i);
    std::snprintf(uid, sizeof uid, "3f0c1d52-8a41-4c7e-9d0b-%012x", i * 7919);
    pods.push_back(
        std::make_shared<const Pod>(MakePod(name).Uid(uid).Priority(i * 31 % 3).Request({{"cpu", "100m"}}).Build()));
  }
  return pods;
}

void Check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "queue_bench: %s\n", what);
  std::abort();
}

struct World {
  // A hint that says no: the pod stays where it is, so that a round can be repeated.
  explicit World(QueueingHint answer = QueueingHint::kSkip) {
    const QueueingHintFn fit = [answer](const Pod& pod, const EventObjects& objects) {
      return objects.node_after->allocatable.milli_cpu < pod.resources.request.milli_cpu ? QueueingHint::kSkip : answer;
    };
    HintMap hints;
    hints.AddProfile("default-scheduler",
                     {{"NodeResourcesFit", {{{kNodeAdd, fit}}}}, {"PodTopologySpread", {{{kNodeLabel, nullptr}}}}});
    QueueOptions options;
    options.less = [](const QueuedPod& a, const QueuedPod& b) {
      return a.pod->priority != b.pod->priority ? a.pod->priority > b.pod->priority : a.timestamp < b.timestamp;
    };
    options.pre_enqueue = [](const Pod& pod) -> std::optional<Gate> {
      if (pod.scheduling_gates.empty()) return std::nullopt;
      return Gate{"SchedulingGates", Verdict(Code::kUnschedulableAndUnresolvable, "gated")};
    };
    queue = std::make_unique<SchedulingQueue>(std::move(options), std::move(hints), clock);
  }
  void AddAll() {
    for (const auto& pod : pods) {
      queue->Add(pod);
      clock.Advance({1});
    }
  }
  void RejectAll() {
    AddAll();
    for (int i = 0; i < kPods; ++i) queue->Pop()->Return({{"NodeResourcesFit"}, {}});
    Check(queue->counts().unschedulable == kPods, "rejected pods do not wait");
  }

  ManualClock clock;
  std::vector<std::shared_ptr<const Pod>> pods = MakePods();
  std::unique_ptr<SchedulingQueue> queue;
};

void EnqueuePopDone(benchmark::State& state) {
  World world;
  world.AddAll();
  auto want = world.pods;
  std::stable_sort(want.begin(), want.end(), [](const auto& a, const auto& b) { return a->priority > b->priority; });
  for (const auto& pod : want) {
    auto ticket = world.queue->Pop();
    Check(ticket && ticket->pod() == pod, "pods come in the wrong order");
    ticket->Done();
  }
  Check(world.queue->CheckInvariants().empty(), "invariants do not hold");

  for (auto _ : state) {
    world.AddAll();
    while (auto ticket = world.queue->Pop()) ticket->Done();
  }
  state.SetItemsProcessed(state.iterations() * kPods);
}
BENCHMARK(EnqueuePopDone)->Unit(benchmark::kMillisecond);

// With 10,000 pods in the queue all the time, one more comes and one goes.
void EnqueuePopDoneBesideOthers(benchmark::State& state) {
  World world;
  world.AddAll();
  const auto extra = std::make_shared<const Pod>(MakePod("extra").Uid("extra").Priority(9).Build());
  for (auto _ : state) {
    world.queue->Add(extra);
    auto ticket = world.queue->Pop();
    if (ticket->pod() != extra) Check(false, "the most important pod does not come first");
    ticket->Done();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(EnqueuePopDoneBesideOthers);

// 10,000 waiting pods whose rejector asked for the event and says that it does not help.
void HintRound(benchmark::State& state) {
  World world;
  world.RejectAll();
  Node small = MakeNode("n").Capacity({{"cpu", "50m"}}), large = MakeNode("n");
  const SharedObjects objects{nullptr, nullptr, nullptr, std::make_shared<const Node>(small)};
  Check(world.queue->MoveAll(kNodeAdd, objects) == 0, "pods move although the hint says no");
  {
    World other(QueueingHint::kQueue);
    other.RejectAll();
    Check(other.queue->MoveAll(kNodeAdd, {nullptr, nullptr, nullptr, std::make_shared<const Node>(large)}) == kPods,
          "pods stay although the hint says yes");
  }
  for (auto _ : state) benchmark::DoNotOptimize(world.queue->MoveAll(kNodeAdd, objects));
  state.SetItemsProcessed(state.iterations() * kPods);
}
BENCHMARK(HintRound)->Unit(benchmark::kMicrosecond);

// Events that concern none of the 10,000 waiting pods: nobody asked for it, or only plugins that rejected none of them.
void EventOfNoConcern(benchmark::State& state) {
  World world;
  world.RejectAll();
  const ClusterEvent event = state.range(0) == 0 ? kNobodys : kNodeLabel;
  Check(world.queue->MoveAll(event, {}) == 0, "pods move by an event of no concern");
  for (auto _ : state) benchmark::DoNotOptimize(world.queue->MoveAll(event, {}));
}
BENCHMARK(EventOfNoConcern)->Arg(0)->Arg(1);

// All 10,000 wait, an event wakes them all, they are popped and rejected again.
void RejectedAndWoken(benchmark::State& state) {
  World world(QueueingHint::kQueue);
  world.RejectAll();
  const SharedObjects objects{nullptr, nullptr, nullptr, std::make_shared<const Node>(MakeNode("n").Build())};
  for (auto _ : state) {
    world.clock.Advance(Duration::Seconds(20));
    world.queue->MoveAll(kNodeAdd, objects);
    for (int i = 0; i < kPods; ++i) world.queue->Pop()->Return({{"NodeResourcesFit"}, {}});
  }
  Check(world.queue->counts().unschedulable == kPods, "rejected pods do not wait");
  state.SetItemsProcessed(state.iterations() * kPods);
}
BENCHMARK(RejectedAndWoken)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace berth::queue
