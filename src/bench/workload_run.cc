// SPDX-License-Identifier: Apache-2.0
// Ops in virtual time. Upstream: test/integration/scheduler_perf/executor.go (v1.36.4).
#include "bench/workload_run.h"

#include <malloc.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "bench/cpu_time.h"
#include "bench/instant_cluster.h"
#include "bench/slow_extender.h"
#include "cycle/scheduler.h"
#include "util/inbox.h"
#include "util/timer_queue.h"
#include "util/virtual_clock.h"

namespace berth::bench {
namespace {

using util::TimerQueue;

constexpr Time kStart{1'767'225'600'000'000'000};  // 2026-01-01T00:00:00Z
constexpr Duration kAttemptTime{1'000'000'000 / 300};
// Attempts of churned pods hardly take time, but no chain of them may stop the clock.
constexpr Duration kOtherAttemptTime{1'000};
// How long an op waits for its pods without getting any of them.
constexpr Duration kPatience = Duration::Seconds(10 * 60);
constexpr Duration kPatienceWithChurn = Duration::Seconds(10);  // nothing but churn could still help
// Alive at a time. An op alone keeps within kMaxCount; this is for churn and for many ops.
constexpr size_t kMaxObjects = 2 * kMaxCount;

// Labels with one more, or with another value.
Labels WithLabel(const Labels& labels, const std::string& key, const std::string& value) {
  std::vector<Labels::Entry> entries(labels.begin(), labels.end());
  entries.emplace_back(key, value);
  return Labels(std::move(entries));
}

ClusterObject WithFeatures(const ClusterObject& object, const List<std::string>& features) {
  auto node = std::make_shared<Node>(*std::get<Ptr<Node>>(object));
  node->declared_features = features;
  return Ptr<Node>(node);
}

class WorkloadRun final : private cycle::Observer {
 public:
  WorkloadRun(WorkloadPlan& plan, const config::SchedulerConfiguration& config, const Registry& registry, bool verify,
              LogSink* log)
      : plan_(plan),
        config_(config),
        registry_(registry),
        verify_(verify),
        log_(log),
        clock_(kStart),
        cluster_(inbox_, clock_) {}

  Result<WorkloadResult> Run();

 private:
  using Step = WorkloadPlan::Step;
  Error Do(Step& step, size_t index);
  Error CreateNodes(Step& step);
  Error CreateNamespaces(Step& step);
  Error CreatePods(Step& step, size_t index);
  Error CreatePodBatch(Step& step, const std::string& ns);
  // A volume and a claim that are bound to each other, and the pod with that claim as its only volume.
  Result<ClusterObject> WithVolume(Step& step, const std::string& ns, int64_t index, const ClusterObject& pod);
  Error DeletePods(const Operation& op);
  Error Churn(Step& step, size_t index);
  Error CreateAny(Step& step);
  Error UpdateAny(Step& step);
  Error Barrier(const Operation& op);

  Error StartScheduler();
  Result<ClusterObject> Make(ObjectTemplate& from, Making making);
  PodEntry* Put(const ClusterObject& object);
  void EnsureNamespace(const std::string& name);
  void Remove(Kind kind, const std::string& ns, const std::string& name);
  void ChurnTick(Step& step, const std::string& ns, const std::shared_ptr<std::vector<std::string>>& names,
                 int64_t tick);
  void Settle(PodEntry& entry);

  // What the scheduler tells, within an attempt's time: only noted.
  void OnAttempt(const cycle::Attempt& attempt) override;
  void OnSkipped(const Pod& pod) override;
  void OnDifference(const std::string& text) override;

  // Lets the scheduler apply all news, and those that follow from it.
  void Hear();
  void PassTo(Time time);
  // Timers and one attempt at the present time; false when there is neither.
  bool Advance();
  // When there is something to do next.
  Time Next() const;
  // Until all awaited pods are where they should be; false when some cannot get there.
  bool Await(bool attempted);
  void RunUntil(Time end);

  WorkloadPlan& plan_;
  const config::SchedulerConfiguration& config_;
  const Registry& registry_;
  const bool verify_;
  LogSink* const log_;
  util::VirtualClock clock_;
  util::Inbox inbox_;
  InstantCluster cluster_;
  TimerQueue timers_;
  uint64_t serial_ = 0;
  size_t churns_ = 0, jobs_ = 0;  // that go on for ever, that end by themselves
  size_t awaited_ = 0;
  bool await_attempt_ = false;   // an attempt is enough for those awaited
  Time progress_ = kStart;       // when an awaited pod last got there
  Error failure_ = Error::Ok();  // of something in the background

  // The latest attempt.
  struct {
    std::string pod;        // namespace/name
    std::string rejection;  // empty: none
    bool skipped = false;   // there was nothing to decide
  } tried_;
  uint64_t differences_ = 0;
  std::string first_difference_;

  Measurement measurement_;
  std::string not_built_;                        // found out while running
  std::unique_ptr<cycle::Scheduler> scheduler_;  // last: it uses all of the above
};

Result<WorkloadResult> WorkloadRun::Run() {
  WorkloadResult result;
  result.test_case = plan_.test_case;
  result.workload = plan_.workload;
  result.not_built = plan_.not_built;
  if (!result.not_built.empty()) return result;
  ::malloc_trim(0);  // what earlier workloads left is not this one's
  if (Error error = StartScheduler(); !error.ok()) return error;
  for (size_t i = 0; i < plan_.steps.size(); ++i) {
    if (const Error error = Do(plan_.steps[i], i); !error.ok()) return error.Wrap(plan_.steps[i].op.path);
    if (!failure_.ok()) return failure_;
    if (!not_built_.empty()) {
      result.not_built = not_built_;
      return result;
    }
  }
  result = measurement_.Finish(cluster_);
  result.test_case = plan_.test_case;
  result.workload = plan_.workload;
  if (verify_) result.comparison = {scheduler_->engine().compared(), differences_, first_difference_};
  return result;
}

Error WorkloadRun::StartScheduler() {
  config::SchedulerConfiguration config = config_;
  config.parallelism = 1;  // CPU of helping threads would not be seen
  cycle::SchedulerOptions options;
  options.observer = this;
  options.verify = verify_;
  options.log = log_;
  for (const config::Extender& extender : config.extenders)
    options.extenders.push_back(std::make_shared<SlowExtender>(extender, timers_, clock_));
  Result<std::unique_ptr<cycle::Scheduler>> made =
      cycle::Scheduler::Make(config, registry_, cluster_, inbox_, clock_, options);
  if (!made.ok()) return made.error();
  scheduler_ = std::move(made).value();
  cluster_.on_bound = [this](PodEntry& entry) {
    measurement_.Bound(entry);
    Settle(entry);
  };
  scheduler_->Start();
  Hear();
  return scheduler_->synced() ? Error::Ok() : Error("the scheduler has not read the empty cluster");
}

Error WorkloadRun::Do(Step& step, size_t index) {
  const Operation& op = step.op;
  switch (op.code) {
    case OpCode::kCreateNodes:
      return CreateNodes(step);
    case OpCode::kCreateNamespaces:
      return CreateNamespaces(step);
    case OpCode::kCreatePods:
      return CreatePods(step, index);
    case OpCode::kDeletePods:
      return DeletePods(op);
    case OpCode::kChurn:
      return Churn(step, index);
    case OpCode::kBarrier:
      return Barrier(op);
    case OpCode::kSleep:
      RunUntil(clock_.Now() + op.duration);
      return Error::Ok();
    case OpCode::kStartCollectingMetrics:
      return measurement_.Start(cluster_, op.selector);
    case OpCode::kStopCollectingMetrics:
      return measurement_.Stop(cluster_);
    case OpCode::kCreateAny:
      return CreateAny(step);
    case OpCode::kUpdateAny:
      return UpdateAny(step);
    case OpCode::kCreatePodSets:  // unrolled by now
    case OpCode::kNotBuilt:
      break;
  }
  return Error("this op cannot be run");
}

// Objects.

Result<ClusterObject> WorkloadRun::Make(ObjectTemplate& from, Making making) {
  if (cluster_.size() >= kMaxObjects)
    return Error("there are " + std::to_string(kMaxObjects) + " objects, and there may not be more");
  making.serial = serial_++;
  making.annotations = scheduler_->engine().annotations();
  const int64_t began = ProcessCpuNs();
  Result<ClusterObject> made = from.Make(making, cluster_.priority_classes());
  measurement_.Made(ProcessCpuNs() - began);
  return made;
}

PodEntry* WorkloadRun::Put(const ClusterObject& object) {
  PodEntry* entry = cluster_.Put(object);
  Hear();
  return entry;
}

void WorkloadRun::EnsureNamespace(const std::string& name) {
  if (cluster_.Has(Kind::kNamespace, "", name)) return;
  auto made = std::make_shared<Namespace>();
  made->meta.name = name;
  ApplyDefaults(*made);
  Put(Ptr<Namespace>(made));
}

Error WorkloadRun::CreateNodes(Step& step) {
  const Operation& op = step.op;
  const List<std::string> features(FeatureNames(op.declared_features));  // one for all of them
  for (int64_t i = 0; i < op.count; ++i) {
    Result<ClusterObject> made = Make(step.templates[0], {i, op.count, "", "", 0});
    if (!made.ok()) return made.error();
    ObjectMeta meta = MetaOf(*made);
    if (cluster_.Has(Kind::kNode, "", meta.name)) return Error("node " + meta.name + " exists already");
    meta.labels = WithLabel(meta.labels, "kubernetes.io/hostname", meta.name);
    if (op.label_strategy) {
      const auto& values = op.label_strategy->values;
      meta.labels = WithLabel(meta.labels, op.label_strategy->key, values[static_cast<size_t>(i) % values.size()]);
    }
    if (!features.empty()) made = WithFeatures(*made, features);
    if (!op.unique_label_key.empty()) meta.labels = WithLabel(meta.labels, op.unique_label_key, meta.uid);
    if (op.allocatable_strategy) {
      auto csi = std::make_shared<CsiNode>();
      csi->meta.name = meta.name;
      std::string migrated;
      for (const std::string& plugin : op.allocatable_strategy->migrated_plugins)
        migrated += (migrated.empty() ? "" : ",") + plugin;
      csi->meta.annotations = Labels({{"storage.alpha.kubernetes.io/migrated-plugins", migrated}});
      for (const auto& [driver, limit] : op.allocatable_strategy->csi_limits) csi->driver_limits[driver] = limit;
      Put(Ptr<CsiNode>(csi));
    }
    Put(WithMeta(*made, std::move(meta)));
  }
  return Error::Ok();
}

Error WorkloadRun::CreateNamespaces(Step& step) {
  for (int64_t i = 0; i < step.op.count; ++i) {
    const std::string name = step.op.prefix + "-" + std::to_string(i);
    if (cluster_.Has(Kind::kNamespace, "", name)) continue;  // as upstream: it stays as it is
    const Result<ClusterObject> made = Make(step.templates[0], {i, step.op.count, "", name, 0});
    if (!made.ok()) return made.error();
    Put(*made);
  }
  return Error::Ok();
}

Error WorkloadRun::CreateAny(Step& step) {
  const Operation& op = step.op;
  if (op.namespace_) EnsureNamespace(*op.namespace_);
  for (int64_t i = 0; i < op.count; ++i) {
    const Result<ClusterObject> made = Make(step.templates[0], {i, op.count, op.namespace_.value_or(""), "", 0});
    if (!made.ok()) return made.error();
    const ObjectMeta& meta = MetaOf(*made);
    if (cluster_.Has(KindOf(*made), meta.namespace_, meta.name))
      return Error(std::string(ToString(KindOf(*made))) + " " + FullName(meta) + " exists already");
    Put(*made);
  }
  return Error::Ok();
}

Error WorkloadRun::UpdateAny(Step& step) {
  const Operation& op = step.op;
  // Which half of the object is written makes no difference to a scheduler: op.subresources is for others.
  for (int64_t i = 0; i < op.count; ++i) {
    if (op.per_second > 0) RunUntil(clock_.Now() + Duration{1'000'000'000 / op.per_second});
    Result<ClusterObject> made = Make(step.templates[0], {i, op.count, op.namespace_.value_or(""), "", 0});
    if (!made.ok()) return made.error();
    const ObjectMeta& meta = MetaOf(*made);
    if (!cluster_.Has(KindOf(*made), meta.namespace_, meta.name))
      return Error(std::string(ToString(KindOf(*made))) + " " + FullName(meta) +
                   " is not there, so it cannot be updated");
    Put(*made);
  }
  return Error::Ok();
}

// Pods.

Error WorkloadRun::CreatePodBatch(Step& step, const std::string& ns) {
  const Operation& op = step.op;
  for (int64_t i = 0; i < op.count; ++i) {
    Result<ClusterObject> made = Make(step.templates[0], {i, op.count, ns, "", 0});
    if (!made.ok()) return made.error();
    if (step.templates.size() > 1) {
      made = WithVolume(step, ns, i, *made);
      if (!made.ok()) return made.error();
    }
    const Pod& pod = *std::get<Ptr<Pod>>(*made);
    if (!pod.resource_claims.empty()) not_built_ = ClaimsNotBuilt(op);
    if (!not_built_.empty()) return Error::Ok();
    if (cluster_.Has(Kind::kPod, ns, pod.name())) return Error("pod " + FullName(pod) + " exists already");
    PodEntry* entry = Put(*made);
    entry->paced = true;
    entry->finalizers = step.templates[0].has_finalizers();
    measurement_.Created(*entry);
    entry->attempted =
        scheduler_->queue().PlaceOf(pod) == queue::Place::kGated;  // the API server says so of gated ones
    entry->awaited = !op.skip_wait && pod.node_name.empty();
    awaited_ += entry->awaited;
  }
  return Error::Ok();
}

// Upstream: test/utils/runners.go, CreatePodWithPersistentVolume.
Result<ClusterObject> WorkloadRun::WithVolume(Step& step, const std::string& ns, int64_t index,
                                              const ClusterObject& pod) {
  const std::string number = std::to_string(index);
  const std::string volume_name = VolumeNameOf(ns, index), claim_name = ClaimNameOf(index);
  const Result<ClusterObject> volume_made = Make(step.templates[1], {index, step.op.count, "", volume_name, 0});
  if (!volume_made.ok()) return volume_made.error();
  const Result<ClusterObject> claim_made = Make(step.templates[2], {index, step.op.count, ns, claim_name, 0});
  if (!claim_made.ok()) return claim_made.error();
  auto volume = std::make_shared<PersistentVolume>(*std::get<Ptr<PersistentVolume>>(*volume_made));
  if (volume->kind == VolumeKind::kCsi) volume->csi_handle = volume_name;
  if (volume->kind == VolumeKind::kAwsEbs) volume->disk = "vol-" + number;
  volume->claim_ref = {ns, claim_name, ""};
  volume->phase = "Bound";
  auto claim = std::make_shared<PersistentVolumeClaim>(*std::get<Ptr<PersistentVolumeClaim>>(*claim_made));
  claim->volume_name = volume_name;
  claim->phase = "Bound";
  Put(Ptr<PersistentVolumeClaim>(claim));
  Put(Ptr<PersistentVolume>(volume));
  auto with = std::make_shared<Pod>(*std::get<Ptr<Pod>>(pod));
  PodVolume own;
  own.name = "vol";
  own.kind = VolumeKind::kClaim;
  own.source = claim_name;
  with->volumes = List<PodVolume>(std::vector<PodVolume>{std::move(own)});
  return ClusterObject(Ptr<Pod>(std::move(with)));
}

Error WorkloadRun::CreatePods(Step& step, size_t index) {
  const Operation& op = step.op;
  const std::string ns = NamespaceOf(op, index);
  EnsureNamespace(ns);
  if (op.collect_metrics)
    if (Error error = measurement_.Start(cluster_, {{ns}, {}}); !error.ok()) return error;
  const Time end = clock_.Now() + op.duration;
  for (;;) {
    const Time began = clock_.Now();
    if (Error error = CreatePodBatch(step, ns); !error.ok()) return error;
    const bool placed = op.skip_wait || Await(false);
    if (!op.steady_state || !not_built_.empty()) break;
    // Stuck, or nobody was there to wait for: no further batch would bring the end nearer.
    if (!placed || clock_.Now() == began) RunUntil(end);
    if (clock_.Now() >= end || !failure_.ok()) break;
    // All scheduled: start over with a new batch.
    std::vector<std::string> names;
    for (const PodEntry* entry : cluster_.PodsIn(ns)) names.push_back(entry->pod->name());
    for (const std::string& name : names) Remove(Kind::kPod, ns, name);
  }
  return op.collect_metrics ? measurement_.Stop(cluster_) : Error::Ok();
}

void WorkloadRun::Remove(Kind kind, const std::string& ns, const std::string& name) {
  if (kind == Kind::kPod)
    if (PodEntry* entry = cluster_.FindPod(ns + "/" + name)) {
      Settle(*entry);
      if (!entry->finalizers) measurement_.GivenUp(*entry);
    }
  cluster_.Remove(kind, ns, name);
  Hear();
}

// An awaited pod is where it should be, or will never be.
void WorkloadRun::Settle(PodEntry& entry) {
  if (!entry.awaited) return;
  entry.awaited = false;
  --awaited_;
  progress_ = clock_.Now();
}

Error WorkloadRun::DeletePods(const Operation& op) {
  auto names = std::make_shared<std::vector<std::string>>();
  for (const PodEntry* entry : cluster_.PodsIn(*op.namespace_))
    if (op.selector.Matches(*entry->pod)) names->push_back(entry->pod->name());
  if (op.per_second == 0) {
    for (const std::string& name : *names) Remove(Kind::kPod, *op.namespace_, name);
    return Error::Ok();
  }
  const Duration period{1'000'000'000 / op.per_second};
  ++jobs_;
  const auto tick = std::make_shared<std::function<void(size_t)>>();
  const std::weak_ptr<std::function<void(size_t)>> again = tick;
  *tick = [this, names, again, period, ns = *op.namespace_](size_t i) {
    if (i == names->size()) {
      --jobs_;
      return;
    }
    Remove(Kind::kPod, ns, (*names)[i]);
    timers_.At(clock_.Now() + period, [next = again.lock(), i] { (*next)(i + 1); });
  };
  timers_.At(clock_.Now() + period, [tick] { (*tick)(0); });
  if (!op.skip_wait) RunUntil(clock_.Now() + Duration{period.ns * (static_cast<int64_t>(names->size()) + 1)});
  return Error::Ok();
}

Error WorkloadRun::Churn(Step& step, size_t index) {
  const Operation& op = step.op;
  const std::string ns = NamespaceOf(op, index);
  EnsureNamespace(ns);
  // The names of the objects in each slot of recreate; empty: the slot is free.
  const size_t slots = op.recreate ? static_cast<size_t>(op.number) * step.templates.size() : 0;
  auto names = std::make_shared<std::vector<std::string>>(slots);
  ++churns_;
  timers_.At(clock_.Now() + Duration::Millis(op.interval_ms), [=, this, &step] { ChurnTick(step, ns, names, 0); });
  return Error::Ok();
}

void WorkloadRun::ChurnTick(Step& step, const std::string& ns, const std::shared_ptr<std::vector<std::string>>& names,
                            int64_t tick) {
  const Operation& op = step.op;
  for (size_t t = 0; t < step.templates.size(); ++t) {
    ObjectTemplate& from = step.templates[t];
    const std::string scope = IsNamespaced(from.kind()) ? ns : "";
    std::string* slot =
        op.recreate ? &(*names)[static_cast<size_t>(tick % op.number) * step.templates.size() + t] : nullptr;
    if (slot && !slot->empty()) {
      Remove(from.kind(), scope, *slot);
      slot->clear();
      continue;
    }
    const Result<ClusterObject> made = Make(from, {tick, 1, scope, "", 0});
    if (!made.ok()) {
      failure_ = made.error().Wrap(op.path);
      return;
    }
    const ObjectMeta& meta = MetaOf(*made);
    if (cluster_.Has(from.kind(), scope, meta.name)) continue;  // as upstream: it stays as it is
    if (PodEntry* entry = Put(*made)) entry->finalizers = from.has_finalizers();
    if (slot) *slot = meta.name;
  }
  if (!op.recreate && op.number > 0 && tick + 1 >= op.number) {
    --churns_;
    return;
  }
  timers_.At(clock_.Now() + Duration::Millis(op.interval_ms),
             [=, this, &step] { ChurnTick(step, ns, names, tick + 1); });
}

// Time.

void WorkloadRun::OnAttempt(const cycle::Attempt& attempt) {
  tried_.pod.assign(attempt.pod->namespace_()).append("/").append(attempt.pod->name());
  tried_.rejection.assign(attempt.message);
  tried_.skipped = false;
}

void WorkloadRun::OnSkipped(const Pod& pod) {
  tried_.pod.assign(pod.namespace_()).append("/").append(pod.name());
  tried_.rejection.clear();
  tried_.skipped = true;
}

void WorkloadRun::OnDifference(const std::string& text) {
  if (differences_++ == 0) first_difference_ = text;
}

void WorkloadRun::Hear() {
  cluster_.Serve();
  do {
    const int64_t began = ThreadCpuNs();
    (void)scheduler_->Apply();
    measurement_.Heard(ThreadCpuNs() - began);
  } while (cluster_.Serve());
}

void WorkloadRun::PassTo(Time time) {
  clock_.MoveTo(time);
  Hear();
}

Time WorkloadRun::Next() const {
  const Time next = std::min(timers_.Next(), scheduler_->NextWake());
  // A wake-up that is due had nothing to do, though; later it may.
  return next > clock_.Now() ? next : clock_.Now() + kOtherAttemptTime;
}

bool WorkloadRun::Advance() {
  bool worked = false;
  while (timers_.RunOne(clock_.Now())) worked = true;
  if (worked && !config_.extenders.empty()) Hear();  // their answers
  // All news has been heard, so that this is the attempt alone: from popping the pod to handing its binding over.
  tried_.pod.clear();  // it stays so if the pod waits for an extender
  const int64_t began = ThreadCpuNs();
  (void)scheduler_->RunOnce();
  const int64_t cpu_ns = ThreadCpuNs() - began;
  if (!scheduler_->attempted()) {
    // It may have gone on with a pod all the same: one whose volumes are bound by now is bound itself.
    measurement_.Heard(cpu_ns);
    if (!cluster_.Serve()) return worked;
    Hear();
    return true;
  }
  PodEntry* entry = cluster_.FindPod(tried_.pod);
  measurement_.Attempted(entry, tried_.rejection, cpu_ns);
  if (entry) {
    entry->attempted = true;
    // One that is skipped is terminating: nobody will schedule it.
    if (await_attempt_ || tried_.skipped) Settle(*entry);
  }
  PassTo(clock_.Now() + (entry && entry->paced ? kAttemptTime : kOtherAttemptTime));
  return true;
}

bool WorkloadRun::Await(bool attempted) {
  await_attempt_ = attempted;
  progress_ = clock_.Now();
  while (awaited_ > 0 && failure_.ok()) {
    const bool worked = Advance();
    const bool hope = jobs_ > 0 || !scheduler_->idle();
    if (!hope && churns_ == 0) break;  // only events could help, and none will come
    if (clock_.Now() - progress_ > (hope ? kPatience : kPatienceWithChurn)) break;
    if (worked) continue;
    const Time next = Next();
    if (next == TimerQueue::kNever) break;
    PassTo(next);
  }
  if (awaited_ == 0) return true;
  for (PodEntry* entry : cluster_.AllPods()) Settle(*entry);
  return false;
}

void WorkloadRun::RunUntil(Time end) {
  while (clock_.Now() < end && failure_.ok()) {
    if (Advance()) continue;
    PassTo(std::min(end, Next()));
  }
}

Error WorkloadRun::Barrier(const Operation& op) {
  for (const std::string& name : op.selector.namespaces)
    if (!cluster_.Has(Kind::kNamespace, "", name)) return Error("unknown namespace " + name);
  for (PodEntry* entry : cluster_.AllPods()) {
    if (!entry->paced || !entry->pod->node_name.empty() || !op.selector.Matches(*entry->pod)) continue;
    if (op.attempted && entry->attempted) continue;
    entry->awaited = true;
    ++awaited_;
  }
  (void)Await(op.attempted);
  return Error::Ok();
}

}  // namespace

Result<WorkloadResult> RunWorkload(WorkloadPlan& plan, const config::SchedulerConfiguration& config,
                                   const Registry& registry, bool verify, LogSink* log) {
  return WorkloadRun(plan, config, registry, verify, log).Run();
}

}  // namespace berth::bench
