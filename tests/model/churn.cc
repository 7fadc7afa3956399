// SPDX-License-Identifier: Apache-2.0
// A small cluster that is always busy, watched for anything that only grows.
#include "churn.h"

#include <unistd.h>

#include <cstdio>
#include <deque>
#include <fstream>
#include <memory>
#include <string>

#include "api/load.h"
#include "sim/simulation.h"

namespace berth::model {
namespace {

constexpr int kNodes = 20;
constexpr int kPodsPerSecond = 250;
constexpr int64_t kGrowthAllowed = 4 << 20;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMeasurable = false;  // sanitizers keep what is freed
#else
constexpr bool kMeasurable = true;
#endif

int64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  int64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

Ptr<Node> MakeNode(int index) {
  return LoadObjectsFromText("---\n{apiVersion: v1, kind: Node, metadata: {name: n" + std::to_string(index) +
                             "}, status: {allocatable: {cpu: '64', memory: 256Gi, pods: '110'}}}")
      .objects.of<Node>()
      .at(0);
}
// Of four pods three run for two seconds; the fourth asks for more than there is, and is deleted while it waits.
Pod MakeTemplate(bool fits) {
  Pod pod = *LoadObjectsFromText(
                 "---\n{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {app: a}}, spec: {containers: [{name: "
                 "c, image: i, resources: "
                 "{requests: {cpu: '" +
                 std::string(fits ? "100m" : "900") + "', memory: 64Mi}}}]}}")
                 .objects.of<Pod>()
                 .at(0);
  pod.meta.annotations = Labels{{"sim.berth.dev/run-for", "2s"}};
  pod.meta.uid.clear();
  pod.meta.creation_time.reset();
  return pod;
}

class Churn {
 public:
  Churn(int64_t pods, sim::Simulation& simulation) : pods_(pods), simulation_(simulation) {}

  int Run() {
    for (int i = 0; i < kNodes; ++i) (void)simulation_.cluster().Create(MakeNode(i));
    simulation_.cluster().on_bind = [this](const Pod&, const std::string&) { ++bound_; };
    simulation_.Start();
    int64_t resident = 0;
    while (created_ < pods_ || !living_.empty()) {
      Second();
      if (resident == 0 && created_ >= std::min(pods_ / 5, int64_t{200'000})) resident = ResidentBytes();
      if (created_ % 100'000 == 0 && created_ < pods_) Look();
    }
    if (!simulation_.RunUntilQuiet(simulation_.clock().Now() + Duration::Seconds(60)))
      Complain("it never became quiet");
    Look();
    CheckEmpty();
    const int64_t after = ResidentBytes();
    std::printf("%lld pods came and went, %lld were bound; resident %.1f MiB after a fifth, %.1f MiB at the end\n",
                static_cast<long long>(created_), static_cast<long long>(bound_),
                static_cast<double>(resident) / (1 << 20), static_cast<double>(after) / (1 << 20));
    if (bound_ != deleted_after_end_) Complain("pods were bound, but did not end");
    if (kMeasurable && after > resident + kGrowthAllowed) Complain("memory grows with every pod");
    return complaints_;
  }

 private:
  void Complain(const std::string& text) {
    ++complaints_;
    std::printf("churn: %s\n", text.c_str());
  }

  void Second() {
    for (int i = 0; i < kPodsPerSecond && created_ < pods_; ++i, ++created_) {
      auto pod = std::make_shared<Pod>(created_ % 4 == 3 ? large_ : small_);
      pod->meta.name = "p-" + std::to_string(created_);
      living_.push_back(pod->meta.name);
      (void)simulation_.cluster().Create(Ptr<Pod>(std::move(pod)));
    }
    simulation_.RunUntil(simulation_.clock().Now() + Duration::Seconds(1));
    std::deque<std::string> staying;
    for (std::string& name : living_) {
      const ClusterObject* object = simulation_.cluster().Find(Kind::kPod, "default", name);
      const Pod& pod = *std::get<Ptr<Pod>>(*object);
      const bool ended = pod.phase == "Succeeded";
      const bool hopeless = pod.node_name.empty() && pod.FindCondition("PodScheduled");
      if (!ended && !hopeless) {
        staying.push_back(std::move(name));
        continue;
      }
      deleted_after_end_ += ended;
      (void)simulation_.cluster().Delete(Kind::kPod, "default", name);
    }
    living_ = std::move(staying);
    if (living_.size() > 10 * kPodsPerSecond) {
      Complain("pods pile up");
      living_.clear();
      pods_ = created_;
    }
  }

  void Look() {
    if (const std::string wrong = simulation_.scheduler().CheckInvariants(); !wrong.empty()) Complain(wrong);
  }

  // Everybody is gone: nothing may remember them.
  void CheckEmpty() {
    const cycle::Scheduler& scheduler = simulation_.scheduler();
    const queue::SchedulingQueue::Counts counts = scheduler.queue().counts();
    if (simulation_.cluster().count(Kind::kPod) != 0) Complain("pods are left in the store");
    if (scheduler.reflector(Kind::kPod).size() != 0) Complain("pods are left in the list");
    if (scheduler.state().pod_count() != 0) Complain("pods are left in the cache");
    if (scheduler.state().nomination_count() != 0) Complain("nominations are left");
    if (counts != queue::SchedulingQueue::Counts{})
      Complain("pods are left in the queue: " + scheduler.queue().Summary());
    if (scheduler.queue().recorded_events() != 0) Complain("events are left in the queue");
    if (!scheduler.idle()) Complain("something is under way");
  }

  int64_t pods_;
  sim::Simulation& simulation_;
  const Pod small_ = MakeTemplate(true), large_ = MakeTemplate(false);
  std::deque<std::string> living_;
  int64_t created_ = 0, bound_ = 0, deleted_after_end_ = 0;
  int complaints_ = 0;
};

}  // namespace

int RunChurn(int64_t pods, const config::SchedulerConfiguration& config, const Registry& registry) {
  sim::SimulationOptions options;
  Result<std::unique_ptr<sim::Simulation>> simulation = sim::Simulation::Make(config, registry, options);
  if (!simulation.ok()) {
    std::printf("churn: %s\n", simulation.error().text().c_str());
    return 1;
  }
  return Churn(pods, **simulation).Run();
}

}  // namespace berth::model
