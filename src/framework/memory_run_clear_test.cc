// SPDX-License-Identifier: Apache-2.0
// Preemption through memory: the same plans and messages as without, over crowded clusters that change, and rows that
// are looked at again only when they have to be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "berth/testing.h"
#include "cluster/cluster_state.h"
#include "config/load.h"
#include "framework/engine.h"
#include "plugins/builtin.h"
#include "util/random.h"

namespace berth::framework {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Dice = util::Random;

// A cluster, an engine that remembers and one that does not.
class ClearedTest : public ::testing::Test {
 protected:
  void Start(uint64_t seed, size_t max_bytes = size_t{64} << 20) {
    registry_ = std::make_unique<Registry>();
    state_ = std::make_unique<cluster::ClusterState>();
    plugins::RegisterBuiltinPlugins(*registry_);
    const config::Loaded loaded = config::LoadConfiguration(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n", *registry_);
    ASSERT_TRUE(loaded.ok());
    engine_ = std::move(Engine::Make(loaded.config, *registry_, clock_, seed)).value();
    reference_ = std::move(Engine::Make(loaded.config, *registry_, clock_, seed)).value();
    for (PluginIndex* index : engine_->Indexes()) state_->AddIndex(index);
    engine_->Remember({max_bytes});
    engine_->Verify(*reference_, [this](const std::string& text) { differences_.push_back(text); });
  }
  void Put(const MakeNode& node) { state_->PutNode(std::make_shared<const Node>(node.Build())); }
  void Put(const MakePod& pod) { ASSERT_TRUE(state_->AddPod(std::make_shared<const Pod>(pod.Build())).ok()); }
  void Remove(const std::string& uid) { ASSERT_TRUE(state_->RemovePod(uid).ok()); }
  Decision Decide(const Pod& pod) {
    Decision decision = engine_->Decide(engine_->first_profile(), pod, state_->snapshot());
    EXPECT_THAT(differences_, IsEmpty());
    return decision;
  }
  // How many rows were judged with pods gone since the last call.
  uint64_t Cleared() {
    return engine_->memory_stats().cleared_rows - std::exchange(seen_, engine_->memory_stats().cleared_rows);
  }

  ManualClock clock_;
  std::unique_ptr<Registry> registry_;
  std::unique_ptr<cluster::ClusterState> state_;
  std::unique_ptr<Engine> reference_, engine_;
  std::vector<std::string> differences_;
  uint64_t seen_ = 0;
};

MakeNode Cpus(const std::string& name, const std::string& cpu) {
  return MakeNode(name).Capacity({{"cpu", cpu}, {"memory", "64Gi"}, {"pods", "110"}});
}
MakePod Cpu(const std::string& name, const std::string& cpu, int32_t priority) {
  return MakePod(name).Uid(name).Request({{"cpu", cpu}}).Priority(priority);
}

// Ten nodes with a pod of priority 10 and one of priority 0 each, of two cpus.
class FullTest : public ClearedTest {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(Start(1));
    for (int i = 0; i < 10; ++i) {
      const std::string n = std::to_string(i);
      Put(Cpus("n" + n, "4"));
      Put(Cpu("holder" + n, "2", 10).OnNode("n" + n));
      Put(Cpu("filler" + n, "2", 0).OnNode("n" + n));
    }
  }
};

TEST_F(FullTest, TheNextPodOfATemplateThatFitsNowhereLooksAtNoRow) {
  const Decision first = Decide(Cpu("a", "3", 10));
  EXPECT_THAT(first.message, HasSubstr("preemption: 0/10 nodes are available: 10 Insufficient cpu."));
  EXPECT_EQ(Cleared(), 10u);
  EXPECT_EQ(Decide(Cpu("b", "3", 10)).message, first.message);
  EXPECT_EQ(Cleared(), 0u);
}

TEST_F(FullTest, ARowThatChangedIsLookedAtAgain) {
  Decide(Cpu("a", "3", 10));
  Cleared();
  Remove("holder3");
  Put(Cpu("holder3b", "1", 10).OnNode("n3"));
  const Decision decision = Decide(Cpu("b", "3", 10));
  EXPECT_EQ(decision.post_filter.nominated_node, "n3");
  EXPECT_EQ(Cleared(), 1u);
  Put(Cpus("n10", "4"));
  Put(Cpu("filler10", "2", 0).OnNode("n10"));
  EXPECT_EQ(Decide(Cpu("c", "3", 10)).post_filter.plan->candidates.size(), 2u);
  EXPECT_EQ(Cleared(), 1u);
}

TEST_F(FullTest, AnotherPriorityIsAnotherQuestion) {
  EXPECT_EQ(Decide(Cpu("a", "3", 10)).post_filter.plan, nullptr);
  EXPECT_EQ(Decide(Cpu("b", "3", 11)).post_filter.plan->candidates.size(), 10u);
  EXPECT_THAT(Decide(Cpu("c", "3", 0)).message, HasSubstr("10 No preemption victims found for incoming pod."));
  EXPECT_THAT(Decide(Cpu("d", "3", 10)).message, HasSubstr("preemption: 0/10 nodes are available: 10 Insufficient"));
}

TEST_F(FullTest, ANodeWithANominatedPodIsLookedAtOnce) {
  EXPECT_EQ(Decide(Cpu("a", "2", 10)).post_filter.plan->candidates.size(), 10u);
  Cleared();
  // The room that evicting filler4 would make belongs to the nominated pod.
  state_->Nominate(std::make_shared<const Pod>(Cpu("first", "2", 10).Build()), "n4");
  EXPECT_EQ(Decide(Cpu("b", "2", 10)).post_filter.plan->candidates.size(), 9u);
  EXPECT_EQ(Cleared(), 1u);
  EXPECT_EQ(Decide(Cpu("c", "2", 10)).post_filter.plan->candidates.size(), 9u);
  EXPECT_EQ(Cleared(), 0u);
  state_->ClearNomination("first");
  EXPECT_EQ(Decide(Cpu("d", "2", 10)).post_filter.plan->candidates.size(), 10u);
  EXPECT_EQ(Cleared(), 1u);
}

TEST_F(FullTest, ThePodThatIsNominatedIsNotInItsOwnWay) {
  Decide(Cpu("a", "2", 10));
  state_->Nominate(std::make_shared<const Pod>(Cpu("first", "2", 10).Build()), "n4");
  EXPECT_EQ(Decide(Cpu("b", "2", 10)).post_filter.plan->candidates.size(), 9u);
  EXPECT_EQ(Decide(Cpu("first", "2", 10)).post_filter.plan->candidates.size(), 10u);
  EXPECT_EQ(Decide(Cpu("c", "2", 10)).post_filter.plan->candidates.size(), 9u);
  // The victim is gone: room for the one, and for nobody else.
  Remove("filler4");
  EXPECT_EQ(Decide(Cpu("d", "2", 10)).kind, Judgement::Kind::kRejected);
  EXPECT_EQ(Decide(Cpu("first", "2", 10)).kind, Judgement::Kind::kFits);
  EXPECT_EQ(Decide(Cpu("e", "2", 10)).kind, Judgement::Kind::kRejected);
  // One of higher priority does not wait for it.
  EXPECT_EQ(Decide(Cpu("f", "2", 11)).kind, Judgement::Kind::kFits);
  EXPECT_EQ(Decide(Cpu("g", "2", 10)).kind, Judgement::Kind::kRejected);
}

TEST_F(FullTest, VictimsAreKnownUntilARowOrABudgetChanges) {
  const auto victims = [&](const Decision& decision, const std::string& node) {
    std::vector<std::string> names;
    for (const PreemptionCandidate& candidate : decision.post_filter.plan->candidates)
      if (candidate.node == node)
        for (const auto& pod : candidate.victims) names.push_back(pod->name());
    return names;
  };
  EXPECT_THAT(victims(Decide(Cpu("a", "2", 10)), "n4"), ElementsAre("filler4"));
  // Two smaller ones: the one that started later goes.
  Remove("filler4");
  Put(Cpu("early", "1", 0).OnNode("n4").Label("app", "early").With([](Pod& pod) { pod.start_time = Time{1000}; }));
  Put(Cpu("late", "1", 0).OnNode("n4").With([](Pod& pod) { pod.start_time = Time{2000}; }));
  clock_.Advance(Duration{10'000'000'000});
  EXPECT_THAT(victims(Decide(Cpu("b", "1", 10)), "n4"), ElementsAre("late"));
  PodDisruptionBudget budget;
  budget.meta.name = "b";
  budget.meta.namespace_ = "default";
  budget.selector = SelectLabels({{"app", "late"}});
  state_->PutObject<PodDisruptionBudget>(std::make_shared<const PodDisruptionBudget>(budget));
  EXPECT_THAT(victims(Decide(Cpu("c", "1", 10)), "n4"), ElementsAre("late"));
  // Now the later one is under the budget, whose labels came with an update.
  Pod late = Cpu("late", "1", 0).OnNode("n4").Label("app", "late").Build();
  late.start_time = Time{2000};
  ASSERT_TRUE(state_->UpdatePod(std::make_shared<const Pod>(late)).ok());
  EXPECT_THAT(victims(Decide(Cpu("d", "1", 10)), "n4"), ElementsAre("early"));
}

TEST_F(FullTest, WhatIsKeptIsWeighed) {
  // The pods are of one class but for the second, which preempts nobody.
  Decide(Cpu("a", "3", 10).With([](Pod& pod) { pod.preemption_policy = PreemptionPolicy::kNever; }));
  const size_t before = engine_->memory_stats().bytes;
  Decide(Cpu("b", "3", 10));
  EXPECT_EQ(engine_->memory_stats().classes, 1u);
  EXPECT_GE(engine_->memory_stats().bytes, before + 10 * sizeof(Mark));
}

// A crowded cluster in which pods of all priorities come and go, are nominated and evicted.
class CrowdTest : public ClearedTest {
 protected:
  void Story(uint64_t seed, size_t max_bytes = size_t{64} << 20) {
    dice_ = Dice(seed);
    placed_.clear();
    nominated_.clear();
    nodes_ = 3 + static_cast<int>(dice_.Below(30));
    ASSERT_NO_FATAL_FAILURE(Start(seed, max_bytes));
    for (int i = 0; i < nodes_; ++i) PutNode(i);
    for (int step = 0; step < 150; ++step) {
      SCOPED_TRACE(step);
      ASSERT_NO_FATAL_FAILURE(Step(step));
      if (dice_.Chance(30)) Change(step);
    }
  }

  void PutNode(int64_t i) {
    MakeNode node("n" + std::to_string(i));
    node.Capacity({{"cpu", std::to_string(2 + 2 * dice_.Below(2))}, {"memory", "8Gi"}, {"pods", "5"}});
    node.Label("kubernetes.io/hostname", "n" + std::to_string(i));
    if (dice_.Chance(50)) node.Label("disk", "ssd");
    if (dice_.Chance(15)) node.Taint("dedicated", "batch", TaintEffect::kNoSchedule);
    Put(node);
  }

  std::shared_ptr<Pod> NewPod(int step) {
    const int64_t kind = dice_.Below(6);
    MakePod pod("p" + std::to_string(step));
    pod.Uid("uid-" + std::to_string(step)).Label("app", "a" + std::to_string(kind));
    pod.Request({{"cpu", std::to_string(500 * (1 + kind)) + "m"}, {"memory", "1Gi"}});
    pod.Priority(static_cast<int32_t>(10 * dice_.Below(4)));
    if (kind == 1) pod.NodeSelector("disk", "ssd");
    if (kind == 2) pod.Tolerate({"dedicated", TolerationOp::kExists, "", TaintEffect::kNoSchedule});
    if (kind == 3) pod.HostPort(8080);
    if (kind == 4 && dice_.Chance(5)) {
      PodAffinityTerm term;
      term.selector = SelectLabels({{"app", "a4"}});
      term.topology_key = "kubernetes.io/hostname";
      pod.PodAntiAffinity(term);
    }
    auto made = std::make_shared<Pod>(pod.Build());
    if (dice_.Chance(5)) made->preemption_policy = PreemptionPolicy::kNever;
    return made;
  }

  void Step(int step) {
    clock_.Advance(Duration{1'000'000'000});
    std::shared_ptr<Pod> pod = NewPod(step);
    // Now and then one that was nominated comes back.
    if (!nominated_.empty() && dice_.Chance(30))
      pod =
          std::make_shared<Pod>(*nominated_[static_cast<size_t>(dice_.Below(static_cast<int64_t>(nominated_.size())))]);
    const Decision decision = Decide(*pod);
    ASSERT_THAT(differences_, IsEmpty());
    if (decision.kind == Judgement::Kind::kFits) {
      pod->node_name = state_->snapshot().node(decision.row).name();
      state_->ClearNomination(pod->uid());
      std::erase_if(nominated_, [&](const auto& other) { return other->uid() == pod->uid(); });
      if (dice_.Chance(50)) pod->start_time = Time{clock_.Now().ns + dice_.Below(5) * 1'000'000'000};
      ASSERT_TRUE(state_->AssumePod(pod).ok());
      placed_.insert(pod->uid());
    } else if (decision.post_filter.plan) {
      ++plans_;
      if (dice_.Chance(50)) {
        state_->Nominate(pod, decision.post_filter.plan->selected);
        std::erase_if(nominated_, [&](const auto& other) { return other->uid() == pod->uid(); });
        nominated_.push_back(pod);
      }
      if (dice_.Chance(50)) return;
      for (const PreemptionCandidate& candidate : decision.post_filter.plan->candidates) {
        if (candidate.node != decision.post_filter.plan->selected) continue;
        for (const auto& victim : candidate.victims) Take(victim->uid());
      }
    } else {
      ++hopeless_;
    }
  }

  void Take(const std::string& uid) {
    Remove(uid);
    placed_.erase(uid);
  }

  void Change(int step) {
    const int64_t what = dice_.Below(100);
    if (what < 50 && !placed_.empty()) {
      Take(*std::next(placed_.begin(), dice_.Below(static_cast<int64_t>(placed_.size()))));
    } else if (what < 65) {
      PutNode(dice_.Below(nodes_));
    } else if (what < 70) {
      PutNode(nodes_++);
    } else if (what < 75) {
      // Its pods stay, and are there when the node comes back.
      const std::string name = "n" + std::to_string(dice_.Below(nodes_));
      if (state_->snapshot().FindRow(name) == kNoRow || state_->snapshot().node_count() <= 2) return;
      ASSERT_TRUE(state_->RemoveNode(name).ok());
    } else if (what < 85) {
      PodDisruptionBudget budget;
      budget.meta.name = "b" + std::to_string(step % 2);
      budget.meta.namespace_ = "default";
      budget.selector = SelectLabels({{"app", "a" + std::to_string(dice_.Below(6))}});
      budget.disruptions_allowed = static_cast<int32_t>(dice_.Below(2));
      state_->PutObject<PodDisruptionBudget>(std::make_shared<const PodDisruptionBudget>(budget));
    } else if (!nominated_.empty()) {
      state_->ClearNomination(nominated_.back()->uid());
      nominated_.pop_back();
    }
  }

  Dice dice_{0};
  int nodes_ = 0;
  std::set<std::string> placed_;
  std::vector<std::shared_ptr<const Pod>> nominated_;
  int plans_ = 0, hopeless_ = 0;
};

TEST_F(CrowdTest, PlansAndMessagesAreThoseOfAFullTry) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    ASSERT_NO_FATAL_FAILURE(Story(seed));
  }
  EXPECT_GT(plans_, 500);
  EXPECT_GT(hopeless_, 500);
}

TEST_F(CrowdTest, AlsoWhenClassesAreForgottenAllTheTime) {
  for (uint64_t seed = 100; seed <= 110; ++seed) {
    SCOPED_TRACE(seed);
    ASSERT_NO_FATAL_FAILURE(Story(seed, 1));
  }
}

}  // namespace
}  // namespace berth::framework
