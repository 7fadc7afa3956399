// SPDX-License-Identifier: Apache-2.0
// What is remembered never changes a decision: random clusters that change, every decision judged both ways.
#include "framework/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "berth/testing.h"
#include "framework/memory_test_util.h"

namespace berth::framework {
namespace {

TEST(MemoryPropertyTest, DecidesAsIfNothingWereRemembered) {
  uint64_t remembered = 0, hits = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    MemoryWorld world(seed);
    world.affinity = seed % 3 != 0;
    ASSERT_NO_FATAL_FAILURE(RunStory(world, static_cast<int>(3 + seed % 40), 120));
    remembered += world.engine().memory_stats().decisions;
    hits += world.engine().memory_stats().hits;
  }
  EXPECT_GT(remembered, 5000u);
  EXPECT_GT(hits, 2000u);
}

// Profiles in which nobody's scores are scaled by what others have: the winner is the best of some blocks of rows.
constexpr const char* kFitAlone =
    "profiles: [{plugins: {multiPoint: {disabled: [{name: '*'}], enabled: [{name: PrioritySort}, {name: "
    "DefaultBinder}, "
    "{name: NodeResourcesFit}, {name: DefaultPreemption}]}}}]\n";
constexpr const char* kNoScores = "profiles: [{plugins: {score: {disabled: [{name: '*'}]}}}]\n";

TEST(MemoryPropertyTest, DecidesTheSameWithAnyConfiguration) {
  const char* const kConfigurations[] = {
      "profiles: [{plugins: {score: {disabled: [{name: PodTopologySpread}, {name: NodeAffinity}]}}}]\n", kFitAlone,
      kNoScores, "profiles: [{plugins: {preFilter: {disabled: [{name: NodeAffinity}]}}}]\n",
      "profiles: [{plugins: {multiPoint: {enabled: [{name: TaintToleration, weight: 90}, {name: ImageLocality, weight: "
      "7}]}}}]\n"};
  for (uint64_t seed = 300; seed < 320; ++seed) {
    SCOPED_TRACE(seed);
    MemoryWorld world(seed, kConfigurations[seed % std::size(kConfigurations)]);
    ASSERT_NO_FATAL_FAILURE(RunStory(world, 15, 100));
  }
}

// Rows are looked at in blocks and in batches of 1,024.
TEST(MemoryPropertyTest, DecidesTheSameWhereRowsFillSeveralBlocks) {
  for (const bool affinity : {false, true}) {
    MemoryWorld world(affinity ? 400 : 401);
    world.affinity = affinity;
    ASSERT_NO_FATAL_FAILURE(RunStory(world, 1300, 250));
    EXPECT_GT(world.engine().memory_stats().hits, affinity ? 10u : 100u);
  }
}

TEST(MemoryPropertyTest, DecidesTheSameWhereTheWinnerIsTheBestOfSeveralBlocks) {
  uint64_t seed = 410;
  for (const char* configuration : {kFitAlone, kNoScores}) {
    for (const int nodes : {65, 130, 1300}) {
      SCOPED_TRACE(::testing::Message() << configuration << nodes);
      MemoryWorld world(seed++, configuration);
      world.affinity = false;
      ASSERT_NO_FATAL_FAILURE(RunStory(world, nodes, 250));
      EXPECT_GT(world.engine().memory_stats().by_blocks, 100u);
    }
  }
}

TEST(MemoryPropertyTest, DecidesTheSameWhenItMustForgetAllTheTime) {
  for (uint64_t seed = 100; seed <= 110; ++seed) {
    SCOPED_TRACE(seed);
    MemoryWorld world(seed, "", {.max_bytes = 1});
    ASSERT_NO_FATAL_FAILURE(RunStory(world, 12, 80));
    EXPECT_LE(world.engine().memory_stats().classes, 2u);
  }
}

TEST(MemoryTest, AClassIsKeptFromItsSecondPodOn) {
  MemoryWorld world(1);
  world.affinity = false;
  for (int i = 0; i < 5; ++i) world.AddNode();
  for (int i = 0; i < 3; ++i) {
    auto pod = std::make_shared<const Pod>(
        MakePod("p" + std::to_string(i)).Uid("u" + std::to_string(i)).Request({{"cpu", "1m"}}).Build());
    world.Decide(pod);
    EXPECT_EQ(world.engine().memory_stats().classes, i == 0 ? 0u : 1u);
    EXPECT_EQ(world.engine().memory_stats().hits, i == 2 ? 1u : 0u);
  }
}

// What is wrong here would be read, not picked: AddressSanitizer sees it, and no difference does.
TEST(MemoryTest, RowsWithoutANodeMayBeTheLastOnes) {
  MemoryWorld world(1, kFitAlone);
  world.affinity = false;
  int pods = 0;
  const auto decide = [&] {
    const std::string name = "p" + std::to_string(pods++);
    world.Decide(std::make_shared<const Pod>(MakePod(name).Uid(name).Request({{"cpu", "1m"}}).Build()));
  };
  for (int i = 0; i < 64; ++i) world.AddNode();  // a block
  for (int i = 0; i < 3; ++i) decide();
  for (int i = 0; i < 200; ++i) world.AddPodOn("of-nobody-" + std::to_string(i), "unknown-" + std::to_string(i));
  for (int i = 0; i < 3; ++i) decide();
  world.AddNode();
  for (int i = 0; i < 3; ++i) decide();
  EXPECT_THAT(world.differences, ::testing::IsEmpty());
  EXPECT_GT(world.engine().memory_stats().hits, 5u);
  EXPECT_GT(world.engine().memory_stats().by_blocks, 5u);
}

TEST(MemoryTest, PodsThatNameTheirNodeAreDecidedWithoutALookAtTheOthers) {
  MemoryWorld world(1);
  world.affinity = false;
  for (int i = 0; i < 5; ++i) world.AddNode();
  for (int i = 0; i < 5; ++i) {
    const std::string name = "p" + std::to_string(i);
    world.Decide(std::make_shared<const Pod>(
        MakePod(name)
            .Uid(name)
            .Tolerate({"", TolerationOp::kExists, "", TaintEffect::kNone})
            .RequireNode({{}, {Require("metadata.name", SelectorOp::kIn, {"n" + std::to_string(i)})}, ""})
            .Build()));
  }
  EXPECT_THAT(world.differences, ::testing::IsEmpty());
  EXPECT_EQ(world.engine().memory_stats().decisions, 5u);
  EXPECT_EQ(world.engine().memory_stats().full_passes, 0u);
}

}  // namespace
}  // namespace berth::framework
