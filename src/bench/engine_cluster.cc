// SPDX-License-Identifier: Apache-2.0
// Events in, attempts out.
#include "bench/engine_cluster.h"

#include <algorithm>
#include <ctime>
#include <type_traits>
#include <utility>

#include "cycle/core.h"
#include "cycle/decision.h"
#include "cycle/queue_setup.h"
#include "queue/event_derivation.h"

namespace berth::bench {
namespace {

using client::ClusterObject;
using client::Kind;
using client::Ptr;
using framework::Judgement;

// Adds the CPU time of a scope.
class Stopwatch {
 public:
  explicit Stopwatch(int64_t& sum) : sum_(sum), began_(ThreadCpuNs()) {}
  ~Stopwatch() { sum_ += ThreadCpuNs() - began_; }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  int64_t& sum_;
  const int64_t began_;
};

int64_t ClockNs(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

int64_t ThreadCpuNs() { return ClockNs(CLOCK_THREAD_CPUTIME_ID); }

int64_t ProcessCpuNs() { return ClockNs(CLOCK_PROCESS_CPUTIME_ID); }

Result<std::unique_ptr<EngineCluster>> EngineCluster::Make(const config::SchedulerConfiguration& config,
                                                           const Registry& registry, const Clock& clock,
                                                           const EngineClusterOptions& options) {
  std::unique_ptr<EngineCluster> out(new EngineCluster(clock));
  Result<std::unique_ptr<framework::Engine>> engine = framework::Engine::Make(config, registry, clock);
  if (!engine.ok()) return engine.error();
  out->engine_ = std::move(engine).value();
  for (PluginIndex* index : out->engine_->Indexes()) out->state_.AddIndex(index);
  out->engine_->Remember();
  if (options.verify) {
    Result<std::unique_ptr<framework::Engine>> reference = framework::Engine::Make(config, registry, clock);
    if (!reference.ok()) return reference.error();
    out->reference_ = std::move(reference).value();
    out->engine_->Verify(*out->reference_, [self = out.get()](const std::string& text) {
      if (self->differences_++ == 0) self->first_difference_ = text;
    });
  }
  out->queue_ = std::make_unique<queue::SchedulingQueue>(cycle::QueueOptionsOf(*out->engine_, config),
                                                         cycle::HintsOf(*out->engine_, false), clock);
  out->RefreshClasses();
  return out;
}

EngineCluster::~EngineCluster() = default;

void EngineCluster::RefreshClasses() {
  std::vector<Ptr<PriorityClass>> all;
  for (const auto& [key, object] : objects_)
    if (const auto* one = std::get_if<Ptr<PriorityClass>>(&object)) all.push_back(*one);
  classes_ = std::make_unique<PriorityClasses>(all);
}

std::string EngineCluster::Key(Kind kind, const std::string& ns, const std::string& name) {
  return std::string(client::ToString(kind)) + "/" + ns + "/" + name;
}

// Objects.

PodEntry* EngineCluster::Put(const ClusterObject& object) {
  if (const auto* pod = std::get_if<Ptr<Pod>>(&object)) return PutPod(*pod);
  const ObjectMeta& meta = client::MetaOf(object);
  const auto [slot, added] = objects_.try_emplace(Key(client::KindOf(object), meta.namespace_, meta.name), object);
  const ClusterObject before = std::exchange(slot->second, object);
  if (const auto* node = std::get_if<Ptr<Node>>(&object)) {
    nodes_ += added;
    const Stopwatch watch(event_ns_);
    state_.PutNode(*node);
    if (added) {
      queue_->MoveAll({EventResource::kNode, action::kAdd}, {nullptr, nullptr, nullptr, *node});
    } else {
      const Ptr<Node>& old = std::get<Ptr<Node>>(before);
      for (const ClusterEvent& event : queue::NodeSchedulingPropertiesChange(**node, *old))
        queue_->MoveAll(event, {nullptr, nullptr, old, *node});
    }
    return nullptr;
  }
  if (client::KindOf(object) == Kind::kPriorityClass) RefreshClasses();
  const Stopwatch watch(event_ns_);
  std::visit(
      [&]<class T>(const std::shared_ptr<const T>& ptr) {
        if constexpr (!std::is_same_v<T, Pod> && !std::is_same_v<T, Node>) state_.PutObject<T>(ptr);
      },
      object);
  if (const auto resource = InfoOf(client::KindOf(object)).event)
    queue_->MoveAll({*resource, added ? action::kAdd : action::kUpdate}, {});
  return nullptr;
}

bool EngineCluster::Remove(Kind kind, const std::string& ns, const std::string& name) {
  if (kind == Kind::kPod) {
    PodEntry* entry = FindPod(ns, name);
    if (!entry) return false;
    if (entry->finalizers) {
      Terminate(*entry);
    } else {
      RemovePod(ns + "/" + name);
    }
    return true;
  }
  const auto it = objects_.find(Key(kind, ns, name));
  if (it == objects_.end()) return false;
  const ClusterObject object = it->second;
  objects_.erase(it);
  if (kind == Kind::kPriorityClass) RefreshClasses();
  const Stopwatch watch(event_ns_);
  std::visit(
      [&]<class T>(const std::shared_ptr<const T>& ptr) {
        if constexpr (std::is_same_v<T, Node>) {
          --nodes_;
          // The hints still see the node in the cache, as upstream has it.
          queue_->MoveAll({EventResource::kNode, action::kDelete}, {nullptr, nullptr, ptr, nullptr});
          (void)state_.RemoveNode(name);
        } else if constexpr (!std::is_same_v<T, Pod>) {
          state_.RemoveObject<T>(ns, name);
          if (const auto resource = InfoOf(kind).event) queue_->MoveAll({*resource, action::kDelete}, {});
        }
      },
      object);
  return true;
}

bool EngineCluster::Has(Kind kind, const std::string& ns, const std::string& name) const {
  return kind == Kind::kPod ? pods_.contains(ns + "/" + name) : objects_.contains(Key(kind, ns, name));
}

// Pods.

PodEntry* EngineCluster::PutPod(const Ptr<Pod>& pod) {
  const auto [slot, added] = pods_.try_emplace(FullName(*pod));
  PodEntry& entry = slot->second;
  if (added) {
    entry.pod = pod;
    pod_names_[pod->uid()] = slot->first;
    const Stopwatch watch(event_ns_);
    if (!pod->node_name.empty()) {
      (void)state_.AddPod(pod);
      queue_->MoveAll(cycle::kAssignedPodAdd, {nullptr, pod, nullptr, nullptr});
    } else if (engine_->FindProfile(pod->scheduler_name)) {
      queue_->Add(pod);
    }
    return &entry;
  }
  auto after = std::make_shared<Pod>(*pod);
  const Ptr<Pod> before = entry.pod;
  after->meta.uid = before->uid();
  after->meta.creation_time = before->meta.creation_time;
  after->meta.deletion_time = before->meta.deletion_time;
  after->node_name = before->node_name;
  after->nominated_node_name = before->nominated_node_name;
  entry.pod = after;
  const Stopwatch watch(event_ns_);
  if (!after->node_name.empty()) {
    (void)state_.UpdatePod(after);
    for (const ClusterEvent& event : queue::PodSchedulingPropertiesChange(*after, *before))
      queue_->MoveAll(event, {before, after, nullptr, nullptr});
  } else if (engine_->FindProfile(after->scheduler_name)) {
    queue_->Update(before, after);
    if (!after->nominated_node_name.empty()) state_.Nominate(after, after->nominated_node_name);
  }
  return &entry;
}

void EngineCluster::Terminate(PodEntry& entry) {
  if (entry.pod->terminating()) return;
  auto after = std::make_shared<Pod>(*entry.pod);
  after->meta.deletion_time = clock_.Now();
  const Ptr<Pod> before = std::exchange(entry.pod, after);
  const Stopwatch watch(event_ns_);
  if (!after->node_name.empty()) {
    (void)state_.UpdatePod(after);
    for (const ClusterEvent& event : queue::PodSchedulingPropertiesChange(*after, *before))
      queue_->MoveAll(event, {before, after, nullptr, nullptr});
  } else if (engine_->FindProfile(after->scheduler_name)) {
    queue_->Update(before, after);
  }
}

void EngineCluster::RemovePod(const std::string& key) {
  const auto it = pods_.find(key);
  const Ptr<Pod> pod = it->second.pod;
  pods_.erase(it);
  pod_names_.erase(pod->uid());
  const Stopwatch watch(event_ns_);
  if (!pod->node_name.empty()) {
    (void)state_.RemovePod(pod->uid());
    state_.ClearNomination(pod->uid());
    queue_->MoveAll(cycle::kAssignedPodDelete, {pod, nullptr, nullptr, nullptr});
    return;
  }
  queue_->Delete(*pod);
  state_.ClearNomination(pod->uid());
  if (!pod->nominated_node_name.empty()) GiveUpNomination(pod);
}

void EngineCluster::GiveUpNomination(const Ptr<Pod>& pod) {
  queue_->MoveAll(cycle::kAssignedPodDelete, {pod, nullptr, nullptr, nullptr},
                  [&](const Pod& other) { return other.priority <= pod->priority; });
}

void EngineCluster::Evict(const std::string& uid) {
  const auto it = pod_names_.find(uid);
  if (it != pod_names_.end()) RemovePod(std::string(it->second));
}

PodEntry* EngineCluster::FindPod(const std::string& ns, const std::string& name) {
  const auto it = pods_.find(ns + "/" + name);
  return it == pods_.end() ? nullptr : &it->second;
}

std::vector<PodEntry*> EngineCluster::AllPods() {
  std::vector<PodEntry*> out;
  for (auto& [name, entry] : pods_) out.push_back(&entry);
  // Uids are numbers of one length, in order of creation.
  std::sort(out.begin(), out.end(), [](auto* a, auto* b) { return a->pod->uid() < b->pod->uid(); });
  return out;
}

std::vector<PodEntry*> EngineCluster::PodsIn(const std::string& ns) {
  std::vector<PodEntry*> out = AllPods();
  std::erase_if(out, [&](const PodEntry* entry) { return entry->pod->namespace_() != ns; });
  return out;
}

// Attempts.

Attempt EngineCluster::Next() {
  Attempt out;
  const int64_t began = ThreadCpuNs();
  std::optional<queue::PodTicket> ticket = queue_->Pop();
  if (!ticket) return out;
  const Ptr<Pod> pod = ticket->pod();
  const framework::Profile* profile = engine_->FindProfile(pod->scheduler_name);
  if (!profile || pod->terminating()) {
    state_.ClearNomination(pod->uid());
    ticket->Done();
    out.kind = Attempt::Kind::kSkipped;
    out.cpu_ns = ThreadCpuNs() - began;
    out.entry = FindPod(pod->namespace_(), pod->name());
    return out;
  }
  const Snapshot snapshot = state_.snapshot();
  framework::Decision decision = Decide(*profile, *pod, snapshot);
  if (decision.kind == Judgement::Kind::kFits) {
    Place(std::move(*ticket), snapshot.node(decision.row).name(), out, began);
  } else {
    Reject(std::move(*ticket), *profile, decision, out, began);
  }
  return out;
}

framework::Decision EngineCluster::Decide(const framework::Profile& profile, const Pod& pod, const Snapshot& snapshot) {
  const framework::JudgeOptions options = cycle::SearchOf(profile, snapshot, next_start_);
  if (options.limit == 0) return engine_->Decide(profile, pod, snapshot);
  Judgement judged = engine_->Judge(profile, pod, snapshot, options);
  if (!judged.nominated && judged.evaluated > 0)
    next_start_ = cycle::NextStart(judged, snapshot, options.start, options.limit);
  return framework::DecisionOf(judged, snapshot, engine_->table(), options.start);
}

void EngineCluster::Place(queue::PodTicket ticket, const std::string& node, Attempt& out, int64_t began) {
  const Ptr<Pod> pod = ticket.pod();
  auto assumed = std::make_shared<Pod>(*pod);
  assumed->node_name = node;
  if (const Error error = state_.AssumePod(assumed); !error.ok()) {
    out.kind = Attempt::Kind::kRejected;
    out.message = error.text();
    ticket.ReturnFailed();
    out.cpu_ns = ThreadCpuNs() - began;
    return;
  }
  out.cpu_ns = ThreadCpuNs() - began;
  // Bound at once: the watch tells of it.
  out.kind = Attempt::Kind::kPlaced;
  out.entry = FindPod(pod->namespace_(), pod->name());
  if (out.entry) out.entry->pod = assumed;
  const Stopwatch watch(event_ns_);
  ticket.Done();
  state_.ClearNomination(pod->uid());
  (void)state_.AddPod(assumed);
  queue_->MoveAll(cycle::kAssignedPodAdd, {nullptr, assumed, nullptr, nullptr});
}

void EngineCluster::Reject(queue::PodTicket ticket, const framework::Profile& profile,
                           const framework::Decision& decision, Attempt& out, int64_t began) {
  Ptr<Pod> pod = ticket.pod();
  out.kind = Attempt::Kind::kRejected;
  out.message = decision.message;
  queue::Rejectors rejectors;
  std::string nominate = pod->nominated_node_name;
  if (decision.kind == Judgement::Kind::kRejected) {
    rejectors = cycle::RejectorsOf(decision, profile);
    const PostFilterOutcome& after = decision.post_filter;
    if (after.nominated_node) nominate = *after.nominated_node;
    if (after.plan && after.verdict.fits())
      for (const PreemptionCandidate& candidate : after.plan->candidates)
        if (candidate.node == after.plan->selected)
          for (const auto& victim : candidate.victims) out.victims.push_back(victim->uid());
  }
  // The nomination is in the pod's status at once.
  if (nominate != pod->nominated_node_name) {
    auto nominated = std::make_shared<Pod>(*pod);
    nominated->nominated_node_name = nominate;
    pod = nominated;
    ticket.Refresh(pod);
  }
  ticket.Return(rejectors);
  state_.ClearNomination(pod->uid());
  if (!nominate.empty()) {
    const std::vector<Ptr<Pod>> others = state_.NominatedTo(nominate);
    state_.Nominate(pod, nominate);
    // Pods of lower priority do not get this place any more.
    if (!out.victims.empty())
      for (const Ptr<Pod>& other : others) {
        if (other->priority >= pod->priority) continue;
        auto without = std::make_shared<Pod>(*other);
        without->nominated_node_name.clear();
        state_.ClearNomination(other->uid());
        if (PodEntry* entry = FindPod(other->namespace_(), other->name())) entry->pod = without;
        queue_->Update(other, without);
        GiveUpNomination(other);
      }
  }
  out.cpu_ns = ThreadCpuNs() - began;
  out.entry = FindPod(pod->namespace_(), pod->name());
  if (out.entry) out.entry->pod = pod;
}

}  // namespace berth::bench
