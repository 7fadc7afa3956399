// SPDX-License-Identifier: Apache-2.0
// Scheduler: what production runs. Watches a cluster through its door, queues pods, decides, binds, evicts, retries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/error.h"
#include "berth/handle.h"
#include "berth/registry.h"
#include "client/cluster_api.h"
#include "client/event_writer.h"
#include "client/reflector.h"
#include "cluster/cluster_state.h"
#include "config/types.h"
#include "framework/engine.h"
#include "framework/extender_calls.h"
#include "queue/scheduling_queue.h"
#include "util/inbox.h"
#include "util/timer_queue.h"

namespace berth::cycle {

// One scheduling attempt, as it ended. Pointers are valid during the call only.
struct Attempt {
  const Pod* pod = nullptr;
  const framework::Profile* profile = nullptr;
  const framework::Judgement* judgement = nullptr;  // null unless somebody wanted it, or it was needed anyway
  const framework::CycleTrace* trace = nullptr;
  int attempts = 0;            // of this pod, this one included
  std::string node;            // where it was assumed; empty: it was not
  std::string message;         // why not
  std::string nominated;       // the node that preemption chose; empty without
  bool by_nomination = false;  // it went where status.nominatedNodeName said
  bool error = false;          // it failed by an error, not because the pod fits nowhere
  Time began, decided;         // on the scheduler's clock: popped, and when it was known where to or that nowhere
};

// Of the attempt that leads to a binding.
struct AttemptFacts {
  Time began;                          // on the scheduler's clock
  size_t evaluated = 0, feasible = 0;  // nodes that were asked about, and that fit
  int overtaken = 0;                   // how often others took, while extenders were asked, what was left for the pod
};

// A pod that is bound, and how long it took to get there. Valid during the call only.
struct Scheduled {
  const Pod& pod;
  const std::string& node;
  const framework::Profile& profile;
  const queue::QueuedPodInfo& info;  // as the queue had it
  const AttemptFacts& attempt;
};

// Victims leave a node for a pod of higher priority. Valid during the call only.
struct Preemption {
  const Pod& preemptor;
  const std::string& node;
  size_t victims = 0;     // all that have to go
  size_t to_delete = 0;   // of these, not terminating yet
  bool succeeded = true;  // at its end
  Duration took = {};     // at its end
};

// A pod that was assumed and whose binding cycle failed. Valid during the call only.
struct NotBound {
  const framework::Profile& profile;
  const AttemptFacts& attempt;
  bool error;  // false: a plugin has rejected the pod, which upstream calls unschedulable
};

// A stage after the decision that did not let a pod pass. Valid during the call only.
struct StageFailure {
  const Pod& pod;
  const std::string& node;
  framework::PluginFunction stage;  // Reserve, Permit, PreBindPreFlight, PreBind, Bind
  const std::string& plugin;        // empty: all Bind plugins skipped the pod
  Code code;                        // rejected, an error, or Skip
  const std::string& message;       // the plugin's own
};

// Told of what happens, as it happens: for output, metrics and tests. Must not call back.
class Observer {
 public:
  virtual ~Observer() = default;
  // Whether the next attempt of this pod is to be judged in full, with a verdict and scores for every node.
  virtual bool WantsJudgement(const Pod&) { return false; }
  virtual void OnAttempt(const Attempt&) {}
  // A pod was popped and let go without a decision: it is terminating, assumed already, or of no profile of ours.
  virtual void OnSkipped(const Pod&) {}
  // The pod is bound; `node` accepted it.
  virtual void OnBound(const Pod& /*pod*/, const std::string& /*node*/) {}
  // The same, for those who measure.
  virtual void OnScheduled(const Scheduled&) {}
  // A binding cycle failed after the pod had been assumed.
  virtual void OnBindFailed(const Pod& /*pod*/, const std::string& /*node*/, const std::string& /*message*/) {}
  // The same, for those who measure.
  virtual void OnNotBound(const NotBound&) {}
  // Where a pod went in the queue, and upstream's label of the event that caused it.
  virtual void OnQueueMove(const queue::QueuedPodInfo&, queue::Place, std::string_view /*event*/) {}
  // A pod has come back from an attempt that failed; after OnQueueMove.
  virtual void OnReturned(const queue::ReturnedPod&) {}
  // A pod that waits was not woken by an event, of which this is upstream's label; told as long as somebody wants it,
  // which is asked at every event.
  virtual bool WantsNotWoken() const { return false; }
  virtual void OnNotWoken(const queue::QueuedPodInfo&, std::string_view /*event*/) {}
  // The pod fits nowhere, and this is what the PostFilter plugins have made of it.
  virtual void OnPostFiltered(const Pod&, const Verdict&) {}
  // A plugin has stopped a decided pod.
  virtual void OnStageFailed(const StageFailure&) {}
  // A pod that Permit held has ended its waiting, so.
  virtual void OnPermitWaited(Code, Duration) {}
  // One queueing hint in ten: whose, about what, what it said and how long it took.
  virtual void OnHint(const std::string& /*plugin*/, const ClusterEvent&, QueueingHint, Duration) {}
  // Whether anybody wants to know how long news takes; asked once, when the scheduler is made.
  virtual bool TimesEvents() const { return false; }
  // News has been applied and those who wait for it have been woken.
  virtual void OnEventHandled(const ClusterEvent&, Duration) {}
  // With SchedulerOptions::verify: a remembered decision and a full judgement disagree.
  virtual void OnDifference(const std::string&) {}
  // Objects of this kind cannot be listed or watched at present; it will be tried again.
  virtual void OnListFailure(Kind, const std::string& /*sentence*/) {}
  // News from the cluster, of pods on nodes, of pods without a node that are ours, and of nodes. `before` is null for
  // what appears, `after` for what goes.
  virtual void OnAssignedPod(const Pod* /*before*/, const Pod* /*after*/) {}
  virtual void OnPendingPod(const Pod* /*before*/, const Pod* /*after*/) {}
  virtual void OnNode(const Node* /*before*/, const Node* /*after*/) {}
  // The pod was popped and is about to be decided.
  virtual void OnTry(const Pod&) {}
  // An attempt failed, and the pod was found on this node meanwhile.
  virtual void OnFoundAssigned(const Pod& /*pod*/, const std::string& /*node*/) {}
  // The condition of a failed attempt is to be written. No nomination: it stays as it is.
  virtual void OnCondition(const Pod&, const PodCondition&, const std::optional<std::string>& /*nomination*/) {}
  // A pod's status could not be written; nobody tries any more.
  virtual void OnStatusLost(const client::ObjectName& pod, const std::string& why) {
    OnComplaint("status of pod " + pod.namespace_ + "/" + pod.name + " could not be written: " + why);
  }
  // Preemption has chosen a node; and when all victims were asked to go, unless one could not be.
  virtual void OnPreemptionBegun(const Preemption&) {}
  virtual void OnVictim(const Preemption&, const Pod& /*victim*/) {}  // it is deleted, or stopped before it was bound
  virtual void OnPreemptionEnded(const Preemption&) {}
  // An extender failed and was passed over: it is ignorable, or only gives scores.
  virtual void OnExtenderSkipped(const framework::SkippedExtender&) {}
  // An extender failed when it was asked about the node that the pod is nominated to; all nodes are looked at.
  virtual void OnNominatedNodeFailed(const Pod&, const std::string& /*error*/) {}
  // Something outside behaved oddly; nothing was lost.
  virtual void OnComplaint(const std::string&) {}
};

struct SchedulerOptions {
  uint64_t seed = 0;
  Duration max_in_unschedulable = Duration::Seconds(5 * 60);
  Observer* observer = nullptr;  // may be null
  // Whom the configuration names as extenders, in its order. Empty: none is asked, whatever the configuration says.
  std::vector<std::shared_ptr<framework::Extender>> extenders;
  // Decisions that may wait for extenders at a time; with so many no pod is popped.
  size_t max_consultations = 64;
  LogSink* log = nullptr;  // of the plugins, and of events that are lost; may be null
  bool remember = true;    // answers are kept for pods of one template
  // Every remembered decision is made again in full and compared; the observer hears of differences.
  bool verify = false;
  // Bindings that no one has answered yet, whoever binds; with so many no pod is decided. 0: any number.
  size_t max_bindings = 0;
  // How events are brought to the server (client::EventWriter); while it has no room no pod is decided. No value: every
  // event is posted once and nobody hears what became of it, which is enough where nothing is lost.
  std::optional<client::EventWriterOptions> events;
  std::function<bool()> may_decide;  // asked before every attempt, e.g. whether we still lead; null: yes
  const Clock* dates = nullptr;      // of what people read, where `clock` is no date; may be null
  // What plugins count (Handle::Count), called on any thread; null: it is not wanted.
  std::function<void(const PluginCounter& counter, const std::string& value)> count;

  // For a real cluster: decisions must not outrun the API server, nor events be lost.
  static constexpr size_t kLiveBindings = 64;
  static constexpr Duration kLiveGather = Duration::Millis(100);  // of events, which nobody waits for
  static SchedulerOptions Live() {
    SchedulerOptions options;
    options.max_bindings = kLiveBindings;
    options.events.emplace().gather = kLiveGather;
    return options;
  }
};

// The heart of it is RunOnce: apply what the inbox brought, then decide about one pod. Whoever owns the thread calls it
// as long as it returns true, and then waits for the inbox or NextWake, whichever is first. Nothing here blocks.
//
// With the same inbox, clock and seed every decision is the same.
// Thread safety: one thread, the scheduling thread. Only the inbox is reached from others.
class Scheduler {
 public:
  // REQUIRES: registry, api, inbox, clock, observer and log outlive the scheduler. The error lists what
  // kube-scheduler would refuse at start.
  static Result<std::unique_ptr<Scheduler>> Make(const config::SchedulerConfiguration& config, const Registry& registry,
                                                 client::ClusterApi& api, util::Inbox& inbox, const Clock& clock,
                                                 const SchedulerOptions& options);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Begins to list and watch; pods are scheduled once everything is listed. Call once.
  void Start();
  bool synced() const;
  // Kinds that are watched and whose first list is still to come.
  std::vector<Kind> unsynced() const;
  // Applies what the inbox and the clock brought; false when that was nothing.
  bool Apply();
  // Apply, then one attempt. False when there is nothing to do at this time.
  bool RunOnce();
  // RunOnce has made an attempt the last time it was called.
  bool attempted() const;
  // The same, for a pod that was not tried before.
  bool attempted_first() const;
  // When there will be something to do if no letter arrives before; TimerQueue::kNever when nothing is planned.
  Time NextWake() const;
  // What the cluster says next should be heard at once: a list or an answer (other than to a binding or an event) is
  // outstanding, or a pod may be decided by `until` whether anything is heard or not.
  bool waits_for_news(Time until) const;
  // From now on no pod is decided and nothing more is written to pods; of attempts that fail there is neither an event
  // nor a condition. For whoever
  // leads no longer, or stops: the inbox is applied and NextWake followed until bindings_under_way and unwritten_events
  // are 0, or patience is over.
  void Halt();
  // Pods between Permit and PostBind.
  size_t binding_cycles() const;
  // Decisions that wait for extenders.
  size_t consultations() const;
  // Bindings without an answer: their pods may be bound or not.
  size_t bindings_under_way() const;
  // Events that the server has not taken yet, and what became of the others.
  size_t unwritten_events() const;
  // Null without SchedulerOptions::events. For counts, and for events of others.
  client::EventWriter* event_writer();

  // Nothing is under way: no pod active, in backoff or in flight, no write unanswered, no retry of a watch planned.
  // Only an event, or the timeout of unschedulable pods, can start something.
  bool idle() const;

  const cluster::ClusterState& state() const;
  const queue::SchedulingQueue& queue() const;
  framework::Engine& engine();
  const framework::Engine& engine() const;
  // Whether the plugins need objects of this kind. Pods and nodes always are watched.
  bool watches(Kind kind) const;
  const client::Reflector& reflector(Kind kind) const;  // REQUIRES: watches(kind)
  // Empty when cache, queue and lists agree with each other; otherwise what does not. Looks at everything.
  std::string CheckInvariants() const;

 private:
  class Impl;
  explicit Scheduler(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::cycle
