// SPDX-License-Identifier: Apache-2.0
#include "queue/hint_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::queue {
namespace {

using enum EventResource;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Who(HintMap& map, const ClusterEvent& event) {
  std::vector<std::string> names;
  for (PluginId id : map.Match(event).plugins) names.push_back(map.PluginName(id));
  return names;
}

TEST(HintMapTest, AnEventMatchesWhatIsTheSameOrMoreGeneral) {
  const struct {
    const char* name;
    ClusterEvent registered, event;
    bool want;
  } cases[] = {
      {"the same", {kNode, action::kAdd}, {kNode, action::kAdd}, true},
      {"another resource", {kNode, action::kAdd}, {kCsiNode, action::kAdd}, false},
      {"another action", {kNode, action::kAdd}, {kNode, action::kDelete}, false},
      {"one of several actions",
       {kNode, action::kAdd | action::kUpdateNodeLabel},
       {kNode, action::kUpdateNodeLabel},
       true},
      {"specific update, registered Update", {kNode, action::kUpdate}, {kNode, action::kUpdateNodeLabel}, true},
      {"generic update, registered a specific one", {kNode, action::kUpdateNodeLabel}, {kNode, action::kUpdate}, false},
      {"generic update, registered Add and Update",
       {kPersistentVolume, action::kAdd | action::kUpdate},
       {kPersistentVolume, action::kUpdate},
       true},
      {"generic update, registered Add and a specific one with it",
       {kNode, action::kAdd | action::kUpdateNodeLabel},
       {kNode, action::kUpdate},
       false},
      {"Pod stands for assigned pods", {kPod, action::kDelete}, {kAssignedPod, action::kDelete}, true},
      {"Pod stands for unscheduled pods", {kPod, action::kUpdate}, {kUnschedulablePod, action::kUpdatePodLabel}, true},
      {"not the other way round", {kAssignedPod, action::kDelete}, {kPod, action::kDelete}, false},
      {"all events", kWildCardEvent, {kDeviceClass, action::kUpdate}, true},
      {"any resource, one action", {kWildCard, action::kAdd}, {kDeviceClass, action::kAdd}, true},
      {"any resource, another action", {kWildCard, action::kAdd}, {kDeviceClass, action::kDelete}, false},
      {"a wildcard event, registered one resource", {kNode, action::kAll}, kWildCardEvent, false},
  };
  for (const auto& c : cases) EXPECT_EQ(Matches(c.registered, c.event), c.want) << c.name;
}

TEST(HintMapTest, LabelsAreUpstreams) {
  EXPECT_EQ(EventLabel({kNode, action::kUpdateNodeTaint}), "NodeUpdateNodeTaint");
  EXPECT_EQ(EventLabel({kAssignedPod, action::kDelete}), "AssignedPodDelete");
  EXPECT_EQ(EventLabel({kCsiNode, action::kAdd}), "storage.k8s.io/CSINodeAdd");
  EXPECT_EQ(EventLabel({kUnschedulablePod, action::kUpdate}), "UnschedulablePodUpdate");
}

TEST(HintMapTest, NodeAddBringsTaintUpdatesUnlessThePluginAskedForThem) {
  const QueueingHintFn skip = [](const Pod&, const EventObjects&) { return QueueingHint::kSkip; };
  HintMap map;
  map.AddProfile("s", {{"Plain", {{{{kNode, action::kAdd}, skip}}}},
                       {"Itself", {{{{kNode, action::kAdd | action::kUpdateNodeTaint}, skip}}}},
                       {"LabelsOnly", {{{{kNode, action::kUpdateNodeLabel}, skip}}}}});
  EXPECT_THAT(Who(map, {kNode, action::kAdd}), ElementsAre("Plain", "Itself"));
  EXPECT_THAT(Who(map, {kNode, action::kUpdateNodeTaint}), ElementsAre("Plain", "Itself"));
  const auto& hints = map.Match({kNode, action::kUpdateNodeTaint}).profiles[0];
  ASSERT_EQ(hints.size(), 2u);
  EXPECT_FALSE(*hints[0].fn) << "the automatic registration always queues";
  EXPECT_TRUE(*hints[1].fn);
}

TEST(HintMapTest, APluginThatDoesNotSayListensToEverythingAndOneThatSaysNothingToNothing) {
  HintMap map;
  map.AddProfile("s", {{"Silent", std::nullopt}, {"Deaf", std::vector<EventRegistration>{}}}, true);
  EXPECT_THAT(Who(map, {kNode, action::kUpdateNodeCondition}), ElementsAre("Silent", "Extender"));
  EXPECT_THAT(Who(map, {kAssignedPod, action::kAdd}), ElementsAre("Silent", "Extender"));
  EXPECT_THAT(Who(map, {kVolumeAttachment, action::kDelete}), IsEmpty()) << "not in upstream's list";
  EXPECT_EQ(map.Match({kNode, action::kUpdateNodeTaint}).profiles[0].size(), 2u);
  EXPECT_EQ(map.RegisteredActions(kNode), action::kAll);
  EXPECT_EQ(map.RegisteredActions(kAssignedPod), action::kAll);
  EXPECT_EQ(map.RegisteredActions(kVolumeAttachment), 0u);
}

TEST(HintMapTest, ProfilesAreKeptApart) {
  HintMap map;
  map.AddProfile("a", {{"P", {{{{kNode, action::kAdd}, nullptr}}}}});
  map.AddProfile("b", {{"P", {{{{kPod, action::kDelete}, nullptr}}}}, {"Q", {{{{kPod, action::kDelete}, nullptr}}}}});
  const EventMatch& match = map.Match({kAssignedPod, action::kDelete});
  EXPECT_TRUE(match.profiles[map.ProfileOf("a")].empty());
  EXPECT_EQ(match.profiles[map.ProfileOf("b")].size(), 2u);
  EXPECT_TRUE(match.Has(map.Intern("P")));
  EXPECT_EQ(map.ProfileOf("c"), kNoProfile);
}

}  // namespace
}  // namespace berth::queue
