// SPDX-License-Identifier: Apache-2.0
// Resources judged on vectors and gathered rows against the same rows one by one, which goes the plain way.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "berth/testing.h"
#include "cluster/cluster_state.h"
#include "plugins/node_resources_balanced_allocation.h"
#include "plugins/node_resources_fit.h"
#include "util/random.h"

namespace berth::plugins {
namespace {

constexpr size_t kRows = 700;  // several chunks, and a rest

class PlainCycle final : public Cycle {
 public:
  using Cycle::Cycle;
  std::unique_ptr<WhatIf> Imagine(Row) const override { return nullptr; }
};

class ResourceVectorsTest : public ::testing::Test {
 protected:
  // `bits`: how many amounts have at most.
  void Fill(uint64_t seed, int bits) {
    util::Random random(seed);
    const auto amount = [&] {
      const int64_t n = static_cast<int64_t>(random.Next() >> (64 - 1 - random.Below(bits)));
      return random.Chance(10) ? int64_t{0} : n;
    };
    for (size_t i = 0; i < kRows; ++i) {
      const std::string name = "n" + std::to_string(i);
      Node node = MakeNode(name);
      node.allocatable.milli_cpu = amount();
      node.allocatable.memory = amount();
      node.allocatable.pods = random.Below(3);
      state_->PutNode(std::make_shared<const Node>(node));
      for (int64_t k = random.Below(3); k > 0; --k) {
        Pod pod = MakePod(name + "-" + std::to_string(k)).OnNode(name);
        pod.resources.held.milli_cpu = amount() / 3;
        pod.resources.held.memory = amount() / 3;
        ASSERT_TRUE(state_->AddPod(std::make_shared<const Pod>(pod)).ok());
      }
    }
    pod_.resources.request.milli_cpu = pod_.resources.held.milli_cpu = pod_.resources.score_request.milli_cpu =
        amount();
    pod_.resources.request.memory = pod_.resources.held.memory = pod_.resources.score_request.memory = amount();
  }

  void Compare(const ScorePlugin& plugin, int percent_active, uint64_t seed) {
    const Snapshot snapshot = state_->snapshot();
    const PlainCycle cycle(pod_, snapshot, Time{});
    util::Random random(seed);
    std::vector<uint8_t> active(kRows);
    for (uint8_t& one : active) one = random.Chance(percent_active);
    std::vector<int64_t> scores(kRows, -1);
    ASSERT_TRUE(plugin.Score(cycle, nullptr, NodeBatch(snapshot, 0, active), scores).ok());
    for (Row row = 0; row < kRows; ++row) {
      if (!active[row]) continue;
      const uint8_t on = 1;
      int64_t alone = -1;
      ASSERT_TRUE(plugin.Score(cycle, nullptr, NodeBatch(snapshot, row, {&on, 1}), {&alone, 1}).ok());
      ASSERT_EQ(scores[row], alone) << "row " << row;
    }
  }

  std::unique_ptr<cluster::ClusterState> state_;
  Pod pod_ = MakePod("p");
};

TEST_F(ResourceVectorsTest, GiveTheNumbersOfRowsOneByOne) {
  // Around the limits of the vectors too: 46 bits for fit, 52 for balance.
  for (const int bits : {12, 33, 45, 46, 47, 51, 53, 62}) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(std::to_string(bits) + " bits, seed " + std::to_string(seed));
      state_ = std::make_unique<cluster::ClusterState>();
      ASSERT_NO_FATAL_FAILURE(Fill(seed, bits));
      for (const int percent : {0, 3, 20, 60, 100}) {
        for (const auto strategy :
             {NodeResourcesFit::Strategy::kLeastAllocated, NodeResourcesFit::Strategy::kMostAllocated}) {
          NodeResourcesFit::Args args;
          args.strategy = strategy;
          ASSERT_NO_FATAL_FAILURE(Compare(NodeResourcesFit(args, std::vector<std::string>{}), percent, seed));
        }
        ASSERT_NO_FATAL_FAILURE(Compare(NodeResourcesBalancedAllocation({}), percent, seed));
      }
    }
  }
}

}  // namespace
}  // namespace berth::plugins
