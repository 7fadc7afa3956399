// SPDX-License-Identifier: Apache-2.0
// Account: a second opinion on what the scheduler may decide and bind, kept from what can be seen from outside.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "berth/resources.h"
#include "cycle/scheduler.h"
#include "sim/scenario.h"
#include "sim/simulation.h"

namespace berth::model {

// Two checks of every placement. When it is decided: the node, with all pods that the watch has shown on it and all
// that were decided for it before and are not yet shown, has room. When the store binds it: the node as it really is
// has room, apart from what the world did behind the scheduler's back (pods bound by others that the watch had not
// shown at the decision, pods and nodes resized since). Overcommitment that others cause is theirs; nothing may be
// added to it.
class Account {
 public:
  using Fail = std::function<void(const char* kind, const std::string& text)>;
  // REQUIRES: the simulation is there whenever a method is called.
  Account(sim::Simulation& simulation, Fail fail) : simulation_(simulation), fail_(std::move(fail)) {}

  // From the scheduler.
  void OnAttempt(const cycle::Attempt& attempt);
  void OnBound(const Pod& pod, const std::string& node);
  void OnBindFailed(const Pod& pod, const std::string& node, const std::string& message);
  // From the store. `outside`: somebody else binds.
  void OnStoreBind(const Pod& before, const std::string& node, bool outside);
  // Around every change that the world makes.
  void BeforeChange(const sim::Change& change);
  void AfterChange(const sim::Change& change);

  // Some pod was resized between its decision and the news of its binding. Nobody hears of what that frees, as
  // upstream.
  bool resized_on_the_way() const { return resized_on_the_way_; }
  // Why the last attempt at this pod failed.
  std::string LastMessage(const std::string& uid) const;

 private:
  // A pod that was given to a node, until the watch shows it there or it is known to have failed.
  struct Decision {
    std::string namespace_, name, node;
    Resources request;
    std::set<int32_t> ports;
    uint64_t node_version = 0;                         // as the watch had it
    std::unordered_map<std::string, Resources> known;  // by uid: on the node, as the watch had them
    bool answered = false;                             // OnBound was called
  };

  Ptr<Pod> Shown(const std::string& ns, const std::string& name, const std::string& uid) const;
  Ptr<Pod> Stored(const std::string& ns, const std::string& name, const std::string& uid);
  void Decide(const Pod& pod, const std::string& node);
  void Spoil(const Pod& pod, const std::string& node);
  Resources Least(const std::string& uid, const Resources& held) const;
  Resources MostSince(const std::string& node, uint64_t version) const;

  sim::Simulation& simulation_;
  const Fail fail_;
  std::map<std::string, Decision> decisions_;                 // by uid
  std::unordered_map<std::string, std::string> bound_by_us_;  // uid to node, in the store
  std::set<std::string> bound_;                               // uids, in the store, by anybody
  std::unordered_map<std::string, Resources> least_;          // by uid: of resized pods, the least it ever held
  std::map<std::string, std::vector<std::pair<uint64_t, Resources>>> node_sizes_;  // by name: version, allocatable
  // Node and port that others have given away. Ports in use are a set, as upstream's: when two pods have one port, the
  // first to go takes it along, and nobody can be blamed for that.
  std::set<std::pair<std::string, int32_t>> spoiled_;
  bool resized_on_the_way_ = false;
  std::unordered_map<std::string, std::string> messages_;  // by uid
};

}  // namespace berth::model
