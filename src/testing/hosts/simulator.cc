// SPDX-License-Identifier: Apache-2.0
// A plugin in the scheduler that production runs, on a simulated cluster: what the first attempt to place the pod
// found.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sim/simulation.h"
#include "testing/answers.h"
#include "testing/hosts/hosts.h"
#include "testing/hosts/world.h"

namespace berth::testing {
namespace {

// The pod that is asked about comes first, so that it finds the cluster as the test has it.
class AskedFirst final : public QueueSortPlugin {
 public:
  static constexpr std::string_view kName = "asked-first";
  explicit AskedFirst(std::string uid) : uid_(std::move(uid)) {}
  bool Less(const QueuedPod& a, const QueuedPod& b) const override {
    const bool a_asked = a.pod->uid() == uid_, b_asked = b.pod->uid() == uid_;
    if (a_asked != b_asked) return a_asked;
    return a.timestamp < b.timestamp;
  }

 private:
  const std::string uid_;
};

// What becomes of the pod does not matter here.
class Unbound final : public BindPlugin {
 public:
  static constexpr std::string_view kName = "unbound";
  void Bind(const Placement&, StateSlot&, Done done) const override { done(Verdict::Fail("only asked")); }
};

class FirstAttempt final : public cycle::Observer {
 public:
  explicit FirstAttempt(std::string uid) : uid_(std::move(uid)) {}
  bool WantsJudgement(const Pod& pod) override { return pod.uid() == uid_; }
  void OnAttempt(const cycle::Attempt& attempt) override {
    if (tried || attempt.pod->uid() != uid_ || attempt.judgement == nullptr) return;
    tried = true;
    // The pod is assumed by now, which neither names nor verdicts show.
    cycle::Scheduler& scheduler = simulation->scheduler();
    const Snapshot snapshot = scheduler.state().snapshot();
    verdicts = VerdictsOf(*attempt.judgement, snapshot, scheduler.engine().table());
    scores = ScoresOf(*attempt.judgement, snapshot);
  }
  void OnDifference(const std::string& text) override {
    if (differences.find(text) != std::string::npos) return;
    differences += (differences.empty() ? "" : "; ") + text;
  }

  sim::Simulation* simulation = nullptr;
  bool tried = false;
  std::map<std::string, Verdict> verdicts;
  ScoreResult scores;
  std::string differences;

 private:
  const std::string uid_;
};

// Objects of a cluster have a uid; tests may leave it out.
Pod WithUid(Pod pod) {
  if (pod.meta.uid.empty()) pod.meta.uid = "asked";
  return pod;
}

// The error says why there is no answer.
Error Try(OnePlugin one, const Pod& pod, const TestCluster& cluster, FirstAttempt& attempt) {
  PluginDescriptor sort;
  sort.name = AskedFirst::kName;
  sort.points = Bit(Point::kQueueSort);
  sort.complete_args = [](const Value*, const std::string&, std::vector<FieldError>&) { return Value(); };
  sort.make = [uid = pod.uid()](const Value*, Handle&) -> Result<std::unique_ptr<Plugin>> {
    return std::unique_ptr<Plugin>(std::make_unique<AskedFirst>(uid));
  };
  one.registry.Add(std::move(sort));
  one.registry.Add<Unbound>();
  one.profile.scheduler_name = pod.scheduler_name;
  one.profile.plugins[Point::kQueueSort].enabled.push_back({std::string(AskedFirst::kName), 0});
  one.profile.plugins[Point::kBind].enabled.push_back({std::string(Unbound::kName), 0});
  config::SchedulerConfiguration config;
  config.profiles.push_back(one.profile);

  sim::SimulationOptions options;
  options.verify = true;
  auto made = sim::Simulation::Make(config, one.registry, options, &attempt);
  if (!made.ok()) return made.error();
  sim::Simulation& simulation = **made;
  attempt.simulation = &simulation;
  std::string refused;
  const auto create = [&](ClusterObject object) {
    const client::ApiStatus status = simulation.cluster().Create(std::move(object));
    if (!status.ok() && refused.empty()) refused = status.message;
  };
  const Snapshot snapshot = cluster.snapshot();
  ForEachObject(snapshot, create);
  for (auto& node : NodesOf(snapshot)) create(std::move(node));
  for (auto& placed : PlacedPodsOf(snapshot)) create(std::move(placed));
  for (auto& nominated : NominatedPodsOf(snapshot)) create(std::move(nominated));
  create(std::make_shared<const Pod>(pod));
  if (!refused.empty()) return Error("the simulated cluster refused an object: " + refused);

  simulation.Start();
  const Time limit = sim::kSimulationStart + Duration::Seconds(60);
  while (!attempt.tried && simulation.Step(limit)) {
  }
  if (!attempt.tried) return Error("the simulated scheduler never tried to place " + FullName(pod));
  if (!attempt.differences.empty()) return Error(attempt.differences);
  return Error::Ok();
}

}  // namespace

std::map<std::string, Verdict> FilterInSimulator(const Plugin& plugin, const Pod& given, const TestCluster& cluster) {
  const Pod pod = WithUid(given);
  FirstAttempt attempt(pod.uid());
  const Error error = Try(OnePlugin(plugin, {Point::kPreFilter, Point::kFilter}), pod, cluster, attempt);
  if (error.ok()) return attempt.verdicts;
  std::map<std::string, Verdict> verdicts;
  for (const auto& node : NodesOf(cluster.snapshot())) verdicts[node->name()] = Verdict::Fail(error.text());
  return verdicts;
}

ScoreResult ScoreInSimulator(const Plugin& plugin, const Pod& given, const TestCluster& cluster) {
  const Pod pod = WithUid(given);
  FirstAttempt attempt(pod.uid());
  const Error error = Try(OnePlugin(plugin, {Point::kPreScore, Point::kScore}), pod, cluster, attempt);
  if (!error.ok()) return {{}, {}, error.text()};
  return attempt.scores;
}

}  // namespace berth::testing
