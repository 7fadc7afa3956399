// SPDX-License-Identifier: Apache-2.0
// Binder: the Writer that plugins bind through; asks again when nobody knows whether a binding happened.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "berth/handle.h"
#include "cycle/core.h"

namespace berth::cycle {

// A binding whose answer was lost may have happened. Taking the pod's place on the node away then would let another pod
// into it, so the pod is read until it is known; only then is the binding a failure. (kube-scheduler gives up at once.)
// Thread safety: scheduling thread.
class Binder final : public Writer {
 public:
  explicit Binder(Core& core) : core_(core) {}
  void Bind(const Pod& pod, const std::string& node, std::function<void(Verdict)> done) override;

 private:
  struct Question {
    client::ObjectName pod;
    std::string node;
    std::string failure;  // what the lost answer looked like
    int tries = 0;
    std::function<void(Verdict)> done;
  };
  void Verify(const std::shared_ptr<Question>& question);
  // True when it was answered.
  bool Settle(const Question& question, const Ptr<Pod>& pod) const;

  Core& core_;
};

}  // namespace berth::cycle
