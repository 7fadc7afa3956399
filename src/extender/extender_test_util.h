// SPDX-License-Identifier: Apache-2.0
// For the tests of this folder: a cluster of our own, an API server's side of bindings, and small plugins to serve.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/testing.h"
#include "cluster/cluster_state.h"
#include "extender/extender_service.h"

namespace berth::extender {

// Node data as informers would have it.
class TestNodes final : public NodeSource {
 public:
  cluster::ClusterState state;
  bool synced = true;

  TestNodes& Add(Node node) {
    nodes_.push_back(std::make_shared<const Node>(std::move(node)));
    state.PutNode(nodes_.back());
    return *this;
  }
  TestNodes& Add(Pod pod) {
    pods_.push_back(std::make_shared<const Pod>(std::move(pod)));
    const Error error = state.AddPod(pods_.back());
    EXPECT_TRUE(error.ok());
    return *this;
  }
  Error Read(const std::function<void(const Snapshot&)>& read) override {
    if (!synced) return Error("the cluster has not been read yet");
    read(state.snapshot());
    return Error::Ok();
  }
  Error ReadWith(std::span<const std::shared_ptr<const Node>> nodes, bool,
                 const std::function<void(const Snapshot&)>& read) override {
    if (!synced) return Error("the cluster has not been read yet");
    cluster::ClusterState with;
    for (const auto& node : nodes_) with.PutNode(node);
    for (const auto& pod : pods_) EXPECT_TRUE(with.AddPod(pod).ok());
    for (const auto& node : nodes) with.PutNode(node);
    read(with.snapshot());
    return Error::Ok();
  }
  bool ready() const override { return synced; }

 private:
  std::vector<std::shared_ptr<const Node>> nodes_;
  std::vector<std::shared_ptr<const Pod>> pods_;
};

// Pods by namespace/name; what was bound is noted.
class TestBinder final : public Binder {
 public:
  std::map<std::string, Pod> pods;
  std::vector<std::string> bound;
  Verdict answer;
  util::Deadline find_by, bind_by;  // of the last ones

  void FindPod(const std::string& ns, const std::string& name, util::Deadline until,
               std::function<void(Result<std::shared_ptr<const Pod>>)> done) override {
    find_by = until;
    const auto it = pods.find(ns + "/" + name);
    if (it == pods.end()) return done(Error("pod " + ns + "/" + name + " not found", ErrorKind::kNotFound));
    done(std::make_shared<const Pod>(it->second));
  }
  void Bind(const Pod& pod, const std::string& node, util::Deadline until, std::function<void(Verdict)> done) override {
    bind_by = until;
    bound.push_back(FullName(pod) + " to " + node);
    done(answer);
  }
};

// Nodes hotter than 30 are out, which eviction does not change; the cooler the better.
class Heat final : public NodePlugin {
 public:
  static constexpr std::string_view kName = "Heat";
  static constexpr Reason kHot{"node(s) were hot", Remedy::kNone};
  Verdict FilterNode(const Pod&, NodeView node) const override { return Celsius(node) > 30 ? kHot : kFits; }
  int64_t ScoreNode(const Pod&, NodeView node) const override { return 100 - Celsius(node); }

 private:
  static int64_t Celsius(NodeView node) { return node.IntLabel("celsius").value_or(0); }
};

// At most two pods on a node.
class Couples final : public NodePlugin {
 public:
  static constexpr std::string_view kName = "Couples";
  static constexpr Reason kFull{"node(s) had two pods already"};
  Verdict FilterNode(const Pod&, NodeView node) const override { return node.pods().size() >= 2 ? kFull : kFits; }
};

// The pod `stranger` is turned away as a whole, `broken` is not judged at all; `pick-n` goes to node n alone.
class Door final : public PreFilterPlugin {
 public:
  static constexpr std::string_view kName = "Door";
  PreFilterOutcome PreFilter(const Cycle& cycle) const override {
    const std::string& name = cycle.pod().name();
    if (name == "broken") return PreFilterOutcome::Fail("the door is stuck");
    if (name == "stranger") {
      return PreFilterOutcome::Reject(Verdict(Code::kUnschedulableAndUnresolvable, "strangers stay outside"));
    }
    PreFilterOutcome outcome = PreFilterOutcome::Ok();
    if (name.starts_with("pick-")) outcome.node_names = std::vector<std::string>{name.substr(5)};
    return outcome;
  }
};

inline config::Profile ProfileOf(const std::vector<std::string>& plugins) {
  config::Profile profile;
  profile.scheduler_name = "served";
  for (const std::string& name : plugins) profile.plugins.multi_point.enabled.push_back({name, 0});
  return profile;
}

inline ExtenderArgs AskAboutNames(Pod pod, std::vector<std::string> names) {
  ExtenderArgs args;
  args.pod = std::move(pod);
  args.node_names = std::move(names);
  return args;
}
inline ExtenderArgs AskAboutNodes(Pod pod, const std::vector<Node>& nodes) {
  ExtenderArgs args;
  args.pod = std::move(pod);
  args.nodes.emplace();
  for (const Node& node : nodes) args.nodes->push_back({"{}", std::make_shared<const Node>(node)});
  return args;
}

inline Victims Evict(std::vector<std::string> uids, int64_t pdb_violations = 0) {
  Victims victims;
  victims.uids = std::move(uids);
  victims.pdb_violations = pdb_violations;
  return victims;
}

// Names that passed, in order; `name: text` of those that failed, `!` in front where eviction cannot help.
inline std::vector<std::string> Passed(const ExtenderArgs& args, const FilterResult& result) {
  std::vector<std::string> names;
  for (const size_t place : result.passed) names.push_back(args.node_name(place));
  return names;
}
inline std::vector<std::string> FailedOf(const ExtenderArgs& args, const FilterResult& result) {
  std::vector<std::string> lines;
  for (const FilterResult::Failed& failed : result.failed) {
    lines.push_back((failed.unresolvable ? "!" : "") + args.node_name(failed.place) + ": " + result.texts[failed.text]);
  }
  return lines;
}

}  // namespace berth::extender
