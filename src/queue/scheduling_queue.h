// SPDX-License-Identifier: Apache-2.0
// SchedulingQueue: which pod is scheduled next, and when a pod that could not be scheduled is worth another attempt.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/clock.h"
#include "berth/events.h"
#include "berth/plugin.h"
#include "queue/backoff.h"
#include "queue/heap.h"
#include "queue/hint_map.h"
#include "queue/in_flight.h"
#include "queue/pod_ticket.h"
#include "queue/queued_pod_info.h"
#include "util/secret_hash.h"

namespace berth::queue {

// A pod that comes back from an attempt that failed. Valid during the call only.
struct ReturnedPod {
  const QueuedPodInfo& info;
  Place place;             // where it went
  int hint;                // upstream's number: 0 waits for an event, 1 is tried again after its backoff, 2 at once
  int64_t cycle;           // pops so far
  const HintMap& plugins;  // the names of its rejectors
};

struct QueueOptions {
  // QueueSort of the first profile: a strict weak order. Pods that it holds equal are taken in order of arrival.
  std::function<bool(const QueuedPod&, const QueuedPod&)> less;
  // All PreEnqueue plugins of the pod's profile; the first that is against it. None: no gates.
  std::function<std::optional<Gate>(const Pod&)> pre_enqueue;
  Backoff backoff;
  Duration max_in_unschedulable = Duration::Seconds(5 * 60);
  // Told of every move: where to, and upstream's label of the event that caused it. May be empty.
  std::function<void(const QueuedPodInfo&, Place, std::string_view event)> on_move;
  // Told of every pod that comes back, after on_move. May be empty.
  std::function<void(const ReturnedPod&)> on_return;
  // Told of every pod that an event leaves where it is, and of the event's label; not called as long as
  // `wants_not_woken`, which is asked at every event, says no. Both or none.
  std::function<bool()> wants_not_woken;
  std::function<void(const QueuedPodInfo&, std::string_view event)> on_not_woken;
  // Told of one hint in ten: whose, about what, what it said and how long it took. May be empty.
  std::function<void(const std::string& plugin, const ClusterEvent&, QueueingHint, Duration took)> on_hint;
};

// The queue of all profiles (upstream: backend/queue, PriorityQueue; queueing hints and popping from backoff are on).
//
//              Add, Update                       Pop                    Done
//    (new) ───────┬──────────▶ active ─────────────────────▶ in flight ──────▶ (gone)
//                 │              ▲  ▲  ▲                         │ Return
//      PreEnqueue │      backoff │  │  │ event, Pending plugin   ├─── error ────────────────▶ error backoff
//        against  │         over │  │  └─────────────┐           ├─── helpful event seen ───▶ backoff
//                 ▼              │  │                │           ▼
//               gated        backoff, error backoff ◀── unschedulable
//                                                  event, timeout
//
// A pod is in exactly one of these places. PreEnqueue is asked on every way into active and backoff except from backoff
// to active; whoever does not pass is gated. When active is empty, Pop takes from backoff (not from error backoff).
//
// Order is total: QueueSort, then arrival. With equal calls at equal times every answer is the same.
// Time passes only by the clock: nothing here waits. Call Tick at NextWake.
//
// Thread safety: none; the scheduling thread owns it. The functions given to it must not call it.
class SchedulingQueue {
 public:
  // REQUIRES: the clock outlives the queue.
  SchedulingQueue(QueueOptions options, HintMap hints, const Clock& clock);
  ~SchedulingQueue();
  SchedulingQueue(const SchedulingQueue&) = delete;
  SchedulingQueue& operator=(const SchedulingQueue&) = delete;

  // A new unscheduled pod: active or gated. A pod of this name that is queued already is replaced, one in flight (same
  // uid) is updated.
  Place Add(std::shared_ptr<const Pod> pod);
  // An unscheduled pod changed. In flight: the change is recorded as event. Active or in backoff: replaced in place.
  // Unschedulable or gated: the hints for what changed decide. Unknown: as Add. Returns where the pod is now.
  Place Update(const std::shared_ptr<const Pod>& before, std::shared_ptr<const Pod> after);
  // The pod is gone, or was bound by somebody. Returns where it was. A pod of the same name but another uid stays.
  Place Delete(const Pod& pod);
  // Something happened in the cluster: pods whose rejectors take it for helpful move to active or backoff. With `only`,
  // waiting pods that it does not hold for are left alone (pods in flight see the event all the same). Returns how many
  // pods moved to active or backoff.
  size_t MoveAll(const ClusterEvent& event, const SharedObjects& objects,
                 const std::function<bool(const Pod&)>& only = nullptr);
  // Wanted by a plugin: from unschedulable and both backoffs straight to active; in flight: remembered for its return.
  // True when it became active.
  bool Activate(const std::shared_ptr<const Pod>& pod);

  // The next pod to schedule; none when nothing is ready.
  std::optional<PodTicket> Pop();
  // Releases pods whose backoff is over and wakes those that were unschedulable for too long.
  void Tick();
  // When Tick has something to do; kNever when it has not. In the past when Tick is overdue.
  Time NextWake() const;

  struct Counts {
    size_t active = 0, backoff = 0, error_backoff = 0, unschedulable = 0, gated = 0, in_flight = 0;
    bool operator==(const Counts&) const = default;
  };
  Counts counts() const;
  std::string Summary() const;  // "activeQ:1; backoffQ:0; unschedulablePods:2", as upstream's dump
  // By uid and name.
  Place PlaceOf(const Pod& pod) const;
  // Not in flight; null when absent. Valid until the queue is changed.
  const QueuedPodInfo* Find(std::string_view full_name) const;
  // Every queued pod, ascending by namespace/name.
  std::vector<const QueuedPodInfo*> Queued() const;
  std::vector<std::string> RejectorNames(const QueuedPodInfo& info) const;  // sorted
  const HintMap& hints() const { return hints_; }
  size_t recorded_events() const { return in_flight_.events(); }
  // The same by label, and how many pods in flight they are kept for. Looks at every event.
  std::map<std::string, size_t> RecordedEvents() const;
  size_t recording_pods() const { return in_flight_.pods(); }
  // How many queued pods each plugin has rejected or keeps gated; a pod counts for every plugin that did.
  struct RejectedBy {
    std::string profile, plugin;
    size_t pods;
  };
  std::vector<RejectedBy> Rejected() const;
  int64_t scheduling_cycle() const { return scheduling_cycle_; }  // pops so far

  // Empty when all that is said above holds; otherwise what does not. For tests; looks at everything.
  std::string CheckInvariants() const;

 private:
  friend class PodTicket;
  using Info = QueuedPodInfo;
  static constexpr Duration kFlushPeriod = Duration::Seconds(30);
  enum class Strategy : uint8_t { kSkip, kAfterBackoff, kImmediately };
  struct ActiveLess {
    const SchedulingQueue* queue;
    bool operator()(const Info& a, const Info& b) const;
  };
  struct BackoffLess {
    const SchedulingQueue* queue;
    bool operator()(const Info& a, const Info& b) const;
  };
  struct ErrorLess {
    bool operator()(const Info& a, const Info& b) const;
  };
  template <class Value>
  using ByName = boost::unordered_flat_map<std::string_view, Value, SecretStringHash, std::equal_to<>>;

  Info* Lookup(std::string_view full_name) const;
  Info* LookupInFlight(const Pod& pod) const;
  Info* Create(std::shared_ptr<const Pod> pod);
  void Stamp(Info& info);  // a new timestamp
  void SetPod(Info& info, std::shared_ptr<const Pod> pod);
  bool BackingOff(const Info& info) const { return StillWaiting(info.expiry, clock_->Now()); }

  // Moves. The label goes to on_move.
  bool AskPreEnqueue(Info& info);  // false: it is gated now
  // Counts the pod for its rejectors, or no more.
  void CountRejectors(const Info& info, bool there);
  void CountRejector(const Info& info, PluginId plugin, bool there);
  bool AskHint(const EventMatch::Hint& hint, const Pod& pod, const ClusterEvent& event,
               const EventObjects& objects) const;  // false: it says Skip
  Place ToActive(Info& info, std::string_view label, bool ask = true);
  Place ToBackoff(Info& info, std::string_view label);
  Place ToWaiting(Info& info, std::string_view label);
  Place Requeue(Info& info, Strategy strategy, std::string_view label);
  void TakeOut(Info& info);  // of its place
  std::unique_ptr<Info> Forget(Info& info);
  void Told(const Info& info, std::string_view label) const {
    if (options_.on_move) options_.on_move(info, info.place, label);
  }
  Place AddNew(std::shared_ptr<const Pod> pod, std::string_view label);

  // Hints.
  Strategy Judge(const Info& info, const ClusterEvent& event, const EventMatch& match,
                 const EventObjects& objects) const;
  Strategy Replay(const Info& info) const;
  size_t MovePods(const std::vector<Info*>& pods, const ClusterEvent& event, const EventMatch& match,
                  const SharedObjects& objects, std::string_view label);
  // Tells of waiting pods that MoveAll need not look at: nobody who rejected them has asked for the event.
  void TellNotConcerned(const ClusterEvent& event, const EventMatch& match, const std::function<bool(const Pod&)>& only,
                        std::string_view label) const;
  bool TellsNotWoken() const { return options_.on_not_woken && options_.wants_not_woken(); }
  // Nobody but the gating plugin can open the gate, so other events are not worth asking about. Wildcards are: they are
  // there for pods that incomplete hints would leave behind.
  static bool IsGateClosed(const Info& info, const ClusterEvent& event, const EventMatch& match) {
    return info.gated() && !IsWildCard(event) && !match.Has(info.gating_plugin);
  }
  void FlushUnschedulable(Time now);

  // For PodTicket.
  void StopRecording(Info& info);
  void Finish(std::unique_ptr<Info> info);
  Place TakeBack(std::unique_ptr<Info> info, const Rejectors& rejectors);

  QueueOptions options_;
  HintMap hints_;
  const Clock* clock_;
  util::Owner<SchedulingQueue> owner_{this};  // of tickets

  ByName<std::unique_ptr<Info>> queued_;  // by namespace/name; keys point into the values
  ByName<Info*> out_;                     // in flight, by id; owned by tickets; keys point into the values
  Heap<Info, &Info::heap_slot, ActiveLess> active_;
  Heap<Info, &Info::heap_slot, BackoffLess> backoff_;
  Heap<Info, &Info::heap_slot, ErrorLess> error_backoff_;
  std::vector<Info*> waiting_;  // unschedulable and gated
  // The same by rejecting plugin, so that an event costs nothing for pods whose rejectors did not ask for it. Under
  // kNoPlugin: pods that every event concerns (no rejectors, or no profile of ours).
  std::vector<std::vector<Info*>> waiting_by_plugin_;
  size_t gated_ = 0;
  std::map<std::pair<ProfileIndex, PluginId>, size_t> rejected_;  // queued pods by rejector; 0 stays
  mutable uint64_t hints_asked_ = 0;
  InFlight in_flight_;

  uint64_t sequence_ = 0;
  uint64_t round_ = 0;
  int64_t scheduling_cycle_ = 0;
  Time next_flush_;  // of long-unschedulable pods
  std::vector<Info*> scratch_;
};

}  // namespace berth::queue
