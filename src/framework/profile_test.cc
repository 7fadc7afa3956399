// SPDX-License-Identifier: Apache-2.0
// Which plugins run where, in which order, with which weight; and what is refused.
#include "framework/profile.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "config/default_plugins.h"
#include "testing/fake_registry.h"

namespace berth::framework {
namespace {

using config::PluginRef;
using config::Plugins;
using enum Point;
using testing::FakeDescriptor;
using testing::FakeHandle;
using testing::FakeRegistry;

config::Profile ProfileOf(const Plugins& custom, const std::string& name = "default-scheduler") {
  config::Profile profile;
  profile.scheduler_name = name;
  profile.plugins = config::MergePlugins(custom);
  return profile;
}

Registry RegistryWithFoo() {
  Registry registry = FakeRegistry();
  registry.Add(FakeDescriptor("Foo", {kFilter, kScore, kPostBind}));
  registry.Add(FakeDescriptor("FooSort", {kQueueSort}));
  return registry;
}

std::string Show(const std::vector<PluginRef>& refs) {
  std::string text;
  for (const PluginRef& ref : refs) {
    if (!text.empty()) text += " ";
    text += ref.name;
    if (ref.weight != 0) text += ":" + std::to_string(ref.weight);
  }
  return text;
}

// The names at a point, or the error.
std::string At(const Plugins& custom, Point point) {
  static const Registry registry = RegistryWithFoo();
  FakeHandle handle;
  const auto profile = BuildProfile(ProfileOf(custom), registry, handle);
  return profile.ok() ? Show(PluginsAt(**profile, point)) : profile.error().text();
}

const char kFilters[] =
    "NodeUnschedulable NodeName TaintToleration NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions "
    "NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread InterPodAffinity DynamicResources "
    "NodeDeclaredFeatures";
const char kPreFilters[] =
    "NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone "
    "PodTopologySpread InterPodAffinity DynamicResources NodeDeclaredFeatures";
const char kScores[] =
    "TaintToleration:3 NodeAffinity:2 NodeResourcesFit:1 VolumeBinding:1 PodTopologySpread:2 InterPodAffinity:2 "
    "DynamicResources:2 NodeResourcesBalancedAllocation:1 ImageLocality:1";

TEST(ProfileTest, DefaultsExpandToKubeSchedulersLists) {
  EXPECT_EQ(At({}, kPreEnqueue), "SchedulingGates DynamicResources DefaultPreemption");
  EXPECT_EQ(At({}, kQueueSort), "PrioritySort");
  EXPECT_EQ(At({}, kPreFilter), kPreFilters);
  EXPECT_EQ(At({}, kFilter), kFilters);
  EXPECT_EQ(At({}, kPostFilter), "DynamicResources DefaultPreemption");
  EXPECT_EQ(At({}, kPreScore),
            "TaintToleration NodeAffinity NodeResourcesFit VolumeBinding PodTopologySpread InterPodAffinity "
            "NodeResourcesBalancedAllocation");
  EXPECT_EQ(At({}, kScore), kScores);
  EXPECT_EQ(At({}, kReserve), "VolumeBinding DynamicResources");
  EXPECT_EQ(At({}, kPermit), "");
  EXPECT_EQ(At({}, kPreBind), "VolumeBinding DynamicResources");
  EXPECT_EQ(At({}, kBind), "DefaultBinder");
  EXPECT_EQ(At({}, kPostBind), "");
}

TEST(ProfileTest, WishesAreMergedAsKubeSchedulerMergesThem) {
  const auto at = [](Point point, config::PluginSet set) {
    Plugins plugins;
    plugins[point] = std::move(set);
    return plugins;
  };
  const auto multi = [](config::PluginSet set) {
    Plugins plugins;
    plugins.multi_point = std::move(set);
    return plugins;
  };
  const std::string filters = kFilters;
  const std::string scores = kScores;
  const std::string no_name = "NodeUnschedulable" + filters.substr(filters.find(" TaintToleration"));
  const struct {
    const char* name;
    Plugins plugins;
    Point point;
    std::string want;
  } cases[] = {
      {"disabled at score only", at(kScore, {{}, {{"ImageLocality"}}}), kScore,
       scores.substr(0, scores.find(" ImageLocality"))},
      {"disabled at score stays at other points", at(kScore, {{}, {{"TaintToleration"}}}), kFilter, filters},
      {"a weight in multiPoint keeps the order", multi({{{"NodeResourcesFit", 5}}, {}}), kScore,
       "TaintToleration:3 NodeAffinity:2 NodeResourcesFit:5 VolumeBinding:1 PodTopologySpread:2 InterPodAffinity:2 "
       "DynamicResources:2 NodeResourcesBalancedAllocation:1 ImageLocality:1"},
      {"a weight in score moves to the front", at(kScore, {{{"NodeResourcesFit", 5}}, {}}), kScore,
       "NodeResourcesFit:5 TaintToleration:3 NodeAffinity:2 VolumeBinding:1 PodTopologySpread:2 InterPodAffinity:2 "
       "DynamicResources:2 NodeResourcesBalancedAllocation:1 ImageLocality:1"},
      {"score without a weight is 1, not multiPoint's", at(kScore, {{{"TaintToleration"}}, {}}), kScore,
       "TaintToleration:1" + scores.substr(scores.find(" NodeAffinity"))},
      {"a default named at filter runs first", at(kFilter, {{{"NodePorts"}}, {}}), kFilter,
       "NodePorts NodeUnschedulable NodeName TaintToleration NodeAffinity NodeResourcesFit VolumeRestrictions "
       "NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread InterPodAffinity DynamicResources "
       "NodeDeclaredFeatures"},
      {"a plugin of one's own at filter runs last", at(kFilter, {{{"Foo"}}, {}}), kFilter, filters + " Foo"},
      {"and nowhere else", at(kFilter, {{{"Foo"}}, {}}), kScore, scores},
      {"own plugin in multiPoint: filter", multi({{{"Foo"}}, {}}), kFilter, filters + " Foo"},
      {"own plugin in multiPoint: score", multi({{{"Foo", 7}}, {}}), kScore, scores + " Foo:7"},
      {"own plugin in multiPoint: post bind", multi({{{"Foo"}}, {}}), kPostBind, "Foo"},
      {"disabled in multiPoint: post filter", multi({{}, {{"DefaultPreemption"}}}), kPostFilter, "DynamicResources"},
      {"disabled in multiPoint: pre enqueue", multi({{}, {{"DefaultPreemption"}}}), kPreEnqueue,
       "SchedulingGates DynamicResources"},
      {"disabled and enabled moves to the end", multi({{{"NodeName"}}, {{"NodeName"}}}), kFilter,
       no_name + " NodeName"},
      {"everything disabled", multi({{}, {{"*"}}}), kFilter,
       "only one queue sort plugin required for profile with scheduler name \"default-scheduler\", but got 0; at least "
       "one bind plugin is needed for profile with scheduler name \"default-scheduler\""},
      {"a point for two plugins alone", at(kFilter, {{{"NodePorts"}, {"NodeName"}}, {{"*"}}}), kFilter,
       "NodePorts NodeName"},
      {"other points keep their defaults", at(kFilter, {{{"NodePorts"}}, {{"*"}}}), kPreFilter, kPreFilters},
      {"two queue sorts", at(kQueueSort, {{{"FooSort"}}, {}}), kQueueSort,
       "only one queue sort plugin required for profile with scheduler name \"default-scheduler\", but got 2"},
      {"another queue sort", at(kQueueSort, {{{"FooSort"}}, {{"PrioritySort"}}}), kQueueSort, "FooSort"},
      {"unknown at a point", at(kScore, {{{"Bar"}}, {}}), kScore, "ScorePlugin \"Bar\" does not exist"},
      {"unknown in multiPoint, said once", multi({{{"Bar"}}, {}}), kScore, "PreFilterPlugin \"Bar\" does not exist"},
      {"not at this point", at(kScore, {{{"NodeName"}}, {}}), kScore,
       "plugin \"NodeName\" does not extend ScorePlugin plugin"},
      {"twice at a point", at(kFilter, {{{"Foo"}, {"Foo"}}, {}}), kFilter,
       "plugin \"Foo\" already registered as \"FilterPlugin\""},
      {"twice in multiPoint", multi({{{"NodeName", 3}, {"NodeName", 4}}, {}}), kFilter,
       "plugin \"NodeName\" already registered as \"FilterPlugin\""},
      {"no binder", at(kBind, {{}, {{"*"}}}), kBind,
       "at least one bind plugin is needed for profile with scheduler name \"default-scheduler\""},
      {"all errors at once", at(kScore, {{{"Bar"}, {"NodeName"}}, {{"*"}}}), kScore,
       "ScorePlugin \"Bar\" does not exist; plugin \"NodeName\" does not extend ScorePlugin plugin"},
  };
  for (const auto& c : cases) EXPECT_EQ(At(c.plugins, c.point), c.want) << c.name;
}

TEST(ProfileTest, PlacementPointsAreCheckedThoughNothingRunsThere) {
  Plugins fine;
  fine.placement_score.enabled = {{"NodeResourcesFit", 3}};
  EXPECT_EQ(At(fine, kQueueSort), "PrioritySort");
  Plugins bad;
  bad.placement_score.enabled = {{"NodeName"}};
  bad.placement_generate.enabled = {{"Bar"}};
  EXPECT_EQ(At(bad, kQueueSort),
            "PlacementGeneratePlugin \"Bar\" does not exist; plugin \"NodeName\" does not extend PlacementScorePlugin "
            "plugin");
}

TEST(ProfileTest, EachPluginIsMadeOnceWithItsArguments) {
  Registry registry = FakeRegistry();
  int made = 0;
  std::string seen;
  PluginDescriptor d = FakeDescriptor("Foo", {kFilter, kScore, kPermit});
  d.make = [&, make = d.make](const Value* args, Handle& handle) {
    ++made;
    seen = args == nullptr ? "none" : args->ToJson();
    return make(args, handle);
  };
  registry.Add(d);
  Plugins plugins;
  plugins.multi_point.enabled = {{"Foo"}};
  plugins[kFilter].enabled = {{"Foo"}};
  config::Profile profile = ProfileOf(plugins);
  FakeHandle handle;
  ASSERT_TRUE(BuildProfile(profile, registry, handle).ok());
  EXPECT_EQ(made, 1);
  EXPECT_EQ(seen, "none");
  profile.plugin_config.push_back({"Foo", Value::Object({{"x", Value::Int(1)}})});
  ASSERT_TRUE(BuildProfile(profile, registry, handle).ok());
  EXPECT_EQ(seen, "{\"x\":1}");
}

TEST(ProfileTest, AFactoryThatFailsIsNamed) {
  Registry registry = FakeRegistry();
  PluginDescriptor sad = FakeDescriptor("Sad", {kFilter});
  sad.make = [](const Value*, Handle&) -> Result<std::unique_ptr<Plugin>> { return Error("no database"); };
  registry.Add(sad);
  PluginDescriptor angry = FakeDescriptor("Angry", {kFilter});
  angry.make = [](const Value*, Handle&) -> Result<std::unique_ptr<Plugin>> { throw std::runtime_error("thrown"); };
  registry.Add(angry);
  Plugins plugins;
  plugins.multi_point.enabled = {{"Sad"}, {"Angry"}};
  FakeHandle handle;
  const auto profile = BuildProfile(ProfileOf(plugins), registry, handle);
  ASSERT_FALSE(profile.ok());
  EXPECT_EQ(profile.error().text(),
            "initializing plugin \"Sad\": no database; initializing plugin \"Angry\": plugin threw: thrown");
}

TEST(ProfileTest, APluginThatClaimsAPointItLacksIsRefused) {
  class OnlyScore : public ScorePlugin {
    Error Score(const Cycle&, const PluginState*, const NodeBatch&, std::span<int64_t>) const override {
      return Error::Ok();
    }
  };
  Registry registry = FakeRegistry();
  PluginDescriptor d = FakeDescriptor("Liar", {kFilter, kScore});
  d.make = [](const Value*, Handle&) -> Result<std::unique_ptr<Plugin>> {
    return std::unique_ptr<Plugin>(std::make_unique<OnlyScore>());
  };
  registry.Add(d);
  Plugins plugins;
  plugins.multi_point.enabled = {{"Liar"}};
  FakeHandle handle;
  const auto profile = BuildProfile(ProfileOf(plugins), registry, handle);
  ASSERT_FALSE(profile.ok());
  EXPECT_EQ(profile.error().text(), "plugin \"Liar\" does not extend FilterPlugin plugin");
}

TEST(ProfileTest, ANameRegisteredTwiceIsRefused) {
  Registry registry = FakeRegistry();
  registry.Add(FakeDescriptor("NodeName", {kFilter}));
  FakeHandle handle;
  const auto profile = BuildProfile(ProfileOf({}), registry, handle);
  ASSERT_FALSE(profile.ok());
  EXPECT_EQ(profile.error().text(), "a plugin named NodeName already exists");
}

TEST(ProfileTest, ThePercentageIsTheProfilesOrElseTheConfigurations) {
  const Registry registry = FakeRegistry();
  FakeHandle handle;
  config::Profile profile = ProfileOf({});
  EXPECT_EQ((*BuildProfile(profile, registry, handle, 40))->percentage_of_nodes_to_score, 40);
  profile.percentage_of_nodes_to_score = 0;
  EXPECT_EQ((*BuildProfile(profile, registry, handle, 40))->percentage_of_nodes_to_score, 0);
}

TEST(ProfileTest, WeightsThatCouldOverflowAreFound) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_FALSE(TotalScoreCouldOverflow({}));
  EXPECT_FALSE(TotalScoreCouldOverflow({kMax / 100}));
  EXPECT_TRUE(TotalScoreCouldOverflow({kMax / 100 + 1}));
  EXPECT_TRUE(TotalScoreCouldOverflow({kMax / 100, 1}));
  EXPECT_FALSE(TotalScoreCouldOverflow({kMax / 100 - 1, 1}));
}

// The scheduler names built, or the error.
std::string Build(const config::SchedulerConfiguration& config) {
  const Registry registry = RegistryWithFoo();
  FakeHandle handle;
  const auto profiles = BuildProfiles(config, registry, [&](const config::Profile&) -> Handle& { return handle; });
  if (!profiles.ok()) return profiles.error().text();
  std::string names;
  for (const auto& [name, profile] : *profiles) names += (names.empty() ? "" : " ") + name;
  return names;
}

TEST(ProfilesTest, AreBuiltByName) {
  config::SchedulerConfiguration config;
  config.profiles = {ProfileOf({}, "b"), ProfileOf({}, "a")};
  EXPECT_EQ(Build(config), "a b");
}

TEST(ProfilesTest, MustSortTheQueueAlike) {
  Plugins sort;
  sort[kQueueSort].enabled = {{"FooSort"}};
  sort[kQueueSort].disabled = {{"PrioritySort"}};
  config::SchedulerConfiguration config;
  config.profiles = {ProfileOf({}, "a"), ProfileOf(sort, "b")};
  EXPECT_EQ(Build(config), "different queue sort plugins for profile \"b\": \"FooSort\", first: \"PrioritySort\"");
  config.profiles = {ProfileOf(sort, "a"), ProfileOf(sort, "b")};
  EXPECT_EQ(Build(config), "a b");
  config.profiles[1].plugin_config.push_back({"FooSort", Value::Object({{"x", Value::Int(1)}})});
  EXPECT_EQ(Build(config), "different queue sort plugin args for profile \"b\"");
}

TEST(ProfilesTest, ReportTheErrorsOfAllProfiles) {
  Plugins bad;
  bad[kScore].enabled = {{"Bar"}};
  config::SchedulerConfiguration config;
  config.profiles = {ProfileOf(bad, "a"), ProfileOf({}, "b"), ProfileOf({}, "b"), ProfileOf({}, "")};
  EXPECT_EQ(Build(config),
            "creating profile for scheduler name a: ScorePlugin \"Bar\" does not exist; duplicate profile with "
            "scheduler name \"b\"; scheduler name is needed");
}

}  // namespace
}  // namespace berth::framework
