// SPDX-License-Identifier: Apache-2.0
// Taking a lease, keeping it, and giving it back.
#include "client/leader_elector.h"

#include <algorithm>
#include <utility>

#include "util/uuid.h"

namespace berth::client {
namespace {

constexpr double kJitter = 1.2;
constexpr Duration kMinRequestTimeout = Duration::Seconds(1);
constexpr int kReleaseTries = 3;

// Whether two leases say the same, as far as an election goes: labels and versions do not count.
bool SameRecord(const Lease& a, const Lease& b) {
  return a.holder == b.holder && a.duration == b.duration && a.acquired == b.acquired && a.renewed == b.renewed &&
         a.transitions == b.transitions && a.other_spec == b.other_spec;
}

// Leases have microseconds.
Time Truncated(Time time) { return {time.ns - time.ns % 1000}; }

Error CheckOptions(const LeaderElectionOptions& options, const LeaderCallbacks& callbacks) {
  if (options.lease_duration <= options.renew_deadline)
    return Error("leaseDuration must be greater than renewDeadline");
  if (options.renew_deadline.ns <= static_cast<int64_t>(kJitter * static_cast<double>(options.retry_period.ns)))
    return Error("renewDeadline must be greater than retryPeriod*JitterFactor");
  if (options.lease_duration.ns < 1) return Error("leaseDuration must be greater than zero");
  if (options.renew_deadline.ns < 1) return Error("renewDeadline must be greater than zero");
  if (options.retry_period.ns < 1) return Error("retryPeriod must be greater than zero");
  if (!callbacks.on_started_leading) return Error("OnStartedLeading callback must not be nil");
  if (!callbacks.on_stopped_leading) return Error("OnStoppedLeading callback must not be nil");
  if (options.identity.empty()) return Error("Lock identity is empty");
  return Error::Ok();
}

}  // namespace

std::string NewLeaderIdentity() { return util::HostName() + "_" + util::NewUuid(); }

EventRecord LeaderEvent(const Lease& lease, const std::string& note, const std::string& controller, Time date) {
  EventRecord event;
  event.regarding = {lease.namespace_, lease.name, lease.uid};
  event.kind = "Lease";
  event.api_version = "coordination.k8s.io/v1";
  event.resource_version = lease.resource_version;
  event.type = "Normal";
  event.reason = "LeaderElection";
  event.note = note;
  event.reporting_controller = controller;
  event.time = date;
  event.legacy = true;
  return event;
}

Result<std::unique_ptr<LeaderElector>> LeaderElector::Make(LeaderElectionOptions options, LeaderCallbacks callbacks,
                                                           ClusterApi& api, util::TimerQueue& timers,
                                                           const Clock& clock, const Clock& dates) {
  if (Error error = CheckOptions(options, callbacks); !error.ok()) return error;
  return std::unique_ptr<LeaderElector>(
      new LeaderElector(std::move(options), std::move(callbacks), api, timers, clock, dates));
}

LeaderElector::LeaderElector(LeaderElectionOptions options, LeaderCallbacks callbacks, ClusterApi& api,
                             util::TimerQueue& timers, const Clock& clock, const Clock& dates)
    : options_(std::move(options)),
      callbacks_(std::move(callbacks)),
      request_timeout_(std::max(Duration{options_.renew_deadline.ns / 2}, kMinRequestTimeout)),
      written_duration_(Duration::Seconds(options_.lease_duration.ns / Duration::Seconds(1).ns)),
      lock_name_(options_.namespace_ + "/" + options_.name),
      api_(api),
      timers_(timers),
      clock_(clock),
      dates_(dates) {}

LeaderElector::~LeaderElector() {
  owner_.Leave();
  AwaitNothing();
  timers_.Cancel(deadline_);
}

void LeaderElector::Start() {
  if (state_ != State::kNew) return;
  state_ = State::kWaiting;
  options_.log.Info("Attempting to acquire leader lease...", {{"lock", lock_name_}});
  Try();
}

void LeaderElector::Stop() {
  if (state_ == State::kReleasing || state_ == State::kFinished) return;
  AwaitNothing();
  if (state_ != State::kLeading) return Finish();
  lead_until_.store(INT64_MIN, std::memory_order_release);
  led_ = false;
  timers_.Cancel(deadline_);
  state_ = State::kReleasing;
  callbacks_.on_stopped_leading(LeadershipEnd::kStopped);
  Release();
}

Error LeaderElector::Check(Duration tolerance) const {
  const Time now = clock_.Now();  // first: a renewal meanwhile makes it younger, never older
  if (!led_ || now - last_renewal() <= Duration{options_.lease_duration.ns + tolerance.ns}) return Error::Ok();
  return Error("failed election to renew leadership on lease " + options_.name);
}

// Tries.

bool LeaderElector::Valid(Time now) const { return seen_ && observed_at_ + observed_.duration > now; }

void LeaderElector::Try() {
  const Time now = clock_.Now();
  if (!held_by_us() || !Valid(now)) return Look();
  // Nobody else will have touched it: written without a look.
  const Lease ours = Ours(lock_, observed_.acquired, observed_.transitions);
  api_.PutLease(ours, Await([this, now](const ApiStatus& status, const Lease& lease) {
                  if (status.ok()) return Succeeded(lease, now);
                  options_.log.V(2).Info("Failed to update lease optimistically, falling back to slow path",
                                         {{"lock", lock_name_}, {"err", TextOf(status)}});
                  Look();
                }));
}

void LeaderElector::Look() {
  api_.GetLease(options_.namespace_, options_.name,
                Await([this](const ApiStatus& status, const Lease& lease) { OnLook(status, lease); }));
}

void LeaderElector::OnLook(const ApiStatus& status, const Lease& lease) {
  if (status.not_found()) {
    Lease created;
    created.namespace_ = options_.namespace_;
    created.name = options_.name;
    return Write(Ours(created, {}, 0), "Error initially creating lease lock");
  }
  if (!status.ok()) {
    options_.log.Error("Error retrieving lease lock", {{"err", TextOf(status)}, {"lock", lock_name_}});
    return Failed();
  }
  lock_ = lease;
  if (!seen_ || !SameRecord(observed_, lease)) Observe(lease);
  if (!lease.holder.empty() && !held_by_us() && Valid(clock_.Now())) {
    options_.log.V(4).Info("Lease is held by and has not yet expired",
                           {{"lock", lock_name_}, {"holder", lease.holder}});
    return Failed();
  }
  if (held_by_us()) {
    slow_paths_.fetch_add(1, std::memory_order_relaxed);
    return Write(Ours(lease, lease.acquired, lease.transitions), "Failed to update lease");
  }
  const int32_t transitions = lease.transitions < INT32_MAX ? lease.transitions + 1 : lease.transitions;
  Write(Ours(lease, {}, transitions), "Failed to update lease");
}

void LeaderElector::Write(const Lease& lease, const char* complaint) {
  const Time now = clock_.Now();
  api_.PutLease(lease, Await([this, now, complaint](const ApiStatus& status, const Lease& written) {
                  if (status.ok()) return Succeeded(written, now);
                  options_.log.Error(complaint, {{"err", TextOf(status)}, {"lock", lock_name_}});
                  Failed();
                }));
}

void LeaderElector::Succeeded(const Lease& lease, Time sent) {
  const Time now = clock_.Now();
  lock_ = lease;
  Observe(lease);
  ReportLeader();
  const bool first = state_ == State::kWaiting;
  const Time lease_over = sent + written_duration_;
  const Time next = first ? now : now + options_.retry_period;
  const Time until = std::min(next + options_.renew_deadline, lease_over);
  if (first ? until <= now : !leading()) {
    // The answer came too late to be of use: others may have the lease by now.
    return first ? Failed() : Lose();
  }
  renewed_at_.store(sent.ns, std::memory_order_release);
  lead_until_.store(until.ns, std::memory_order_release);
  timers_.Cancel(deadline_);
  deadline_ = timers_.At(until, [this] { Lose(); });
  if (first) return Lead();
  options_.log.V(5).Info("Successfully renewed lease", {{"lock", lock_name_}});
  round_tick_ = next;
  WakeAt(next, [this] { Try(); });
}

void LeaderElector::Failed() {
  ReportLeader();
  if (state_ == State::kLeading) return TryLater();
  options_.log.V(4).Info("Failed to acquire lease", {{"lock", lock_name_}});
  const double share = options_.random ? static_cast<double>(options_.random() >> 11) * 0x1p-53 : 0;
  const double pause = static_cast<double>(options_.retry_period.ns) * (1 + kJitter * share);
  WakeAt(clock_.Now() + Duration{static_cast<int64_t>(pause)}, [this] { Try(); });
}

// At the next multiple of the retry period since the round began, or at once if one has passed meanwhile.
void LeaderElector::TryLater() {
  const Time now = clock_.Now();
  const int64_t passed = (now - round_tick_).ns / options_.retry_period.ns;
  round_tick_ = round_tick_ + Duration{std::max<int64_t>(passed, 1) * options_.retry_period.ns};
  WakeAt(std::max(now, round_tick_), [this] { Try(); });
}

void LeaderElector::Lead() {
  state_ = State::kLeading;
  led_ = true;
  Say("became leader");
  options_.log.Info("Successfully acquired lease", {{"lock", lock_name_}});
  callbacks_.on_started_leading();
  if (state_ != State::kLeading) return;  // stopped by whoever was told
  round_tick_ = clock_.Now();
  Try();
}

void LeaderElector::Lose() {
  if (state_ != State::kLeading) return;
  AwaitNothing();
  timers_.Cancel(deadline_);
  lead_until_.store(INT64_MIN, std::memory_order_release);
  led_ = false;
  state_ = State::kReleasing;
  ReportLeader();
  options_.log.Info("Failed to renew lease", {{"lock", lock_name_}, {"err", "context deadline exceeded"}});
  callbacks_.on_stopped_leading(LeadershipEnd::kLost);
  Say("stopped leading");
  Release();
}

// Giving it back.

void LeaderElector::Release() {
  api_.GetLease(options_.namespace_, options_.name,
                Await([this](const ApiStatus& status, const Lease& lease) { OnRelease(status, lease); }));
}

void LeaderElector::OnRelease(const ApiStatus& status, const Lease& lease) {
  if (!status.ok()) {
    if (status.not_found()) {
      options_.log.Info("lease lock not found", {{"lock", lock_name_}});
    } else {
      options_.log.Error("error retrieving resource lock", {{"err", TextOf(status)}, {"lock", lock_name_}});
    }
    return Finish();
  }
  lock_ = lease;
  Observe(lease);
  ReportLeader();
  if (!held_by_us()) return Finish();
  Lease free = lease;
  free.holder.clear();
  free.duration = Duration::Seconds(1);
  free.acquired = free.renewed = NextDate();
  free.other_spec.clear();
  api_.PutLease(free, Await([this](const ApiStatus& put, const Lease& written) {
                  if (put.ok()) {
                    Observe(written);
                    ReportLeader();
                    return Finish();
                  }
                  // A renewal that was under way when we stopped may have come in between.
                  if (put.conflict() && ++release_tries_ < kReleaseTries) return Release();
                  options_.log.Error("Failed to release lease", {{"err", TextOf(put)}, {"lock", lock_name_}});
                  Finish();
                }));
}

void LeaderElector::Finish() {
  AwaitNothing();
  state_ = State::kFinished;
  if (callbacks_.on_finished) callbacks_.on_finished();
}

// Small parts.

void LeaderElector::Observe(const Lease& lease) {
  observed_ = lease;
  observed_at_ = clock_.Now();
  seen_ = true;
}

void LeaderElector::ReportLeader() {
  if (observed_.holder == reported_leader_) return;
  reported_leader_ = observed_.holder;
  if (callbacks_.on_new_leader) callbacks_.on_new_leader(reported_leader_);
}

// No two of ours are equal, whatever the clock says: who waits would take a renewal with the same date for none.
Time LeaderElector::NextDate() {
  Time date = Truncated(dates_.Now());
  if (date == last_date_) date = date + Duration{1000};
  return last_date_ = date;
}

Lease LeaderElector::Ours(const Lease& from, Time acquired, int32_t transitions) {
  Lease lease = from;
  lease.holder = options_.identity;
  lease.duration = written_duration_;
  lease.renewed = NextDate();
  lease.acquired = acquired == Time{} ? lease.renewed : acquired;
  lease.transitions = transitions;
  lease.other_spec.clear();  // as upstream: strategy and preferred holder are for another way to elect
  return lease;
}

void LeaderElector::Say(const char* note) const {
  if (callbacks_.on_event) callbacks_.on_event(lock_, options_.identity + " " + note);
}

LeaderElector::LeaseAnswer LeaderElector::Await(LeaseAnswer then) {
  AwaitNothing();
  const uint64_t number = asked_;
  give_up_ = timers_.At(clock_.Now() + request_timeout_, [this, number, then] {
    if (number != asked_) return;
    ++asked_;
    then({0, "the API server did not answer in time", ErrorKind::kTimedOut}, {});
  });
  return owner_.link().Guard([this, number, then = std::move(then)](const ApiStatus& status, const Lease& lease) {
    if (number != asked_) return;
    ++asked_;
    timers_.Cancel(give_up_);
    then(status, lease);
  });
}

void LeaderElector::AwaitNothing() {
  ++asked_;
  timers_.Cancel(give_up_);
  timers_.Cancel(wake_);
}

void LeaderElector::WakeAt(Time time, std::function<void()> fn) {
  timers_.Cancel(wake_);
  wake_ = timers_.At(time, std::move(fn));
}

}  // namespace berth::client
