// SPDX-License-Identifier: Apache-2.0
// Plugins that judge one node at a time.
#include "berth/node_plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/registry.h"
#include "berth/testing.h"

namespace berth {
namespace {

using ::testing::ElementsAre;

constexpr Reason kTooHot{"node(s) were too hot"};

class Thermal final : public NodePlugin {
 public:
  static constexpr std::string_view kName = "Thermal";
  Verdict FilterNode(const Pod&, NodeView node) const override {
    const auto celsius = node.IntLabel("celsius");
    if (!celsius) return Verdict(Code::kSkip, "no sensor");
    return *celsius > 60 ? kTooHot : kFits;
  }
  int64_t ScoreNode(const Pod&, NodeView node) const override { return 100 - node.IntLabel("celsius").value_or(0); }
};

class OnlyScores final : public NodePlugin {
 public:
  static constexpr std::string_view kName = "OnlyScores";
  int64_t ScoreNode(const Pod&, NodeView) const override { return 1; }
};

TEST(NodePluginTest, EveryNodeIsAskedByItself) {
  TestCluster cluster;
  cluster.Add(MakeNode("cool").Label("celsius", "20")).Add(MakeNode("hot").Label("celsius", "70"));
  const auto verdicts = FilterAll(Thermal(), MakePod("p"), cluster);
  EXPECT_TRUE(verdicts.at("cool").fits());
  EXPECT_EQ(verdicts.at("hot"), Verdict(kTooHot));
  EXPECT_THAT(ScoreAll(Thermal(), MakePod("p"), cluster).normalized,
              ElementsAre(std::pair("cool", 80), std::pair("hot", 30)));
}

// Adds up more labels than are read by column, through a key whose place in memory is the same for all.
class SumsUp final : public NodePlugin {
 public:
  static constexpr std::string_view kName = "SumsUp";
  int64_t ScoreNode(const Pod&, NodeView node) const override {
    int64_t sum = 0;
    std::string key = "k?";
    for (char c = 'a'; c <= 'g'; ++c) {
      key[1] = c;
      sum += node.IntLabel(key).value_or(1000);
    }
    return sum;
  }
  Normalization normalization() const override { return Normalization::kByMax; }
};

TEST(NodePluginTest, LabelsOfManyNodesAreThoseOfEach) {
  TestCluster cluster;
  const auto put = [&](int i, int first) {
    MakeNode node("n" + std::to_string(i));
    // The last key is nowhere, the others on every second node.
    for (char c = 'a'; c < 'g'; ++c) {
      if ((i + c) % 2 == 0) node.Label(std::string("k") + c, std::to_string(first + c));
    }
    cluster.Add(node);
  };
  const auto expect = [&](int i, int first) {
    int64_t sum = 1000;
    for (char c = 'a'; c < 'g'; ++c) sum += (i + c) % 2 == 0 ? first + c : 1000;
    return sum;
  };
  constexpr int kNodes = 700;  // more than one batch
  for (int i = 0; i < kNodes; ++i) put(i, i);
  for (int round = 0; round < 2; ++round) {
    const ScoreResult scores = ScoreAll(SumsUp(), MakePod("p"), cluster);
    ASSERT_EQ(scores.error, "");
    for (int i = 0; i < kNodes; ++i) {
      ASSERT_EQ(scores.raw.at("n" + std::to_string(i)), expect(i, round == 1 && i < 10 ? i + 5000 : i)) << i;
    }
    for (int i = 0; i < 10; ++i) put(i, i + 5000);  // the columns follow
  }
}

TEST(NodePluginTest, AnAnswerThatIsNeitherYesNorNoIsAnError) {
  TestCluster cluster;
  cluster.Add(MakeNode("blind"));
  EXPECT_EQ(FilterAll(Thermal(), MakePod("p"), cluster).at("blind"), Verdict::Fail("no sensor"));
}

TEST(NodePluginTest, WhatIsNotOverriddenLetsEverythingPass) {
  TestCluster cluster;
  cluster.Add(MakeNode("a"));
  EXPECT_TRUE(FilterAll(OnlyScores(), MakePod("p"), cluster).at("a").fits());
}

TEST(NodePluginTest, TheRegistrySeesWhichFunctionsAreOverridden) {
  Registry registry;
  registry.Add<Thermal>();
  registry.Add<OnlyScores>();
  EXPECT_EQ(registry.Find("Thermal")->points, Bit(Point::kFilter) | Bit(Point::kScore));
  EXPECT_EQ(registry.Find("OnlyScores")->points, Bit(Point::kScore));
}

TEST(PointTest, ExtensionPointsHaveUpstreamsNames) {
  EXPECT_EQ(ToString(Point::kPreEnqueue), "PreEnqueue");
  EXPECT_EQ(ToString(Point::kPreFilter), "PreFilter");
  EXPECT_EQ(ToString(Point::kPostBind), "PostBind");
}

}  // namespace
}  // namespace berth
