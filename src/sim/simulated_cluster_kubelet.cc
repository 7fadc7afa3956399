// SPDX-License-Identifier: Apache-2.0
// The kubelets of the simulated cluster: pods start, end and stop on their nodes.
#include <algorithm>
#include <utility>

#include "berth/args.h"
#include "sim/run_for.h"
#include "sim/simulated_cluster.h"
#include "sim/simulated_cluster_internal.h"

namespace berth::sim {
using client::NameOf;
using client::ObjectName;

// The pod came to its node (`before` null or not bound), or something about it changed there.
void SimulatedCluster::PodOnNode(const Ptr<Pod>& before, const Ptr<Pod>& after) {
  if (after->node_name.empty() || after->finished()) return;
  const bool new_here = before == nullptr || before->node_name.empty();
  if (after->terminating()) {
    if (!new_here && before->terminating()) return;
    return Later(options_.stop_time, [this, name = NameOf(*after)] { StopPod(name); });
  }
  if (after->phase == "Running") {
    // Known to run for the first time, or told to end where it was not before.
    const bool ran = !new_here && before->phase == "Running";
    if (!ran || before->meta.annotations != after->meta.annotations) PlanEnd(*after);
    return;
  }
  if (new_here) Later(options_.start_time, [this, name = NameOf(*after)] { StartPod(name); });
}

void SimulatedCluster::PlanEnd(const Pod& pod) {
  const std::string* text = pod.meta.annotations.Find(kRunForAnnotation);
  ends_.erase(pod.uid());
  if (text == nullptr) return;
  const Result<Duration> run_for = ParseDuration(*text);
  if (!run_for.ok()) return;  // Create and Update let none of these in
  // A start may be anywhere in time, further off than 64 bits of nanoseconds reach.
  const Time now = clock_.Now();
  const __int128_t ran = static_cast<__int128_t>(now.ns) - pod.start_time.value_or(now).ns;
  const auto counted = static_cast<int64_t>(std::clamp<__int128_t>(ran, 0, run_for->ns));
  const Duration left{run_for->ns - counted};
  const Time end = now + left;
  ends_[pod.uid()] = end;
  Later(left, [this, name = NameOf(pod), end] {
    const auto it = ends_.find(name.uid);
    if (it == ends_.end() || it->second != end) return;  // it was told otherwise since
    ends_.erase(it);
    EndPod(name, "Succeeded");
  });
}

void SimulatedCluster::StopPod(const ObjectName& name) {
  if (Incarnation(name) != nullptr) Erase(Kind::kPod, KeyOf(name.namespace_, name.name));
}

void SimulatedCluster::NodeCame(const std::string& node) {
  const auto it = homeless_.find(node);
  if (it == homeless_.end()) return;
  const std::vector<ObjectName> pods = std::move(it->second);
  homeless_.erase(it);
  for (const ObjectName& pod : pods) {
    Later(options_.start_time, [this, pod] { StartPod(pod); });
  }
}

// The stored pod if it is still the one that was meant.
ClusterObject* SimulatedCluster::Incarnation(const ObjectName& name) {
  client::ApiStatus ignored;
  return FindPod(name, ignored);
}

}  // namespace berth::sim
