// SPDX-License-Identifier: Apache-2.0
// Ops in real time. Upstream: test/integration/scheduler_perf/executor.go (v1.36.4).
#include "bench/live_run.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>

#include "bench/live_bodies.h"
#include "bench/live_churn.h"
#include "bench/live_cleanup.h"
#include "bench/live_loop.h"
#include "bench/live_objects.h"
#include "bench/live_pods.h"
#include "bench/live_requests.h"
#include "bench/value_edit.h"
#include "client/live_cluster.h"
#include "client/reflector.h"
#include "util/random.h"
#include "util/timer_queue.h"
#include "util/uuid.h"

namespace berth::bench {
namespace {

constexpr Time kNever = util::TimerQueue::kNever;
constexpr Duration kListPatience = Duration::Seconds(60);
constexpr int kPodReads = 3;            // before a pod that changes all the time is given up
constexpr size_t kDeletionsAtOnce = 8;  // of a deletePods op that nobody waits for

class LiveRun {
 public:
  LiveRun(WorkloadPlan& plan, const Clock& clock, const LiveRunOptions& options)
      : plan_(plan),
        options_(options),
        loop_(clock),
        measurement_(options.pid),
        pods_(measurement_, clock),
        random_(static_cast<uint64_t>(clock.Now().ns)) {}

  LiveOutcome Run();

 private:
  using Step = WorkloadPlan::Step;
  Error Connect();
  Result<WorkloadResult> Measure();
  Error Do(Step& step, size_t index);
  Error CreateNodes(const Step& step);
  Error CreateNamespaces(const Step& step);
  Error CreatePods(const Step& step, size_t index);
  Error CreateSteadily(const Step& step, const std::string& ns);
  Error DeletePods(const Operation& op);
  Error Churn(const Step& step, size_t index);
  Error CreateAny(const Step& step);
  Error UpdateAny(const Step& step);
  Error Barrier(const Operation& op);

  // Begun, and not waited for. An Error is about the template.
  Error BeginNode(const Step& step, int64_t index);
  Error BeginPod(const Step& step, const std::string& ns, int64_t index, bool awaited);
  Error BeginUpdate(const Step& step, int64_t index);
  void UpdatePod(const ObjectKey& key, const std::string& subresource, const Value& wanted, int reads);
  void PostNode(const Value& body);
  void PostPod(const Value& body);
  void PostBound(Kind kind, const Value& body, std::function<void()> then);
  void RemovePod(const ObjectKey& key, std::function<void()> then);
  struct Deletion;
  void GoOn(const std::shared_ptr<Deletion>& deletion);
  void FailInBackground(const Error& error) {
    if (background_failure_.ok()) background_failure_ = error;
  }

  Error EnsureNamespace(const std::string& name);
  // The pod with the priority class that it needs, which is there then.
  Result<Value> WithPriority(const Value& pod);
  // Calls begin(i) for all of them, no more than the bound of requests at a time, and waits until all have ended.
  Error ForAll(int64_t count, const std::function<Error(int64_t)>& begin);
  void End(const Error& error) {
    --open_;
    if (failure_.ok()) failure_ = error;
  }
  // Lets time pass until `done`; after `end` with an error of kind kTimedOut. Other errors: something failed
  // meanwhile, or somebody wants the run to end.
  Error Until(Time end, const std::function<bool()>& done);
  Error Pass(Duration duration);
  Error AwaitPods();
  int interruptions() const { return options_.interruptions != nullptr ? options_.interruptions->load() : 0; }
  void Warn(const std::string& sentence) const {
    if (options_.warn) options_.warn(sentence);
  }
  Making MakingOf(int64_t index, int64_t count, const std::string& ns, const std::string& name = "") {
    return {index, count, ns, name, serial_++};
  }

  WorkloadPlan& plan_;
  const LiveRunOptions& options_;
  LiveLoop loop_;
  LiveMeasurement measurement_;
  LivePods pods_;
  util::Random random_;
  uint64_t serial_ = 0;
  size_t open_ = 0;                         // what the present op has begun and not ended
  Error failure_ = Error::Ok();             // of that
  Error background_failure_ = Error::Ok();  // of an earlier op that goes on, with its path
  bool ending_ = false;
  std::string not_built_;  // found out while running
  // These have requests under way that come back through the loop.
  std::unique_ptr<LiveRequests> requests_;
  std::unique_ptr<LiveObjects> objects_;
  std::unique_ptr<client::LiveCluster> cluster_;
  std::unique_ptr<client::Reflector> reflector_;
  std::vector<std::unique_ptr<LiveChurn>> churns_;
};

LiveOutcome LiveRun::Run() {
  WorkloadResult unbuilt;
  unbuilt.test_case = plan_.test_case;
  unbuilt.workload = plan_.workload;
  unbuilt.not_built = plan_.not_built;
  if (!plan_.not_built.empty()) return {unbuilt, {}};
  if (Error error = Connect(); !error.ok()) return {error, {}};
  Result<WorkloadResult> result = Measure();
  ending_ = true;
  for (const auto& churn : churns_) churn->Stop();
  if (interruptions() > 0)
    Warn("interrupted: what was made is deleted first; another signal ends that, too, and leaves the rest there");
  // A first signal was about the workload, unless there was none before its end.
  const int heard = std::max(interruptions(), 1);
  std::vector<std::string> left = CleanUp(*objects_, loop_, [this, heard] { return interruptions() > heard; });
  if (!not_built_.empty()) {
    unbuilt.not_built = not_built_;
    result = unbuilt;
  }
  return {std::move(result), std::move(left)};
}

Error LiveRun::Connect() {
  if (options_.pid) {
    const Result<ProcessUse> use = ReadProcess(*options_.pid);
    if (!use.ok()) return use.error();
  }
  const auto warn = [this](const std::string& sentence) { loop_.inbox().Post([this, sentence] { Warn(sentence); }); };
  Result<std::unique_ptr<LiveRequests>> requests = LiveRequests::Connect(options_.server, loop_.inbox(), warn);
  if (!requests.ok()) return requests.error();
  requests_ = std::move(requests).value();
  objects_ = std::make_unique<LiveObjects>(*requests_, loop_, util::NewUuid());

  // Whoever cannot be reached, or does not let us in, says so before anything is made.
  std::optional<LiveAnswer> answer;
  requests_->Get("/api/v1/namespaces?limit=1", [&answer](const LiveAnswer& got) { answer = got; });
  if (Error error = Until(kNever, [&] { return answer.has_value(); }); !error.ok()) return error;
  if (!answer->status.ok()) {
    const std::string server = answer->status.code == 0 ? "" : options_.server.server + ": ";  // else the text has it
    return Error(options_.server.source + ": " + server + client::TextOf(answer->status));
  }

  client::LiveOptions live;
  live.user_agent = "berth-bench";
  live.warning = [this](const std::string& sentence) { Warn(sentence); };
  Result<std::unique_ptr<client::LiveCluster>> cluster =
      client::LiveCluster::Connect(options_.server, loop_.inbox(), loop_.clock(), std::move(live));
  if (!cluster.ok()) return cluster.error();
  cluster_ = std::move(cluster).value();
  reflector_ = std::make_unique<client::Reflector>(Kind::kPod, *cluster_, pods_, loop_.timers(), loop_.clock(),
                                                   [this] { return random_.Next(); });
  reflector_->Complain([this](const std::string& sentence) { Warn(sentence); });
  reflector_->Start();
  Error error = Until(loop_.Now() + kListPatience, [this] { return reflector_->synced(); });
  if (error.kind() == ErrorKind::kTimedOut) return Error("pods cannot be listed: " + reflector_->problem());
  return error;
}

Result<WorkloadResult> LiveRun::Measure() {
  for (size_t i = 0; i < plan_.steps.size(); ++i) {
    const Error error = Do(plan_.steps[i], i);
    if (!background_failure_.ok()) return background_failure_;
    if (!error.ok()) return error.Wrap(plan_.steps[i].op.path);
    if (!not_built_.empty()) return WorkloadResult();
  }
  std::vector<std::string> nodes;
  for (const ObjectKey& key : objects_->All())
    if (key.kind == Kind::kNode) nodes.push_back(key.name);
  Result<WorkloadResult> result = measurement_.Finish(loop_.Now(), pods_.all(), nodes);
  if (!result.ok()) return result;
  result.value().test_case = plan_.test_case;
  result.value().workload = plan_.workload;
  return result;
}

Error LiveRun::Do(Step& step, size_t index) {
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
      return Pass(op.duration);
    case OpCode::kStartCollectingMetrics:
      return measurement_.Start(loop_.Now(), pods_.all(), op.selector);
    case OpCode::kStopCollectingMetrics:
      return measurement_.Stop(loop_.Now(), objects_->Count(Kind::kNode));
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

// Time.

Error LiveRun::Until(Time end, const std::function<bool()>& done) {
  for (;;) {
    if (!background_failure_.ok()) return background_failure_;
    if (!failure_.ok()) return failure_;
    if (interruptions() > 0) return Error("interrupted", ErrorKind::kCancelled);
    if (done()) return Error::Ok();
    if (loop_.Now() >= end) return Error("the time is over", ErrorKind::kTimedOut);
    loop_.Turn(end);
  }
}

Error LiveRun::Pass(Duration duration) {
  Error error = Until(loop_.Now() + duration, [] { return false; });
  return error.kind() == ErrorKind::kTimedOut ? Error::Ok() : error;
}

Error LiveRun::ForAll(int64_t count, const std::function<Error(int64_t)>& begin) {
  for (int64_t i = 0; i < count; ++i) {
    if (Error error = Until(kNever, [this] { return !objects_->full(); }); !error.ok()) return error;
    if (Error error = begin(i); !error.ok()) return error;
    if (!not_built_.empty()) break;
  }
  return Until(kNever, [this] { return open_ == 0; });
}

Error LiveRun::AwaitPods() {
  Error error = Until(loop_.Now() + options_.timeout, [this] { return pods_.awaited() == 0; });
  if (error.kind() != ErrorKind::kTimedOut) return error;
  return Error("after " + FormatDuration(options_.timeout) + " " + pods_.AwaitedText());
}

Error LiveRun::Barrier(const Operation& op) {
  for (const std::string& name : op.selector.namespaces)
    if (!objects_->Has({Kind::kNamespace, "", name})) return Error("unknown namespace " + name);
  pods_.Await(op.selector, op.attempted);
  return AwaitPods();
}

// Objects.

Error LiveRun::EnsureNamespace(const std::string& name) {
  if (objects_->Has({Kind::kNamespace, "", name})) return Error::Ok();
  return ForAll(1, [&](int64_t) {
    ++open_;
    objects_->Create(Kind::kNamespace, NamespaceBody(name), [this](const Written& written) { End(written.error); });
    return Error::Ok();
  });
}

Result<Value> LiveRun::WithPriority(const Value& pod) {
  const Value needed = PriorityClassFor(pod);
  if (needed.is_null()) return pod;
  if (!objects_->Has(KeyOf(Kind::kPriorityClass, needed))) {
    ++open_;
    objects_->Create(Kind::kPriorityClass, needed, [this](const Written& written) { End(written.error); });
    if (Error error = Until(kNever, [this] { return open_ == 0; }); !error.ok()) return error;
  }
  return WithPriorityClass(pod);
}

Error LiveRun::CreateNodes(const Step& step) {
  return ForAll(step.op.count, [&](int64_t i) { return BeginNode(step, i); });
}

Error LiveRun::BeginNode(const Step& step, int64_t index) {
  const Operation& op = step.op;
  const Making making = MakingOf(index, op.count, "");
  const Result<Value> made = step.templates[0].MakeValue(making);
  if (!made.ok()) return made.error();
  const Value body = NodeBody(op, index, *made, UidOf(making.serial));
  ++open_;
  if (!op.allocatable_strategy) {
    PostNode(body);
    return Error::Ok();
  }
  objects_->Create(Kind::kCsiNode, CsiNodeBody(op, KeyOf(Kind::kNode, body).name),
                   [this, body](const Written& written) {
                     if (!written.error.ok()) return End(written.error);
                     PostNode(body);
                   });
  return Error::Ok();
}

void LiveRun::PostNode(const Value& body) {
  objects_->Create(Kind::kNode, body, [this, body](const Written& written) {
    if (!written.error.ok()) return End(written.error);
    const std::optional<Value> patch = TaintPatch(body, written.object);
    if (!patch) return End(Error::Ok());
    objects_->Patch(KeyOf(Kind::kNode, body), "", *patch, [this](const Written& patched) { End(patched.error); });
  });
}

Error LiveRun::CreateNamespaces(const Step& step) {
  return ForAll(step.op.count, [&](int64_t i) {
    const std::string name = step.op.prefix + "-" + std::to_string(i);
    if (objects_->Has({Kind::kNamespace, "", name})) return Error::Ok();  // as upstream: it stays as it is
    const Result<Value> made = step.templates[0].MakeValue(MakingOf(i, step.op.count, "", name));
    if (!made.ok()) return made.error();
    ++open_;
    objects_->Create(Kind::kNamespace, *made, [this](const Written& written) { End(written.error); });
    return Error::Ok();
  });
}

Error LiveRun::CreateAny(const Step& step) {
  const Operation& op = step.op;
  if (op.namespace_)
    if (Error error = EnsureNamespace(*op.namespace_); !error.ok()) return error;
  return ForAll(op.count, [&](int64_t i) {
    Result<Value> made = step.templates[0].MakeValue(MakingOf(i, op.count, op.namespace_.value_or("")));
    if (made.ok() && step.templates[0].kind() == Kind::kPod) made = WithPriority(*made);
    if (!made.ok()) return made.error();
    if (step.templates[0].kind() == Kind::kPod)
      if (Error error = pods_.Expect(*made, false, false); !error.ok()) return error;
    ++open_;
    objects_->Create(step.templates[0].kind(), *made, [this](const Written& written) { End(written.error); });
    return Error::Ok();
  });
}

Error LiveRun::UpdateAny(const Step& step) {
  const Operation& op = step.op;
  return ForAll(op.count, [&](int64_t i) {
    if (op.per_second > 0)
      if (Error error = Pass(Duration{1'000'000'000 / op.per_second}); !error.ok()) return error;
    return BeginUpdate(step, i);
  });
}

Error LiveRun::BeginUpdate(const Step& step, int64_t index) {
  const Operation& op = step.op;
  const Kind kind = step.templates[0].kind();
  const Result<Value> made = step.templates[0].MakeValue(MakingOf(index, op.count, op.namespace_.value_or("")));
  if (!made.ok()) return made.error();
  const ObjectKey key = KeyOf(kind, *made);
  if (!objects_->Has(key)) return Error(key.Text() + " is not there, so it cannot be updated");
  ++open_;
  std::string subresource;
  for (const std::string& part : op.subresources) subresource += (subresource.empty() ? "" : "/") + part;
  if (kind == Kind::kPod) {
    UpdatePod(key, subresource, *made, kPodReads);
    return Error::Ok();
  }
  // The status is another half of the object, which a server takes on its own.
  const bool both = subresource != "status" && !At(*made, "status").is_null();
  objects_->Replace(key, subresource, *made, [this, key, both, body = *made](const Written& put) {
    if (!put.error.ok() || !both) return End(put.error);
    objects_->Replace(key, "status", body, [this](const Written& written) { End(written.error); });
  });
  return Error::Ok();
}

// A scheduler may bind the pod between reading and writing, which makes what was read out of date.
void LiveRun::UpdatePod(const ObjectKey& key, const std::string& subresource, const Value& wanted, int reads) {
  objects_->Read(key, [=, this](const Written& read) {
    if (!read.error.ok()) return End(read.error);
    objects_->Replace(key, subresource, UpdatedPod(read.object, wanted, subresource == "resize"),
                      [=, this](const Written& put) {
                        if (put.error.ok() || reads <= 1) return End(put.error);
                        UpdatePod(key, subresource, wanted, reads - 1);
                      });
  });
}

// Pods.

Error LiveRun::BeginPod(const Step& step, const std::string& ns, int64_t index, bool awaited) {
  const Operation& op = step.op;
  const bool volumes = step.templates.size() > 1;
  const Result<Value> made = step.templates[0].MakeValue(MakingOf(index, op.count, ns));
  if (!made.ok()) return made.error();
  if (!At(At(*made, "spec"), "resourceClaims").items().empty()) {
    not_built_ = ClaimsNotBuilt(op);
    return Error::Ok();
  }
  const Result<Value> pod = WithPriority(*made);
  if (!pod.ok()) return pod.error();
  const Value body = volumes ? WithClaim(*pod, index) : *pod;
  if (Error error = pods_.Expect(body, true, awaited); !error.ok()) return error;
  ++open_;
  if (!volumes) {
    PostPod(body);
    return Error::Ok();
  }
  const Result<Value> volume = step.templates[1].MakeValue(MakingOf(index, op.count, "", VolumeNameOf(ns, index)));
  if (!volume.ok()) return volume.error();
  const Result<Value> claim = step.templates[2].MakeValue(MakingOf(index, op.count, ns, ClaimNameOf(index)));
  if (!claim.ok()) return claim.error();
  // The claim first: the volume refers to it.
  PostBound(Kind::kPersistentVolumeClaim, BoundClaimBody(*claim, ns, index),
            [this, body, bound = BoundVolumeBody(*volume, ns, index)] {
              PostBound(Kind::kPersistentVolume, bound, [this, body] { PostPod(body); });
            });
  return Error::Ok();
}

void LiveRun::PostPod(const Value& body) {
  objects_->Create(Kind::kPod, body, [this](const Written& written) { End(written.error); });
}

// A server lets nobody post a status.
void LiveRun::PostBound(Kind kind, const Value& body, std::function<void()> then) {
  objects_->Create(kind, body, [this, key = KeyOf(kind, body), then = std::move(then)](const Written& written) {
    if (!written.error.ok()) return End(written.error);
    objects_->Patch(key, "status", BoundStatus(), [this, then](const Written& patched) {
      if (!patched.error.ok()) return End(patched.error);
      then();
    });
  });
}

Error LiveRun::CreatePods(const Step& step, size_t index) {
  const Operation& op = step.op;
  const std::string ns = NamespaceOf(op, index);
  if (Error error = EnsureNamespace(ns); !error.ok()) return error;
  if (op.collect_metrics)
    if (Error error = measurement_.Start(loop_.Now(), pods_.all(), {{ns}, {}}); !error.ok()) return error;
  if (op.steady_state) {
    if (Error error = CreateSteadily(step, ns); !error.ok()) return error;
  } else {
    Error error = ForAll(op.count, [&](int64_t i) { return BeginPod(step, ns, i, !op.skip_wait); });
    if (!error.ok()) return error;
    if (!op.skip_wait)
      if (Error late = AwaitPods(); !late.ok()) return late;
  }
  return op.collect_metrics ? measurement_.Stop(loop_.Now(), objects_->Count(Kind::kNode)) : Error::Ok();
}

// As many pods as the op says are there; one that is bound makes room for the next.
Error LiveRun::CreateSteadily(const Step& step, const std::string& ns) {
  struct State {
    std::deque<ObjectKey> placed;
    int64_t alive = 0;
  };
  const auto state = std::make_shared<State>();
  pods_.on_bound = [state, ns](const LivePod& pod) {
    if (pod.ns == ns && pod.paced) state->placed.push_back({Kind::kPod, pod.ns, pod.name});
  };
  const Time end = loop_.Now() + step.op.duration;
  Error error = Error::Ok();
  for (int64_t next = 0; error.ok() && not_built_.empty();) {
    error = Until(end, [&] { return !objects_->full() && (!state->placed.empty() || state->alive < step.op.count); });
    if (!error.ok()) break;
    if (!state->placed.empty()) {
      const ObjectKey key = state->placed.front();
      state->placed.pop_front();
      RemovePod(key, [state] { --state->alive; });
    } else {
      ++state->alive;
      error = BeginPod(step, ns, next++, false);
    }
  }
  pods_.on_bound = nullptr;
  if (!error.ok() && error.kind() != ErrorKind::kTimedOut) return error;
  for (auto& [key, pod] : pods_.all())
    if (pod.ns == ns) measurement_.Overtaken(pod);
  return Until(kNever, [this] { return open_ == 0; });
}

void LiveRun::RemovePod(const ObjectKey& key, std::function<void()> then) {
  ++open_;
  pods_.Deleting(key.ns, key.name);
  objects_->Remove(key, Finalizers::kRespect, [this, then = std::move(then)](const Written& written) {
    then();
    End(written.error);
  });
}

// Pods that go one after another.
struct LiveRun::Deletion {
  std::string path, ns;
  std::vector<std::string> names;
  Duration period;  // 0: as fast as they go
  size_t next = 0, under_way = 0;
  bool over() const { return next == names.size() && under_way == 0; }
};

Error LiveRun::DeletePods(const Operation& op) {
  const auto deletion = std::make_shared<Deletion>();
  deletion->path = op.path;
  deletion->ns = *op.namespace_;
  deletion->names = pods_.NamesIn(deletion->ns, op.selector);
  if (op.per_second > 0) {
    deletion->period = Duration{1'000'000'000 / op.per_second};
    loop_.After(deletion->period, [this, deletion] { GoOn(deletion); });
  } else {
    for (size_t i = 0; i < kDeletionsAtOnce; ++i) GoOn(deletion);
  }
  if (op.skip_wait) return Error::Ok();
  return Until(kNever, [deletion] { return deletion->over(); });
}

void LiveRun::GoOn(const std::shared_ptr<Deletion>& deletion) {
  if (ending_ || deletion->next == deletion->names.size()) return;
  const ObjectKey key{Kind::kPod, deletion->ns, deletion->names[deletion->next++]};
  ++deletion->under_way;
  pods_.Deleting(key.ns, key.name);
  objects_->Remove(key, Finalizers::kRespect, [this, deletion](const Written& written) {
    --deletion->under_way;
    if (!written.error.ok()) FailInBackground(written.error.Wrap(deletion->path));
    if (deletion->period <= Duration{}) GoOn(deletion);
  });
  if (deletion->period > Duration{}) loop_.After(deletion->period, [this, deletion] { GoOn(deletion); });
}

Error LiveRun::Churn(const Step& step, size_t index) {
  const std::string ns = NamespaceOf(step.op, index);
  if (Error error = EnsureNamespace(ns); !error.ok()) return error;
  for (const ObjectTemplate& from : step.templates) {
    if (from.kind() != Kind::kPod) continue;
    const Result<Value> first = from.MakeValue({0, 1, ns, "", 0});
    if (!first.ok()) return first.error();
    if (const Result<Value> pod = WithPriority(*first); !pod.ok()) return pod.error();
  }
  LiveChurn::World world{*objects_, pods_, loop_, [this] { return serial_++; },
                         [this](const Error& error) { FailInBackground(error); }};
  churns_.push_back(std::make_unique<LiveChurn>(std::move(world), step, ns));
  churns_.back()->Start();
  return Error::Ok();
}

}  // namespace

LiveOutcome RunLive(WorkloadPlan& plan, const Clock& clock, const LiveRunOptions& options) {
  return LiveRun(plan, clock, options).Run();
}

}  // namespace berth::bench
