// SPDX-License-Identifier: Apache-2.0
// EngineCluster: cache, queue and engine without an API server: what the scheduling thread does, and nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/defaults.h"
#include "berth/error.h"
#include "berth/registry.h"
#include "client/cluster_object.h"
#include "cluster/cluster_state.h"
#include "config/types.h"
#include "framework/engine.h"
#include "queue/scheduling_queue.h"

namespace berth::bench {

// A pod that exists, with what a run wants to know of it.
struct PodEntry {
  client::Ptr<Pod> pod;     // with its node once it is placed
  bool finalizers = false;  // it outlives its deletion, terminating
  bool paced = false;       // it came with a createPods op: its attempts take virtual time
  bool measured = false;
  bool awaited = false;  // an op waits for it
  bool attempted = false;
  std::string message;  // of a measured pod that was rejected, the latest
};

struct Attempt {
  enum class Kind : uint8_t { kNone, kPlaced, kRejected, kSkipped } kind = Kind::kNone;
  PodEntry* entry = nullptr;         // valid until it is removed; null when the pod is gone
  std::string message;               // of a rejection
  std::vector<std::string> victims;  // uids of pods that preemption wants gone
  int64_t cpu_ns = 0;                // from pop to assumed, or to returned to the queue
};

struct EngineClusterOptions {
  // Every decision is made twice, from memory and in full, and compared. Times are then worth nothing.
  bool verify = false;
};

// CPU time of this thread.
int64_t ThreadCpuNs();
// CPU time of all threads.
int64_t ProcessCpuNs();

// Objects are put and removed as if a watch had told of them; a placed pod is bound at once. The event handling follows
// cycle/event_handlers.h. What it costs is kept apart from attempts: event_ns().
// Thread safety: one thread.
class EngineCluster {
 public:
  // REQUIRES: registry and clock outlive it. The error lists what kube-scheduler would refuse at start.
  static Result<std::unique_ptr<EngineCluster>> Make(const config::SchedulerConfiguration& config,
                                                     const Registry& registry, const Clock& clock,
                                                     const EngineClusterOptions& options = {});
  ~EngineCluster();

  // A new object, or a new version of one; of a pod, what the cluster wrote (uid, node) stays. Returns the entry of a
  // pod; null for other kinds.
  PodEntry* Put(const client::ClusterObject& object);
  // False when it is not there. A pod with finalizers only begins to terminate.
  bool Remove(client::Kind kind, const std::string& ns, const std::string& name);
  // Deletes a victim: gone at once.
  void Evict(const std::string& uid);
  bool Has(client::Kind kind, const std::string& ns, const std::string& name) const;

  // Decides about the next pod; kNone when nothing is ready. Victims are the caller's to evict.
  Attempt Next();

  PodEntry* FindPod(const std::string& ns, const std::string& name);
  // In order of creation.
  std::vector<PodEntry*> PodsIn(const std::string& ns);
  std::vector<PodEntry*> AllPods();
  size_t nodes() const { return nodes_; }
  size_t size() const { return pods_.size() + objects_.size(); }
  int64_t event_ns() const { return event_ns_; }
  const PriorityClasses& priority_classes() const { return *classes_; }
  queue::SchedulingQueue& queue() { return *queue_; }
  const cluster::ClusterState& state() const { return state_; }
  framework::Engine& engine() { return *engine_; }

  // With verify: how many decisions differed, and how the first did.
  uint64_t differences() const { return differences_; }
  const std::string& first_difference() const { return first_difference_; }

 private:
  explicit EngineCluster(const Clock& clock) : clock_(clock) {}
  static std::string Key(client::Kind kind, const std::string& ns, const std::string& name);
  PodEntry* PutPod(const client::Ptr<Pod>& pod);
  void RemovePod(const std::string& key);
  void Terminate(PodEntry& entry);
  void Place(queue::PodTicket ticket, const std::string& node, Attempt& out, int64_t began);
  void Reject(queue::PodTicket ticket, const framework::Profile& profile, const framework::Decision& decision,
              Attempt& out, int64_t began);
  framework::Decision Decide(const framework::Profile& profile, const Pod& pod, const Snapshot& snapshot);
  void RefreshClasses();
  void GiveUpNomination(const client::Ptr<Pod>& pod);

  const Clock& clock_;
  std::unique_ptr<framework::Engine> reference_;  // judges in full; only to verify
  std::unique_ptr<framework::Engine> engine_;
  cluster::ClusterState state_;
  std::unique_ptr<queue::SchedulingQueue> queue_;
  std::unordered_map<std::string, PodEntry> pods_;                  // by namespace/name
  std::unordered_map<std::string, std::string> pod_names_;          // uid to namespace/name
  std::unordered_map<std::string, client::ClusterObject> objects_;  // all others, by Key
  std::unique_ptr<PriorityClasses> classes_;
  size_t nodes_ = 0;
  size_t next_start_ = 0;
  int64_t event_ns_ = 0;
  uint64_t differences_ = 0;
  std::string first_difference_;
};

}  // namespace berth::bench
