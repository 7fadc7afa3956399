// SPDX-License-Identifier: Apache-2.0
// LeaderElector: of several schedulers of one cluster one works, the one that holds a Lease.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "berth/clock.h"
#include "berth/error.h"
#include "berth/log.h"
#include "client/cluster_api.h"
#include "util/owner_link.h"
#include "util/timer_queue.h"

namespace berth::client {

// A holder's name that nobody else has: `<host>_<uuid>`.
std::string NewLeaderIdentity();

// What LeaderCallbacks::on_event has, as the event that kube-scheduler writes; `controller` is the name of its first
// profile.
EventRecord LeaderEvent(const Lease& lease, const std::string& note, const std::string& controller, Time date);

struct LeaderElectionOptions {
  std::string namespace_ = "kube-system", name = "kube-scheduler";
  std::string identity;
  Duration lease_duration = Duration::Seconds(15);
  Duration renew_deadline = Duration::Seconds(10);
  Duration retry_period = Duration::Seconds(2);
  std::function<uint64_t()> random;  // for the pauses of who waits
  Logger log;
};

enum class LeadershipEnd : uint8_t {
  kLost,     // the lease could not be renewed in time, or is somebody else's
  kStopped,  // by Stop
};

struct LeaderCallbacks {
  std::function<void()> on_started_leading;
  // From this moment nothing may be written any more: another one may lead soon. Before the lease is given back.
  std::function<void(LeadershipEnd)> on_stopped_leading;
  // Who holds the lease changed, as far as it was seen; empty: nobody. May be null.
  std::function<void(const std::string& identity)> on_new_leader;
  // Something for an event about the lease, of reason LeaderElection: "<identity> became leader", "<identity> stopped
  // leading" (when lost). May be null.
  std::function<void(const Lease& lease, const std::string& note)> on_event;
  // Nothing more is asked of the server: after a loss, or after Stop. May be null.
  std::function<void()> on_finished;
};

// kube-scheduler's way to lead (client-go's tools/leaderelection v0.36.4), so that both can take over from each other:
//
// Who waits looks at the lease every retry period (up to 2.2 of them, so that not all look at once). It takes a lease
// that does not exist, that nobody holds, or that has not changed for as long as the lease itself says, counted on our
// own clock from when we first saw it so. Dates in a lease are never compared: they are others' clocks.
//
// Who leads writes the lease every retry period. What fails is tried again every retry period, until the renew deadline
// is over since the first try; then the leadership is lost, for good: the process is to end.
//
// Beyond upstream: who leads also stops when the lease's duration is over since the last successful write was *sent*,
// however late its answer came, so that with clocks that go equally fast no two lead at a time unless somebody writes
// into the lease by hand; and a lease is only given back if it is still ours.
//
// All waiting is done on `clock`, which must be a steady one; `dates` is for what is written into the lease, and may
// jump either way.
//
// REQUIRES: api, timers and clocks outlive it. Not destroyed by a callback.
// Thread safety: the scheduling thread; leading, Check and slow_paths from any thread.
class LeaderElector {
 public:
  // The error is upstream's.
  static Result<std::unique_ptr<LeaderElector>> Make(LeaderElectionOptions options, LeaderCallbacks callbacks,
                                                     ClusterApi& api, util::TimerQueue& timers, const Clock& clock,
                                                     const Clock& dates);
  ~LeaderElector();
  LeaderElector(const LeaderElector&) = delete;
  LeaderElector& operator=(const LeaderElector&) = delete;

  // Begins to ask for the lease. Call once.
  void Start();
  // Ends it: a leader gives the lease back, who waits just stops. REQUIRES: whoever worked as leader has stopped
  // writing, since another one may begin at once.
  void Stop();

  // We may write. Not any more once the time is over, also if nobody has had the time to say so.
  bool leading() const { return clock_.Now().ns < lead_until_.load(std::memory_order_acquire); }
  // When the last renewal that succeeded was sent, on `clock`; 0: never.
  Time last_renewal() const { return {renewed_at_.load(std::memory_order_acquire)}; }
  // For a health check: an error when the lease should have been renewed long ago (its duration and `tolerance`), but
  // nobody noticed: the scheduling thread is stuck.
  Error Check(Duration tolerance = Duration::Seconds(20)) const;
  // Renewals that had to read the lease first: leader_election_slowpath_total.
  uint64_t slow_paths() const { return slow_paths_.load(std::memory_order_relaxed); }
  // Who holds the lease, as it was last seen; empty: nobody.
  const std::string& leader() const { return observed_.holder; }
  bool finished() const { return state_ == State::kFinished; }

 private:
  enum class State : uint8_t { kNew, kWaiting, kLeading, kReleasing, kFinished };
  using LeaseAnswer = std::function<void(const ApiStatus&, const Lease&)>;

  LeaderElector(LeaderElectionOptions options, LeaderCallbacks callbacks, ClusterApi& api, util::TimerQueue& timers,
                const Clock& clock, const Clock& dates);
  // One try: to take the lease, or to renew it.
  void Try();
  void Look();
  void OnLook(const ApiStatus& status, const Lease& lease);
  // `complaint`: what a failure means.
  void Write(const Lease& lease, const char* complaint);
  void Succeeded(const Lease& lease, Time sent);
  void Failed();
  void TryLater();
  void Lead();
  void Lose();
  void Release();
  void OnRelease(const ApiStatus& status, const Lease& lease);
  void Finish();

  void Observe(const Lease& lease);
  void ReportLeader();
  bool held_by_us() const { return observed_.holder == options_.identity; }
  bool Valid(Time now) const;
  // The lease as we want it: `from` is where the version and what others have written comes from.
  Lease Ours(const Lease& from, Time acquired, int32_t transitions);
  Time NextDate();
  void Say(const char* note) const;
  // The one answer that is waited for; an answer that takes longer than the request's time comes as a failure.
  LeaseAnswer Await(LeaseAnswer then);
  void AwaitNothing();
  void WakeAt(Time time, std::function<void()> fn);

  const LeaderElectionOptions options_;
  const LeaderCallbacks callbacks_;
  const Duration request_timeout_, written_duration_;  // leases have whole seconds
  const std::string lock_name_;
  ClusterApi& api_;
  util::TimerQueue& timers_;
  const Clock &clock_, &dates_;

  State state_ = State::kNew;
  Lease lock_;      // the last one that the server gave us: what is replaced
  Lease observed_;  // the record as it was when it last changed
  Time observed_at_;
  bool seen_ = false;  // there is an observed record
  std::string reported_leader_;
  Time last_date_;
  Time round_tick_;  // of the latest try of a leader
  int release_tries_ = 0;
  uint64_t asked_ = 0;  // numbers the requests: answers to others than the latest are too late
  static constexpr util::TimerQueue::Id kNoTimer{INT64_MIN, 0};
  util::TimerQueue::Id give_up_ = kNoTimer, wake_ = kNoTimer, deadline_ = kNoTimer;
  std::atomic<int64_t> lead_until_{INT64_MIN}, renewed_at_{0};
  std::atomic<bool> led_{false};  // a leader, or one whose time is over and who does not know it
  std::atomic<uint64_t> slow_paths_{0};
  util::Owner<LeaderElector> owner_{this};
};

}  // namespace berth::client
