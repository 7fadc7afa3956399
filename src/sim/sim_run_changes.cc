// SPDX-License-Identifier: Apache-2.0
// Creating, replacing and deleting on behalf of a scenario.
#include "sim/sim_run_changes.h"

#include <memory>
#include <utility>

#include "sim/scenario_world.h"

namespace berth::sim {
namespace {

// `after` is left alone where the change is about it.
template <class T>
void Keep(T& after, const T& before, const T& current) {
  if (after == before) after = current;
}

void KeepMeta(ObjectMeta& after, const ObjectMeta& before, const ObjectMeta& current) {
  after.uid = current.uid;
  after.resource_version = current.resource_version;
  Keep(after.generation, before.generation, current.generation);
  Keep(after.creation_time, before.creation_time, current.creation_time);
  Keep(after.deletion_time, before.deletion_time, current.deletion_time);
}

void KeepStatus(Pod& after, const Pod& before, const Pod& current) {
  Keep(after.node_name, before.node_name, current.node_name);
  Keep(after.phase, before.phase, current.phase);
  Keep(after.conditions, before.conditions, current.conditions);
  Keep(after.nominated_node_name, before.nominated_node_name, current.nominated_node_name);
  Keep(after.start_time, before.start_time, current.start_time);
  // No server lets a pod be taken off its node, or forget that it ran, by leaving that out.
  if (after.node_name.empty()) after.node_name = current.node_name;
  if (after.phase.empty()) after.phase = current.phase;
  if (!after.start_time) after.start_time = current.start_time;
}

std::string NameOf(const Change& change) {
  return ScenarioWorld::Key{change.kind, change.namespace_, change.name}.Text();
}

bool Terminating(const ClusterObject& object) { return MetaOf(object).deletion_time.has_value(); }

// REQUIRES: `change` outlives the run, unless tries is 0.
void Create(Simulation& simulation, const Change& change, const std::string& path,
            const std::function<void(std::string)>& note, int tries) {
  const client::ApiStatus status = simulation.cluster().Create(*change.after);
  if (status.ok()) return;
  const ClusterObject* there = simulation.cluster().Find(change.kind, change.namespace_, change.name);
  if (there && Terminating(*there) && tries > 0) {
    const Time later = simulation.clock().Now() + simulation.cluster().options().stop_time;
    simulation.At(later,
                  [&simulation, &change, path, note, tries] { Create(simulation, change, path, note, tries - 1); });
    return;
  }
  note(path + ": " + NameOf(change) + " could not be created: " + status.message);
}

}  // namespace

ClusterObject Merge(const Change& change, const ClusterObject& current) {
  return std::visit(
      [&](const auto& after) -> ClusterObject {
        using Pointer = std::decay_t<decltype(after)>;
        using T = std::remove_const_t<typename Pointer::element_type>;
        const T& now = *std::get<Pointer>(current);
        // Without a state before there is nothing to compare with: only identity is kept.
        const T& before = change.before ? *std::get<Pointer>(*change.before) : *after;
        auto merged = std::make_shared<T>(*after);
        KeepMeta(merged->meta, before.meta, now.meta);
        if constexpr (std::is_same_v<T, Pod>) KeepStatus(*merged, before, now);
        return Pointer(std::move(merged));
      },
      *change.after);
}

void MakeChange(Simulation& simulation, const Change& change, const std::string& path,
                const std::function<void(std::string)>& note) {
  SimulatedCluster& cluster = simulation.cluster();
  const ClusterObject* there = cluster.Find(change.kind, change.namespace_, change.name);
  if (!change.after) {
    if (!there) return note(path + ": " + NameOf(change) + " is gone already");
    (void)cluster.Delete(change.kind, change.namespace_, change.name);
    return;
  }
  if (!change.before) {
    constexpr int kTries = 60;
    return Create(simulation, change, path, note, kTries);
  }
  if (!there) {
    // Evicted, say. A patch has nothing to patch; who applies gets a new one.
    if (change.patch) return note(path + ": " + NameOf(change) + " is gone already");
    // What it was is over: timers and counts that go by the uid must not take the one for the other.
    Change again = change;
    ObjectMeta meta = MetaOf(*change.after);
    meta.uid.clear();
    meta.creation_time.reset();
    again.after = WithMeta(*change.after, std::move(meta));
    return Create(simulation, again, path, note, 0);
  }
  const client::ApiStatus status = cluster.Update(change.kind, change.namespace_, change.name,
                                                  [&](const ClusterObject& current) { return Merge(change, current); });
  if (!status.ok()) note(path + ": " + NameOf(change) + " could not be changed: " + status.message);
}

}  // namespace berth::sim
