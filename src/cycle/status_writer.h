// SPDX-License-Identifier: Apache-2.0
// StatusWriter: what pods' statuses should say, sent one patch at a time per pod and until it is there.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "cycle/core.h"
#include "util/secret_hash.h"

namespace berth::cycle {

// Patches of one pod never overtake each other: while one is under way, later wishes are merged and sent after it. A
// patch that fails for a reason that may pass (no answer, 429, 5xx, a conflict) is sent again after 1 s, 2 s, ... up to
// kTries times; one for a pod that is gone is dropped.
// Thread safety: scheduling thread.
class StatusWriter {
 public:
  static constexpr int kTries = 6;

  explicit StatusWriter(Core& core) : core_(core) {}

  // Nothing is sent when the pod's status says so already. `pod` is the pod as we know it now.
  void Write(const Pod& pod, std::optional<PodCondition> condition, const std::optional<std::string>& nominated_node);
  // The pod is gone or bound: no further tries.
  void Forget(const std::string& uid);
  bool empty() const { return pods_.empty(); }

 private:
  struct Entry {
    client::PodStatusPatch wish;  // not sent yet; without condition and nomination: nothing
    client::PodStatusPatch sent;  // it alone has the pod's name
    bool under_way = false;       // and kept until it is answered
    bool forgotten = false;       // while it was under way
    int tries = 0;                // of the present wish
  };
  using Pods = std::unordered_map<std::string, Entry, SecretStringHash, std::equal_to<>>;  // by uid
  void Send(Pods::value_type& pod);
  // REQUIRES: the pod's patch was under way, so that its entry is still there.
  void OnAnswer(Pods::value_type& pod, const client::ApiStatus& status);
  void Erase(const Pods::value_type& pod) { pods_.erase(pods_.find(pod.first)); }

  Core& core_;
  Pods pods_;
};

}  // namespace berth::cycle
