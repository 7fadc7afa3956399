// SPDX-License-Identifier: Apache-2.0
// For tests of the cycles: a cluster door whose every answer is the test's, plugins made of functions, and a fixture
// that runs a scheduler step by step and checks its invariants after each.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/testing.h"
#include "client/cluster_api.h"
#include "config/default_plugins.h"
#include "cycle/scheduler.h"
#include "plugins/builtin.h"

namespace berth::cycle {

using client::ApiStatus;
using queue::Place;

// Lists and watches what the test puts into it. Writes are kept, in order, until the test answers them; answering does
// not change any object unless the test says so (Accept does). Everything comes through the inbox.
class FakeApi final : public client::ClusterApi {
 public:
  struct BindCall {
    client::ObjectName pod;
    std::string node;
    client::Answer done;
  };
  struct PatchCall {
    client::PodStatusPatch patch;
    client::Answer done;
  };
  struct DeleteCall {
    client::ObjectName pod;
    client::Answer done;
  };
  struct GetCall {
    std::string ns, name;
    std::function<void(const ApiStatus&, Ptr<Pod>)> done;
  };
  struct EventCall {
    client::EventRecord event;
    client::Answer done;
  };
  std::deque<BindCall> binds;
  std::deque<PatchCall> patches;
  std::deque<DeleteCall> deletes;
  std::deque<GetCall> gets;
  std::vector<client::EventRecord> events, series;  // posted; patched
  std::deque<EventCall> event_calls;
  std::optional<Kind> held;         // lists of this kind are not answered:
  std::function<void()> held_list;  // this would do it

  explicit FakeApi(util::Inbox& inbox) : inbox_(inbox) {}

  // The cluster changes: an object appears or is replaced, and the watch tells.
  template <class T>
  void Put(T object) {
    object.meta.resource_version = std::to_string(++version_);
    const std::string key = FullName(object.meta);
    const Ptr<T> shared = std::make_shared<const T>(std::move(object));
    const Kind kind = KindOf(ClusterObject(shared));
    auto& all = objects_[kind];
    const bool known = all.contains(key);
    all.insert_or_assign(key, shared);
    Tell(kind, known ? client::WatchEvent::Type::kModified : client::WatchEvent::Type::kAdded, shared);
  }
  void Remove(Kind kind, const std::string& full_name) {
    const auto it = objects_[kind].find(full_name);
    ASSERT_NE(it, objects_[kind].end()) << full_name;
    const ClusterObject object = it->second;
    objects_[kind].erase(it);
    ++version_;
    Tell(kind, client::WatchEvent::Type::kDeleted, object);
  }
  Ptr<Pod> FindPod(const std::string& name) const {
    const auto kind = objects_.find(Kind::kPod);
    if (kind == objects_.end()) return nullptr;
    const auto it = kind->second.find("default/" + name);
    return it == kind->second.end() ? nullptr : std::get<Ptr<Pod>>(it->second);
  }
  void ChangePod(const std::string& name, const std::function<void(Pod&)>& change) {
    const Ptr<Pod> before = FindPod(name);
    ASSERT_NE(before, nullptr) << name;
    Pod after = *before;
    change(after);
    Put(std::move(after));
  }

  // The oldest open request is answered.
  void AnswerBind(const ApiStatus& status = {}) { Answer(binds, status); }
  void AnswerPatch(const ApiStatus& status = {}) { Answer(patches, status); }
  void AnswerDelete(const ApiStatus& status = {}) { Answer(deletes, status); }
  void AnswerEvent(const ApiStatus& status = {}) { Answer(event_calls, status); }
  void AnswerGet(const ApiStatus& status, const Ptr<Pod>& pod) {
    ASSERT_FALSE(gets.empty());
    inbox_.Post([done = std::move(gets.front().done), status, pod] { done(status, pod); });
    gets.pop_front();
  }
  // The oldest open request does what it should: the watch tells, then it is answered.
  void AcceptBind() {
    ASSERT_FALSE(binds.empty());
    ChangePod(binds.front().pod.name, [&](Pod& pod) { pod.node_name = binds.front().node; });
    AnswerBind();
  }
  void AcceptPatch() {
    ASSERT_FALSE(patches.empty());
    const client::PodStatusPatch patch = patches.front().patch;
    if (!FindPod(patch.pod.name)) return AnswerPatch({404, "not found"});
    ChangePod(patch.pod.name, [&](Pod& pod) {
      if (patch.nominated_node_name) pod.nominated_node_name = *patch.nominated_node_name;
      if (!patch.condition) return;
      std::erase_if(pod.conditions.Edit(), [&](const PodCondition& c) { return c.type == patch.condition->type; });
      pod.conditions.push_back(*patch.condition);
    });
    AnswerPatch();
  }

  void List(Kind kind, std::function<void(client::ListAnswer)> done) override {
    client::ListAnswer answer;
    for (const auto& [key, object] : objects_[kind]) answer.objects.push_back(object);
    answer.resource_version = std::to_string(version_);
    auto letter = [done = std::move(done), answer = std::move(answer)] { done(answer); };
    if (held == kind) {
      held_list = std::move(letter);
    } else {
      inbox_.Post(std::move(letter));
    }
  }
  std::unique_ptr<client::Watch> StartWatch(Kind kind, const std::string&, client::WatchCallbacks callbacks) override {
    auto open = std::make_shared<client::WatchCallbacks>(std::move(callbacks));
    watches_[kind] = open;
    return std::make_unique<FakeWatch>(std::move(open));
  }
  // The server ends a watch.
  void EndWatch(Kind kind, const ApiStatus& status) {
    inbox_.Post([watch = watches_[kind], status] {
      if (const auto open = watch.lock()) open->closed(status);
    });
  }
  void GetPod(const std::string& ns, const std::string& name,
              std::function<void(const ApiStatus&, Ptr<Pod>)> done) override {
    gets.push_back({ns, name, std::move(done)});
  }
  void Bind(const client::ObjectName& pod, const std::string& node, client::Answer done) override {
    binds.push_back({pod, node, std::move(done)});
  }
  void PatchPodStatus(const client::PodStatusPatch& patch, client::Answer done) override {
    patches.push_back({patch, std::move(done)});
  }
  void DeletePod(const client::ObjectName& pod, client::Answer done) override {
    deletes.push_back({pod, std::move(done)});
  }
  // Answers are wanted only of a scheduler that counts repeats.
  void PostEvent(const client::EventRecord& event, client::Answer done) override {
    events.push_back(event);
    if (done) event_calls.push_back({event, std::move(done)});
  }
  void PatchEvent(const client::EventRecord& event, client::Answer done) override {
    series.push_back(event);
    event_calls.push_back({event, std::move(done)});
  }
  void GetLease(const std::string&, const std::string&,
                std::function<void(const ApiStatus&, const client::Lease&)>) override {}
  void PutLease(const client::Lease&, std::function<void(const ApiStatus&, const client::Lease&)>) override {}

 private:
  struct FakeWatch final : client::Watch {
    explicit FakeWatch(std::shared_ptr<client::WatchCallbacks> c) : callbacks(std::move(c)) {}
    std::shared_ptr<client::WatchCallbacks> callbacks;  // whoever holds it weakly sees the watch end
  };
  template <class Calls>
  void Answer(Calls& calls, const ApiStatus& status) {
    ASSERT_FALSE(calls.empty());
    inbox_.Post([done = std::move(calls.front().done), status] { done(status); });
    calls.pop_front();
  }
  void Tell(Kind kind, client::WatchEvent::Type type, const ClusterObject& object) {
    client::WatchEvent event{type, object, std::to_string(version_)};
    inbox_.Post([watch = watches_[kind], event = std::move(event)] {
      if (const auto open = watch.lock()) open->event(event);
    });
  }

  util::Inbox& inbox_;
  uint64_t version_ = 100;
  std::map<Kind, std::map<std::string, ClusterObject>> objects_;
  std::map<Kind, std::weak_ptr<client::WatchCallbacks>> watches_;
};

// What a plugin does; it takes part in the points whose functions are set when the scheduler starts.
struct Hooks {
  std::function<Verdict(const Pod&, const NodeView&)> filter;
  std::function<PostFilterOutcome(const Cycle&)> post_filter;
  std::function<Verdict(const Placement&)> reserve;
  std::function<void(const Placement&)> unreserve;  // with reserve
  std::function<PermitOutcome(const Placement&)> permit;
  std::function<PreFlight()> pre_flight;  // with pre_bind
  std::function<void(const Placement&, Done)> pre_bind;
  std::function<void(const Placement&, Done)> bind;
  std::function<void(const Placement&)> post_bind;
  std::vector<EventRegistration> events;  // none: nothing helps a pod that it rejected
  Handle* handle = nullptr;               // of the first profile that has it
};

class HookedPlugin final : public FilterPlugin,
                           public PostFilterPlugin,
                           public ReservePlugin,
                           public PermitPlugin,
                           public PreBindPlugin,
                           public BindPlugin,
                           public PostBindPlugin {
 public:
  explicit HookedPlugin(std::shared_ptr<Hooks> hooks) : hooks_(std::move(hooks)) {}
  std::optional<std::vector<EventRegistration>> EventsToRegister() const override { return hooks_->events; }
  Error Filter(const Cycle& cycle, const PluginState*, const NodeBatch& nodes, Rejections& out) const override {
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (!nodes.active()[i]) continue;
      const Verdict verdict = hooks_->filter(cycle.pod(), nodes.view(i));
      if (!verdict.fits()) out.Reject(i, out.Intern(verdict));
    }
    return Error::Ok();
  }
  PostFilterOutcome PostFilter(const Cycle& cycle, const PluginState*, const FilterReport&) const override {
    return hooks_->post_filter(cycle);
  }
  Verdict Reserve(const Placement& placement, StateSlot&) const override { return hooks_->reserve(placement); }
  void Unreserve(const Placement& placement, StateSlot&) const override {
    if (hooks_->unreserve) hooks_->unreserve(placement);
  }
  PermitOutcome Permit(const Placement& placement, StateSlot&) const override { return hooks_->permit(placement); }
  PreFlight PreBindPreFlight(const Placement&, StateSlot&) const override {
    return hooks_->pre_flight ? hooks_->pre_flight() : PreFlight{};
  }
  void PreBind(const Placement& p, StateSlot&, Done done) const override { hooks_->pre_bind(p, std::move(done)); }
  void Bind(const Placement& p, StateSlot&, Done done) const override { hooks_->bind(p, std::move(done)); }
  void PostBind(const Placement& placement, StateSlot&) const override { hooks_->post_bind(placement); }

 private:
  std::shared_ptr<Hooks> hooks_;
};

inline PluginDescriptor DescriptorOf(const std::string& name, const std::shared_ptr<Hooks>& hooks) {
  PluginDescriptor d;
  d.name = name;
  const auto add = [&](bool is, Point point) {
    if (is) d.points |= Bit(point);
  };
  add(static_cast<bool>(hooks->filter), Point::kFilter);
  add(static_cast<bool>(hooks->post_filter), Point::kPostFilter);
  add(static_cast<bool>(hooks->reserve), Point::kReserve);
  add(static_cast<bool>(hooks->permit), Point::kPermit);
  add(static_cast<bool>(hooks->pre_bind), Point::kPreBind);
  add(static_cast<bool>(hooks->bind), Point::kBind);
  add(static_cast<bool>(hooks->post_bind), Point::kPostBind);
  d.complete_args = [](const Value*, const std::string&, std::vector<FieldError>&) { return Value(); };
  d.make = [hooks](const Value*, Handle& handle) -> Result<std::unique_ptr<Plugin>> {
    if (!hooks->handle) hooks->handle = &handle;
    return std::unique_ptr<Plugin>(std::make_unique<HookedPlugin>(hooks));
  };
  return d;
}

// An extender that answers when the test does. It filters unless told otherwise.
class FakeExtender final : public framework::Extender {
 public:
  using Error = berth::Error;
  struct NodeQuestion {
    std::string pod;
    std::vector<std::string> nodes;
    std::function<void(Result<Extender::Filtered>)> filter;
    std::function<void(Result<Extender::Scores>)> prioritize;
    framework::Turn turn;
    std::optional<size_t> PlaceOf(const std::string& name) const {
      const auto it = std::find(nodes.begin(), nodes.end(), name);
      if (it == nodes.end()) return std::nullopt;
      return static_cast<size_t>(it - nodes.begin());
    }
  };
  struct VictimQuestion {
    std::string pod;
    std::vector<PreemptionCandidate> candidates;
    std::function<void(Result<VictimMap>)> done;
    framework::Turn turn;
  };
  struct Binding {
    std::string pod, node;
    std::function<void(Error)> done;
  };
  framework::ExtenderTraits is{"http://fake", 1, true, false, false, false, false};
  std::function<bool(const Pod&)> interested = [](const Pod&) { return true; };
  std::deque<NodeQuestion> filters, priorities;
  std::deque<VictimQuestion> preempts;
  std::deque<Binding> binds;

  const framework::ExtenderTraits& traits() const override { return is; }
  bool IsInterested(const Pod& pod) const override { return interested(pod); }
  void Filter(framework::PodInTurn asked, Nodes nodes, std::function<void(Result<Extender::Filtered>)> done) override {
    filters.push_back({asked.pod->name(), NamesOf(nodes), std::move(done), nullptr, std::move(asked.turn)});
  }
  void Prioritize(framework::PodInTurn asked, Nodes nodes,
                  std::function<void(Result<Extender::Scores>)> done) override {
    priorities.push_back({asked.pod->name(), NamesOf(nodes), nullptr, std::move(done), std::move(asked.turn)});
  }
  void Preempt(framework::PodInTurn asked, std::vector<PreemptionCandidate> candidates,
               std::function<void(Result<VictimMap>)> done) override {
    preempts.push_back({asked.pod->name(), std::move(candidates), std::move(done), std::move(asked.turn)});
  }
  void Bind(Ptr<Pod> pod, const std::string& node, std::function<void(Error)> done) override {
    binds.push_back({pod->name(), node, std::move(done)});
  }
  // Answers the oldest question of its kind. Nodes are named; what is said of others is left out.
  struct Filtered {
    std::vector<std::string> passed;
    std::map<std::string, std::string, std::less<>> failed, unresolvable;
  };
  using Scores = std::vector<std::pair<std::string, int64_t>>;
  void AnswerFilter(const Result<Filtered>& answer) {
    const NodeQuestion question = Take(filters);
    if (!answer.ok()) return question.filter(answer.error());
    Extender::Filtered said{{}, answer->failed, answer->unresolvable};
    for (const std::string& name : answer->passed)
      if (const auto place = question.PlaceOf(name)) said.passed.push_back(*place);
    question.filter(std::move(said));
  }
  void Pass(const std::vector<std::string>& nodes) { AnswerFilter(Filtered{nodes, {}, {}}); }
  void AnswerScores(const Result<Scores>& answer) {
    const NodeQuestion question = Take(priorities);
    if (!answer.ok()) return question.prioritize(answer.error());
    Extender::Scores said;
    for (const auto& [name, score] : *answer)
      if (const auto place = question.PlaceOf(name)) said.emplace_back(*place, score);
    question.prioritize(std::move(said));
  }
  void AnswerPreempt(Result<VictimMap> answer) { Take(preempts).done(std::move(answer)); }
  void AnswerBind(Error error = Error::Ok()) { Take(binds).done(std::move(error)); }

 private:
  static std::vector<std::string> NamesOf(const Nodes& nodes) {
    std::vector<std::string> names;
    for (const auto& node : nodes) names.push_back(node->name());
    return names;
  }
  template <class T>
  static T Take(std::deque<T>& questions) {
    EXPECT_FALSE(questions.empty());
    T question = std::move(questions.at(0));
    questions.pop_front();
    return question;
  }
};

// Attempts, bindings, moves and complaints as short lines.
class Journal final : public Observer {
 public:
  std::vector<std::string> attempts;  // "p -> n" or "p: message"
  std::vector<std::string> bound;     // "p -> n"
  std::vector<std::string> failed;    // bindings: "p: message"
  std::vector<std::string> stopped;   // by plugins: "p: Reserve Acme Error: message"
  std::vector<std::string> results;   // of attempts that bound nothing: "unschedulable default-scheduler"
  std::vector<std::string> moves;     // "p backoff NodeAdd"
  std::vector<std::string> measured;  // "Permit Success 3s", "victims 2", "preempted after 1s"
  std::vector<std::string> handled;   // news: "NodeAdd"
  std::vector<std::string> complaints;
  std::vector<std::string> extenders;  // that were passed over: "p: filter of http://fake: message"
  void OnAttempt(const Attempt& attempt) override {
    attempts.push_back(attempt.pod->name() + (attempt.node.empty() ? ": " + attempt.message : " -> " + attempt.node));
    EXPECT_GE(attempt.decided, attempt.began);
    if (attempt.node.empty()) Ended(*attempt.profile, attempt.error);
  }
  void OnBound(const Pod& pod, const std::string& node) override { bound.push_back(pod.name() + " -> " + node); }
  void OnBindFailed(const Pod& pod, const std::string&, const std::string& message) override {
    failed.push_back(pod.name() + ": " + message);
  }
  void OnStageFailed(const StageFailure& failure) override {
    stopped.push_back(failure.pod.name() + ": " + std::string(ToString(failure.stage)) + " " + failure.plugin + " " +
                      std::string(ToString(failure.code)) + ": " + failure.message);
  }
  void OnNotBound(const NotBound& not_bound) override { Ended(not_bound.profile, not_bound.error); }
  void OnQueueMove(const queue::QueuedPodInfo& info, Place place, std::string_view event) override {
    moves.push_back(info.pod->name() + " " + std::string(ToString(place)) + " " + std::string(event));
  }
  void OnComplaint(const std::string& text) override { complaints.push_back(text); }
  void OnExtenderSkipped(const framework::SkippedExtender& skipped) override {
    extenders.push_back(skipped.pod.name() + ": " + skipped.verb + " of " + skipped.extender + ": " + skipped.error);
  }
  void OnNominatedNodeFailed(const Pod& pod, const std::string& error) override {
    extenders.push_back(pod.name() + ": nominated node: " + error);
  }
  void OnPermitWaited(Code code, Duration waited) override {
    measured.push_back("Permit " + std::string(ToString(code)) + " " + Seconds(waited));
  }
  void OnPreemptionBegun(const Preemption& preemption) override {
    measured.push_back("victims " + std::to_string(preemption.victims));
  }
  void OnPreemptionEnded(const Preemption& preemption) override {
    measured.push_back((preemption.succeeded ? "preempted after " : "not preempted after ") + Seconds(preemption.took));
  }
  bool TimesEvents() const override { return true; }
  void OnEventHandled(const ClusterEvent& event, Duration took) override {
    EXPECT_GE(took, Duration{});
    handled.push_back(queue::EventLabel(event));
  }

 private:
  static std::string Seconds(Duration d) { return std::to_string(d.ns / 1'000'000'000) + "s"; }
  void Ended(const framework::Profile& profile, bool error) {
    results.push_back((error ? "error " : "unschedulable ") + profile.scheduler_name);
  }
};

// One scheduler with the default profile and whatever is plugged in. Nodes "n1", "n2": 1 cpu unless said otherwise.
class CycleTest : public ::testing::Test {
 protected:
  CycleTest() { config_.profiles.emplace_back().scheduler_name = "default-scheduler"; }

  // What nobody expected is looked at: a test that provokes complaints takes them out of the journal.
  void TearDown() override { EXPECT_THAT(journal_.complaints, ::testing::IsEmpty()); }

  // Before Start. Plugged in after the default plugins, in every profile.
  Hooks& Plug(const std::string& name) {
    plugged_.emplace_back(name, std::make_shared<Hooks>());
    return *plugged_.back().second;
  }
  // With these nodes of 1 cpu.
  void Start(const std::vector<std::string>& nodes = {}) {
    plugins::RegisterBuiltinPlugins(registry_);
    for (const auto& [name, hooks] : plugged_) registry_.Add(DescriptorOf(name, hooks));
    for (config::Profile& profile : config_.profiles) {
      config::Plugins custom = profile.plugins;
      for (const auto& [name, hooks] : plugged_) custom.multi_point.enabled.push_back({name, 0});
      profile.plugins = config::MergePlugins(custom);
    }
    for (const std::string& name : nodes) api_.Put(SmallNode(name));
    options_.observer = &journal_;
    auto made = Scheduler::Make(config_, registry_, api_, inbox_, clock_, options_);
    ASSERT_TRUE(made.ok()) << made.error().text();
    scheduler_ = std::move(made).value();
    scheduler_->Start();
    Run();
    ASSERT_TRUE(scheduler_->synced());
  }
  static Node SmallNode(const std::string& name) { return MakeNode(name).Capacity({{"cpu", "1"}, {"pods", "110"}}); }
  // A pod that wants this share of a small node.
  static MakePod Wants(const std::string& name, const std::string& cpu) {
    return MakePod(name).Request({{"cpu", cpu}});
  }

  bool Step() {
    const bool worked = scheduler_->RunOnce();
    EXPECT_EQ(scheduler_->CheckInvariants(), "");
    return worked;
  }
  // Until there is nothing to do at this time.
  void Run() {
    for (int i = 0; i < 1000; ++i)
      if (!Step()) return;
    FAIL() << "the scheduler does not come to rest";
  }
  void Put(const Pod& pod) {
    api_.Put(pod);
    Run();
  }
  void Put(const Node& node) {
    api_.Put(node);
    Run();
  }
  // An object of another kind with nothing but a name.
  template <class T>
  void PutNamed(const std::string& name) {
    T object;
    object.meta.name = name;
    object.meta.namespace_ = "default";
    api_.Put(std::move(object));
    Run();
  }
  void Change(const std::string& name, const std::function<void(Pod&)>& change) {
    api_.ChangePod(name, change);
    Run();
  }
  void RemovePod(const std::string& name) {
    api_.Remove(Kind::kPod, "default/" + name);
    Run();
  }
  void Wait(Duration d) {
    clock_.Advance(d);
    Run();
  }
  void AnswerBind(const ApiStatus& status = {}) {
    api_.AnswerBind(status);
    Run();
  }
  void AcceptBind() {
    api_.AcceptBind();
    Run();
  }
  // Everything that is asked for happens.
  void AcceptAll() {
    for (int i = 0; i < 100 && !(api_.binds.empty() && api_.patches.empty()); ++i) {
      while (!api_.binds.empty()) api_.AcceptBind();
      while (!api_.patches.empty()) api_.AcceptPatch();
      Run();
    }
  }
  Place PlaceOf(const std::string& name) const {
    const Ptr<Pod> pod = api_.FindPod(name);
    return scheduler_->queue().PlaceOf(pod ? *pod : MakePod(name).Build());
  }
  std::vector<std::string> RejectorsOf(const std::string& name) const {
    const queue::QueuedPodInfo* info = scheduler_->queue().Find("default/" + name);
    return info ? scheduler_->queue().RejectorNames(*info) : std::vector<std::string>{"not queued"};
  }
  bool Assumed(const std::string& name) const { return scheduler_->state().IsAssumed("pod-default/" + name); }
  // The node that the cache has the pod on; empty: it has not.
  std::string NodeOf(const std::string& name) const {
    const PodRecord* record = scheduler_->state().FindPod("pod-default/" + name);
    return record ? record->pod->node_name : "";
  }
  std::string NominationOf(const std::string& name) const {
    const std::string* node = scheduler_->state().NominationOf("pod-default/" + name);
    return node ? *node : "";
  }
  // "p: Reason Action: note", all events so far.
  std::vector<std::string> Events() const {
    std::vector<std::string> lines;
    for (const client::EventRecord& e : api_.events)
      lines.push_back(e.regarding.name + ": " + std::string(e.type) + " " + std::string(e.reason) + " " +
                      std::string(e.action) + ": " + e.note);
    return lines;
  }
  std::string LastEvent() const { return api_.events.empty() ? "" : Events().back(); }
  // "p: PodScheduled False Unschedulable: message; nominated n", open patches.
  std::vector<std::string> Patches() const {
    std::vector<std::string> lines;
    for (const FakeApi::PatchCall& call : api_.patches) {
      std::string line = call.patch.pod.name + ":";
      if (const auto& c = call.patch.condition)
        line += " " + c->type + " " + c->status + " " + c->reason + ": " + c->message;
      if (const auto& n = call.patch.nominated_node_name) line += " nominated \"" + *n + "\"";
      lines.push_back(std::move(line));
    }
    return lines;
  }

  ManualClock clock_;
  util::Inbox inbox_;
  FakeApi api_{inbox_};
  Registry registry_;
  config::SchedulerConfiguration config_;
  SchedulerOptions options_;
  Journal journal_;
  std::vector<std::pair<std::string, std::shared_ptr<Hooks>>> plugged_;
  std::unique_ptr<Scheduler> scheduler_;
};

}  // namespace berth::cycle
