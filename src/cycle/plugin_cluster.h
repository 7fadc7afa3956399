// SPDX-License-Identifier: Apache-2.0
// PluginCluster: the cluster as plugins have it between decisions.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "berth/handle.h"
#include "cycle/core.h"

namespace berth::cycle {

// Thread safety: scheduling thread.
class PluginCluster final : public ClusterAccess {
 public:
  // REQUIRES: `core` outlives it.
  explicit PluginCluster(Core& core) : core_(core) {}

  Snapshot Now() const override { return core_.state.snapshot(); }
  std::shared_ptr<const Pod> FindPod(const std::string& ns, const std::string& name) const override {
    return core_.FindPod(ns, name);
  }
  Error Assume(std::shared_ptr<const PersistentVolume> object) override {
    return core_.state.AssumeObject(std::move(object));
  }
  Error Assume(std::shared_ptr<const PersistentVolumeClaim> object) override {
    return core_.state.AssumeObject(std::move(object));
  }
  void Restore(const PersistentVolume& object) override { core_.state.RestoreObject(object); }
  void Restore(const PersistentVolumeClaim& object) override { core_.state.RestoreObject(object); }
  TimerId After(Duration delay, std::function<void()> fn) override;
  void Cancel(TimerId id) override;

 private:
  Core& core_;
  std::map<TimerId, util::TimerQueue::Id> timers_;  // of those that have not run
  TimerId last_ = 0;
};

}  // namespace berth::cycle
