// SPDX-License-Identifier: Apache-2.0
// Evictions: carries out what preemption decided, in the background.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "cycle/core.h"
#include "cycle/recorder.h"
#include "cycle/status_writer.h"
#include "util/secret_hash.h"

namespace berth::cycle {

// For a chosen node: nominations of lower priority there are withdrawn, then the victims go. All but the last are sent
// off at once, the last when the others have succeeded; meanwhile the preemptor is gated (preempting). A victim that
// still waits at Permit or in PreBind only loses its binding; any other gets the condition DisruptionTarget and is
// deleted. When a call fails the rest is given up and the preemptor is activated to try again (upstream:
// framework/preemption/executor.go).
// Thread safety: scheduling thread.
class Evictions {
 public:
  // `cancel_binding(uid, cause)`: gives up a binding that is in PreBind; false when there is none.
  Evictions(Core& core, Recorder& recorder, StatusWriter& statuses,
            std::function<bool(const std::string& uid, const std::string& cause)> cancel_binding)
      : core_(core), recorder_(recorder), statuses_(statuses), cancel_binding_(std::move(cancel_binding)) {}

  // `plugin` is the PostFilter plugin's name as it appears in texts.
  void Start(const Ptr<Pod>& preemptor, const PreemptionCandidate& chosen, const std::string& plugin);
  // Whether another attempt of this pod would be too early.
  bool preempting(std::string_view uid) const;
  bool empty() const { return running_.empty(); }

 private:
  struct Run {
    Ptr<Pod> preemptor;
    std::string node, plugin;
    std::vector<Ptr<Pod>> victims;  // without those that are terminating already
    size_t all = 0;                 // victims, those included
    Time began;
    size_t waiting_for = 0;
    bool last = false;  // the last victim's turn
    bool failed = false;
  };
  void EvictLast(const std::shared_ptr<Run>& run);
  void Evict(const std::shared_ptr<Run>& run, const Ptr<Pod>& victim);
  void Delete(const std::shared_ptr<Run>& run, const Ptr<Pod>& victim);
  Preemption Describe(const Run& run) const;
  void Evicted(const Run& run, const Pod& victim, bool in_memory);
  bool Gone(const Pod& victim, const client::ApiStatus& status) const;
  void OnVictim(const std::shared_ptr<Run>& run, const Pod& victim, const client::ApiStatus& status);
  void Finish(const std::shared_ptr<Run>& run);

  Core& core_;
  Recorder& recorder_;
  StatusWriter& statuses_;
  std::function<bool(const std::string&, const std::string&)> cancel_binding_;
  std::unordered_map<std::string, std::shared_ptr<Run>, SecretStringHash, std::equal_to<>>
      running_;  // by the preemptor's uid
};

}  // namespace berth::cycle
