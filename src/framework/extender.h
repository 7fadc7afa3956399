// SPDX-License-Identifier: Apache-2.0
// Extender: somebody outside the process who has a say in decisions, as the cycle sees it. Upstream: fwk.Extender.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "berth/error.h"
#include "berth/node.h"
#include "berth/plugin.h"
#include "berth/pod.h"

namespace berth::framework {

struct ExtenderTraits {
  std::string name;  // its urlPrefix
  int64_t weight = 0;
  bool filters = false, prioritizes = false, preempts = false, binds = false;
  bool ignorable = false;  // its failures are no failures of the pod
};

// All calls are asynchronous; `done` is called once, on any thread and perhaps within the call, unless the extender
// ends before. What an Error says is what events show.
// Thread safety: calls from one thread.
class Extender {
 public:
  virtual ~Extender() = default;
  virtual const ExtenderTraits& traits() const = 0;
  // Whether it has a say about this pod at all.
  virtual bool IsInterested(const Pod& pod) const = 0;

  using Nodes = std::vector<std::shared_ptr<const Node>>;
  struct Filtered {
    std::vector<std::string> passed;                                       // of those that were asked about, each once
    std::map<std::string, std::string, std::less<>> failed, unresolvable;  // node: why; any names
  };
  virtual void Filter(std::shared_ptr<const Pod> pod, Nodes nodes, std::function<void(Result<Filtered>)> done) = 0;

  // Node and score as answered: any node, any number, any number of times.
  using Scores = std::vector<std::pair<std::string, int64_t>>;
  virtual void Prioritize(std::shared_ptr<const Pod> pod, Nodes nodes, std::function<void(Result<Scores>)> done) = 0;

  struct Victims {
    std::vector<std::string> uids;
    int64_t pdb_violations = 0;
    bool operator==(const Victims&) const = default;
  };
  using VictimMap = std::map<std::string, Victims, std::less<>>;  // by node
  virtual void Preempt(std::shared_ptr<const Pod> pod, std::vector<PreemptionCandidate> candidates,
                       std::function<void(Result<VictimMap>)> done) = 0;

  virtual void Bind(std::shared_ptr<const Pod> pod, const std::string& node, std::function<void(Error)> done) = 0;
};

}  // namespace berth::framework
