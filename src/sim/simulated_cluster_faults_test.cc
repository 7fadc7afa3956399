// SPDX-License-Identifier: Apache-2.0
// What each injected fault does, and that nothing is drawn when there is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/simulated_cluster_test_util.h"

namespace berth::sim {
namespace {
using ::testing::ElementsAre;
using ::testing::IsEmpty;

ClusterOptions With(const Faults& faults) {
  ClusterOptions options;
  options.faults = faults;
  return options;
}

struct FaultyWorld : TestWorld {
  explicit FaultyWorld(const Faults& faults) : TestWorld(With(faults)) {
    cluster.on_fault = [this](std::string_view what) { noted.emplace_back(what); };
    AddPod(MakePod("a"));
  }
  std::vector<std::string> noted;
};

TEST(SimulatedFaultsTest, TheDefaultMixHasSomeOfEverythingAndNoneHasNothing) {
  const Faults mix = Faults::Default();
  for (const int share : {mix.watch_cut, mix.too_old, mix.conflict, mix.throttled, mix.server_error, mix.lost_answer,
                          mix.duplicate, mix.reordered, mix.touched, mix.slow}) {
    EXPECT_GT(share, 0);
    EXPECT_LE(share, 100);
  }
  EXPECT_TRUE(mix.any());
  EXPECT_FALSE(Faults::None().any());
  EXPECT_TRUE(Faults{.slow = 1}.any());
}

TEST(SimulatedFaultsTest, AThrottledRequestHasNoEffect) {
  FaultyWorld world({.throttled = 1000});
  EXPECT_EQ(world.Bind("a", "n"), 429);
  EXPECT_EQ(world.FindPod("a")->node_name, "");
  EXPECT_EQ(world.List(Kind::kPod).status.code, 429);
  EXPECT_THAT(world.List(Kind::kPod).objects, IsEmpty());
  world.cluster.PostEvent({}, nullptr);
  EXPECT_EQ(world.cluster.events_posted(), 0u);
  EXPECT_EQ(world.noted.at(0), "throttled default/a");
  EXPECT_EQ(world.noted.at(1), "throttled Pod");
}

TEST(SimulatedFaultsTest, AServerErrorHasNoEffect) {
  FaultyWorld world({.server_error = 1000});
  EXPECT_EQ(world.Bind("a", "n"), 500);
  EXPECT_EQ(world.Remove("a"), 500);
  EXPECT_EQ(world.List(Kind::kPod).status.code, 500);
  int code = 0;
  world.cluster.GetPod("default", "a", [&](const client::ApiStatus& status, Ptr<Pod> pod) {
    code = status.code;
    EXPECT_EQ(pod, nullptr);
  });
  world.PassUntilQuiet();
  EXPECT_EQ(code, 500);
  ASSERT_NE(world.FindPod("a"), nullptr);
  EXPECT_EQ(world.FindPod("a")->node_name, "");
}

TEST(SimulatedFaultsTest, AConflictRefusesWritesOnly) {
  FaultyWorld world({.conflict = 1000});
  EXPECT_EQ(world.Bind("a", "n"), 409);
  EXPECT_EQ(world.FindPod("a")->node_name, "");
  EXPECT_EQ(world.List(Kind::kPod).status.code, 200);
}

TEST(SimulatedFaultsTest, ALostAnswerLosesTheAnswerAndNotTheWrite) {
  FaultyWorld world({.lost_answer = 1000});
  EXPECT_EQ(world.Bind("a", "n"), 0);
  EXPECT_EQ(world.FindPod("a")->node_name, "n");
  EXPECT_EQ(world.List(Kind::kPod).status.code, 200);
  client::Lease lease;
  lease.name = "l";
  int code = -1;
  world.cluster.PutLease(lease, [&](const client::ApiStatus& status, const client::Lease& answer) {
    code = status.code;
    EXPECT_EQ(answer.resource_version, "");
  });
  world.PassUntilQuiet();
  EXPECT_EQ(code, 0);
  world.cluster.GetLease("", "l", [&](const client::ApiStatus& status, const client::Lease&) { code = status.code; });
  world.PassUntilQuiet();
  EXPECT_EQ(code, 200);
}

TEST(SimulatedFaultsTest, ATouchedPodHasAnotherVersionJustBeforeTheWrite) {
  FaultyWorld world({.touched = 1000});
  WatchDiary diary;
  const auto watch = world.cluster.StartWatch(Kind::kPod, "2", diary.Callbacks());
  EXPECT_EQ(world.Bind("a", "n"), 201);
  EXPECT_THAT(diary.Take(), ElementsAre("MODIFIED a@3", "MODIFIED a@4"));
  EXPECT_EQ(world.Bind("nobody", "n"), 404);
}

TEST(SimulatedFaultsTest, ASlowRequestTakesLonger) {
  FaultyWorld world({.slow = 1000});
  int code = -1;
  world.cluster.Bind({"default", "a", ""}, "n", [&](const client::ApiStatus& status) { code = status.code; });
  world.Pass(Duration::Millis(2 * 2 * kSlowFactor - 1));
  EXPECT_EQ(code, -1);
  world.Pass(Duration::Millis(1));
  EXPECT_EQ(code, 201);
}

TEST(SimulatedFaultsTest, AWatchMayBeTooOldFromTheStart) {
  FaultyWorld world({.too_old = 1000});
  WatchDiary diary;
  const auto watch = world.cluster.StartWatch(Kind::kPod, "2", diary.Callbacks());
  world.AddPod(MakePod("b"));
  world.PassUntilQuiet();
  EXPECT_THAT(diary.Take(), ElementsAre("CLOSED 410"));
}

TEST(SimulatedFaultsTest, AWatchThatIsCutEndsBeforeTheEventAndCanBeResumed) {
  FaultyWorld world({});
  WatchDiary diary;
  auto watch = world.cluster.StartWatch(Kind::kPod, "2", diary.Callbacks());
  world.PassUntilQuiet();
  world.AddPod(MakePod("b"));
  world.cluster.SetFaults({.watch_cut = 1000});
  world.AddPod(MakePod("c"));
  world.AddPod(MakePod("d"));
  world.PassUntilQuiet();
  EXPECT_THAT(diary.Take(), ElementsAre("ADDED b@3", "CLOSED 200"));
  world.cluster.SetFaults({});
  watch = world.cluster.StartWatch(Kind::kPod, "3", diary.Callbacks());
  world.PassUntilQuiet();
  EXPECT_THAT(diary.Take(), ElementsAre("ADDED c@4", "ADDED d@5"));
}

TEST(SimulatedFaultsTest, EventsMayComeTwice) {
  FaultyWorld world({.duplicate = 1000});
  WatchDiary diary;
  const auto watch = world.cluster.StartWatch(Kind::kPod, "2", diary.Callbacks());
  world.AddPod(MakePod("b"));
  world.PassUntilQuiet();
  EXPECT_THAT(diary.Take(), ElementsAre("ADDED b@3", "ADDED b@3"));
}

TEST(SimulatedFaultsTest, AnEventMayComeAfterItsSuccessorOfTheSameTime) {
  FaultyWorld world({.reordered = 1000});
  WatchDiary diary;
  const auto watch = world.cluster.StartWatch(Kind::kPod, "2", diary.Callbacks());
  world.PassUntilQuiet();
  world.AddPod(MakePod("b"));
  world.cluster.SetFaults({});
  world.AddPod(MakePod("c"));
  world.AddPod(MakePod("d"));
  world.cluster.SetFaults({.reordered = 1000});
  world.PassUntilQuiet();
  EXPECT_THAT(diary.Take(), ElementsAre("ADDED c@4", "ADDED b@3", "ADDED d@5"));
  world.AddPod(MakePod("e"));
  world.PassUntilQuiet();
  world.AddPod(MakePod("f"));
  world.PassUntilQuiet();
  EXPECT_THAT(diary.Take(), ElementsAre("ADDED e@6", "ADDED f@7"));
}

// A short story whose answers depend on nothing but faults.
std::vector<std::string> Story(uint64_t seed, const Faults& faults) {
  ClusterOptions options = With(faults);
  options.seed = seed;
  TestWorld world(options);
  std::vector<std::string> log;
  world.cluster.on_fault = [&](std::string_view what) { log.emplace_back(what); };
  WatchDiary diary;
  const auto watch = world.cluster.StartWatch(Kind::kPod, "1", diary.Callbacks());
  for (int i = 0; i < 100; ++i) {
    const std::string name = "p" + std::to_string(i);
    world.AddPod(MakePod(name));
    log.push_back(std::to_string(world.Bind(name, "n")));
  }
  log.insert(log.end(), diary.entries.begin(), diary.entries.end());
  return log;
}

TEST(SimulatedFaultsTest, ASeedDecidesAndWithoutFaultsItDoesNotMatter) {
  Faults heavy = Faults::Default();
  heavy.conflict = heavy.lost_answer = heavy.duplicate = 200;
  EXPECT_EQ(Story(1, heavy), Story(1, heavy));
  EXPECT_NE(Story(1, heavy), Story(2, heavy));
  EXPECT_EQ(Story(1, {}), Story(2, {}));
}

}  // namespace
}  // namespace berth::sim
