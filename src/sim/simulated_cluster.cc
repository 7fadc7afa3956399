// SPDX-License-Identifier: Apache-2.0
// The store of the simulated cluster: what creating, changing, binding and deleting does to objects.
#include "sim/simulated_cluster.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "client/pod_writes.h"
#include "sim/run_for.h"
#include "sim/simulated_cluster_internal.h"

namespace berth::sim {

using client::ApiStatus;
using client::ObjectName;

namespace {

ApiStatus NotFound(Kind kind, std::string_view name) {
  return {404, std::string(ToString(kind)) + " \"" + std::string(name) + "\" not found"};
}

// Not ok: the pod asks its kubelet for something that cannot be understood.
ApiStatus CheckPod(const Pod& pod) {
  const std::string problem = RunForProblem(pod);
  if (problem.empty()) return {};
  return {422, std::string(kRunForPath) + ": " + problem};
}

// The same of any object.
ApiStatus CheckObject(const ClusterObject& object) {
  if (const auto* pod = std::get_if<Ptr<Pod>>(&object)) return CheckPod(**pod);
  const auto* storage_class = std::get_if<Ptr<StorageClass>>(&object);
  const std::string problem = storage_class != nullptr ? VolumeTimes::Problem(**storage_class) : "";
  return problem.empty() ? ApiStatus{} : ApiStatus{422, problem};
}

bool IsNull(const ClusterObject& object) {
  return std::visit([](const auto& ptr) { return ptr == nullptr; }, object);
}

}  // namespace

SimulatedCluster::SimulatedCluster(util::TimerQueue& agenda, const Clock& clock, util::Inbox& inbox,
                                   ClusterOptions options)
    : agenda_(agenda), clock_(clock), inbox_(inbox), options_(options), random_(options.seed) {
  volumes_ = std::make_unique<VolumeController>(
      *this, [this](Duration delay, std::function<void()> fn) { Later(delay, std::move(fn)); },
      [this](const std::string& claim) { return Hit(options_.faults.provision, "no volume for", claim); });
}

SimulatedCluster::~SimulatedCluster() { owner_.Leave(); }

ApiStatus SimulatedCluster::Create(ClusterObject object) {
  if (IsNull(object)) return {400, "no object"};
  const Kind kind = KindOf(object);
  if (MetaOf(object).name.empty()) return {422, std::string(ToString(kind)) + ": metadata.name: must not be empty"};
  if (ApiStatus bad = CheckObject(object); !bad.ok()) return bad;
  std::string key = KeyOf(MetaOf(object));
  Table& objects = shelf(kind).objects;
  if (objects.contains(key)) return {409, std::string(ToString(kind)) + " \"" + key + "\" already exists"};

  ObjectMeta meta = MetaOf(object);
  meta.resource_version = NextVersion();
  if (meta.uid.empty()) meta.uid = "uid-" + meta.resource_version;
  if (!meta.creation_time) meta.creation_time = clock_.Now();
  if (kind == Kind::kPod) {
    auto pod = std::make_shared<Pod>(*std::get<Ptr<Pod>>(object));
    pod->meta = std::move(meta);
    if (pod->phase.empty()) pod->phase = "Pending";
    object = Ptr<Pod>(std::move(pod));
  } else {
    object = WithMeta(object, std::move(meta));
  }
  const ClusterObject& stored = objects.emplace(std::move(key), object).first->second;
  Record(nullptr, &stored);
  if (kind == Kind::kPod) PodOnNode(nullptr, std::get<Ptr<Pod>>(object));
  if (kind == Kind::kNode) NodeCame(MetaOf(object).name);
  return {201, ""};
}

ApiStatus SimulatedCluster::Update(Kind kind, std::string_view ns, std::string_view name,
                                   const std::function<ClusterObject(const ClusterObject&)>& change) {
  const std::string key = KeyOf(ns, name);
  Table& objects = shelf(kind).objects;
  auto it = objects.find(key);
  if (it == objects.end()) return NotFound(kind, key);
  const ClusterObject before = it->second;
  const ClusterObject after = change(before);
  if (IsNull(after) || KindOf(after) != kind || KeyOf(MetaOf(after)) != key) {
    return {422, std::string(ToString(kind)) + " \"" + key + "\": kind, name and namespace cannot be changed"};
  }
  it = objects.find(key);
  if (it == objects.end() || it->second != before) {
    return {409, std::string(ToString(kind)) + " \"" + key + "\" has been modified meanwhile"};
  }
  ObjectMeta meta = MetaOf(after);
  const ObjectMeta& old = MetaOf(before);
  meta.uid = old.uid;
  meta.creation_time = old.creation_time;
  meta.deletion_time = old.deletion_time;
  if (kind != Kind::kPod) {
    if (ApiStatus bad = CheckObject(after); !bad.ok()) return bad;
    meta.resource_version = NextVersion();
    Replace(it->second, WithMeta(after, std::move(meta)));
    return {};
  }
  const Ptr<Pod> was = std::get<Ptr<Pod>>(before);
  auto pod = std::make_shared<Pod>(*std::get<Ptr<Pod>>(after));
  pod->meta = std::move(meta);
  if (ApiStatus bad = CheckPod(*pod); !bad.ok()) return bad;
  if (pod->node_name.empty()) pod->node_name = was->node_name;
  if (!was->node_name.empty() && pod->node_name != was->node_name) {
    return {422, "Pod \"" + key + "\": spec.nodeName: cannot be changed from \"" + was->node_name + "\" to \"" +
                     pod->node_name + "\""};
  }
  if (pod->phase.empty()) pod->phase = was->phase;
  if (!pod->start_time) pod->start_time = was->start_time;
  pod->meta.resource_version = NextVersion();
  const Ptr<Pod> changed = std::move(pod);
  Replace(it->second, changed);
  PodOnNode(was, changed);
  return {};
}

ApiStatus SimulatedCluster::Delete(Kind kind, std::string_view ns, std::string_view name) {
  if (kind == Kind::kPod) return RemovePod({std::string(ns), std::string(name), ""});
  const std::string key = KeyOf(ns, name);
  if (!shelf(kind).objects.contains(key)) return NotFound(kind, key);
  Erase(kind, key);
  return {};
}

ApiStatus SimulatedCluster::BindNow(const ObjectName& pod, const std::string& node) { return BindPod(pod, node); }

const ClusterObject* SimulatedCluster::Find(Kind kind, std::string_view ns, std::string_view name) const {
  const Table& objects = shelf(kind).objects;
  const auto it = objects.find(KeyOf(ns, name));
  return it == objects.end() ? nullptr : &it->second;
}

void SimulatedCluster::ForEach(Kind kind, const std::function<void(const ClusterObject&)>& fn) const {
  for (const ClusterObject& object : Sorted(kind)) fn(object);  // a copy: `fn` may change the store
}

size_t SimulatedCluster::count(Kind kind) const { return shelf(kind).objects.size(); }

bool SimulatedCluster::quiet() const { return under_way_ == 0; }

std::vector<ClusterObject> SimulatedCluster::Sorted(Kind kind) const {
  const Table& objects = shelf(kind).objects;
  std::vector<std::pair<const ObjectMeta*, const ClusterObject*>> order;
  order.reserve(objects.size());
  for (const auto& [key, object] : objects) order.emplace_back(&MetaOf(object), &object);
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first->namespace_, a.first->name) < std::tie(b.first->namespace_, b.first->name);
  });
  std::vector<ClusterObject> sorted;
  sorted.reserve(order.size());
  for (const auto& [meta, object] : order) sorted.push_back(*object);
  return sorted;
}

void SimulatedCluster::Replace(ClusterObject& stored, ClusterObject after) {
  const ClusterObject before = std::exchange(stored, std::move(after));
  Record(&before, &stored);
}

template <class Fn>
Ptr<Pod> SimulatedCluster::ChangePod(ClusterObject& stored, Fn&& fn) {
  auto pod = std::make_shared<Pod>(*std::get<Ptr<Pod>>(stored));
  fn(*pod);
  pod->meta.resource_version = NextVersion();
  Ptr<Pod> changed = std::move(pod);
  Replace(stored, changed);
  return changed;
}

void SimulatedCluster::Erase(Kind kind, const std::string& key) {
  const auto it = shelf(kind).objects.find(key);
  const ClusterObject before = std::move(it->second);
  shelf(kind).objects.erase(it);
  ++version_;
  Record(&before, nullptr);
}

ClusterObject* SimulatedCluster::FindPod(const ObjectName& name, ApiStatus& status) {
  const auto it = shelf(Kind::kPod).objects.find(KeyOf(name.namespace_, name.name));
  const bool there = it != shelf(Kind::kPod).objects.end();
  status = client::CheckIncarnation(name, there ? std::get<Ptr<Pod>>(it->second).get() : nullptr);
  return status.ok() ? &it->second : nullptr;
}

ApiStatus SimulatedCluster::BindPod(const ObjectName& name, const std::string& node) {
  ApiStatus status;
  ClusterObject* stored = FindPod(name, status);
  if (stored == nullptr) return status;
  const Ptr<Pod> before = std::get<Ptr<Pod>>(*stored);
  status = client::CheckBinding(*before, node);
  if (!status.ok()) return status;
  if (on_bind) on_bind(*before, node);
  const ClusterObject* found = Find(Kind::kNode, "", node);
  const Node* const known = found != nullptr ? std::get<Ptr<Node>>(*found).get() : nullptr;
  const Ptr<Pod> after = ChangePod(*stored, [&](Pod& pod) { client::ApplyBinding(node, known, pod); });
  PodOnNode(before, after);
  return {201, ""};
}

ApiStatus SimulatedCluster::PatchPod(const client::PodStatusPatch& patch) {
  ApiStatus status;
  ClusterObject* stored = FindPod(patch.pod, status);
  if (stored == nullptr) return status;
  if (client::ChangesStatus(patch, *std::get<Ptr<Pod>>(*stored)))
    ChangePod(*stored, [&](Pod& pod) { client::ApplyStatus(patch, pod); });
  return {};
}

ApiStatus SimulatedCluster::RemovePod(const ObjectName& name) {
  ApiStatus status;
  ClusterObject* stored = FindPod(name, status);
  if (stored == nullptr) return status;
  const Ptr<Pod> before = std::get<Ptr<Pod>>(*stored);
  if (before->node_name.empty() || before->finished()) {
    Erase(Kind::kPod, KeyOf(before->meta));
    return {};
  }
  if (before->terminating()) return {};
  const Ptr<Pod> after =
      ChangePod(*stored, [this](Pod& pod) { pod.meta.deletion_time = clock_.Now() + options_.stop_time; });
  PodOnNode(before, after);
  return {};
}

void SimulatedCluster::Touch(const ObjectName& name) {
  ApiStatus status;
  ClusterObject* stored = FindPod(name, status);
  if (stored != nullptr) ChangePod(*stored, [](Pod&) {});
}

// The kubelet's changes, here because of the template above.
void SimulatedCluster::StartPod(const ObjectName& name) {
  ClusterObject* stored = Incarnation(name);
  if (stored == nullptr) return;
  const Ptr<Pod> pod = std::get<Ptr<Pod>>(*stored);
  if (pod->terminating() || pod->finished() || pod->phase == "Running") return;
  if (!shelf(Kind::kNode).objects.contains(pod->node_name)) {
    std::vector<ObjectName>& waiting = homeless_[pod->node_name];
    // Before it grows: a node may never come, while its pods come and go.
    if (waiting.size() == waiting.capacity())
      std::erase_if(waiting, [this](const ObjectName& other) { return Incarnation(other) == nullptr; });
    waiting.push_back(name);
    return;
  }
  PlanEnd(*ChangePod(*stored, [this](Pod& running) {
    running.phase = "Running";
    if (!running.start_time) running.start_time = clock_.Now();
  }));
}

void SimulatedCluster::EndPod(const ObjectName& name, std::string_view phase) {
  ClusterObject* stored = Incarnation(name);
  if (stored == nullptr) return;
  const Ptr<Pod> pod = std::get<Ptr<Pod>>(*stored);
  if (pod->terminating() || pod->phase != "Running") return;
  ChangePod(*stored, [phase](Pod& ended) { ended.phase = phase; });
}

}  // namespace berth::sim
