// SPDX-License-Identifier: Apache-2.0
// The loop, the scheduling cycle and the failure handler. Upstream: scheduler.go, schedule_one.go (v1.36.4).
#include "cycle/scheduler.h"

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

#include "cycle/binder.h"
#include "cycle/binding_cycles.h"
#include "cycle/consultations.h"
#include "cycle/core.h"
#include "cycle/decision.h"
#include "cycle/event_handlers.h"
#include "cycle/evictions.h"
#include "cycle/invariants.h"
#include "cycle/nominations.h"
#include "cycle/plugin_cluster.h"
#include "cycle/queue_setup.h"
#include "cycle/recorder.h"
#include "cycle/status_writer.h"
#include "framework/call_timer.h"

namespace berth::cycle {
namespace {
using framework::Judgement;

constexpr size_t kLettersAtATime = 1000;

}  // namespace

class Scheduler::Impl {
 public:
  Impl(client::ClusterApi& api, util::Inbox& inbox, const Clock& clock, const SchedulerOptions& options)
      : core(api, inbox, clock, options),
        plugin_cluster(core),
        binder(core),
        recorder(core),
        statuses(core),
        calls(
            core.options.extenders,
            [link = core.owner.link()](std::function<void()> letter) { Core::Post(link, std::move(letter)); },
            [this](const framework::SkippedExtender& skipped) { core.Tell(&Observer::OnExtenderSkipped, skipped); }),
        bindings(core, recorder, statuses, calls,
                 [this](queue::PodTicket ticket, const Failure& failure) { Fail(std::move(ticket), failure); }),
        evictions(core, recorder, statuses,
                  [this](const std::string& uid, const std::string& cause) { return bindings.Cancel(uid, cause); }),
        consultations(core, calls, next_start, ConsultationHandlers()),
        handlers(core) {}
  ~Impl() {
    core.owner.Leave();
    core.queue.reset();  // tickets that outlive it do nothing; without this they would ask parts that are gone
  }

  Error Build(const config::SchedulerConfiguration& config, const Registry& registry);
  bool synced() const;
  bool Apply();
  bool RunOnce();
  Time NextWake() const;
  bool idle() const;
  bool waits_for_news(Time until) const;
  // Whether another pod may be decided, or what was decided before has to be taken first.
  bool MayDecide() const {
    if (core.halted || !synced() || !recorder.has_room()) return false;
    if (consultations.size() >= core.options.max_consultations || consultations.exclusive()) return false;
    if (core.options.may_decide && !core.options.may_decide()) return false;
    return core.options.max_bindings == 0 || bindings.binding() < core.options.max_bindings;
  }

  std::unique_ptr<framework::Engine> reference;  // judges in full; only to verify
  Core core;
  PluginCluster plugin_cluster;
  Binder binder;
  Recorder recorder;
  StatusWriter statuses;
  framework::ExtenderCalls calls;
  BindingCycles bindings;
  Evictions evictions;
  size_t next_start = 0;
  Consultations consultations;
  EventHandlers handlers;
  std::array<std::unique_ptr<client::Reflector>, kKindCount> reflectors;
  uint64_t random = 0;
  bool attempted = false, attempted_first = false;
  mutable bool all_synced = false;  // as synced() found; lists that are in stay in

 private:
  void Decide(queue::PodTicket ticket);
  // It is known where to, or that nowhere; unless extenders have a say about whom to evict.
  void Conclude(queue::PodTicket ticket, const framework::Profile& profile, framework::Decision& decision,
                const std::optional<Judgement>& judged, framework::Advice advice);
  Consultations::Handlers ConsultationHandlers();
  void Skip(queue::PodTicket ticket, const Pod& pod);
  void FailBy(queue::PodTicket ticket, const framework::Profile& profile, const Error& error);
  void Place(queue::PodTicket ticket, const framework::Profile& profile, const std::string& node,
             framework::Decision& decision, const std::optional<Judgement>& judged);
  void Reject(queue::PodTicket ticket, const framework::Profile& profile, framework::Decision& decision,
              const std::optional<Judgement>& judged);
  Attempt Describe(const queue::PodTicket& ticket, const framework::Profile& profile,
                   const std::optional<Judgement>& judged) const;
  void Fail(queue::PodTicket ticket, const Failure& failure);
  void TakeActivations();
};

Error Scheduler::Impl::Build(const config::SchedulerConfiguration& config, const Registry& registry) {
  Result<std::unique_ptr<framework::Engine>> engine = framework::Engine::Make(
      config, registry, core.clock, binder, core.options.seed, core.options.log, core.options.dates);
  if (!engine.ok()) return engine.error();
  core.engine = std::move(engine).value();
  for (PluginIndex* index : core.engine->Indexes()) core.state.AddIndex(index);
  if (core.options.remember) {
    framework::MemoryOptions options;
    options.threads = std::min(static_cast<size_t>(config.parallelism), size_t{std::thread::hardware_concurrency()});
    core.engine->Remember(options);
  }
  if (core.options.verify) {
    Result<std::unique_ptr<framework::Engine>> made =
        framework::Engine::Make(config, registry, core.clock, core.options.seed);
    if (!made.ok()) return made.error();
    reference = std::move(made).value();
    core.engine->Verify(*reference, [this](const std::string& text) {
      if (core.options.observer) core.options.observer->OnDifference(text);
    });
  }
  core.engine->services().cluster = &plugin_cluster;
  core.engine->services().count = core.options.count;
  core.engine->services().preempting = [this](std::string_view uid) { return evictions.preempting(uid); };

  queue::QueueOptions options = QueueOptionsOf(*core.engine, config);
  options.max_in_unschedulable = core.options.max_in_unschedulable;
  if (Observer* observer = core.options.observer) {
    options.on_move = [observer](const queue::QueuedPodInfo& info, queue::Place place, std::string_view event) {
      observer->OnQueueMove(info, place, event);
    };
    options.on_return = [observer](const queue::ReturnedPod& pod) { observer->OnReturned(pod); };
    options.wants_not_woken = [observer] { return observer->WantsNotWoken(); };
    options.on_not_woken = [observer](const queue::QueuedPodInfo& info, std::string_view event) {
      observer->OnNotWoken(info, event);
    };
    if (observer->TimesEvents())
      options.on_hint = [observer](const std::string& plugin, const ClusterEvent& event, QueueingHint said,
                                   Duration took) { observer->OnHint(plugin, event, said, took); };
  }
  core.queue = std::make_unique<queue::SchedulingQueue>(
      std::move(options), HintsOf(*core.engine, !config.extenders.empty() || !calls.empty()), core.clock);

  core.api.KeepAnnotations(core.engine->annotations());
  random = core.options.seed;
  for (const Kind kind : KindsToWatch(*core.engine)) {
    const size_t i = static_cast<size_t>(kind);
    reflectors[i] = std::make_unique<client::Reflector>(kind, core.api, handlers, core.timers, core.clock, [this] {
      return random = random * 6364136223846793005u + 1442695040888963407u;
    });
    reflectors[i]->ShowAnnotations(core.engine->annotations());
    reflectors[i]->Complain([this, kind](const std::string& sentence) {
      if (core.options.observer) core.options.observer->OnListFailure(kind, sentence);
    });
  }
  core.pods = reflectors[static_cast<size_t>(Kind::kPod)].get();
  return Error::Ok();
}

bool Scheduler::Impl::synced() const {
  if (!all_synced)
    all_synced = std::all_of(reflectors.begin(), reflectors.end(), [](const auto& r) { return !r || r->synced(); });
  return all_synced;
}

bool Scheduler::Impl::Apply() {
  const Time now = core.clock.Now();
  bool worked = false;
  framework::WaitingPodsMap& waiting = core.engine->services().waiting;
  if (waiting.NextDeadline() <= now) {
    waiting.Expire(now);
    worked = true;
  }
  // What letters lead to (a waiting pod that was stopped ends its cycle by letter) belongs to the same step.
  // But news that keeps coming must not keep pods waiting.
  for (size_t letters = 0, more = 0; letters < kLettersAtATime && (more = core.inbox.Drain()) > 0; letters += more)
    worked = true;
  while (core.timers.RunOne(now)) worked = true;
  if (client::EventWriter* writer = recorder.writer(); writer && writer->NextWake() <= now)
    if (writer->Tick()) worked = true;
  if (core.queue->NextWake() <= now) core.queue->Tick();
  TakeActivations();
  return worked;
}

bool Scheduler::Impl::RunOnce() {
  attempted = attempted_first = false;
  const bool worked = Apply();
  if (worked && consultations.size() >= core.options.max_consultations) consultations.DropGone();
  if (!MayDecide()) return worked;
  std::optional<queue::PodTicket> ticket = core.queue->Pop();
  if (!ticket) return worked;
  attempted = true;
  attempted_first = ticket->info().attempts == 1;
  core.attempt = {core.clock.Now()};
  Decide(std::move(*ticket));
  TakeActivations();
  return true;
}

Time Scheduler::Impl::NextWake() const {
  const client::EventWriter* writer = recorder.writer();
  return std::min({core.timers.Next(), core.queue->NextWake(), core.engine->services().waiting.NextDeadline(),
                   writer ? writer->NextWake() : util::TimerQueue::kNever});
}

bool Scheduler::Impl::idle() const {
  const queue::SchedulingQueue::Counts counts = core.queue->counts();
  return synced() && counts.active + counts.backoff + counts.error_backoff + counts.in_flight == 0 &&
         core.requests == 0 && core.timers.empty() && binder.empty() && bindings.size() == 0 && evictions.empty() &&
         statuses.empty() && consultations.size() == 0 && (!recorder.writer() || recorder.writer()->unwritten() == 0);
}

bool Scheduler::Impl::waits_for_news(Time until) const {
  // A pod that could be popped has been held back, perhaps for as long as bindings are under way; one that is nominated
  // waits for others to end, and one whose Bind is yet to come for a volume, a claim or other pods. A binding that has
  // been sent makes nobody wait.
  const queue::SchedulingQueue::Counts counts = core.queue->counts();
  return !synced() || counts.active + counts.backoff > 0 || core.queue->NextWake() <= until ||
         bindings.size() > bindings.binding() || !evictions.empty() || core.state.nomination_count() > 0 ||
         !statuses.empty() || consultations.size() > 0 ||
         std::any_of(reflectors.begin(), reflectors.end(), [](const auto& r) { return r && r->listing(); });
}

void Scheduler::Impl::TakeActivations() {
  auto& wanted = core.engine->services().activations;
  while (!wanted.empty()) {
    const std::vector<Ptr<Pod>> pods = std::exchange(wanted, {});
    for (const Ptr<Pod>& pod : pods) core.queue->Activate(pod);
  }
}

void Scheduler::Impl::Decide(queue::PodTicket ticket) {
  const Ptr<Pod> pod = ticket.pod();
  const framework::Profile* profile = core.ProfileOf(*pod);
  if (!profile || pod->terminating() || core.state.IsAssumed(pod->uid())) return Skip(std::move(ticket), *pod);

  core.Tell(&Observer::OnTry, *pod);
  if (consultations.Concerns(*pod)) return consultations.Begin(std::move(ticket), *profile);
  const framework::TimedCycle timed(*profile);
  const Snapshot snapshot = core.state.snapshot();
  const framework::JudgeOptions options = SearchOf(*profile, snapshot, next_start);
  Observer* observer = core.options.observer;
  framework::Decision decision;
  std::optional<Judgement> judged;
  if (options.limit > 0 || (observer && observer->WantsJudgement(*pod))) {
    judged = core.engine->Judge(*profile, *pod, snapshot, options);
    if (options.limit > 0 && !judged->nominated && judged->evaluated > 0)
      next_start = NextStart(*judged, snapshot, options.start, options.limit);
    decision = framework::DecisionOf(*judged, snapshot, core.engine->table(), options.start);
  } else {
    decision = core.engine->Decide(*profile, *pod, snapshot);
  }
  Conclude(std::move(ticket), *profile, decision, judged, {});
}

void Scheduler::Impl::Conclude(queue::PodTicket ticket, const framework::Profile& profile,
                               framework::Decision& decision, const std::optional<Judgement>& judged,
                               framework::Advice advice) {
  if (decision.kind == Judgement::Kind::kFits) {
    const std::string node = core.state.snapshot().node(decision.row).name();
    return Place(std::move(ticket), profile, node, decision, judged);
  }
  if (consultations.Review(ticket, profile, decision, advice)) return;
  Reject(std::move(ticket), profile, decision, judged);
}

Consultations::Handlers Scheduler::Impl::ConsultationHandlers() {
  Consultations::Handlers all;
  all.decided = [this](queue::PodTicket ticket, const framework::Profile& profile, framework::Decision& decision,
                       std::optional<Judgement>& judged, framework::Advice advice) {
    Conclude(std::move(ticket), profile, decision, judged, std::move(advice));
  };
  all.failed = [this](queue::PodTicket ticket, const framework::Profile& profile, const Error& error) {
    FailBy(std::move(ticket), profile, error);
  };
  all.skip = [this](queue::PodTicket ticket, const Pod& pod) { Skip(std::move(ticket), pod); };
  all.again = [this](queue::PodTicket ticket) { Decide(std::move(ticket)); };
  return all;
}

void Scheduler::Impl::FailBy(queue::PodTicket ticket, const framework::Profile& profile, const Error& error) {
  const Ptr<Pod> pod = ticket.pod();  // kept for the observer
  Attempt attempt = Describe(ticket, profile, std::nullopt);
  attempt.trace = nullptr;  // nothing was decided: the last one is another pod's
  attempt.error = true;
  attempt.message = error.text();
  Fail(std::move(ticket), {&profile, Code::kError, error.text(), {}, ""});
  if (core.options.observer) core.options.observer->OnAttempt(attempt);
}

void Scheduler::Impl::Skip(queue::PodTicket ticket, const Pod& pod) {
  if (pod.terminating() && core.ProfileOf(pod)) {
    recorder.SkippedTerminating(pod);
    core.state.ClearNomination(pod.uid());  // it will not come, so it holds no place
  }
  ticket.Done();
  if (core.options.observer) core.options.observer->OnSkipped(pod);
}

void Scheduler::Impl::Place(queue::PodTicket ticket, const framework::Profile& profile, const std::string& node,
                            framework::Decision& decision, const std::optional<Judgement>& judged) {
  Attempt attempt = Describe(ticket, profile, judged);
  attempt.by_nomination = decision.nominated;
  const Ptr<Pod> pod = ticket.pod();  // kept for the observer
  core.attempt.evaluated = decision.evaluated;
  core.attempt.feasible = decision.feasible;
  std::optional<BindingCycles::Refusal> refusal =
      bindings.Begin(std::move(ticket), profile, node, std::move(decision.states));
  if (refusal) {
    attempt.message = std::move(refusal->message);
    attempt.error = refusal->error;
  } else {
    attempt.node = node;
    // Nearly always its binding is being sent, and will be answered: events that go with it cost no wake-up of their
    // own.
    if (client::EventWriter* writer = recorder.writer()) writer->SendNow();
  }
  if (core.options.observer) core.options.observer->OnAttempt(attempt);
}

void Scheduler::Impl::Reject(queue::PodTicket ticket, const framework::Profile& profile, framework::Decision& decision,
                             const std::optional<Judgement>& judged) {
  Attempt attempt = Describe(ticket, profile, judged);
  const Ptr<Pod> pod = ticket.pod();
  Failure failure{&profile, Code::kError, std::move(decision.message), {}, ""};
  if (decision.kind == Judgement::Kind::kNoNodes) {
    failure.code = Code::kUnschedulableAndUnresolvable;
  } else if (decision.kind == Judgement::Kind::kRejected) {
    failure.code = Code::kUnschedulable;
    failure.rejectors = RejectorsOf(decision, profile);
    const PostFilterOutcome& after = decision.post_filter;
    if (!profile.post_filter.empty()) core.Tell(&Observer::OnPostFiltered, *pod, after.verdict);
    failure.nominate = after.nominated_node;
    if (after.plan && after.verdict.fits()) {
      attempt.nominated = after.plan->selected;
      for (const PreemptionCandidate& candidate : after.plan->candidates)
        if (candidate.node == attempt.nominated)
          evictions.Start(pod, candidate, profile.name(decision.post_filter_plugin));
    }
  }
  Fail(std::move(ticket), failure);
  attempt.error = !failure.rejected();
  attempt.message = std::move(failure.message);
  if (core.options.observer) core.options.observer->OnAttempt(attempt);
}

Attempt Scheduler::Impl::Describe(const queue::PodTicket& ticket, const framework::Profile& profile,
                                  const std::optional<Judgement>& judged) const {
  Attempt attempt;
  attempt.pod = ticket.pod().get();
  attempt.profile = &profile;
  attempt.judgement = judged ? &*judged : nullptr;
  attempt.trace = &core.engine->traces().last();
  attempt.attempts = ticket.info().attempts;
  attempt.began = core.attempt.began;
  if (core.options.observer) attempt.decided = core.clock.Now();
  return attempt;
}

void Scheduler::Impl::Fail(queue::PodTicket ticket, const Failure& failure) {
  Ptr<Pod> pod = ticket.pod();
  const Ptr<Pod> now = core.FindPod(pod->namespace_(), pod->name());
  if (now && now->node_name.empty()) {
    if (now->uid() != pod->uid()) return ticket.Done();  // another pod by now; nothing to say about the old one
    ticket.Refresh(now);
    ticket.Return(failure.rejectors);
    pod = now;
  } else {
    ticket.Done();
  }
  if (now && !now->node_name.empty()) core.Tell(&Observer::OnFoundAssigned, *now, now->node_name);
  SetNomination(core, pod, failure.nominate);
  if (core.halted) return;  // somebody else may be at it by now
  recorder.Failed(*pod, failure.message);
  if (!now || !now->node_name.empty()) return;  // nothing left to write on
  const char* reason = failure.rejected() ? "Unschedulable" : "SchedulerError";
  PodCondition condition{"PodScheduled", "False", reason, failure.message};
  core.Tell(&Observer::OnCondition, *pod, condition, failure.nominate);
  statuses.Write(*pod, std::move(condition), failure.nominate);
}

// The facade.

Scheduler::Scheduler(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Scheduler::~Scheduler() = default;

Result<std::unique_ptr<Scheduler>> Scheduler::Make(const config::SchedulerConfiguration& config,
                                                   const Registry& registry, client::ClusterApi& api,
                                                   util::Inbox& inbox, const Clock& clock,
                                                   const SchedulerOptions& options) {
  auto impl = std::make_unique<Impl>(api, inbox, clock, options);
  if (const Error error = impl->Build(config, registry); !error.ok()) return error;
  return std::unique_ptr<Scheduler>(new Scheduler(std::move(impl)));
}

void Scheduler::Start() {
  for (const auto& reflector : impl_->reflectors)
    if (reflector) reflector->Start();
}
bool Scheduler::synced() const { return impl_->synced(); }
std::vector<Kind> Scheduler::unsynced() const {
  std::vector<Kind> kinds;
  for (const auto& reflector : impl_->reflectors)
    if (reflector && !reflector->synced()) kinds.push_back(reflector->kind());
  return kinds;
}
bool Scheduler::Apply() { return impl_->Apply(); }
bool Scheduler::RunOnce() { return impl_->RunOnce(); }
bool Scheduler::attempted() const { return impl_->attempted; }
bool Scheduler::attempted_first() const { return impl_->attempted_first; }
Time Scheduler::NextWake() const { return impl_->NextWake(); }
bool Scheduler::idle() const { return impl_->idle(); }
bool Scheduler::waits_for_news(Time until) const { return impl_->waits_for_news(until); }
void Scheduler::Halt() {
  impl_->core.halted = true;
  impl_->core.api.EndPodWrites();
}
size_t Scheduler::binding_cycles() const { return impl_->bindings.size(); }
size_t Scheduler::consultations() const { return impl_->consultations.size(); }
size_t Scheduler::bindings_under_way() const { return impl_->bindings.binding(); }
size_t Scheduler::unwritten_events() const {
  const client::EventWriter* writer = impl_->recorder.writer();
  return writer ? writer->unwritten() : 0;
}
client::EventWriter* Scheduler::event_writer() { return impl_->recorder.writer(); }
const cluster::ClusterState& Scheduler::state() const { return impl_->core.state; }
const queue::SchedulingQueue& Scheduler::queue() const { return *impl_->core.queue; }
framework::Engine& Scheduler::engine() { return *impl_->core.engine; }
const framework::Engine& Scheduler::engine() const { return *impl_->core.engine; }
bool Scheduler::watches(Kind kind) const { return impl_->reflectors[static_cast<size_t>(kind)] != nullptr; }
const client::Reflector& Scheduler::reflector(Kind kind) const { return *impl_->reflectors[static_cast<size_t>(kind)]; }
std::string Scheduler::CheckInvariants() const { return cycle::CheckInvariants(*this); }

}  // namespace berth::cycle
