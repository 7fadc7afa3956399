// SPDX-License-Identifier: Apache-2.0
// The stages after a node was chosen: Reserve, Permit, PreBind, Bind, PostBind, and Unreserve when one of them fails.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "berth/plugin.h"
#include "framework/cycle_run.h"
#include "framework/profile.h"
#include "framework/waiting_pods.h"

namespace berth::framework {

// Permit never lets a pod wait longer (upstream: maxTimeout).
inline constexpr Duration kMaxPermitWait = Duration::Seconds(15 * 60);

// What Permit as a whole said.
struct PermitRuling {
  Ruling ruling;                          // Success, Wait, rejected or Error
  std::map<std::string, Time> deadlines;  // of the plugins that asked to wait
};

// What the pre-flight of PreBind found: which plugins have work.
struct PreBindPlan {
  Ruling ruling;              // Success or Error
  std::vector<uint8_t> skip;  // as profile.pre_bind
  std::vector<uint8_t> parallel;
  bool work = false;  // some plugin has something to do
};

// Takes one decided pod through the stages. Owns the pod's plugin states from Reserve on.
// The asynchronous stages call back exactly once, on whatever thread the last plugin finished.
// Thread safety: one stage at a time. Shared ownership, because callbacks may outlive the caller.
class BindingStages : public std::enable_shared_from_this<BindingStages> {
 public:
  using DoneWith = std::function<void(Ruling)>;

  // Belongs to the profile's present cycle (TimedCycle). REQUIRES: `profile` outlives it, and so does `calling`, which
  // may be null: held while a Bind plugin is called, but neither when the next one is asked nor when `done` is called.
  BindingStages(const Profile& profile, Placement placement, std::vector<StateSlot> states,
                std::mutex* calling = nullptr);

  const Placement& placement() const { return placement_; }

  // Stops at the first plugin that does not succeed. The caller then calls Unreserve.
  Ruling Reserve();
  // All Reserve plugins in reverse order, also those that Reserve never reached.
  void Unreserve();
  // Asks all unless one refuses. `Wait` when nobody refused and somebody wants to wait.
  PermitRuling Permit(Time now);
  PreBindPlan PreFlight();
  // Neighbours that allow it run in parallel; groups follow one another; the first failure ends it. `stop`, which may
  // be null, is called once, on any thread, when a plugin has failed while its neighbours are still at it: whoever owns
  // the scheduling thread should have them cancelled there.
  void PreBind(const PreBindPlan& plan, DoneWith done, std::function<void()> stop = nullptr);
  // Tells the plugins whose PreBind has not been answered that the pod is given up. Scheduling thread.
  void CancelPreBind(const std::string& cause);
  // Plugins in order until one does not skip. All skip: code Skip, which is no success.
  void Bind(DoneWith done);
  void PostBind();

 private:
  PermitRuling AskPermit(Time now);
  PreBindPlan AskPreFlight();
  // `done`, and before it the end of a stage that begins here, if somebody times it.
  DoneWith Timed(PluginFunction point, DoneWith done) const;
  void PreBindFrom(PreBindPlan plan, size_t from, DoneWith done);
  void BindFrom(size_t from);
  std::optional<Ruling> AskBind(size_t position);
  void EndBind(Ruling ruling);

  const Profile& profile_;
  const bool timed_;  // the cycle that this belongs to is
  Placement placement_;
  std::vector<StateSlot> states_;  // by plugin index
  std::mutex* const calling_;
  std::mutex pre_bind_mutex_;
  std::vector<uint8_t> in_pre_bind_;  // as profile.pre_bind: asked and not answered; under the mutex
  std::function<void()> stop_;        // of PreBind
  // The Bind plugin that is being asked, one after the other.
  struct BindTurn {
    DoneWith done;
    std::mutex mutex;
    bool returned = false;  // its call has
    std::optional<Ruling> early;
  } turn_;
};

}  // namespace berth::framework
