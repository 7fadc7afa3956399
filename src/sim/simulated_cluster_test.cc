// SPDX-License-Identifier: Apache-2.0
// What the simulated server and its kubelets do when nothing goes wrong.
#include "sim/simulated_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "sim/simulated_cluster_test_util.h"

namespace berth::sim {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;

MakePod RunFor(const std::string& name, const std::string& time) {
  return MakePod(name).With([&](Pod& pod) { pod.meta.annotations = Labels{{"sim.berth.dev/run-for", time}}; });
}

TEST(SimulatedClusterTest, CreatingGivesUidVersionAndTimeWhereAbsent) {
  TestWorld world;
  world.AddPod(MakePod("a"));
  world.AddPod(MakePod("b").Uid("mine"));
  const Ptr<Pod> a = world.FindPod("a"), b = world.FindPod("b");
  ASSERT_TRUE(a && b);
  EXPECT_FALSE(a->uid().empty());
  EXPECT_EQ(b->uid(), "mine");
  EXPECT_EQ(a->meta.creation_time, world.clock.Now());
  EXPECT_EQ(a->phase, "Pending");
  EXPECT_LT(VersionNumber(a->meta.resource_version), VersionNumber(b->meta.resource_version));
  EXPECT_EQ(VersionNumber(b->meta.resource_version), world.cluster.version());
}

TEST(SimulatedClusterTest, NamesAreUniquePerKindAndNamespace) {
  TestWorld world;
  const auto create = [&](const Pod& pod) { return world.cluster.Create(std::make_shared<const Pod>(pod)).code; };
  EXPECT_EQ(create(MakePod("a")), 201);
  EXPECT_EQ(create(MakePod("a")), 409);
  EXPECT_EQ(create(MakePod("a").Namespace("other")), 201);
  EXPECT_EQ(create(MakePod("")), 422);
  EXPECT_EQ(world.cluster.Create(Ptr<Pod>()).code, 400);
  world.AddNode("a");
  EXPECT_EQ(world.cluster.count(Kind::kPod), 2u);
  EXPECT_EQ(world.cluster.count(Kind::kNode), 1u);
}

TEST(SimulatedClusterTest, ObjectsAreVisitedByNamespaceAndName) {
  TestWorld world;
  for (const char* ns : {"a-b", "a", "b"}) {
    for (const char* name : {"y", "x"}) world.AddPod(MakePod(name).Namespace(ns));
  }
  std::vector<std::string> seen;
  world.cluster.ForEach(Kind::kPod, [&](const ClusterObject& object) {
    seen.push_back(FullName(MetaOf(object)));
    world.cluster.Delete(Kind::kPod, MetaOf(object).namespace_, MetaOf(object).name);  // allowed
  });
  EXPECT_THAT(seen, ElementsAre("a/x", "a/y", "a-b/x", "a-b/y", "b/x", "b/y"));
  EXPECT_EQ(world.cluster.count(Kind::kPod), 0u);
}

TEST(SimulatedClusterTest, AnUpdateMakesANewObjectAndKeepsWhatIsTheServers) {
  TestWorld world;
  world.AddPod(MakePod("a").OnNode("n"));
  const Ptr<Pod> before = world.FindPod("a");
  const auto update = [&](auto change) {
    return world.cluster
        .Update(Kind::kPod, "default", "a",
                [&](const ClusterObject& object) -> ClusterObject {
                  auto pod = std::make_shared<Pod>(*std::get<Ptr<Pod>>(object));
                  change(*pod);
                  return Ptr<Pod>(std::move(pod));
                })
        .code;
  };
  EXPECT_EQ(update([](Pod& pod) {
              pod.meta.uid = "forged";
              pod.meta.deletion_time = Time{1};
              pod.node_name.clear();
              pod.phase.clear();
              pod.priority = 7;
            }),
            200);
  const Ptr<Pod> after = world.FindPod("a");
  EXPECT_EQ(before->priority, 0);  // shared with readers: never changed in place
  EXPECT_EQ(after->priority, 7);
  EXPECT_EQ(after->uid(), before->uid());
  EXPECT_EQ(after->node_name, "n");
  EXPECT_EQ(after->phase, "Pending");
  EXPECT_FALSE(after->terminating());
  EXPECT_GT(VersionNumber(after->meta.resource_version), VersionNumber(before->meta.resource_version));
  EXPECT_EQ(update([](Pod& pod) { pod.node_name = "m"; }), 422);
  EXPECT_EQ(update([](Pod& pod) { pod.meta.name = "b"; }), 422);
  EXPECT_EQ(update([&](Pod&) { world.cluster.Delete(Kind::kPod, "default", "a"); }), 409);
  EXPECT_EQ(world.cluster.Update(Kind::kPod, "default", "z", [](const ClusterObject& o) { return o; }).code, 404);
  EXPECT_EQ(world.cluster
                .Update(Kind::kPod, "default", "a",
                        [](const ClusterObject&) -> ClusterObject { return std::make_shared<const Node>(); })
                .code,
            422);
}

TEST(SimulatedClusterTest, ARequestTakesEffectAfterTheLatencyAndIsAnsweredAfterItAgain) {
  TestWorld world;
  world.AddPod(MakePod("a"));
  int code = -1;
  world.cluster.Bind({"default", "a", ""}, "n", [&](const client::ApiStatus& status) { code = status.code; });
  EXPECT_FALSE(world.cluster.quiet());
  world.Pass(Duration{1'999'999});
  EXPECT_EQ(world.FindPod("a")->node_name, "");
  world.Pass(Duration{1});
  EXPECT_EQ(world.FindPod("a")->node_name, "n");
  EXPECT_EQ(code, -1);
  world.Pass(Duration::Millis(2));
  EXPECT_EQ(code, 201);
}

TEST(SimulatedClusterTest, ABindingSetsNodeAndConditionAndIsRefusedWhereARealServerRefuses) {
  TestWorld world;
  std::vector<std::string> bound;
  world.cluster.on_bind = [&](const Pod& pod, const std::string& node) { bound.push_back(pod.name() + " " + node); };
  world.AddPod(MakePod("a").Uid("ua").Nominated("m"));
  world.AddPod(MakePod("gated").Gate("g"));
  world.AddPod(MakePod("dying").With([](Pod& pod) { pod.meta.deletion_time = Time{1}; }));
  EXPECT_EQ(world.Bind("nobody", "n"), 404);
  EXPECT_EQ(world.Bind("a", "n", "other"), 409);
  EXPECT_THAT(world.message, HasSubstr("UID in precondition: other, UID in object meta: ua"));
  EXPECT_EQ(world.Bind("a", ""), 422);
  EXPECT_EQ(world.Bind("gated", "n"), 409);
  EXPECT_THAT(world.message, HasSubstr("non-empty .spec.schedulingGates"));
  EXPECT_EQ(world.Bind("dying", "n"), 409);
  EXPECT_THAT(world.message, HasSubstr("pod dying is being deleted, cannot be assigned to a host"));
  EXPECT_EQ(world.Bind("a", "n", "ua"), 201);  // an unknown node is fine
  EXPECT_EQ(world.Bind("a", "n"), 409);
  EXPECT_THAT(world.message, HasSubstr("pod a is already assigned to node \"n\""));
  EXPECT_EQ(world.cluster.BindNow({"default", "a", ""}, "n").code, 409);
  EXPECT_THAT(bound, ElementsAre("a n"));
  const Ptr<Pod> a = world.FindPod("a");
  EXPECT_EQ(a->node_name, "n");
  EXPECT_EQ(a->nominated_node_name, "");
  ASSERT_NE(a->FindCondition("PodScheduled"), nullptr);
  EXPECT_EQ(a->FindCondition("PodScheduled")->status, "True");
}

TEST(SimulatedClusterTest, ABoundPodGetsTheZoneAndRegionOfItsNode) {
  TestWorld world;
  world.cluster.Create(std::make_shared<const Node>(MakeNode("n")
                                                        .Label("topology.kubernetes.io/zone", "z1")
                                                        .Label("topology.kubernetes.io/region", "r1")
                                                        .Label("disk", "ssd")
                                                        .Build()));
  world.AddPod(MakePod("a").Label("app", "web").Label("topology.kubernetes.io/zone", "elsewhere"));
  world.AddPod(MakePod("b").Label("app", "web"));
  EXPECT_EQ(world.Bind("a", "n"), 201);
  EXPECT_EQ(world.Bind("b", "unknown"), 201);
  EXPECT_EQ(world.FindPod("a")->meta.labels,
            Labels({{"app", "web"}, {"topology.kubernetes.io/zone", "z1"}, {"topology.kubernetes.io/region", "r1"}}));
  EXPECT_EQ(world.FindPod("b")->meta.labels, Labels({{"app", "web"}}));
}

TEST(SimulatedClusterTest, AStatusPatchReplacesTheConditionOfItsTypeAndNothingElse) {
  TestWorld world;
  world.AddPod(MakePod("a").Uid("ua").Nominated("m"));
  const PodCondition first{"PodScheduled", "False", "Unschedulable", "no room"};
  EXPECT_EQ(world.Patch({{"default", "a", "ua"}, first, std::nullopt}), 200);
  EXPECT_EQ(world.FindPod("a")->nominated_node_name, "m");
  const PodCondition second{"PodScheduled", "False", "Unschedulable", "less room"};
  EXPECT_EQ(world.Patch({{"default", "a", "ua"}, second, ""}), 200);
  EXPECT_THAT(world.FindPod("a")->conditions, ElementsAre(second));
  EXPECT_EQ(world.FindPod("a")->nominated_node_name, "");
  const uint64_t version = world.cluster.version();
  EXPECT_EQ(world.Patch({{"default", "a", ""}, second, ""}), 200);
  EXPECT_EQ(world.cluster.version(), version);  // nothing changed
  EXPECT_EQ(world.Patch({{"default", "a", "other"}, first, "n"}), 409);
  EXPECT_EQ(world.Patch({{"default", "b", ""}, first, "n"}), 404);
  EXPECT_EQ(world.cluster.version(), version);
}

TEST(SimulatedClusterTest, ABoundPodRunsAfterTheStartTimeIfItsNodeExists) {
  TestWorld world;
  world.AddNode("n");
  world.AddPod(MakePod("a").OnNode("n"));
  world.AddPod(MakePod("b").OnNode("later"));
  world.AddPod(MakePod("c"));
  const Time bound = world.clock.Now();
  world.Pass(Duration::Millis(999));
  EXPECT_EQ(world.FindPod("a")->phase, "Pending");
  world.Pass(Duration::Millis(1));
  EXPECT_EQ(world.FindPod("a")->phase, "Running");
  EXPECT_EQ(world.FindPod("a")->start_time, bound + Duration::Seconds(1));
  EXPECT_EQ(world.FindPod("b")->phase, "Pending");
  EXPECT_EQ(world.FindPod("c")->phase, "Pending");
  EXPECT_TRUE(world.cluster.quiet());
  world.AddNode("later");
  world.Pass(Duration::Seconds(1));
  EXPECT_EQ(world.FindPod("b")->phase, "Running");
}

TEST(SimulatedClusterTest, APodWithARunTimeSucceedsThatLongAfterItsStart) {
  TestWorld world;
  world.AddNode("n");
  world.AddPod(RunFor("a", "90s").OnNode("n"));
  world.AddPod(RunFor("running", "1s").OnNode("n").With([](Pod& pod) { pod.phase = "Running"; }));
  world.Pass(Duration::Seconds(1));
  EXPECT_EQ(world.FindPod("running")->phase, "Succeeded");
  world.Pass(Duration::Millis(89'999));
  EXPECT_EQ(world.FindPod("a")->phase, "Running");
  EXPECT_FALSE(world.cluster.quiet());
  world.Pass(Duration::Millis(1));
  EXPECT_EQ(world.FindPod("a")->phase, "Succeeded");
  EXPECT_TRUE(world.cluster.quiet());
}

TEST(SimulatedClusterTest, ARunTimeThatCannotBeReadIsRefused) {
  TestWorld world;
  for (const char* text : {"soon", "", "-1s", "87601h", "2562047h"}) {
    const client::ApiStatus status = world.cluster.Create(std::make_shared<const Pod>(RunFor("a", text).Build()));
    EXPECT_EQ(status.code, 422) << text;
    EXPECT_THAT(status.message, HasSubstr("metadata.annotations[sim.berth.dev/run-for]: ")) << text;
  }
  EXPECT_EQ(world.cluster.count(Kind::kPod), 0u);
}

TEST(SimulatedClusterTest, AStartFarOffCountsAsTheBeginningOrTheEndOfTheRun) {
  TestWorld world;
  world.AddNode("n");
  const auto running = [&](const char* name, int64_t start) {
    world.AddPod(RunFor(name, "87600h").OnNode("n").With([&](Pod& pod) {
      pod.phase = "Running";
      pod.start_time = Time{start};
    }));
  };
  running("old", std::numeric_limits<int64_t>::min());
  running("young", std::numeric_limits<int64_t>::max());
  world.Pass(Duration::Seconds(1));
  EXPECT_EQ(world.FindPod("old")->phase, "Succeeded");
  EXPECT_EQ(world.FindPod("young")->phase, "Running");
}

TEST(SimulatedClusterTest, ARunTimeMayBeChangedWhileThePodRuns) {
  TestWorld world;
  world.AddNode("n");
  for (const char* name : {"longer", "shorter", "endless"}) world.AddPod(RunFor(name, "10s").OnNode("n"));
  world.Pass(Duration::Seconds(5));
  const auto change = [&](const char* name, const Labels& annotations) {
    world.cluster.Update(Kind::kPod, "default", name, [&](const ClusterObject& object) -> ClusterObject {
      auto pod = std::make_shared<Pod>(*std::get<Ptr<Pod>>(object));
      pod->meta.annotations = annotations;
      return Ptr<Pod>(std::move(pod));
    });
  };
  change("longer", Labels{{"sim.berth.dev/run-for", "100s"}});
  change("shorter", Labels{{"sim.berth.dev/run-for", "6s"}});
  change("endless", Labels{});
  world.Pass(Duration::Seconds(2));
  EXPECT_EQ(world.FindPod("shorter")->phase, "Succeeded") << "at 7s: it started at 1s";
  world.Pass(Duration::Seconds(93));
  EXPECT_EQ(world.FindPod("longer")->phase, "Running");
  world.Pass(Duration::Seconds(1));
  EXPECT_EQ(world.FindPod("longer")->phase, "Succeeded") << "at 101s";
  EXPECT_EQ(world.FindPod("endless")->phase, "Running");
  EXPECT_TRUE(world.cluster.quiet());
}

TEST(SimulatedClusterTest, DeletingIsGracefulForPodsOnNodesOnly) {
  TestWorld world;
  world.AddNode("n");
  world.AddPod(MakePod("bound").OnNode("n").Uid("ub"));
  world.AddPod(MakePod("nowhere").OnNode("missing"));
  world.AddPod(MakePod("waiting"));
  world.AddPod(MakePod("done").OnNode("n").With([](Pod& pod) { pod.phase = "Failed"; }));
  EXPECT_EQ(world.Remove("nobody"), 404);
  EXPECT_EQ(world.Remove("bound", "other"), 409);
  for (const char* name : {"waiting", "done", "bound", "nowhere"}) EXPECT_EQ(world.Remove(name), 200) << name;
  EXPECT_EQ(world.FindPod("waiting"), nullptr);
  EXPECT_EQ(world.FindPod("done"), nullptr);
  ASSERT_NE(world.FindPod("bound"), nullptr);
  EXPECT_TRUE(world.FindPod("bound")->terminating());
  EXPECT_EQ(world.Remove("bound", "ub"), 200);  // already under way: nothing new
  world.Pass(Duration::Seconds(1));
  EXPECT_EQ(world.FindPod("bound"), nullptr);
  EXPECT_EQ(world.FindPod("nowhere"), nullptr);
  EXPECT_TRUE(world.cluster.quiet());
}

TEST(SimulatedClusterTest, AKubeletDoesNotTouchANewPodOfAnOldName) {
  TestWorld world;
  world.AddNode("n");
  world.AddPod(RunFor("a", "1s").OnNode("n"));
  world.Pass(Duration::Millis(1500));
  world.cluster.Delete(Kind::kPod, "default", "a");
  world.Pass(Duration::Seconds(1));
  ASSERT_EQ(world.FindPod("a"), nullptr);
  world.AddPod(MakePod("a"));
  world.Pass(Duration::Seconds(10));
  EXPECT_EQ(world.FindPod("a")->phase, "Pending");
}

TEST(SimulatedClusterTest, FinishedPodsAreNotListedButFound) {
  TestWorld world;
  world.AddNode("n");
  world.AddPod(MakePod("b"));
  world.AddPod(RunFor("a", "1s").OnNode("n"));
  EXPECT_EQ(world.List(Kind::kPod).objects.size(), 2u);
  world.PassUntilQuiet();
  const client::ListAnswer list = world.List(Kind::kPod);
  EXPECT_TRUE(list.status.ok());
  EXPECT_EQ(list.resource_version, std::to_string(world.cluster.version()));
  ASSERT_EQ(list.objects.size(), 1u);
  EXPECT_EQ(MetaOf(list.objects[0]).name, "b");
  EXPECT_EQ(list.objects[0], *world.cluster.Find(Kind::kPod, "default", "b"));  // shared, not copied
  Ptr<Pod> got;
  world.cluster.GetPod("default", "a", [&](const client::ApiStatus& status, Ptr<Pod> pod) {
    EXPECT_EQ(status.code, 200);
    got = std::move(pod);
  });
  world.PassUntilQuiet();
  ASSERT_NE(got, nullptr);
  EXPECT_EQ(got->phase, "Succeeded");
  int code = 0;
  world.cluster.GetPod("default", "z", [&](const client::ApiStatus& status, Ptr<Pod> pod) {
    code = status.code;
    EXPECT_EQ(pod, nullptr);
  });
  world.PassUntilQuiet();
  EXPECT_EQ(code, 404);
}

TEST(SimulatedClusterTest, ALeaseIsTakenByTheFirstAndChangedByWhoKnowsItsVersion) {
  TestWorld world;
  int code = 0;
  client::Lease seen;
  const auto note = [&](const client::ApiStatus& status, const client::Lease& lease) {
    code = status.code;
    seen = lease;
  };
  const auto put = [&](const client::Lease& lease) {
    world.cluster.PutLease(lease, note);
    world.PassUntilQuiet();
    return code;
  };
  client::Lease lease;
  lease.namespace_ = "kube-system";
  lease.name = "berth";
  lease.holder = "one";
  world.cluster.GetLease("kube-system", "berth", note);
  world.PassUntilQuiet();
  EXPECT_EQ(code, 404);
  client::Lease unknown = lease;
  unknown.resource_version = "5";
  EXPECT_EQ(put(unknown), 404);
  EXPECT_EQ(put(lease), 200);
  const client::Lease first = seen;
  EXPECT_FALSE(first.resource_version.empty());
  EXPECT_EQ(put(lease), 409);
  client::Lease next = first;
  next.holder = "two";
  EXPECT_EQ(put(next), 200);
  EXPECT_EQ(put(first), 409);
  world.cluster.GetLease("kube-system", "berth", note);
  world.PassUntilQuiet();
  EXPECT_EQ(seen.holder, "two");
}

TEST(SimulatedClusterTest, EventsAreCountedAndShown) {
  TestWorld world;
  std::string reason;
  world.cluster.on_event = [&](const client::EventRecord& event) { reason = event.reason; };
  client::EventRecord event;
  event.reason = "FailedScheduling";
  world.cluster.PostEvent(event, nullptr);
  EXPECT_EQ(world.cluster.events_posted(), 1u);
  EXPECT_EQ(reason, "FailedScheduling");
}

TEST(SimulatedClusterTest, NothingIsAnsweredAfterItsEnd) {
  util::VirtualClock clock{Time{1}};
  util::TimerQueue agenda;
  util::Inbox inbox;
  int answers = 0;
  std::unique_ptr<client::Watch> watch;
  {
    SimulatedCluster cluster(agenda, clock, inbox, {});
    watch = cluster.StartWatch(Kind::kPod, "1", {[&](const auto&) { ++answers; }, [&](const auto&) { ++answers; }});
    cluster.List(Kind::kPod, [&](const client::ListAnswer&) { ++answers; });
    clock.MoveTo(Time{0} + Duration::Millis(4));  // the answer is in the inbox
    while (agenda.RunOne(clock.Now())) {
    }
    cluster.List(Kind::kPod, [&](const client::ListAnswer&) { ++answers; });
  }
  clock.MoveTo(Time{0} + Duration::Seconds(1));
  while (agenda.RunOne(clock.Now())) {
  }
  inbox.Drain();
  watch = nullptr;
  EXPECT_EQ(answers, 0);
}

}  // namespace
}  // namespace berth::sim
