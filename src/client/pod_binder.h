// SPDX-License-Identifier: Apache-2.0
// PodBinder: posts bindings, and finds out about those whose answer was lost.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "berth/verdict.h"
#include "client/cluster_api.h"
#include "util/deadline.h"
#include "util/owner_link.h"

namespace berth::client {

// A binding whose answer was lost may have happened. Taking the pod's place on the node away then would let another pod
// into it, so the pod is read before the binding is called a failure. (kube-scheduler gives up at once.) It may happen
// late, too: where `retry` is there, a pod without a node is read twice.
//
// Destroying it drops what is under way: `done` is not called any more.
// Thread safety: scheduling thread, as the door.
class PodBinder {
 public:
  // A binding of which nobody knows yet whether it happened.
  struct Doubt {
    ObjectName pod;
    std::string node;
    int tries = 0;       // to read the pod
    int refusals = 0;    // of these, those that the server answered, but not with the pod, nor with a wish for patience
    ApiStatus status;    // of the latest
    bool early = false;  // the latest found the pod without a node, but may have come before the binding
  };
  struct Hooks {
    // The pod as a watch has it, which may know already; null: it does not. May be empty.
    std::function<Ptr<Pod>(const ObjectName&)> watched;
    // The pod could not be read, or was read early: calls `again`, later, for another try, and returns true. False, or
    // empty: the binding has failed then.
    std::function<bool(const Doubt&, std::function<void()> again)> retry;
  };
  // REQUIRES: the door outlives it.
  explicit PodBinder(ClusterApi& api) : PodBinder(api, {}) {}
  PodBinder(ClusterApi& api, Hooks hooks);
  ~PodBinder();
  PodBinder(const PodBinder&) = delete;
  PodBinder& operator=(const PodBinder&) = delete;

  // What cannot be sent before `until` is not sent at all. `done` is not called within the call.
  void Bind(ObjectName pod, const std::string& node, util::Deadline until, std::function<void(Verdict)> done);
  // Bindings without an answer.
  size_t open() const { return open_; }

 private:
  struct Question;
  using QuestionPtr = std::shared_ptr<Question>;
  void OnBound(const QuestionPtr& question, const ApiStatus& status);
  void LookUp(const QuestionPtr& question);
  void OnRead(const QuestionPtr& question, const ApiStatus& status, const Ptr<Pod>& pod);
  // True when the pod as it was seen answers the question.
  bool Settle(const QuestionPtr& question, const Pod& pod);
  void Reply(const QuestionPtr& question, Verdict verdict);

  ClusterApi& api_;
  const Hooks hooks_;
  size_t open_ = 0;
  util::Owner<PodBinder> owner_{this};  // of answers, which may come when this is gone
};

}  // namespace berth::client
