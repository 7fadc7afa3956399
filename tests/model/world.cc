// SPDX-License-Identifier: Apache-2.0
// The run of a story, and what is expected of it at every time and at the end.
#include "world.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "account.h"
#include "berth/args.h"
#include "sim/scenario.h"
#include "sim/sim_run_changes.h"
#include "sim/simulation.h"

namespace berth::model {
namespace {

// Longer than any retry may take: watches are retried after at most a minute, pods after ten seconds.
constexpr Duration kPatience = Duration::Seconds(600);
// Longer than unschedulable pods wait for their timeout.
constexpr Duration kTimeout = Duration::Seconds(5 * 60 + 31);

// A watch that was away for long then has to start over with a list.
constexpr size_t kShortHistory = 6;

bool Foreign(std::string_view name) { return name.starts_with(kForeignPrefix); }

class World final : public cycle::Observer {
 public:
  World(const Story& story, bool with_log, bool lenient) : story_(story), with_log_(with_log), lenient_(lenient) {}

  Outcome Run(const config::SchedulerConfiguration& config, const Registry& registry) {
    sim::ScenarioInput input;
    input.read_files = false;
    sim::ScenarioLoad load = sim::LoadScenarioFromText(story_.ToJson(), "story", input);
    for (const std::string& error : load.errors) Fail("bad scenario", error);
    if (!outcome_.failure.empty()) return std::move(outcome_);
    sim::SimulationOptions options;
    options.seed = options.cluster.seed = story_.seed;
    options.cluster.faults = story_.faults;
    if (story_.seed % 4 == 0) options.cluster.history = kShortHistory;
    options.verify = true;
    Result<std::unique_ptr<sim::Simulation>> made = sim::Simulation::Make(config, registry, options, this);
    if (!made.ok()) {
      Fail("bad configuration", made.error().text());
      return std::move(outcome_);
    }
    simulation_ = std::move(made).value();
    account_ = std::make_unique<Account>(*simulation_,
                                         [this](const char* kind, const std::string& text) { Fail(kind, text); });
    Listen();
    Duration last;
    for (const sim::Step& step : load.scenario.steps) {
      last = step.at;
      simulation_->At(options.start + step.at, [this, &step] {
        for (const sim::Change& change : step.changes) Make(change, step.path);
      });
    }
    simulation_->Start();
    Play(options.start + last);
    if (outcome_.failure.empty()) End();
    return std::move(outcome_);
  }

  void OnAttempt(const cycle::Attempt& attempt) override {
    ++outcome_.attempts;
    abandoned_.erase(FullName(*attempt.pod));
    if (with_log_)
      Log("attempt " + std::to_string(attempt.attempts) + " of " + FullName(*attempt.pod) + " " + attempt.pod->uid() +
          " -> " + attempt.node + "; " + attempt.message + "; nominated " + attempt.nominated);
    account_->OnAttempt(attempt);
  }
  void OnBound(const Pod& pod, const std::string& node) override {
    if (with_log_) Log("bound " + FullName(pod) + " to " + node);
    account_->OnBound(pod, node);
  }
  void OnBindFailed(const Pod& pod, const std::string& node, const std::string& message) override {
    ++outcome_.bind_failures;
    if (with_log_) Log("not bound " + FullName(pod) + " to " + node + ": " + message);
    account_->OnBindFailed(pod, node, message);
  }
  void OnQueueMove(const queue::QueuedPodInfo& info, queue::Place place, std::string_view event) override {
    if (with_log_)
      Log("queue " + FullName(*info.pod) + " " + std::string(queue::ToString(place)) + " " + std::string(event));
  }
  void OnDifference(const std::string& text) override { Fail("remembered wrongly", text); }
  void OnComplaint(const std::string& text) override {
    if (with_log_) Log("complaint " + text);
    // Writes may fail for good in bad weather. Everything else says that the scheduler does not understand itself.
    if (text.starts_with("status of pod ")) {
      status_given_up_ = true;
      return;
    }
    constexpr std::string_view kPreemptionFor = "preemption for ";
    if (text.starts_with(kPreemptionFor)) {
      abandoned_.insert(text.substr(kPreemptionFor.size(), text.find(" on ") - kPreemptionFor.size()));
      return;
    }
    const size_t moved = text.find(" was added to node ");
    if (text.starts_with("pod ") && moved != text.npos && taken_.contains(text.substr(4, moved - 4))) return;
    Fail("complaint", text);
  }

 private:
  sim::SimulatedCluster& cluster() { return simulation_->cluster(); }
  cycle::Scheduler& scheduler() { return simulation_->scheduler(); }
  std::string Now() const {
    return FormatDuration(simulation_ ? simulation_->clock().Now() - sim::kSimulationStart : Duration{});
  }
  void Log(const std::string& text) { outcome_.log += Now() + " " + text + "\n"; }
  void Fail(const char* kind, const std::string& text) {
    if (!outcome_.failure.empty()) return;  // the first one is the cause of others
    outcome_.failure = kind;
    outcome_.text = "at " + Now() + ": " + kind + ": " + text;
  }

  void Listen() {
    cluster().on_bind = [this](const Pod& before, const std::string& node) {
      ++outcome_.bindings;
      if (with_log_) Log("store binds " + FullName(before) + " to " + node);
      if (!outside_ && Foreign(before.name())) Fail("foreign pod", "we bound " + FullName(before) + " to " + node);
      account_->OnStoreBind(before, node, outside_);
      if (!outside_) CheckVolumes(before, node);
    };
    cluster().on_event = [this](const client::EventRecord& event) {
      if (with_log_)
        Log("event " + event.regarding.namespace_ + "/" + event.regarding.name + " " + std::string(event.reason) + " " +
            event.note);
      if (event.reason == "Preempted") {
        ++outcome_.preemptions;
      } else if (Foreign(event.regarding.name)) {
        Fail("foreign pod",
             "event about " + event.regarding.name + ": " + std::string(event.reason) + " " + event.note);
      }
    };
    if (with_log_) cluster().on_fault = [this](std::string_view what) { Log("fault " + std::string(what)); };
  }

  void Make(const sim::Change& change, const std::string& path) {
    account_->BeforeChange(change);
    const auto* before = change.before ? std::get_if<Ptr<Pod>>(&*change.before) : nullptr;
    const auto* after = change.after ? std::get_if<Ptr<Pod>>(&*change.after) : nullptr;
    if (change.patch && before && after && (*before)->node_name.empty() && !(*after)->node_name.empty()) {
      // Somebody else binds it, if the server lets them.
      outside_ = true;
      const bool bound = cluster().BindNow({change.namespace_, change.name, ""}, (*after)->node_name).ok();
      outside_ = false;
      outcome_.outside += bound;
      if (bound) taken_.insert(change.namespace_ + "/" + change.name);
      if (with_log_) Log(path + " binds " + change.name + (bound ? "" : ", too late"));
    } else {
      sim::MakeChange(*simulation_, change, path, [this](const std::string& note) {
        if (with_log_) Log(note);
      });
    }
    account_->AfterChange(change);
  }

  void Check() {
    if (lenient_) return;
    if (std::string wrong = scheduler().CheckInvariants(); !wrong.empty()) Fail("invariant", wrong);
  }
  // Until `end`, or the first failure.
  void Play(Time end) {
    while (outcome_.failure.empty() && simulation_->Step(end)) {
      ++outcome_.steps;
      Check();
    }
  }
  void PlayUntilQuiet() {
    const Time limit = simulation_->clock().Now() + kPatience;
    while (outcome_.failure.empty() && !simulation_->quiet()) {
      ++outcome_.steps;
      if (!simulation_->Step(limit))
        return Fail("restless", "still busy " + FormatDuration(kPatience) + " after the last step");
      Check();
    }
  }

  void End() {
    cluster().SetFaults(sim::Faults::None());
    // Without any node pods are tried again and again, as upstream does: there would be no end.
    if (cluster().count(Kind::kNode) == 0) {
      Node nothing;
      nothing.meta.name = "nothing";
      (void)cluster().Create(std::make_shared<const Node>(std::move(nothing)));
    }
    PlayUntilQuiet();
    if (!outcome_.failure.empty()) return;
    CompareLists();
    ForEachPending([this](const Pod& pod, const framework::Profile& profile) {
      if (!status_given_up_) CheckExplained(pod, story_.faults.watch_cut + story_.faults.too_old == 0);
      if (abandoned_.contains(FullName(pod)) && pod.scheduling_gates.empty())
        Fail("abandoned", FullName(pod) + " was not tried again after its preemption had failed");
      if (!Fits(pod, profile)) return;
      ++outcome_.overslept;
      if (!MayOversleep(pod)) Fail("overslept", FullName(pod) + " fits, but nothing has woken it");
    });
    // Whoever could not be told while the weather was bad is told now, at the latest.
    Play(simulation_->clock().Now() + kTimeout);
    if (outcome_.failure.empty()) PlayUntilQuiet();
    if (!outcome_.failure.empty()) return;
    CompareLists();
    ForEachPending([this](const Pod& pod, const framework::Profile& profile) { CheckPending(pod, profile); });
    CheckForeign();
    CheckClaims();
    if (scheduler().queue().recorded_events() != 0) Fail("leftovers", "events are recorded though no pod is in flight");
  }

  // What the scheduler knows is what is there.
  void CompareLists() {
    for (size_t i = 0; i < kKindCount; ++i) {
      const Kind kind = static_cast<Kind>(i);
      if (!scheduler().watches(kind)) continue;
      const client::Reflector& known = scheduler().reflector(kind);
      size_t visible = 0;
      cluster().ForEach(kind, [&](const ClusterObject& object) {
        if (const auto* pod = std::get_if<Ptr<Pod>>(&object); pod && (*pod)->finished()) return;
        ++visible;
        const ObjectMeta& meta = MetaOf(object);
        const ClusterObject* copy = known.Find(meta.namespace_, meta.name);
        if (!copy) return Fail("stale list", std::string(ToString(kind)) + " " + FullName(meta) + " is not known");
        // What the simulator alone reads of an object is not shown to the scheduler.
        const bool whole = kind != Kind::kPod && kind != Kind::kNode;
        const bool same = whole || meta.annotations.empty() ? *copy == object
                                                            : MetaOf(*copy).resource_version == meta.resource_version &&
                                                                  MetaOf(*copy).annotations.empty();
        if (!same)
          Fail("stale list", std::string(ToString(kind)) + " " + FullName(meta) + " is at version " +
                                 meta.resource_version + ", known is " + MetaOf(*copy).resource_version);
      });
      if (known.size() != visible)
        Fail("stale list", std::to_string(known.size()) + " objects of kind " + std::string(ToString(kind)) +
                               " are known, but there are " + std::to_string(visible));
    }
  }

  template <class Fn>
  void ForEachPending(Fn&& fn) {
    cluster().ForEach(Kind::kPod, [&](const ClusterObject& object) {
      const Pod& pod = *std::get<Ptr<Pod>>(object);
      const framework::Profile* profile = scheduler().engine().FindProfile(pod.scheduler_name);
      if (pod.node_name.empty() && profile) fn(pod, *profile);
    });
  }
  bool Fits(const Pod& pod, const framework::Profile& profile) {
    framework::JudgeOptions options;
    options.pre_enqueue = true;
    options.post_filter = false;
    const Snapshot snapshot = scheduler().state().snapshot();
    return scheduler().engine().Judge(profile, pod, snapshot, options).kind == framework::Judgement::Kind::kFits;
  }
  // Upstream's InterPodAffinity does not hear of a pod that goes with its node, nor of the last one that a pod wants to
  // be with although it would do alone. VolumeBinding does not hear of volumes that a pod gives back unwritten.
  bool MayOversleep(const Pod& pod) {
    if (account_->resized_on_the_way()) return true;
    const queue::QueuedPodInfo* info = scheduler().queue().Find(FullName(pod));
    if (!info) return false;
    const std::vector<std::string> names = scheduler().queue().RejectorNames(*info);
    const auto is_among = [&](const char* name) { return std::find(names.begin(), names.end(), name) != names.end(); };
    return is_among("InterPodAffinity") || is_among("VolumeBinding");
  }
  template <class T>
  Ptr<T> Stored(const std::string& ns, const std::string& name) {
    const ClusterObject* found = cluster().Find(InfoOf<T>().kind, ns, name);
    return found ? std::get<Ptr<T>>(*found) : nullptr;
  }
  // A pod that we bind has volumes of its own that its node reaches.
  void CheckVolumes(const Pod& pod, const std::string& node) {
    const auto there = Stored<Node>("", node);
    for (const PodVolume& volume : pod.volumes) {
      if (volume.kind != VolumeKind::kClaim) continue;
      const std::string what = FullName(pod) + " was bound to " + node + ", but its claim " + volume.source;
      const auto claim = Stored<PersistentVolumeClaim>(pod.namespace_(), volume.source);
      if (!claim || claim->volume_name.empty()) return Fail("volumes", what + " is not bound");
      const auto bound = Stored<PersistentVolume>("", claim->volume_name);
      if (!bound || !bound->claim_ref || bound->claim_ref->uid != claim->meta.uid)
        return Fail("volumes", what + " has a volume that is not its own: " + claim->volume_name);
      if (there && bound->node_affinity && !bound->node_affinity->Matches(node, there->meta.labels))
        return Fail("volumes", what + " has a volume that is not reached from there: " + claim->volume_name);
    }
  }
  // No volume has two claims, and no claim half a volume.
  void CheckClaims() {
    std::map<std::string, std::string> owners;
    cluster().ForEach(Kind::kPersistentVolumeClaim, [&](const ClusterObject& object) {
      const PersistentVolumeClaim& claim = *std::get<Ptr<PersistentVolumeClaim>>(object);
      if (claim.volume_name.empty()) return;
      const auto [owner, first] = owners.emplace(claim.volume_name, FullName(claim.meta));
      if (!first)
        Fail("volumes",
             "volume " + claim.volume_name + " has claims " + owner->second + " and " + FullName(claim.meta));
    });
  }
  // The condition says why; `exactly`: in the words of the last attempt. (When the watch lags it may still have those
  // of the attempt before: the scheduler believed the condition that it saw, as upstream does.)
  void CheckExplained(const Pod& pod, bool exactly) {
    if (!pod.scheduling_gates.empty()) return;
    const PodCondition* condition = pod.FindCondition("PodScheduled");
    const std::string why = account_->LastMessage(pod.uid());
    if (!condition || condition->status != "False" || condition->message.empty()) {
      Fail("unexplained", FullName(pod) + " is pending and has no condition that says why; we know: " + why);
    } else if (exactly && condition->message != why) {
      Fail("unexplained",
           FullName(pod) + " is pending because \"" + why + "\" but its condition says \"" + condition->message + "\"");
    }
  }
  void CheckPending(const Pod& pod, const framework::Profile& profile) {
    if (pod.terminating()) return Fail("unexplained", FullName(pod) + " is not bound, but terminating");
    const bool gated = !pod.scheduling_gates.empty();
    const queue::Place place = scheduler().queue().PlaceOf(pod);
    if (place != (gated ? queue::Place::kGated : queue::Place::kUnschedulable))
      Fail("misplaced", FullName(pod) + (gated ? " has gates" : " is pending") + " but is " +
                            std::string(queue::ToString(place)) + " in the queue");
    if (gated) return;
    if (Fits(pod, profile)) Fail("left out", FullName(pod) + " is pending though it fits");
    CheckExplained(pod, true);
    const std::string* nomination = scheduler().state().NominationOf(pod.uid());
    if ((nomination ? *nomination : "") != pod.nominated_node_name)
      Fail("nomination", FullName(pod) + " is nominated to \"" + (nomination ? *nomination : "") +
                             "\" but its status says \"" + pod.nominated_node_name + "\"");
  }
  void CheckForeign() {
    cluster().ForEach(Kind::kPod, [&](const ClusterObject& object) {
      const Pod& pod = *std::get<Ptr<Pod>>(object);
      if (!Foreign(pod.name()) || !pod.node_name.empty()) return;
      if (!pod.conditions.empty() || !pod.nominated_node_name.empty())
        Fail("foreign pod", FullName(pod) + " was written to");
    });
  }

  const Story& story_;
  const bool with_log_, lenient_;
  bool status_given_up_ = false;     // some pod's condition could not be written, in bad weather
  bool outside_ = false;             // the binding that is being made is not ours
  std::set<std::string> abandoned_;  // namespace/name of preemptors whose preemption failed, not tried since
  std::set<std::string> taken_;      // namespace/name of pods that others have bound
  Outcome outcome_;
  std::unique_ptr<Account> account_;
  std::unique_ptr<sim::Simulation> simulation_;  // last: it reports to all of the above
};

}  // namespace

Outcome RunStory(const Story& story, const config::SchedulerConfiguration& config, const Registry& registry,
                 bool with_log, bool lenient) {
  return World(story, with_log, lenient).Run(config, registry);
}

}  // namespace berth::model
