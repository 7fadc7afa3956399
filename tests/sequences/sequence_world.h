// SPDX-License-Identifier: Apache-2.0
// SequenceWorld: a cluster that changes, and one engine that remembers all the while. Every pod is decided about once,
// with memory and kept counts; the reference and the full tables are there to be compared.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "berth/error.h"
#include "berth/registry.h"
#include "berth/value.h"
#include "cluster/applier.h"
#include "cluster/cluster_state.h"
#include "config/types.h"
#include "framework/engine.h"
#include "recorded/recordings.h"

namespace berth::sequences {

class SequenceWorld {
 public:
  // REQUIRES: the registry outlives it.
  static Result<std::unique_ptr<SequenceWorld>> Make(const config::SchedulerConfiguration& config,
                                                     const Registry& registry);

  // Brings objects that are there at first.
  std::vector<std::string> Fill(const Value& objects);
  // Does what a step says (the ops are in README.md) and returns what is wrong: it could not be done, or the answer is
  // not the one that the step expects.
  std::vector<std::string> Apply(const Value& step);
  // What the last step did with its pod, in the form of a recording; null when it placed none.
  const Value& placed() const { return placed_; }
  size_t placings() const { return placings_; }
  framework::Memory::Stats memory_stats() const { return engine_->memory_stats(); }

 private:
  SequenceWorld() = default;
  std::vector<std::string> Put(const Value& object);
  std::vector<std::string> Remove(const Value& object);
  std::vector<std::string> Place(const std::string& name, const Value& step);
  // Compares one more judgement of a pod, by either engine, with what is expected.
  void Explain(framework::Engine& engine, const std::string& who, const Pod& pod, bool nominated, const Value* expected,
               const std::vector<std::string>& unstable, std::vector<std::string>& wrong);
  void PutPod(const Pod& pod);
  void Forget(const std::string& name);
  void Drop(const std::string& name);
  void Follow(const Pod& pod, const framework::Decision& decision, bool linger);

  const recorded::CaseClock clock_{};
  std::unique_ptr<framework::Engine> engine_, reference_, plain_;
  std::vector<std::string> differences_;                    // between memory and reference
  std::map<std::string, std::shared_ptr<const Pod>> pods_;  // by namespace/name, also those that wait
  Value placed_;
  size_t placings_ = 0;
  cluster::ClusterState state_;  // after the engine, whose indexes listen to it
  cluster::Applier applier_{state_,
                            [this](const Pod& pod) { return engine_->FindProfile(pod.scheduler_name) != nullptr; }};
};

}  // namespace berth::sequences
