// SPDX-License-Identifier: Apache-2.0
// Upstream: pkg/scheduler/backend/cache/debugger (v1.36.4).
#include "live/cache_dump.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "berth/value.h"

namespace berth::live {
namespace {

constexpr size_t kMostOfMismatch = 4096;  // bytes
constexpr size_t kPerLine = 64 << 10;     // bytes of one line, roughly

std::string Describe(const Pod& pod) {
  return "name: " + pod.name() + ", namespace: " + pod.namespace_() + ", uid: " + pod.uid() + ", phase: " + pod.phase +
         ", nominated node: " + pod.nominated_node_name + "\n";
}

// As Go shows a Resource.
std::string Describe(const Resources& amounts) {
  std::string scalars;
  for (const auto& [id, amount] : amounts.scalars)
    scalars += (scalars.empty() ? "" : " ") + ResourceName(id) + ":" + std::to_string(amount);
  return "&{MilliCPU:" + std::to_string(amounts.milli_cpu) + " Memory:" + std::to_string(amounts.memory) +
         " EphemeralStorage:" + std::to_string(amounts.ephemeral_storage) +
         " AllowedPodNumber:" + std::to_string(amounts.pods) + " ScalarResources:map[" + scalars + "]}";
}

Resources RequestedOn(const Snapshot& snapshot, Row row) {
  const auto requested = [&](ResourceId id) {
    const std::span<const int64_t> column = snapshot.requested(id);
    return row < column.size() ? column[row] : 0;
  };
  Resources amounts;
  amounts.milli_cpu = requested(ResourceId::kCpu);
  amounts.memory = requested(ResourceId::kMemory);
  amounts.ephemeral_storage = requested(ResourceId::kEphemeralStorage);
  for (size_t i = Index(ResourceId::kPods) + 1; i < snapshot.resource_count(); ++i) {
    const auto id = static_cast<ResourceId>(i);
    if (const int64_t amount = requested(id); amount != 0) amounts.scalars.emplace_back(id, amount);
  }
  return amounts;
}

std::string Describe(const Snapshot& snapshot, Row row) {
  const Node& node = snapshot.node(row);
  std::string text = "Node name: " + node.name() +
                     "\nDeleted: false\nRequested Resources: " + Describe(RequestedOn(snapshot, row)) +
                     "\nAllocatable Resources:" + Describe(node.allocatable) +
                     "\nScheduled Pods(number: " + std::to_string(snapshot.pods(row).size()) + "):\n";
  for (const PodRecord* record : snapshot.pods(row)) text += Describe(*record->pod);
  const auto nominated = snapshot.nominated(row);
  if (nominated.empty()) return text;
  text += "Nominated Pods(number: " + std::to_string(nominated.size()) + "):\n";
  for (const PodRecord* record : nominated) text += Describe(*record->pod);
  return text;
}

// Parts go into as few lines as they fit; `say` is called with each, at least once.
template <class Say>
class Lines {
 public:
  Lines(const char* between, Say say) : between_(between), say_(std::move(say)) {}
  void Add(const std::string& part) {
    if (!text_.empty() && text_.size() + part.size() > kPerLine) Flush();
    text_ += (text_.empty() ? "" : between_) + part;
  }
  void Flush() {
    say_(text_);
    text_.clear();
  }

 private:
  const std::string between_;
  const Say say_;
  std::string text_;
};

using Names = std::set<std::string>;

Names Without(const Names& names, const Names& others) {
  Names left;
  std::set_difference(names.begin(), names.end(), others.begin(), others.end(), std::inserter(left, left.begin()));
  return left;
}

std::string Json(const Names& names) {
  Value list = Value::Array();
  size_t bytes = 0;
  for (const std::string& name : names) {
    bytes += name.size();
    if (bytes > kMostOfMismatch) {
      list.Append(Value::String("…"));
      break;
    }
    list.Append(Value::String(name));
  }
  return list.ToJson();
}

void Compare(const cycle::Scheduler& scheduler, util::Log& log) {
  log.V(3).Info("Cache comparer started");
  const Snapshot snapshot = scheduler.state().snapshot();
  Names nodes, pods, cached_nodes, cached_pods;
  scheduler.reflector(Kind::kNode).ForEach([&](const ClusterObject& object) { nodes.insert(MetaOf(object).name); });
  // Pods without a node that belong to others concern nobody here.
  scheduler.reflector(Kind::kPod).ForEach([&](const ClusterObject& object) {
    const Pod& pod = *std::get<Ptr<Pod>>(object);
    if (!pod.node_name.empty() || scheduler.engine().FindProfile(pod.scheduler_name) != nullptr) pods.insert(pod.uid());
    if (pod.node_name.empty() && scheduler.queue().PlaceOf(pod) != queue::Place::kNone) cached_pods.insert(pod.uid());
    // It is let go when its turn comes.
    if (pod.node_name.empty() && pod.terminating() && pods.contains(pod.uid())) cached_pods.insert(pod.uid());
  });
  for (const Row row : snapshot.order()) cached_nodes.insert(snapshot.node(row).name());
  for (Row row = 0; row < snapshot.rows(); ++row)
    for (const PodRecord* record : snapshot.pods(row)) cached_pods.insert(record->pod->uid());
  if (nodes != cached_nodes) {
    log.Info("Cache mismatch", {{"missedNodes", LogValue::Json(Json(Without(nodes, cached_nodes)))},
                                {"redundantNodes", LogValue::Json(Json(Without(cached_nodes, nodes)))}});
  }
  if (pods != cached_pods) {
    log.Info("Cache mismatch", {{"missedPods", LogValue::Json(Json(Without(pods, cached_pods)))},
                                {"redundantPods", LogValue::Json(Json(Without(cached_pods, pods)))}});
  }
  std::string wrong = scheduler.CheckInvariants().substr(0, kMostOfMismatch);
  if (wrong.empty()) wrong = "none";
  log.Info("Cache comparer finished", {{"mismatch", wrong}});
}

}  // namespace

void DumpCache(const cycle::Scheduler& scheduler, util::Log& log) {
  Compare(scheduler, log);
  const Snapshot snapshot = scheduler.state().snapshot();
  Lines nodes("\n\n", [&](const std::string& text) { log.Info("Dump of cached NodeInfo", {{"nodes", text}}); });
  for (const Row row : snapshot.order()) nodes.Add(Describe(snapshot, row));
  nodes.Flush();
  const std::string summary = scheduler.queue().Summary();
  Lines pods("", [&](const std::string& text) {
    log.Info("Dump of scheduling queue", {{"summary", summary}, {"pods", text}});
  });
  scheduler.reflector(Kind::kPod).ForEach([&](const ClusterObject& object) {
    const Pod& pod = *std::get<Ptr<Pod>>(object);
    const queue::Place place = scheduler.queue().PlaceOf(pod);
    if (pod.node_name.empty() && place != queue::Place::kNone && place != queue::Place::kInFlight)
      pods.Add(Describe(pod));
  });
  pods.Flush();
}

}  // namespace berth::live
