// SPDX-License-Identifier: Apache-2.0
// Filling the cluster, letting time pass, and looking at what is there.
#include "sim/sim_run.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>

#include "berth/args.h"
#include "berth/host/annotations.h"
#include "sim/scenario_world.h"
#include "sim/sim_run_changes.h"
#include "sim/sim_run_decisions.h"
#include "sim/simulation.h"
#include "util/secret_hash.h"

namespace berth::sim {
namespace {

constexpr Duration kDefaultPatience = Duration::Seconds(3600);
constexpr char kZone[] = "topology.kubernetes.io/zone";
// How many bindings pass between two calls of `progress`.
constexpr uint64_t kProgressEvery = 256;

Duration operator+(Duration a, Duration b) { return {a.ns + b.ns}; }

class Runner {
 public:
  Runner(const Scenario& scenario, const RunOptions& options)
      : scenario_(scenario), options_(options), generator_(scenario.generated), log_(options.explain) {}

  Result<RunResult> Go(const config::SchedulerConfiguration& config, const Registry& registry) {
    SimulationOptions how;
    how.seed = how.cluster.seed = options_.seed;
    how.verify = options_.verify;
    how.log = options_.log;
    how.extenders = options_.extenders;
    if (options_.faults) how.cluster.faults = Faults::Default();
    Result<std::unique_ptr<Simulation>> made = Simulation::Make(config, registry, how, &log_);
    if (!made.ok()) return made.error();
    simulation_ = std::move(made).value();
    start_ = simulation_->clock().Now();
    log_.Attach(simulation_->scheduler(), simulation_->clock());
    if (options_.progress) log_.on_bound = [this] { Report(); };
    simulation_->cluster().on_event = [this](const client::EventRecord& event) {
      // Several pods may choose one victim before the first of them has heard that it goes.
      if (event.reason != "Preempted" || !evicted_.insert(event.regarding.uid).second) return;
      ++result_.summary.evictions;
      if (result_.evictions.size() < RunResult::kEvictionsKept)
        result_.evictions.push_back({event.regarding.namespace_ + "/" + event.regarding.name, event.related, Now()});
    };

    Fill();
    PlanSteps();
    PlanPods();
    simulation_->Start();
    LetTimePass();
    Collect();
    Explain();
    return std::move(result_);
  }

 private:
  SimulatedCluster& cluster() { return simulation_->cluster(); }
  void Note(std::string text) { result_.notes.push_back(std::move(text)); }
  Duration Now() const { return simulation_->clock().Now() - start_; }
  void Later(Duration at) { last_ = std::max(last_, at); }

  void Report() {
    if (log_.bound() % kProgressEvery == 0) options_.progress({Now(), log_.bound(), cluster().count(Kind::kPod)});
  }

  void Create(ClusterObject object) {
    const std::string name = FullName(MetaOf(object));
    const client::ApiStatus status = cluster().Create(std::move(object));
    if (!status.ok()) Note(name + " could not be created: " + status.message);
  }

  void Fill() {
    // Nodes before pods, whoever makes them.
    for (int64_t i = 0; i < scenario_.generated.nodes; ++i) Create(generator_.MakeNode(i));
    scenario_.objects.ForEach([this](const ClusterObject& object) { Create(object); });
  }

  void PlanSteps() {
    for (const Step& step : scenario_.steps) {
      Later(step.at);
      simulation_->At(start_ + step.at, [this, &step] {
        for (const Change& change : step.changes)
          MakeChange(*simulation_, change, step.path, [this](std::string text) { Note(std::move(text)); });
      });
    }
    for (const Expectation& expectation : scenario_.expectations)
      if (expectation.at) Later(*expectation.at);
  }

  void PlanPods() {
    const int64_t pods = scenario_.generated.pods;
    const bool spread = options_.duration && options_.churn == 0 && pods > 0;
    if (spread) return Arrive(0);
    for (int64_t i = 0; i < pods; ++i) Create(generator_.MakePod(i));
    next_pod_ = pods;
    if (options_.churn > 0 && pods > 0) Churn(Duration::Seconds(1));
  }

  // Pod `index` comes when its share of the duration is over, and plans the next one.
  void Arrive(int64_t index) {
    const int64_t pods = scenario_.generated.pods;
    if (index >= pods) return;
    const auto at = static_cast<int64_t>(static_cast<__int128_t>(options_.duration->ns) * index / pods);
    Later({at});
    simulation_->At(start_ + Duration{at}, [this, index] {
      Create(generator_.MakePod(index));
      Arrive(index + 1);
    });
  }

  void Churn(Duration at) {
    if (!options_.duration || at > *options_.duration) return;
    Later(at);
    simulation_->At(start_ + at, [this, at] {
      for (int64_t i = 0; i < options_.churn && oldest_pod_ < next_pod_; ++i) {
        const std::string name = Generator::PodName(oldest_pod_++);
        (void)cluster().Delete(Kind::kPod, "default", name);
        log_.Forget("default/" + name);
      }
      for (int64_t i = 0; i < options_.churn; ++i) Create(generator_.MakePod(next_pod_++));
      Churn(at + Duration::Seconds(1));
    });
  }

  void LetTimePass() {
    std::vector<size_t> timed;
    result_.expectations.resize(scenario_.expectations.size());
    for (size_t i = 0; i < scenario_.expectations.size(); ++i)
      if (scenario_.expectations[i].at) timed.push_back(i);
    std::stable_sort(timed.begin(), timed.end(), [this](size_t a, size_t b) {
      return *scenario_.expectations[a].at < *scenario_.expectations[b].at;
    });
    for (const size_t i : timed) {
      simulation_->RunUntil(start_ + *scenario_.expectations[i].at);
      CheckExpectation(i);
    }
    simulation_->RunUntil(start_ + last_);
    const Duration patience = options_.duration.value_or(scenario_.duration.value_or(kDefaultPatience));
    if (!simulation_->RunUntilQuiet(start_ + (last_ + patience))) {
      const size_t retried = simulation_->scheduler().queue().counts().error_backoff;
      const std::string pods = std::to_string(retried) + (retried == 1 ? " pod is" : " pods are");
      Note(simulation_->hopeless()
               ? "there are no nodes; " + pods +
                     " tried again and again until one comes, which none does: ended after " + FormatDuration(Now())
               : "still busy when time was up, after " + FormatDuration(Now()));
    }
    for (size_t i = 0; i < scenario_.expectations.size(); ++i)
      if (!scenario_.expectations[i].at) CheckExpectation(i);
  }

  // Why the pod is not on a node.
  std::string WhyPending(const Pod& pod) {
    const framework::Profile* profile = simulation_->scheduler().engine().FindProfile(pod.scheduler_name);
    if (!profile) return "belongs to another scheduler: \"" + pod.scheduler_name + "\"";
    if (const std::optional<framework::Ruling> gate = framework::FindGate(*profile, pod))
      return gate->verdict.message();
    const PodCondition* condition = pod.FindCondition("PodScheduled");
    if (condition && condition->status == "False" && !condition->message.empty()) return condition->message;
    const Decision* decision = log_.Find(FullName(pod), pod.uid());
    if (decision && !decision->message.empty()) return decision->message;
    return pod.terminating() ? "being deleted" : "not tried yet";
  }

  std::string WhyHere(const Pod& pod) {
    const Decision* decision = log_.Find(FullName(pod), pod.uid());
    return decision && decision->node == pod.node_name ? decision->Why() : "not placed by this scheduler";
  }

  std::string Since(Time time) const { return " since " + FormatDuration(std::max(time - start_, Duration{})); }

  void CheckExpectation(size_t index) {
    const Expectation& expectation = scenario_.expectations[index];
    ExpectationResult& out = result_.expectations[index];
    out.at = expectation.at ? FormatDuration(*expectation.at) : "end";
    out.pod = expectation.FullPod();
    out.expected = expectation.Text();
    const ClusterObject* object = cluster().Find(Kind::kPod, expectation.namespace_, expectation.pod);
    if (!object) {
      out.met = expectation.type == Expectation::Type::kGone;
      const Decision* decision = log_.FindAny(out.pod);
      out.actual = "gone";
      if (decision && !decision->node.empty())
        out.actual += "; it went to " + decision->node + " at " + FormatDuration(decision->time - start_) + ": " +
                      decision->Why();
      if (decision && decision->node.empty()) out.actual += "; last decision: " + decision->Why();
      return;
    }
    const Pod& pod = *std::get<Ptr<Pod>>(*object);
    if (pod.node_name.empty() && !pod.finished()) {
      const std::string why = WhyPending(pod);
      out.met = expectation.type == Expectation::Type::kPending && why.find(expectation.message) != std::string::npos;
      out.actual = "pending" + Since(pod.meta.creation_time.value_or(start_)) + ": " + why;
      const Decision* decision = log_.Find(out.pod, pod.uid());
      if (!pod.nominated_node_name.empty()) out.actual += " (nominated to " + pod.nominated_node_name + ")";
      if (decision && !decision->node.empty()) out.actual += " (on its way to " + decision->node + ")";
      return;
    }
    const bool named =
        std::find(expectation.nodes.begin(), expectation.nodes.end(), pod.node_name) != expectation.nodes.end();
    out.met = !pod.node_name.empty() && (expectation.type == Expectation::Type::kPlaced ||
                                         (expectation.type == Expectation::Type::kOnNode && named));
    const Decision* decision = log_.Find(out.pod, pod.uid());
    out.actual = (pod.finished() ? "finished on node " : "on node ") + pod.node_name;
    if (decision && decision->node == pod.node_name) out.actual += Since(decision->time);
    out.actual += ": " + WhyHere(pod);
    if (pod.terminating()) out.actual += " (being deleted)";
  }

  void Collect() {
    RunSummary& summary = result_.summary;
    std::unordered_map<std::string, uint64_t*, SecretStringHash> zone_of;
    // Sums of what files say: 64 bits may not hold them.
    __int128_t cpu = 0, memory = 0, used_cpu = 0, used_memory = 0;
    cluster().ForEach(Kind::kNode, [&](const ClusterObject& object) {
      const Node& node = *std::get<Ptr<Node>>(object);
      ++summary.nodes;
      cpu += node.allocatable.milli_cpu;
      memory += node.allocatable.memory;
      const std::string* zone = node.meta.labels.Find(kZone);
      zone_of[node.name()] = zone ? &summary.zones[*zone] : nullptr;
    });
    cluster().ForEach(Kind::kPod, [&](const ClusterObject& object) {
      const Pod& pod = *std::get<Ptr<Pod>>(object);
      if (pod.finished()) {
        ++summary.finished;
        return;
      }
      PodLine line;
      line.pod = FullName(pod);
      if (pod.node_name.empty()) {
        line.text = WhyPending(pod);
        result_.pending.push_back(std::move(line));
        return;
      }
      line.node = pod.node_name;
      line.text = WhyHere(pod);
      const Decision* decision = log_.Find(line.pod, pod.uid());
      line.ours = decision && decision->node == pod.node_name;
      if (line.ours) line.total = decision->total;
      if (const auto zone = zone_of.find(pod.node_name); zone != zone_of.end()) {
        if (zone->second) ++*zone->second;
        used_cpu += pod.resources.held.milli_cpu;
        used_memory += pod.resources.held.memory;
      }
      result_.placements.push_back(std::move(line));
    });
    const auto by_pod = [](const PodLine& a, const PodLine& b) { return a.pod < b.pod; };
    std::sort(result_.placements.begin(), result_.placements.end(), by_pod);
    std::sort(result_.pending.begin(), result_.pending.end(), by_pod);
    const auto per_mille = [](__int128_t used, __int128_t of) {
      constexpr __int128_t kMost = std::numeric_limits<int64_t>::max();
      return of > 0 ? static_cast<int64_t>(std::clamp(used * 1000 / of, -kMost, kMost)) : 0;
    };
    summary.placed = result_.placements.size();
    summary.pending = result_.pending.size();
    summary.attempts = log_.attempts();
    if (options_.verify) {
      result_.verification = log_.verification();
      result_.verification->decisions = simulation_->scheduler().engine().compared();
    }
    summary.time = Now();
    summary.cpu = per_mille(used_cpu, cpu);
    summary.memory = per_mille(used_memory, memory);
  }

  void Explain() {
    if (options_.explain.empty()) return;
    result_.explanation = log_.explanation();
    const size_t slash = options_.explain.find('/');
    const ClusterObject* object =
        cluster().Find(Kind::kPod, options_.explain.substr(0, slash), options_.explain.substr(slash + 1));
    if (!object) {
      result_.explanation_text = "gone at the end of the run";
      return;
    }
    // As the scheduler's plugins are shown it.
    const Ptr<Pod> shown = Shown(std::get<Ptr<Pod>>(*object), simulation_->scheduler().engine().annotations());
    const Pod& pod = *shown;
    if (!pod.node_name.empty()) {
      result_.explanation_text = "on node " + pod.node_name + ": " + WhyHere(pod);
      return;
    }
    result_.explanation_text = "pending: " + WhyPending(pod);
    framework::Engine& engine = simulation_->scheduler().engine();
    const framework::Profile* profile = engine.FindProfile(pod.scheduler_name);
    if (result_.explanation || !profile) return;
    framework::JudgeOptions options;
    options.pre_enqueue = true;
    const Snapshot snapshot = simulation_->scheduler().state().snapshot();
    const framework::Judgement judgement = engine.Judge(*profile, pod, snapshot, options);
    result_.explanation = framework::Explain(pod, *profile, engine.table(), snapshot, judgement);
  }

  const Scenario& scenario_;
  const RunOptions& options_;
  Generator generator_;
  RunResult result_;
  std::set<std::string> evicted_;  // uids
  Time start_;
  Duration last_;  // of steps, expectations and arrivals
  int64_t oldest_pod_ = 0, next_pod_ = 0;
  DecisionLog log_;
  std::unique_ptr<Simulation> simulation_;  // last: it reports to the log
};

}  // namespace

uint64_t RunSummary::zone_spread() const {
  if (zones.empty()) return 0;
  const auto by_count = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [least, most] = std::minmax_element(zones.begin(), zones.end(), by_count);
  return most->second - least->second;
}

void Verification::Add(const std::string& text) {
  ++findings;
  if (texts.size() < kTextsKept && std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
}

bool RunResult::met() const {
  return (!verification || verification->findings == 0) &&
         std::all_of(expectations.begin(), expectations.end(), [](const ExpectationResult& e) { return e.met; });
}

Result<RunResult> Run(const Scenario& scenario, const config::SchedulerConfiguration& config, const Registry& registry,
                      const RunOptions& options) {
  return Runner(scenario, options).Go(config, registry);
}

}  // namespace berth::sim
