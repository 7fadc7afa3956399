// SPDX-License-Identifier: Apache-2.0
// A plugin behind kube-scheduler: a request that carries the cluster's nodes, and a copy of the cluster for plugins
// that look further.
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "cluster/applier.h"
#include "cluster/cluster_state.h"
#include "extender/extender_service.h"
#include "testing/hosts/hosts.h"
#include "testing/hosts/world.h"

namespace berth::testing {
namespace {

// What an extender's watches would have brought.
class KnownCluster final : public extender::NodeSource {
 public:
  explicit KnownCluster(const Snapshot& snapshot) : snapshot_(snapshot) {}
  Error Read(const std::function<void(const Snapshot&)>& read) override { return ReadWith({}, false, read); }
  Error ReadWith(std::span<const std::shared_ptr<const Node>> nodes, bool,
                 const std::function<void(const Snapshot&)>& read) override {
    cluster::ClusterState state;
    cluster::Applier applier(state);
    const auto add = [&](const ClusterObject& object) { (void)applier.Add(object); };
    ForEachObject(snapshot_, add);
    for (const auto& node : NodesOf(snapshot_)) add(node);
    for (const auto& node : nodes) add(node);
    for (const auto& pod : PlacedPodsOf(snapshot_)) add(pod);
    for (const auto& pod : NominatedPodsOf(snapshot_)) add(pod);
    read(state.snapshot());
    return Error::Ok();
  }
  bool ready() const override { return true; }

 private:
  const Snapshot snapshot_;
};

extender::ExtenderArgs Request(const Pod& pod, const Snapshot& snapshot) {
  extender::ExtenderArgs args;
  args.pod = pod;
  args.nodes.emplace();
  for (auto& node : NodesOf(snapshot)) args.nodes->push_back({"{}", std::move(node)});
  return args;
}

}  // namespace

std::map<std::string, Verdict> FilterInExtender(const Plugin& plugin, const Pod& pod, const TestCluster& cluster) {
  const OnePlugin one(plugin, {Point::kPreFilter, Point::kFilter});
  const ManualClock clock;
  KnownCluster known(cluster.snapshot());
  const extender::ExtenderArgs args = Request(pod, cluster.snapshot());
  auto service = extender::ExtenderService::Make(one.profile, one.registry, clock, &known, nullptr);
  const extender::FilterResult result =
      service.ok() ? (*service)->Filter(args) : extender::FilterResult::Fail(service.error().text());

  std::map<std::string, Verdict> verdicts;
  if (!result.error.empty()) {
    for (size_t place = 0; place < args.node_count(); ++place)
      verdicts[args.node_name(place)] = Verdict::Fail(result.error);
    return verdicts;
  }
  for (const size_t place : result.passed) verdicts[args.node_name(place)] = Verdict();
  for (const extender::FilterResult::Failed& failed : result.failed) {
    verdicts[args.node_name(failed.place)] = Verdict(
        failed.unresolvable ? Code::kUnschedulableAndUnresolvable : Code::kUnschedulable, result.texts[failed.text]);
  }
  return verdicts;
}

ScoreResult ScoreInExtender(const Plugin& plugin, const Pod& pod, const TestCluster& cluster) {
  const OnePlugin one(plugin, {Point::kPreScore, Point::kScore});
  const ManualClock clock;
  KnownCluster known(cluster.snapshot());
  const extender::ExtenderArgs args = Request(pod, cluster.snapshot());
  ScoreResult result;
  for (const bool raw : {true, false}) {
    extender::ServiceOptions options;
    options.raw_scores = raw;
    auto service = extender::ExtenderService::Make(one.profile, one.registry, clock, &known, nullptr, options);
    if (!service.ok()) return {{}, {}, service.error().text()};
    const Result<std::vector<extender::HostPriority>> scores = (*service)->Prioritize(args);
    if (!scores.ok()) return {{}, {}, scores.error().text()};
    for (const extender::HostPriority& entry : *scores)
      (raw ? result.raw : result.normalized)[std::string(entry.host)] = entry.score;
  }
  return result;
}

}  // namespace berth::testing
