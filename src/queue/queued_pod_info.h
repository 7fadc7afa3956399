// SPDX-License-Identifier: Apache-2.0
// QueuedPodInfo: a pod that waits to be scheduled or is being scheduled, and the history its waiting depends on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/clock.h"
#include "berth/pod.h"
#include "berth/verdict.h"
#include "queue/backoff.h"
#include "queue/heap.h"
#include "queue/hint_map.h"
#include "queue/in_flight.h"

namespace berth::queue {

// Where a pod is. kNone: the queue does not know it, or has let it go.
enum class Place : uint8_t { kNone, kActive, kBackoff, kErrorBackoff, kUnschedulable, kGated, kInFlight };
std::string_view ToString(Place place);

// A PreEnqueue plugin that keeps a pod out of the active queue, and what it said.
struct Gate {
  std::string plugin;
  Verdict verdict;
};

// Who rejected a pod in a scheduling attempt; pending plugins are those that said Pending. Neither: the attempt failed
// with an error. Must name every PreFilter plugin that narrowed the nodes, every Filter plugin that rejected any node,
// and Extender: one of them hearing of a helpful event is enough for another attempt.
struct Rejectors {
  std::vector<std::string> unschedulable;
  std::vector<std::string> pending;
};

struct Rejector {
  PluginId plugin = kNoPlugin;
  bool pending = false;
  bool operator==(const Rejector&) const = default;
};

// Public members are for everybody to read; only the queue writes them.
struct QueuedPodInfo {
  std::shared_ptr<const Pod> pod;
  Time timestamp;                       // when it last entered the queue
  int attempts = 0;                     // times popped
  int unschedulable_count = 0;          // attempts that ended in a rejection
  int consecutive_errors_count = 0;     // attempts that ended in an error, since the last rejection
  std::optional<Time> initial_attempt;  // when it first was active; never reset
  std::vector<Rejector> rejectors;      // of the last attempt, and of gates since; ascending by plugin
  PluginId gating_plugin = kNoPlugin;   // kNoPlugin: not gated
  Verdict gate_verdict;                 // of the gating plugin
  bool was_flushed = false;             // woken by the timeout, not by an event
  std::optional<Time> flush_timestamp;  // when that last happened

  bool gated() const { return gating_plugin != kNoPlugin; }
  Place where() const { return place; }

  QueuedPodInfo() = default;
  QueuedPodInfo(const QueuedPodInfo&) = delete;  // lists point to it and it points into itself
  QueuedPodInfo& operator=(const QueuedPodInfo&) = delete;

 private:
  friend class SchedulingQueue;
  friend class PodTicket;
  struct IndexSlot {
    PluginId plugin;
    size_t slot;
  };

  std::string id;          // uid/namespace/name
  std::string_view key;    // namespace/name: the end of `id`
  uint64_t sequence = 0;   // order of `timestamp` among equal ones
  Time expiry = kLongAgo;  // of the backoff; follows from timestamp and counts
  ProfileIndex profile = kNoProfile;
  Place place = Place::kNone;
  size_t heap_slot = kNoSlot;
  size_t waiting_slot = kNoSlot;       // in the list of all waiting pods
  std::vector<IndexSlot> index_slots;  // in the lists of waiting pods by plugin
  uint64_t round = 0;                  // last hint round that has seen it
  // In flight only.
  std::optional<InFlight::Mark> mark;  // none: events are no longer recorded for it
  std::shared_ptr<const Pod> newer;    // the pod changed meanwhile
  bool deleted = false;                // or went away
};

}  // namespace berth::queue
