// SPDX-License-Identifier: Apache-2.0
// Extender: somebody outside the process who has a say in decisions, as the cycle sees it. Upstream: fwk.Extender.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
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

// Which of the calls that wait for an extender goes first: that with the lower number. Whoever asks may change it while
// the call waits. Null: after all others.
using Turn = std::shared_ptr<const std::atomic<uint64_t>>;
// Nobody wants to know any more: a call that still waits is not made, and not answered.
inline constexpr uint64_t kWithdrawn = UINT64_MAX;

// A pod that is asked about.
struct PodInTurn {
  // Not explicit: where calls do not compete a pod is enough.
  // NOLINTNEXTLINE(google-explicit-constructor)
  PodInTurn(std::shared_ptr<const Pod> p, Turn t = nullptr) : pod(std::move(p)), turn(std::move(t)) {}
  std::shared_ptr<const Pod> pod;
  Turn turn;
};

// The nodes of a question. They are hundreds, so all who hold the question share them.
// Thread safety: all methods.
class AskedNodes {
 public:
  AskedNodes() = default;  // none
  // Not explicit: whoever asks makes a list.
  // NOLINTNEXTLINE(google-explicit-constructor)
  AskedNodes(std::vector<std::shared_ptr<const Node>> nodes) : shared_(std::make_shared<Shared>(std::move(nodes))) {}

  size_t size() const { return shared_ ? shared_->nodes.size() : 0; }
  const std::shared_ptr<const Node>& operator[](size_t place) const { return shared_->nodes[place]; }
  const std::shared_ptr<const Node>* begin() const { return shared_ ? shared_->nodes.data() : nullptr; }
  const std::shared_ptr<const Node>* end() const { return begin() + size(); }
  // The names as write(*this) writes them, the first time: filter and prioritize are mostly about the same nodes.
  // REQUIRES: it was made of a list.
  template <class Write>
  const std::string& Names(Write&& write) const {
    std::call_once(shared_->written, [&] { shared_->names = write(*this); });
    return shared_->names;
  }

 private:
  struct Shared {
    explicit Shared(std::vector<std::shared_ptr<const Node>> n) : nodes(std::move(n)) {}
    const std::vector<std::shared_ptr<const Node>> nodes;
    std::once_flag written;
    std::string names;
  };
  std::shared_ptr<Shared> shared_;
};

// All calls are asynchronous; `done` is called once, on any thread and perhaps within the call, unless the extender
// ends or the turn is withdrawn before. What an Error says is what events show.
// Thread safety: calls from one thread.
class Extender {
 public:
  virtual ~Extender() = default;
  virtual const ExtenderTraits& traits() const = 0;
  // Whether it has a say about this pod at all.
  virtual bool IsInterested(const Pod& pod) const = 0;

  using Nodes = AskedNodes;
  struct Filtered {
    std::vector<size_t> passed;                                            // places in `nodes`, each once
    std::map<std::string, std::string, std::less<>> failed, unresolvable;  // node: why; any names
  };
  virtual void Filter(PodInTurn pod, Nodes nodes, std::function<void(Result<Filtered>)> done) = 0;

  // Place in `nodes` and score, as answered: any number, any number of times. What is said of other nodes is left out.
  using Scores = std::vector<std::pair<size_t, int64_t>>;
  virtual void Prioritize(PodInTurn pod, Nodes nodes, std::function<void(Result<Scores>)> done) = 0;

  struct Victims {
    std::vector<std::string> uids;
    int64_t pdb_violations = 0;
    bool operator==(const Victims&) const = default;
  };
  using VictimMap = std::map<std::string, Victims, std::less<>>;  // by node
  virtual void Preempt(PodInTurn pod, std::vector<PreemptionCandidate> candidates,
                       std::function<void(Result<VictimMap>)> done) = 0;

  virtual void Bind(std::shared_ptr<const Pod> pod, const std::string& node, std::function<void(Error)> done) = 0;
};

}  // namespace berth::framework
