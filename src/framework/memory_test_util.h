// SPDX-License-Identifier: Apache-2.0
// Random clusters that change, with an engine that remembers and one that does not.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "berth/testing.h"
#include "cluster/cluster_state.h"
#include "config/load.h"
#include "framework/engine.h"
#include "framework/memory.h"
#include "plugins/builtin.h"
#include "util/random.h"

namespace berth::framework {

// A cluster, an engine that remembers and one that does not.
class MemoryWorld {
 public:
  explicit MemoryWorld(uint64_t seed, const std::string& config = "", const MemoryOptions& options = {}) : dice_(seed) {
    plugins::RegisterBuiltinPlugins(registry_);
    const config::Loaded loaded = config::LoadConfiguration(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n" + config, registry_);
    EXPECT_TRUE(loaded.ok());
    engine_ = std::move(Engine::Make(loaded.config, registry_, clock_, seed)).value();
    reference_ = std::move(Engine::Make(loaded.config, registry_, clock_, seed)).value();
    for (PluginIndex* index : engine_->Indexes()) state_.AddIndex(index);
    for (int i = 0; i < 6; ++i) AddClaim(std::to_string(i));
    engine_->Remember(options);
    engine_->Verify(*reference_, [this](const std::string& text) { differences.push_back(text); });
  }

  void AddNode() { PutNode("n" + std::to_string(nodes_made_++)); }

  void PutNode(const std::string& name) {
    MakeNode node(name);
    node.Capacity({{"cpu", std::to_string(2 + 2 * dice_.Below(3))},
                   {"memory", std::to_string(4 + 4 * dice_.Below(3)) + "Gi"},
                   {"pods", std::to_string(4 + dice_.Below(8))}});
    if (dice_.Chance(20)) node.Image("img:" + std::to_string(dice_.Below(3)), 100'000'000 * (1 + dice_.Below(9)));
    if (dice_.Chance(80)) node.Label("zone", "z" + std::to_string(dice_.Below(3)));
    if (dice_.Chance(90)) node.Label("kubernetes.io/hostname", name);
    if (dice_.Chance(30)) node.Label("disk", dice_.Chance(50) ? "ssd" : "hdd");
    if (dice_.Chance(15)) node.Taint("dedicated", "batch", TaintEffect::kNoSchedule);
    if (dice_.Chance(20)) node.Taint("busy", "", TaintEffect::kPreferNoSchedule);
    if (dice_.Chance(5)) node.Unschedulable();
    if (dice_.Chance(30)) node.Label("topology.kubernetes.io/zone", "z" + std::to_string(dice_.Below(2)));
    state_.PutNode(std::make_shared<const Node>(node.Build()));
    live_.insert_or_assign(name, true);
    CsiNode csi_node;
    csi_node.meta.name = name;
    if (dice_.Chance(70)) csi_node.driver_limits["driver"] = static_cast<int32_t>(dice_.Below(4));
    state_.PutObject<CsiNode>(std::make_shared<const CsiNode>(csi_node));
  }

  // A claim that is bound to a volume of a CSI driver; every other one has a zone, and one is for a single pod.
  void AddClaim(const std::string& name) {
    PersistentVolume volume;
    volume.meta.name = name;
    volume.kind = VolumeKind::kCsi;
    volume.csi_driver = "driver";
    volume.csi_handle = name;
    if (dice_.Chance(50)) volume.meta.labels = Labels({{"topology.kubernetes.io/zone", "z1"}});
    PersistentVolumeClaim claim;
    claim.meta.name = name;
    claim.meta.namespace_ = "default";
    claim.meta.annotations = Labels({{"pv.kubernetes.io/bind-completed", "yes"}});
    claim.volume_name = name;
    claim.access_modes = {name == "0" ? "ReadWriteOncePod" : "ReadWriteMany"};
    state_.PutObject<PersistentVolume>(std::make_shared<const PersistentVolume>(volume));
    state_.PutObject<PersistentVolumeClaim>(std::make_shared<const PersistentVolumeClaim>(claim));
  }

  std::shared_ptr<const Pod> NewPod() {
    const std::string name = "p" + std::to_string(pods_made_++);
    MakePod pod(name);
    pod.Uid("uid-" + name);
    const int64_t app = dice_.Below(5);
    pod.Label("app", "a" + std::to_string(app));
    const bool huge = dice_.Chance(5);
    pod.Request({{"cpu", huge ? "50" : std::to_string(100 * (1 + app)) + "m"},
                 {"memory", std::to_string(128 * (1 + app)) + "Mi"}});
    pod.Image("img:" + std::to_string(app));
    if (app == 1) pod.NodeSelector("disk", "ssd");
    if (app == 2) pod.Tolerate({"dedicated", TolerationOp::kExists, "", TaintEffect::kNoSchedule});
    if (app == 3 && dice_.Chance(50)) pod.HostPort(8080);
    if (app == 4 && dice_.Chance(50)) pod.PreferNode(7, {{Require("disk", SelectorOp::kExists)}, {}, ""});
    if (dice_.Chance(15)) pod.Namespace("other");
    if (dice_.Chance(20)) {
      const std::string source = std::to_string(dice_.Below(6));
      const VolumeKind kind = dice_.Chance(70) ? VolumeKind::kClaim : VolumeKind::kGcePd;
      pod.With([&](Pod& made) { made.volumes.push_back({"v", kind, source}); });
    }
    if (dice_.Chance(10) && !live_.empty()) {
      // As a daemon set does, mostly.
      std::vector<std::string> names{Pick()};
      if (dice_.Chance(30)) names.push_back(dice_.Chance(50) ? Pick() : "nowhere");
      pod.RequireNode({{}, {Require("metadata.name", SelectorOp::kIn, names)}, ""});
    }
    if (dice_.Chance(20)) pod.Priority(static_cast<int32_t>(10 * dice_.Below(3)));
    const auto term = [&](int64_t of, const char* key) {
      PodAffinityTerm made;
      made.selector = SelectLabels({{"app", "a" + std::to_string(of)}});
      made.topology_key = key;
      if (dice_.Chance(10)) made.namespaces = {"other"};
      if (dice_.Chance(15)) made.namespace_selector = LabelSelector{{Require("env", SelectorOp::kIn, {"prod"})}, ""};
      return made;
    };
    if (affinity && dice_.Chance(25)) pod.PodAntiAffinity(term(app, "kubernetes.io/hostname"));
    if (affinity && dice_.Chance(15)) pod.PodAffinity(term(dice_.Below(5), "zone"));
    if (affinity && dice_.Chance(15)) pod.PreferPodAntiAffinity(5, term(app, "zone"));
    if (affinity && dice_.Chance(15)) pod.PreferPodAffinity(3, term(dice_.Below(5), "kubernetes.io/hostname"));
    if (affinity && dice_.Chance(25)) {
      TopologySpreadConstraint constraint;
      constraint.max_skew = 1 + static_cast<int32_t>(dice_.Below(2));
      constraint.topology_key = dice_.Chance(70) ? "zone" : "kubernetes.io/hostname";
      if (dice_.Chance(30)) constraint.node_taints_policy = NodeInclusionPolicy::kHonor;
      constraint.when_unsatisfiable =
          dice_.Chance(50) ? WhenUnsatisfiable::kDoNotSchedule : WhenUnsatisfiable::kScheduleAnyway;
      constraint.selector = SelectLabels({{"app", "a" + std::to_string(app)}});
      pod.Spread(constraint);
    }
    return std::make_shared<const Pod>(pod.Build());
  }

  // One pod is decided about and placed where it goes.
  void Decide(const std::shared_ptr<const Pod>& pod) {
    // Somebody wants to see it in full first; the reference must not fall behind.
    if (dice_.Chance(5)) (void)engine_->Judge(engine_->first_profile(), *pod, state_.snapshot(), {});
    const Decision decision = engine_->Decide(engine_->first_profile(), *pod, state_.snapshot());
    if (decision.kind == Judgement::Kind::kFits) {
      auto placed = std::make_shared<Pod>(*pod);
      placed->node_name = state_.snapshot().node(decision.row).name();
      ASSERT_TRUE(state_.AssumePod(placed).ok());
      placed_.push_back(placed);
      return;
    }
    auto again = std::make_shared<Pod>(*pod);
    if (decision.post_filter.nominated_node && dice_.Chance(50)) {
      state_.Nominate(pod, *decision.post_filter.nominated_node);
      nominated_.push_back(pod->uid());
      again->nominated_node_name = *decision.post_filter.nominated_node;
    }
    pending_.push_back(again);
  }

  // A pod that fitted nowhere, once more; some are looked for on a node that they name themselves.
  void Retry() {
    if (pending_.empty()) return;
    const size_t i = static_cast<size_t>(dice_.Below(static_cast<int64_t>(pending_.size())));
    auto pod = std::make_shared<Pod>(*pending_[i]);
    pending_[i] = pending_.back();
    pending_.pop_back();
    if (dice_.Chance(20) && !live_.empty()) pod->nominated_node_name = Pick();
    Decide(pod);
  }

  // The watch tells of a pod that was assumed, perhaps with a status by now.
  void Confirm() {
    if (placed_.empty()) return;
    const size_t i = static_cast<size_t>(dice_.Below(static_cast<int64_t>(placed_.size())));
    auto pod = std::make_shared<Pod>(*placed_[i]);
    if (dice_.Chance(50)) pod->phase = "Running";
    pod->meta.resource_version = "2";
    if (state_.IsAssumed(pod->uid())) {
      ASSERT_TRUE(state_.AddPod(pod).ok());
    } else {
      ASSERT_TRUE(state_.UpdatePod(pod).ok());
    }
    placed_[i] = pod;
  }

  // A pod of somebody else's comes bound to this node, whether there is one or not.
  void AddPodOn(const std::string& name, const std::string& node) {
    const Pod pod = MakePod(name).Uid(name).OnNode(node).Request({{"cpu", "1m"}}).Build();
    ASSERT_TRUE(state_.AddPod(std::make_shared<const Pod>(pod)).ok());
  }

  // What others do: a pod that comes bound, perhaps to a node nobody knows, changes its labels, or is being deleted.
  void ChangeForeignPod() {
    if (foreign_.empty() || dice_.Chance(50)) {
      auto pod = std::make_shared<Pod>(*NewPod());
      pod->node_name = live_.empty() || dice_.Chance(15) ? "unknown" + std::to_string(dice_.Below(2)) : Pick();
      ASSERT_TRUE(state_.AddPod(pod).ok());
      foreign_.push_back(pod);
      return;
    }
    const size_t i = static_cast<size_t>(dice_.Below(static_cast<int64_t>(foreign_.size())));
    if (dice_.Chance(40)) {
      ASSERT_TRUE(state_.RemovePod(foreign_[i]->uid()).ok());
      foreign_[i] = foreign_.back();
      foreign_.pop_back();
      return;
    }
    auto pod = std::make_shared<Pod>(*foreign_[i]);
    if (dice_.Chance(50)) {
      pod->meta.labels = Labels({{"app", "a" + std::to_string(dice_.Below(5))}});
    } else {
      pod->meta.deletion_time = clock_.Now();
    }
    ASSERT_TRUE(state_.UpdatePod(pod).ok());
    foreign_[i] = pod;
  }

  void Change() {
    if (dice_.Chance(25)) return ChangeForeignPod();
    if (dice_.Chance(5)) {
      Namespace ns;
      ns.meta.name = dice_.Chance(50) ? "other" : "default";
      ns.meta.labels = Labels({{"env", dice_.Chance(50) ? "prod" : "test"}});
      state_.PutObject<Namespace>(std::make_shared<const Namespace>(ns));
      return;
    }
    const int64_t what = dice_.Below(100);
    if (what < 50 && !placed_.empty()) {
      const size_t i = static_cast<size_t>(dice_.Below(static_cast<int64_t>(placed_.size())));
      ASSERT_TRUE(state_.RemovePod(placed_[i]->uid()).ok());
      placed_[i] = placed_.back();
      placed_.pop_back();
    } else if (what < 70 && !live_.empty()) {
      PutNode(Pick());
    } else if (what < 80) {
      AddNode();
    } else if (what < 85 && live_.size() > 3) {
      const std::string name = Pick();
      ASSERT_TRUE(state_.RemoveNode(name).ok());
      live_.erase(name);
    } else if (what < 92) {
      Service service;
      service.meta.name = "s" + std::to_string(dice_.Below(3));
      service.meta.namespace_ = "default";
      service.selector = Labels({{"app", "a" + std::to_string(dice_.Below(5))}});
      if (dice_.Chance(60)) {
        state_.PutObject<Service>(std::make_shared<const Service>(service));
      } else {
        state_.RemoveObject<Service>("default", service.meta.name);
      }
    } else if (!nominated_.empty()) {
      state_.ClearNomination(nominated_.back());
      nominated_.pop_back();
    }
  }

  std::string Pick() {
    auto it = live_.begin();
    std::advance(it, dice_.Below(static_cast<int64_t>(live_.size())));
    return it->first;
  }

  Engine& engine() { return *engine_; }
  util::Random& dice() { return dice_; }
  bool affinity = true;
  std::vector<std::string> differences;

 private:
  util::Random dice_;
  Registry registry_;
  ManualClock clock_;
  cluster::ClusterState state_;
  std::unique_ptr<Engine> reference_, engine_;
  std::map<std::string, bool> live_;
  std::vector<std::shared_ptr<const Pod>> placed_, foreign_, pending_;
  std::vector<std::string> nominated_;
  int64_t nodes_made_ = 0, pods_made_ = 0;
};

inline void RunStory(MemoryWorld& world, int nodes, int steps) {
  for (int i = 0; i < nodes; ++i) world.AddNode();
  for (int step = 0; step < steps; ++step) {
    world.Decide(world.NewPod());
    if (world.dice().Chance(30)) world.Change();
    if (world.dice().Chance(30)) world.Retry();
    if (world.dice().Chance(50)) world.Confirm();
    ASSERT_THAT(world.differences, ::testing::IsEmpty()) << "step " << step;
  }
}

}  // namespace berth::framework
