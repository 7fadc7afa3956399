// SPDX-License-Identifier: Apache-2.0
// Binder: the Writer that plugins bind through; asks until it is known whether a binding happened.
#pragma once

#include <functional>
#include <string>

#include "berth/handle.h"
#include "client/pod_binder.h"
#include "cycle/core.h"

namespace berth::cycle {

// While nobody knows whether a binding happened, the pod keeps its place on the node: the watch and the server are
// asked after 1 s, 2 s, ... 10 s, again and again. A server that is there but does not let us read the pod is asked ten
// times; the watch, which had a minute to tell of the binding by then, has not: the binding has failed. So it has if
// the pod was read without a node, twice with a second between: the binding may have been under way at the first look.
// Thread safety: scheduling thread.
class Binder final : public Writer {
 public:
  explicit Binder(Core& core);
  void Bind(const Pod& pod, const std::string& node, std::function<void(Verdict)> done) override;
  // What was not answered has failed: who reads the object later sees what became of it.
  void GiveVolume(const VolumeClaimPatch& patch, Written done) override;
  void SelectNode(const ClaimNodePatch& patch, Written done) override;
  bool empty() const { return binder_.open() == 0; }

 private:
  bool AskLater(const client::PodBinder::Doubt& doubt, std::function<void()> again);

  // What to do with the server's answer.
  client::VersionAnswer Telling(Written done);

  Core& core_;
  client::PodBinder binder_;
};

}  // namespace berth::cycle
