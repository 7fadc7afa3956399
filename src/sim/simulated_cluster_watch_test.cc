// SPDX-License-Identifier: Apache-2.0
// Watches of the simulated cluster; and the reflector on it: nothing is lost and nothing told twice, whatever happens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "client/reflector.h"
#include "sim/simulated_cluster_test_util.h"

namespace berth::sim {
namespace {
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SimulatedWatchTest, EventsComeInOrderAfterTheLatencyFromTheGivenVersionOn) {
  TestWorld world;
  world.AddPod(MakePod("a"));  // 2
  world.AddPod(MakePod("b"));  // 3
  WatchDiary diary, nodes;
  const auto watch = world.cluster.StartWatch(Kind::kPod, "2", diary.Callbacks());
  const auto other = world.cluster.StartWatch(Kind::kNode, "2", nodes.Callbacks());
  world.AddPod(MakePod("c"));  // 4, before the server knows of the watch
  world.Pass(Duration::Millis(10));
  EXPECT_THAT(diary.Take(), ElementsAre("ADDED b@3", "ADDED c@4"));
  world.cluster.Delete(Kind::kPod, "default", "a");
  world.cluster.Update(Kind::kPod, "default", "b", [](const ClusterObject& object) { return object; });
  world.Pass(Duration{999'999});
  EXPECT_THAT(diary.Take(), IsEmpty());
  world.Pass(Duration{1});
  EXPECT_THAT(diary.Take(), ElementsAre("DELETED a@5", "MODIFIED b@6"));
  EXPECT_THAT(nodes.Take(), IsEmpty());
  EXPECT_TRUE(world.cluster.quiet());
}

TEST(SimulatedWatchTest, WithoutLatencyEventsStillComeInOrder) {
  ClusterOptions options;
  options.watch_latency = options.answer_latency = Duration{};
  TestWorld world(options);
  WatchDiary diary;
  const auto watch = world.cluster.StartWatch(Kind::kPod, "1", diary.Callbacks());
  world.AddPod(MakePod("a"));
  world.Pass(Duration{});
  world.AddPod(MakePod("b"));
  world.Pass(Duration{});
  EXPECT_THAT(diary.Take(), ElementsAre("ADDED a@2", "ADDED b@3"));
}

TEST(SimulatedWatchTest, APodThatFinishesIsDeletedForWatchersOnceAndItsRemovalIsNoNews) {
  TestWorld world;
  world.AddNode("n");
  WatchDiary diary;
  const auto watch = world.cluster.StartWatch(Kind::kPod, "2", diary.Callbacks());
  world.AddPod(MakePod("a").OnNode("n").With([](Pod& pod) {
    pod.meta.annotations = Labels{{"sim.berth.dev/run-for", "1s"}};
  }));
  world.PassUntilQuiet();
  EXPECT_THAT(diary.Take(), ElementsAre("ADDED a@3", "MODIFIED a@4", "DELETED a@5"));
  world.cluster.Delete(Kind::kPod, "default", "a");
  world.AddPod(MakePod("a"));
  world.PassUntilQuiet();
  EXPECT_THAT(diary.Take(), ElementsAre("ADDED a@7"));
}

TEST(SimulatedWatchTest, AVersionOlderThanTheHistoryIsGone) {
  ClusterOptions options;
  options.history = 3;
  TestWorld world(options);
  for (const char* name : {"a", "b", "c", "d", "e"}) world.AddPod(MakePod(name));  // 2 to 6; 4, 5, 6 are remembered
  for (int i = 0; i < 10; ++i) world.AddNode("n" + std::to_string(i));             // has its own history
  const auto said = [&](const char* version) {
    WatchDiary diary;
    const auto watch = world.cluster.StartWatch(Kind::kPod, version, diary.Callbacks());
    world.PassUntilQuiet();
    return diary.Take();
  };
  EXPECT_THAT(said("2"), ElementsAre("CLOSED 410"));
  EXPECT_THAT(said("0"), ElementsAre("CLOSED 410"));
  EXPECT_THAT(said("3"), ElementsAre("ADDED c@4", "ADDED d@5", "ADDED e@6"));
  EXPECT_THAT(said("16"), IsEmpty());
  EXPECT_THAT(said("17"), ElementsAre("CLOSED 410"));  // a version that never was
  EXPECT_THAT(said("yesterday"), ElementsAre("CLOSED 400"));
}

TEST(SimulatedWatchTest, ADestroyedWatchIsSilentEvenWithinItsOwnCallback) {
  TestWorld world;
  std::unique_ptr<client::Watch> watch;
  int events = 0;
  watch = world.cluster.StartWatch(Kind::kPod, "1",
                                   {[&](const auto&) {
                                      ++events;
                                      watch = nullptr;
                                    },
                                    [&](const auto&) { events += 100; }});
  world.AddPod(MakePod("a"));
  world.AddPod(MakePod("b"));
  world.PassUntilQuiet();
  world.AddPod(MakePod("c"));
  world.PassUntilQuiet();
  EXPECT_EQ(events, 1);
}

// Checks that every object is added, changed with growing versions, and deleted, in this order.
class Witness final : public client::ObjectHandler {
 public:
  std::map<std::string, std::pair<std::string, uint64_t>> known;  // name to uid and version
  uint64_t told = 0;
  std::string complaint;

  void OnAdd(const ClusterObject& after) override {
    ++told;
    if (!known.emplace(Name(after), Is(after)).second) complaint += "added twice: " + Name(after) + "\n";
  }
  void OnUpdate(const ClusterObject& before, const ClusterObject& after) override {
    ++told;
    const auto it = known.find(Name(after));
    if (it == known.end() || it->second != Is(before) || Is(before).first != Is(after).first ||
        Is(before).second >= Is(after).second) {
      complaint += "bad update: " + Name(after) + "\n";
      return;
    }
    it->second = Is(after);
  }
  void OnDelete(const ClusterObject& before) override {
    ++told;
    const auto it = known.find(Name(before));
    if (it == known.end() || it->second.first != Is(before).first || it->second.second > Is(before).second) {
      complaint += "bad deletion: " + Name(before) + "\n";
      return;
    }
    known.erase(it);
  }
  static std::string Name(const ClusterObject& object) { return FullName(MetaOf(object)); }
  static std::pair<std::string, uint64_t> Is(const ClusterObject& object) {
    return {MetaOf(object).uid, VersionNumber(MetaOf(object).resource_version)};
  }
};

void RandomChange(TestWorld& world, std::mt19937_64& random) {
  const std::string name = "p" + std::to_string(random() % 6);
  const bool there = world.FindPod(name) != nullptr;
  switch (random() % 6) {
    case 0:
      if (there) world.cluster.Delete(Kind::kPod, "default", name);
      break;
    case 1:
      if (there) world.cluster.BindNow({"default", name, ""}, "n");
      break;
    case 2:
      if (there) world.cluster.Bind({"default", name, ""}, "n", [](const client::ApiStatus&) {});
      break;
    case 3:  // gone and back within one moment
      if (there) world.cluster.Delete(Kind::kPod, "default", name);
      [[fallthrough]];
    case 4:
      world.AddPod(MakePod(name).With([&](Pod& pod) {
        if (random() % 3 == 0) pod.meta.annotations = Labels{{"sim.berth.dev/run-for", "500ms"}};
      }));
      break;
    default:
      world.cluster.Update(Kind::kPod, "default", name, [](const ClusterObject& object) { return object; });
  }
}

struct Weather {
  uint64_t told = 0, lists = 0, watches = 0;
};

// A random story in bad weather, and then calm; the complaint is empty when all is well.
std::string Storm(uint64_t seed, Weather& weather) {
  std::mt19937_64 random(seed);
  ClusterOptions options;
  options.seed = seed;
  options.history = 1 + random() % 30;
  options.start_time = options.stop_time = Duration::Millis(static_cast<int64_t>(random() % 2000));
  options.faults = Faults::Default();
  options.faults.watch_cut = static_cast<int>(random() % 200);
  options.faults.too_old = static_cast<int>(random() % 400);
  options.faults.duplicate = options.faults.reordered = static_cast<int>(random() % 400);
  TestWorld world(options);
  world.AddNode("n");
  Witness witness;
  client::Reflector reflector(Kind::kPod, world.cluster, witness, world.agenda, world.clock, [&] { return random(); });
  reflector.ShowAnnotations({{"sim.berth.dev/run-for"}, {}});  // objects are the cluster's own then
  for (uint64_t i = random() % 4; i > 0; --i) RandomChange(world, random);
  reflector.Start();
  for (int i = 0; i < 150; ++i) {
    for (uint64_t n = random() % 4; n > 0; --n) RandomChange(world, random);
    world.Pass(Duration::Millis(static_cast<int64_t>(random() % 300)));
    if (random() % 25 == 0) world.Pass(Duration::Seconds(20));
  }
  world.cluster.SetFaults({});
  world.Pass(Duration::Seconds(300));
  weather.told += witness.told;
  weather.lists += reflector.lists();
  weather.watches += reflector.watches();

  std::string complaint = witness.complaint;
  if (!reflector.synced() || !reflector.watching() || !world.cluster.quiet()) complaint += "not at rest\n";
  std::map<std::string, ClusterObject> listed, reflected;
  for (const ClusterObject& object : world.List(Kind::kPod).objects) listed.emplace(Witness::Name(object), object);
  reflector.ForEach([&](const ClusterObject& object) { reflected.emplace(Witness::Name(object), object); });
  if (listed != reflected || witness.known.size() != listed.size()) complaint += "not equal to a fresh list\n";
  return complaint;
}

TEST(SimulatedWatchTest, AReflectorLosesNothingAndRepeatsNothing) {
  constexpr uint64_t kStories = 1000;
  Weather weather;
  for (uint64_t seed = 0; seed < kStories; ++seed) ASSERT_EQ(Storm(seed, weather), "") << "seed " << seed;
  // The weather was bad enough to mean something.
  EXPECT_GT(weather.told, 50 * kStories);
  EXPECT_GT(weather.lists, 2 * kStories);
  EXPECT_GT(weather.watches, 10 * kStories);
}

TEST(SimulatedWatchTest, PodsThatComeAndGoLeaveNothingBehind) {
  ClusterOptions options;
  options.history = 100;
  TestWorld world(options);
  world.AddNode("n");
  std::weak_ptr<const Pod> early;
  for (int i = 0; i < 2000; ++i) {
    const std::string name = "p" + std::to_string(i);
    world.AddPod(MakePod(name).OnNode("n"));
    if (i == 0) early = world.FindPod(name);
    world.Pass(Duration::Millis(10));
    world.cluster.Delete(Kind::kPod, "default", name);
  }
  world.PassUntilQuiet();
  EXPECT_EQ(world.cluster.count(Kind::kPod), 0u);
  EXPECT_TRUE(early.expired());
  EXPECT_TRUE(world.cluster.quiet());
  EXPECT_EQ(world.agenda.size(), 0u);
}

}  // namespace
}  // namespace berth::sim
