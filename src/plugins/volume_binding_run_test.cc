// SPDX-License-Identifier: Apache-2.0
// VolumeBinding after the decision: what Reserve takes, what PreBind writes and waits for, and how it ends.
#include "plugins/volume_binding_run.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/cluster_state.h"
#include "plugins/volume_binding.h"
#include "plugins/volume_binding_test_util.h"
#include "util/timer_queue.h"

namespace berth::plugins {
namespace {

using volumes::Claim;
using volumes::Class;
using volumes::PodWithClaims;
using volumes::Volume;

// A cluster that writes when it is told to.
class BindingWorld final : public berth::Handle, public ClusterAccess, public Writer {
 public:
  cluster::ClusterState state;
  util::TimerQueue timers;
  Time now{1'000'000'000};
  std::map<TimerId, util::TimerQueue::Id> ids;
  std::vector<std::string> written;             // what was asked for
  std::vector<Written> answers;                 // to be given
  std::shared_ptr<const Pod> pod;               // null: gone
  mutable std::map<std::string, int> failures;  // by stage

  // Handle.
  const std::string& profile_name() const override { return name_; }
  const Clock& clock() const override { return clock_; }
  void Count(const PluginCounter& counter, const std::string& value) const override {
    EXPECT_EQ(counter.name, "scheduler_volume_scheduling_stage_error_total");
    EXPECT_EQ(counter.label, "operation");
    ++failures[value];
  }
  uint64_t Random() override { return 0; }
  WaitingPods& waiting() override { std::abort(); }
  Writer& writer() override { return *this; }
  ClusterAccess* cluster() override { return this; }
  const std::vector<std::string>& extender_ignored_resources() const override { return none_; }

  // ClusterAccess.
  Snapshot Now() const override { return state.snapshot(); }
  std::shared_ptr<const Pod> FindPod(const std::string&, const std::string&) const override { return pod; }
  Error Assume(std::shared_ptr<const PersistentVolume> object) override { return state.AssumeObject(object); }
  Error Assume(std::shared_ptr<const PersistentVolumeClaim> object) override { return state.AssumeObject(object); }
  void Restore(const PersistentVolume& object) override { state.RestoreObject(object); }
  void Restore(const PersistentVolumeClaim& object) override { state.RestoreObject(object); }
  TimerId After(Duration delay, std::function<void()> fn) override {
    const TimerId id = ++last_;
    ids[id] = timers.At(now + delay, std::move(fn));
    return id;
  }
  void Cancel(TimerId id) override { timers.Cancel(ids[id]); }

  // Writer.
  void Bind(const Pod&, const std::string&, std::function<void(Verdict)>) override {}
  void GiveVolume(const VolumeClaimPatch& patch, Written done) override {
    written.push_back("volume " + patch.volume + "@" + patch.resource_version + " to " + patch.claim.name + "/" +
                      patch.claim.uid + (patch.claim_version.empty() ? "" : "@" + patch.claim_version) +
                      (patch.bound_by_controller ? " by controller" : ""));
    answers.push_back(std::move(done));
  }
  void SelectNode(const ClaimNodePatch& patch, Written done) override {
    written.push_back("claim " + patch.name + "@" + patch.resource_version + " on " + patch.node);
    answers.push_back(std::move(done));
  }

  void Pass(int64_t seconds) {
    for (int64_t i = 0; i < seconds; ++i) {
      now = now + Duration::Seconds(1);
      while (timers.RunOne(now)) {
      }
    }
  }
  template <class T>
  void Put(T object) {
    state.PutObject<T>(std::make_shared<const T>(std::move(object)));
  }

 private:
  struct NoClock final : Clock {
    Time Now() const override { return {}; }
  } clock_;
  std::string name_ = "test";
  std::vector<std::string> none_;
  TimerId last_ = 0;
};

// A pod on its way to node `a`, with what VolumePlan chose for it.
class VolumeBindingRunTest : public ::testing::Test {
 protected:
  VolumeBindingRunTest() { Fill(); }
  // As at the start.
  void Reset() {
    end.reset();
    world.written.clear();
    world.answers.clear();
    (void)world.state.RemoveNode("b");
    Fill();
  }
  void Fill() {
    world.state.PutNode(std::make_shared<const Node>(volumes::Host("a")));
    world.state.PutNode(std::make_shared<const Node>(volumes::Host("b")));
    world.Put(Class("local"));
    world.Put(Class("made", "driver.example.com"));
    world.Put(Claim("c", "local"));
    world.Put(Claim("m", "made"));
    world.Put(Volume("big", 9, {"a"}));
    world.Put(Volume("small", 2, {"a"}));  // of the old version: what was assumed of it would be believed again
    world.state.RestoreObject(Volume("small"));
  }

  // PreFilter's part and Reserve.
  Verdict Reserve(const std::vector<std::string>& claims, StateSlot& state, const std::string& name = "pod") {
    world.pod = std::make_shared<const Pod>(PodWithClaims(claims, name));
    const Snapshot snapshot = world.state.snapshot();
    struct AnyCycle final : Cycle {
      using Cycle::Cycle;
      std::unique_ptr<WhatIf> Imagine(Row) const override { return nullptr; }
    };
    PreFilterOutcome outcome = plugin.PreFilter(AnyCycle(*world.pod, snapshot, {}));
    EXPECT_TRUE(outcome.verdict.fits()) << outcome.verdict.message();
    state = std::move(outcome.state);
    return plugin.Reserve({world.pod, "a"}, state);
  }
  void Begin(StateSlot& state) {
    EXPECT_TRUE(plugin.PreBindPreFlight({world.pod, "a"}, state).verdict.fits());
    plugin.PreBind({world.pod, "a"}, state, [this](const Verdict& verdict) { end = verdict; });
  }
  void Answer(Result<std::string> version) {
    ASSERT_FALSE(world.answers.empty());
    const Written done = std::move(world.answers.front());
    world.answers.erase(world.answers.begin());
    done(std::move(version));
  }
  const PersistentVolume& Believed(const std::string& name) {
    return *world.state.snapshot().Believed<PersistentVolume>("", name);
  }
  // The controller: the volume as we wrote it, and the claim bound.
  void Bind(const std::string& volume, const std::string& claim) {
    PersistentVolume given = Volume(volume, 2, {"a"});
    given.meta.resource_version = "20";
    given.claim_ref = {"default", claim, "uid-" + claim};
    world.Put(given);
    PersistentVolumeClaim bound = volumes::BoundClaim(claim, volume);
    bound.meta.resource_version = "21";
    world.Put(bound);
  }

  BindingWorld world;
  VolumeBinding plugin{{}, world};
  std::optional<Verdict> end;
};

TEST_F(VolumeBindingRunTest, ReserveTakesTheSmallestVolumeAndUnreserveGivesItBack) {
  StateSlot state, other;
  ASSERT_TRUE(Reserve({"c"}, state).fits());
  EXPECT_EQ(Believed("small").claim_ref, (ClaimReference{"default", "c", "uid-c"}));
  EXPECT_FALSE(Believed("big").claim_ref);
  EXPECT_FALSE(world.state.snapshot().objects<PersistentVolume>().Find("small")->claim_ref) << "nothing is written";
  world.Put(Claim("d", "local"));
  ASSERT_TRUE(Reserve({"d"}, other, "next").fits());
  EXPECT_EQ(Believed("big").claim_ref, (ClaimReference{"default", "d", "uid-d"})) << "the small one is taken";
  plugin.Unreserve({world.pod, "a"}, state);
  plugin.Unreserve({world.pod, "a"}, state);
  EXPECT_FALSE(Believed("small").claim_ref);
  EXPECT_TRUE(Believed("big").claim_ref);
}

TEST_F(VolumeBindingRunTest, NewsOfAVolumeEndsWhatWasAssumedOfIt) {
  StateSlot state;
  ASSERT_TRUE(Reserve({"c"}, state).fits());
  PersistentVolume changed = Volume("small", 2, {"a"});
  world.Put(changed);
  EXPECT_TRUE(Believed("small").claim_ref) << "the same version again is no news";
  changed.meta.resource_version = "8";
  world.Put(changed);
  EXPECT_FALSE(Believed("small").claim_ref);
}

TEST_F(VolumeBindingRunTest, WritesOneAfterAnotherThenWaitsForTheController) {
  StateSlot state;
  ASSERT_TRUE(Reserve({"c", "m"}, state).fits());
  Begin(state);
  EXPECT_EQ(world.written, std::vector<std::string>{"volume small@7 to c/uid-c@5 by controller"});
  Answer(std::string("20"));
  ASSERT_EQ(world.written.size(), 2u);
  EXPECT_EQ(world.written[1], "claim m@5 on a");
  Answer(std::string("22"));
  world.Pass(3);
  EXPECT_FALSE(end) << "the watch has not told of what we wrote";
  Bind("small", "c");
  world.Pass(2);
  EXPECT_FALSE(end) << "the other claim is not provisioned";
  PersistentVolumeClaim made = volumes::BoundClaim("m", "new");
  made.meta.resource_version = "23";
  world.Put(volumes::Annotated(made, "volume.kubernetes.io/selected-node", "a"));
  world.Pass(2);
  EXPECT_FALSE(end) << "its volume is not seen yet";
  world.Put(Volume("new"));
  world.Pass(1);
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->fits()) << end->message();
  EXPECT_TRUE(world.failures.empty());
  EXPECT_TRUE(world.timers.empty());
}

TEST_F(VolumeBindingRunTest, ARefusedWriteEndsIt) {
  StateSlot state;
  ASSERT_TRUE(Reserve({"c"}, state).fits());
  Begin(state);
  Answer(Error("Operation cannot be fulfilled on persistentvolumes \"small\": the object has been modified"));
  ASSERT_TRUE(end);
  EXPECT_EQ(end->code(), Code::kError);
  EXPECT_EQ(end->message(),
            "Operation cannot be fulfilled on persistentvolumes \"small\": the object has been modified");
  plugin.Unreserve({world.pod, "a"}, state);
  EXPECT_FALSE(Believed("small").claim_ref);
  EXPECT_EQ(world.failures, (std::map<std::string, int>{{"bind", 1}}));
}

TEST_F(VolumeBindingRunTest, WhatWasWrittenStaysTakenUntilTheWatchTells) {
  StateSlot state;
  ASSERT_TRUE(Reserve({"c"}, state).fits());
  Begin(state);
  Answer(std::string("20"));
  plugin.CancelPreBind({world.pod, "a"}, state, "preempted by Somebody");
  ASSERT_TRUE(end);
  EXPECT_EQ(*end, Verdict::Fail("preempted by Somebody"));
  plugin.Unreserve({world.pod, "a"}, state);
  EXPECT_TRUE(Believed("small").claim_ref) << "another pod must not be given it";
  EXPECT_TRUE(world.timers.empty());
}

TEST_F(VolumeBindingRunTest, WaitingEndsInUpstreamsWords) {
  const struct {
    const char* name;
    std::function<void(BindingWorld&)> happen;
    const char* text;
  } cases[] = {
      {"node gone", [](BindingWorld& w) { (void)w.state.RemoveNode("a"); },
       "binding volumes: failed to get node \"a\": node \"a\" not found"},
      {"pod gone", [](BindingWorld& w) { w.pod = nullptr; },
       "binding volumes: pod does not exist any more: pod \"pod\" not found"},
      {"volume gone", [](BindingWorld& w) { w.state.RemoveObject<PersistentVolume>("", "small"); },
       "binding volumes: failed to check binding: persistentvolumes \"small\" not found"},
      {"claim gone", [](BindingWorld& w) { w.state.RemoveObject<PersistentVolumeClaim>("default", "c"); },
       "binding volumes: failed to check binding: persistentvolumeclaims \"default/c\" not found"},
      {"claimRef gone",
       [](BindingWorld& w) {
         PersistentVolume reset = Volume("small", 2, {"a"});
         reset.meta.resource_version = "30";
         w.Put(reset);
       },
       "binding volumes: ClaimRef got reset for pv \"small\""},
      {"out of reach",
       [](BindingWorld& w) {
         PersistentVolume moved = Volume("small", 2, {"b"});
         moved.meta.resource_version = "30";
         w.Put(moved);
       },
       "binding volumes: pv \"small\" node affinity doesn't match node \"a\": no matching NodeSelectorTerms"},
      {"too late", [](BindingWorld& w) { w.Pass(599); }, "binding volumes: context deadline exceeded"},
  };
  for (const auto& c : cases) {
    Reset();
    StateSlot state;
    ASSERT_TRUE(Reserve({"c"}, state).fits()) << c.name;
    Begin(state);
    Answer(std::string("20"));
    EXPECT_FALSE(end);
    c.happen(world);
    world.Pass(1);
    ASSERT_TRUE(end) << c.name;
    EXPECT_EQ(*end, Verdict::Fail(c.text)) << c.name;
  }
}

TEST_F(VolumeBindingRunTest, AProvisionerThatFailsTakesTheNodeAway) {
  StateSlot state;
  ASSERT_TRUE(Reserve({"m"}, state).fits());
  Begin(state);
  Answer(std::string("20"));
  PersistentVolumeClaim claim = volumes::Annotated(Claim("m", "made"), "some", "note");
  claim.meta.resource_version = "30";
  world.Put(claim);
  world.Pass(1);
  ASSERT_TRUE(end);
  EXPECT_EQ(*end, Verdict::Fail("binding volumes: provisioning failed for PVC \"m\""));
}

TEST_F(VolumeBindingRunTest, WithoutATimeoutItFailsRightAfterWriting) {
  const VolumeBinding hasty({.bind_timeout_seconds = 0}, world);
  StateSlot state;
  ASSERT_TRUE(Reserve({"c"}, state).fits());
  hasty.PreBind({world.pod, "a"}, state, [this](const Verdict& verdict) { end = verdict; });
  Answer(std::string("20"));
  ASSERT_TRUE(end);
  EXPECT_EQ(*end, Verdict::Fail("binding volumes: context deadline exceeded"));
}

TEST_F(VolumeBindingRunTest, APodWhoseVolumesAreAllBoundHasNothingToDo) {
  Bind("small", "c");
  StateSlot state;
  ASSERT_TRUE(Reserve({"c"}, state).fits());
  EXPECT_EQ(plugin.PreBindPreFlight({world.pod, "a"}, state).verdict.code(), Code::kSkip);
  EXPECT_EQ(world.state.snapshot().Believed<PersistentVolume>("", "small")->meta.resource_version, "20");
}

TEST_F(VolumeBindingRunTest, APodWithTheSameWaitingClaimIsSentToTheSameNode) {
  StateSlot state;
  ASSERT_TRUE(Reserve({"m"}, state).fits());
  const auto* claim = world.state.snapshot().Believed<PersistentVolumeClaim>("default", "m");
  ASSERT_NE(claim->meta.annotations.Find("volume.kubernetes.io/selected-node"), nullptr);
  EXPECT_EQ(*claim->meta.annotations.Find("volume.kubernetes.io/selected-node"), "a");
}

// Whose write fails takes back what both relied on; the other one has to write all of it.
TEST_F(VolumeBindingRunTest, APodWithTheSameWaitingClaimWritesWhatTheFirstCouldNot) {
  StateSlot first, second;
  ASSERT_TRUE(Reserve({"c"}, first).fits());
  const std::shared_ptr<const Pod> pod = world.pod;
  ASSERT_TRUE(Reserve({"c"}, second, "next").fits());
  plugin.PreBind({pod, "a"}, first, [this](const Verdict& verdict) { end = verdict; });
  Answer(Error("the server is busy"));
  ASSERT_TRUE(end);
  plugin.Unreserve({pod, "a"}, first);
  world.written.clear();
  Begin(second);
  EXPECT_EQ(world.written, std::vector<std::string>{"volume small@7 to c/uid-c@5 by controller"});
}

TEST_F(VolumeBindingRunTest, AVolumeThatWasGivenToItsClaimBeforeIsWrittenAsItIs) {
  PersistentVolume given = Volume("small", 2, {"a"});
  given.claim_ref = {"default", "c", "uid-c"};
  given.meta.resource_version = "8";
  world.Put(given);
  StateSlot state;
  ASSERT_TRUE(Reserve({"c"}, state).fits());
  EXPECT_EQ(&Believed("small"), world.state.snapshot().objects<PersistentVolume>().Find("small")) << "nothing is new";
  Begin(state);
  EXPECT_EQ(world.written, std::vector<std::string>{"volume small@8 to c/uid-c"}) << "by a person, or before a restart";
}

}  // namespace
}  // namespace berth::plugins
