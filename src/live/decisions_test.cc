// SPDX-License-Identifier: Apache-2.0
// What /debug/decisions answers.
#include "live/decisions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "berth/testing.h"
#include "cluster/cluster_state.h"
#include "config/load.h"
#include "framework/engine.h"
#include "plugins/builtin.h"

namespace berth::live {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class DecisionsTest : public ::testing::Test {
 protected:
  DecisionsTest() {
    plugins::RegisterBuiltinPlugins(registry_);
    const config::Loaded loaded = config::LoadConfiguration(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n", registry_);
    auto engine = framework::Engine::Make(loaded.config, registry_, clock_);
    EXPECT_TRUE(engine.ok());
    engine_ = std::move(engine).value();
    for (PluginIndex* index : engine_->Indexes()) state_.AddIndex(index);
    engine_->Remember();
    for (const char* name : {"n1", "n2"})
      state_.PutNode(std::make_shared<const Node>(MakeNode(name).Capacity({{"cpu", "4"}, {"pods", "110"}}).Build()));
  }
  void Decide(const std::string& name, const std::string& cpu) {
    (void)engine_->Decide(engine_->first_profile(), MakePod(name).Request({{"cpu", cpu}}), state_.snapshot());
  }
  net::HttpResponse Ask(const std::string& pod) const {
    return DecisionsReply(engine_->traces(), engine_->table(), pod, clock_.Now(), Time{1'800'000'000'000'000'000});
  }

  ManualClock clock_;
  Registry registry_;
  std::unique_ptr<framework::Engine> engine_;
  cluster::ClusterState state_;
};

TEST_F(DecisionsTest, ADecisionIsShownWithItsReasonsAndScores) {
  Decide("p", "1");
  clock_.Advance(Duration::Seconds(3));
  Decide("q", "5");
  net::HttpResponse reply = Ask("default/p");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.content_type, "application/json");
  for (const char* part : {"\"kind\": \"Decisions\"", "\"pod\": \"default/p\"", "\"found\": 1", "\"position\": 0",
                           "\"time\": \"2027-01-15T07:59:57.000000Z\"", "\"profile\": \"default-scheduler\"",
                           "\"result\": \"fits\"", "\"feasible\": 2", "\"ties\": 2", "\"node\": \"n1\"",
                           "\"NodeResourcesFit\": ", "\"since\": \"2027-01-15T07:59:57.000000Z\"",
                           "\"firstPosition\": 0", "\"lastPosition\": 1", "\"most\": 1024"})
    EXPECT_THAT(reply.body, HasSubstr(part));
  reply = Ask("default/q");
  for (const char* part : {"\"result\": \"unschedulable\"", "\"plugin\": \"NodeResourcesFit\"",
                           "\"code\": \"UnschedulableAndUnresolvable\"", "\"Insufficient cpu\"", "\"nodes\": 2",
                           "\"time\": \"2027-01-15T08:00:00.000000Z\""})
    EXPECT_THAT(reply.body, HasSubstr(part));
  EXPECT_THAT(reply.body, Not(HasSubstr("preemption")));
}

TEST_F(DecisionsTest, TheNewestComeFirstAndNoMoreThanAFew) {
  for (int i = 0; i < 30; ++i) {
    clock_.Advance(Duration::Seconds(1));
    Decide("p", "1");
  }
  const std::string body = Ask("default/p").body;
  EXPECT_THAT(body, HasSubstr("\"found\": 30"));
  size_t shown = 0;
  for (size_t at = 0; (at = body.find("\"result\"", at)) != std::string::npos; ++at) ++shown;
  EXPECT_EQ(shown, kDecisionsShown);
  EXPECT_LT(body.find("\"position\": 29"), body.find("\"position\": 28"));
  EXPECT_THAT(body, Not(HasSubstr("\"position\": 9,")));
}

TEST_F(DecisionsTest, OfAPodThatNobodyRemembersItSaysHowFarBackItReaches) {
  net::HttpResponse reply = Ask("default/p");
  EXPECT_EQ(reply.status, 404);
  EXPECT_THAT(reply.body, HasSubstr("\"decisions\": 0"));
  for (int i = 0; i < 1100; ++i) Decide("other", "1");
  reply = Ask("default/p");
  EXPECT_EQ(reply.status, 404);
  for (const char* part : {"\"found\": 0", "\"decisions\": 1024", "\"firstPosition\": 76", "\"lastPosition\": 1099"})
    EXPECT_THAT(reply.body, HasSubstr(part));
}

TEST(PodAskedForTest, WhatIsWrongIsNamed) {
  EXPECT_EQ(PodAskedFor("pod=ns%2Fname").value(), "ns/name");
  EXPECT_EQ(PodAskedFor("x=1&pod=ns/name").value(), "ns/name");
  const auto problem = [](const std::string& query) { return PodAskedFor(query).error().text(); };
  EXPECT_EQ(problem(""), "the parameter pod is missing: ?pod=NAMESPACE/NAME");
  EXPECT_EQ(problem("name=a/b"), "the parameter pod is missing: ?pod=NAMESPACE/NAME");
  EXPECT_EQ(problem("pod=a/b&pod=c/d"), "the parameter pod is there more than once");
  for (const char* bad : {"", "name", "/name", "ns/", "a/b/c", "/"})
    EXPECT_EQ(problem("pod=" + std::string(bad)),
              "the parameter pod is not NAMESPACE/NAME: \"" + std::string(bad) + "\"");
  EXPECT_LT(problem("pod=" + std::string(100000, 'x')).size(), 1200u);
  EXPECT_THAT(problem("pod=ns/" + std::string(254, 'x')), HasSubstr("not NAMESPACE/NAME"));
}

}  // namespace
}  // namespace berth::live
