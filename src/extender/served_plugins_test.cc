// SPDX-License-Identifier: Apache-2.0
// Every built-in plugin that the protocol can carry, asked natively and through the extender in both shapes: equal
// verdicts, equal scores.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "extender/extender_service.h"
#include "extender/extender_test_util.h"
#include "extender/plugin_cases_test_util.h"
#include "framework/judge.h"
#include "plugins/builtin.h"

namespace berth::extender {
namespace {

using framework::Judge;
using framework::Judgement;

class ServedPluginsTest : public ::testing::Test {
 protected:
  ServedPluginsTest() {
    plugins::RegisterBuiltinPlugins(registry_);
    for (const char* node : kCaseNodes) {
      nodes_.Add(Decoded<Node>(Typed("Node", node)));
      items_ += (items_.empty() ? "" : ",") + std::string(node);
      names_ += (names_.empty() ? "\"" : ",\"") + Decoded<Node>(Typed("Node", node)).name() + "\"";
    }
  }

  // Asks one plugin about one pod, natively and in both shapes.
  void Compare(const std::string& plugin, const std::string& pod_json) {
    const config::Profile profile = ProfileOf({plugin});
    auto made = ExtenderService::Make(profile, registry_, clock_, &nodes_, nullptr);
    ASSERT_TRUE(made.ok()) << made.error().text();
    ExtenderService& service = *made.value();
    const Pod pod = Decoded<Pod>(Typed("Pod", pod_json));
    const Snapshot snapshot = nodes_.state.snapshot();
    VerdictTable table;
    const Judge judge(service.profile(), table, clock_);
    framework::JudgeOptions options;
    options.post_filter = false;
    const Answers want = Native(judge.Run(pod, snapshot, options), snapshot, table);
    std::vector<Row> rows;
    for (Row row = 0; row < snapshot.rows(); ++row) rows.push_back(row);
    const Judgement scored = judge.Score(pod, snapshot, rows);
    ASSERT_EQ(scored.kind, Judgement::Kind::kFits) << scored.message;

    std::string bodies[] = {R"({"Pod":)" + pod_json + R"(,"Nodes":null,"NodeNames":[)" + names_ + "]}",
                            R"({"Pod":)" + pod_json + R"(,"Nodes":{"items":[)" + items_ + R"(]},"NodeNames":null})"};
    for (std::string& body : bodies) {
      const Result<ExtenderArgs> args = DecodeExtenderArgs(body);
      ASSERT_TRUE(args.ok()) << args.error().text();
      EXPECT_EQ(Served(*args, service.Filter(*args)), want) << body;
      const auto list = service.Prioritize(*args);
      ASSERT_TRUE(list.ok()) << list.error().text();
      ASSERT_EQ(list->size(), rows.size());
      for (size_t i = 0; i < rows.size(); ++i) {
        // One plugin of weight 1: a total is its score.
        const int64_t total = scored.scores.empty() ? 0 : scored.scores[0].normalized[i];
        EXPECT_EQ(list.value()[i].score, (total + 5) / 10) << list.value()[i].host;
      }
    }
  }

  void CompareAll() {
    size_t served = 0;
    for (const auto& [name, descriptor] : registry_.all()) {
      if ((descriptor.points & ~kCarried) != 0) continue;
      ++served;
      for (const auto& c : kCases) {
        SCOPED_TRACE(name + ": " + c.name);
        Compare(name, c.pod);
      }
    }
    EXPECT_GE(served, 10u);
  }

  Registry registry_;
  ManualClock clock_;
  TestNodes nodes_;
  std::string items_, names_;
};

TEST_F(ServedPluginsTest, VerdictsAndScoresAreTheNativeOnesInBothShapes) { CompareAll(); }

TEST_F(ServedPluginsTest, BothShapesSeeThePodsThatRun) {
  for (const char* pod : kRunningPods) nodes_.Add(Decoded<Pod>(pod));
  CompareAll();
}

TEST_F(ServedPluginsTest, OtherBuiltInPluginsAreRefusedByName) {
  for (const auto& [name, descriptor] : registry_.all()) {
    if ((descriptor.points & ~kCarried) == 0) continue;
    const auto made = ExtenderService::Make(ProfileOf({name}), registry_, clock_, &nodes_, nullptr);
    ASSERT_FALSE(made.ok()) << name;
    EXPECT_THAT(made.error().text(), ::testing::HasSubstr("plugin \"" + name + "\" cannot be served at "));
  }
}

}  // namespace
}  // namespace berth::extender
