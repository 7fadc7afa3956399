// SPDX-License-Identifier: Apache-2.0
// Old files as people have them: what they mean today, what is said about it, and what is refused where.
#include "legacy/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.h"
#include "legacy/sets_test_util.h"
#include "plugins/builtin.h"

namespace berth::legacy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const Registry& InTree() {
  static const Registry registry = [] {
    Registry made;
    plugins::RegisterBuiltinPlugins(made);
    return made;
  }();
  return registry;
}

std::string Head(const std::string& version) {
  return "apiVersion: kubescheduler.config.k8s.io/" + version + "\nkind: KubeSchedulerConfiguration\n";
}

Loaded LoadText(const std::string& text, LoadOptions options = {}) { return Load(text, "f", InTree(), options); }

std::string Wrong(const std::string& text, LoadOptions options = {}) {
  std::string all;
  for (const Problem& problem : LoadText(text, std::move(options)).problems) all += problem.ToString() + "\n";
  return all;
}

std::string Said(const Loaded& loaded) {
  std::string all;
  for (const Change& change : loaded.changes)
    all += std::string(ToString(change.fate)) + " " + change.ToString() + "\n";
  return all;
}

// The v1 document of a text that must load.
std::string Document(const std::string& text) {
  const Loaded loaded = LoadText(text);
  EXPECT_TRUE(loaded.ok()) << Wrong(text);
  return loaded.document.ToJson();
}

TEST(LegacyLoadTest, TodaysVersionIsLeftToItself) {
  const Loaded loaded = LoadText(Head("v1") + "parallelism: 3\n");
  EXPECT_TRUE(loaded.ok());
  EXPECT_EQ(loaded.version, Version::kV1);
  EXPECT_EQ(loaded.Warning("f"), "");
  EXPECT_EQ(loaded.config.parallelism, 3);
}

TEST(LegacyLoadTest, AnOldVersionIsWarnedAboutWithTheCommandThatConverts) {
  EXPECT_EQ(
      LoadText(Head("v1beta3")).Warning("f"),
      "f is a configuration of kubescheduler.config.k8s.io/v1beta3, which kube-scheduler no longer reads; berth config "
      "convert writes it as kubescheduler.config.k8s.io/v1 and says what has changed");
  EXPECT_THAT(LoadText("kind: Policy\napiVersion: v1\n").Warning("f"), HasSubstr("f is a Policy, which"));
}

TEST(LegacyLoadTest, VersionsThatNeverWereAreRefusedAsToday) {
  EXPECT_EQ(Wrong(Head("v1alpha3")),
            "f:1: no kind \"KubeSchedulerConfiguration\" is registered for version "
            "\"kubescheduler.config.k8s.io/v1alpha3\"\n");
}

TEST(LegacyLoadTest, DefaultWeightsAreThoseOfTheVersion) {
  EXPECT_EQ(Document(Head("v1beta2")),
            R"({"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","profiles":[)"
            R"({"schedulerName":"default-scheduler","plugins":{"multiPoint":{"enabled":[{"name":"TaintToleration",)"
            R"("weight":1},{"name":"NodeAffinity","weight":1},{"name":"InterPodAffinity","weight":1}]}}}]})");
  EXPECT_EQ(Document(Head("v1beta3")),
            R"({"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","profiles":[)"
            R"({"schedulerName":"default-scheduler"}]})");
  EXPECT_THAT(Document(Head("v1alpha2")), HasSubstr(R"({"name":"PodTopologySpread","weight":1})"));
}

TEST(LegacyLoadTest, AMostAllocatedScorerBecomesAStrategy) {
  const Loaded loaded = LoadText(Head("v1beta1") + R"(
profiles:
- plugins:
    score:
      disabled: [{name: NodeResourcesLeastAllocated}]
      enabled: [{name: NodeResourcesMostAllocated, weight: 5}]
  pluginConfig:
  - name: NodeResourcesMostAllocated
    args: {resources: [{name: cpu, weight: 2}]}
  - name: NodeResourcesFit
    args: {ignoredResources: [example.com/a]}
)");
  ASSERT_TRUE(loaded.ok());
  EXPECT_THAT(
      loaded.document.ToJson(),
      HasSubstr(R"({"name":"NodeResourcesFit","args":{"ignoredResources":["example.com/a"],"scoringStrategy":{"type":)"
                R"("MostAllocated","resources":[{"name":"cpu","weight":2}]}}})"));
  EXPECT_EQ(TodaysSets(loaded.config, InTree()).score.at("NodeResourcesFit"), 5);
  EXPECT_THAT(Said(loaded), HasSubstr("changed f:10: profiles[0].pluginConfig[0]: NodeResourcesMostAllocated: "));
}

TEST(LegacyLoadTest, WithoutAScorerOfResourcesNodeResourcesFitOnlyFilters) {
  const Loaded loaded =
      LoadText(Head("v1beta1") + "profiles: [{plugins: {score: {disabled: [{name: NodeResourcesLeastAllocated}]}}}]\n");
  ASSERT_TRUE(loaded.ok());
  EXPECT_THAT(loaded.document.ToJson(), AllOf(HasSubstr(R"("preScore":{"disabled":[{"name":"NodeResourcesFit"}]})"),
                                              HasSubstr(R"("score":{"disabled":[{"name":"NodeResourcesFit"}]})")));
  const Sets sets = TodaysSets(loaded.config, InTree());
  EXPECT_TRUE(sets.filter.contains("NodeResourcesFit"));
  EXPECT_FALSE(sets.score.contains("NodeResourcesFit"));
  // And the other way round.
  const Loaded only = LoadText(Head("v1beta1") +
                               "profiles: [{plugins: {filter: {disabled: [{name: NodeResourcesFit}]}, "
                               "preFilter: {disabled: [{name: NodeResourcesFit}]}}}]\n");
  ASSERT_TRUE(only.ok());
  EXPECT_FALSE(TodaysSets(only.config, InTree()).filter.contains("NodeResourcesFit"));
  EXPECT_TRUE(TodaysSets(only.config, InTree()).score.contains("NodeResourcesFit"));
}

TEST(LegacyLoadTest, HalvesThatPluginsDidNotHaveThenFollowTheOthers) {
  // In 1.18 VolumeBinding had no PreFilter, so clearing that point left it alone.
  const Loaded loaded = LoadText(Head("v1alpha2") + "profiles: [{plugins: {preFilter: {disabled: [{name: '*'}]}}}]\n");
  ASSERT_TRUE(loaded.ok());
  EXPECT_THAT(loaded.document.ToJson(),
              HasSubstr(R"("preFilter":{"enabled":[{"name":"NodeAffinity"},{"name":"VolumeRestrictions"},)"
                        R"({"name":"NodeVolumeLimits"},{"name":"VolumeBinding"},{"name":"VolumeZone"}],)"
                        R"("disabled":[{"name":"*"}]})"));
}

TEST(LegacyLoadTest, NodeLabelsBecomeAddedAffinity) {
  const Loaded loaded = LoadText(Head("v1beta1") + R"(
profiles:
- plugins:
    filter: {enabled: [{name: NodeLabel}]}
    score: {enabled: [{name: NodeLabel, weight: 3}]}
  pluginConfig:
  - name: NodeLabel
    args: {presentLabels: [a], absentLabels: [b], presentLabelsPreference: [c], absentLabelsPreference: [d]}
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms:
          - matchExpressions: [{key: x, operator: Exists}]
          - matchExpressions: [{key: z, operator: Exists}]
)");
  ASSERT_TRUE(loaded.ok()) << Said(loaded);
  EXPECT_THAT(
      loaded.document.ToJson(),
      AllOf(HasSubstr(R"({"matchExpressions":[{"key":"x","operator":"Exists"},{"key":"a","operator":"Exists"},)"
                      R"({"key":"b","operator":"DoesNotExist"}]},{"matchExpressions":[{"key":"z","operator":"Exists"},)"
                      R"({"key":"a","operator":"Exists"},{"key":"b","operator":"DoesNotExist"}]})"),
            HasSubstr(R"({"weight":37,"preference":{"matchExpressions":[{"key":"c","operator":"Exists"}]}})"),
            Not(HasSubstr("NodeLabel"))));
  EXPECT_EQ(TodaysSets(loaded.config, InTree()).score.at("NodeAffinity"), 4);
}

TEST(LegacyLoadTest, ConstraintsWithoutATypeMeanList) {
  const std::string profile =
      "profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultConstraints: [{maxSkew: 1, topologyKey: z, "
      "whenUnsatisfiable: ScheduleAnyway}]}}]}]\n";
  EXPECT_THAT(Document(Head("v1beta1") + profile), HasSubstr(R"("defaultingType":"List")"));
  EXPECT_THAT(Document(Head("v1alpha2") + profile), HasSubstr(R"("defaultingType":"List")"));
  EXPECT_THAT(Wrong(Head("v1beta2") + profile), HasSubstr("f:3: profiles[0].pluginConfig[0].args"));
  // Nobody spread pods without constraints.
  EXPECT_THAT(
      Document(Head("v1alpha2") + "profiles: [{plugins: {score: {disabled: [{name: DefaultPodTopologySpread}]}}}]\n"),
      HasSubstr(R"({"name":"PodTopologySpread","args":{"defaultingType":"List"}})"));
}

TEST(LegacyLoadTest, V1beta2sMultiPointOnlyAdded) {
  const Loaded loaded = LoadText(Head("v1beta2") + R"(
profiles:
- plugins:
    multiPoint: {disabled: [{name: '*'}], enabled: [{name: ImageLocality, weight: 9}, {name: Mine, weight: 2}]}
)");
  ASSERT_TRUE(loaded.problems.empty());
  EXPECT_THAT(loaded.document.ToJson(), AllOf(HasSubstr(R"({"name":"Mine","weight":2})"), Not(HasSubstr("\"*\"")),
                                              Not(HasSubstr("ImageLocality"))));
  EXPECT_THAT(Said(loaded), HasSubstr("multiPoint.disabled turned nothing off"));
}

TEST(LegacyLoadTest, V1beta3NamesAreRenamedInPlace) {
  const Loaded loaded = LoadText(Head("v1beta3") + R"(
profiles:
- plugins:
    multiPoint:
      disabled: [{name: '*'}]
      enabled: [{name: PrioritySort}, {name: DefaultBinder}, {name: EBSLimits}, {name: SelectorSpread, weight: 4}]
)");
  ASSERT_TRUE(loaded.ok());
  const Sets sets = TodaysSets(loaded.config, InTree());
  EXPECT_EQ(ToString(sets), "filter: NodeVolumeLimits PodTopologySpread; score: PodTopologySpread=4");
  EXPECT_THAT(Said(loaded), HasSubstr("changed f:8: profiles[0].plugins.multiPoint.enabled[2]: EBSLimits: "));
}

TEST(LegacyLoadTest, NodeVolumeLimitsStaysAsLongAsOneOfThoseDoesThatItHasTakenOver) {
  for (const char* version : {"v1alpha2", "v1beta1", "v1beta2", "v1beta3"}) {
    const auto filters = [&](const std::string& disabled) {
      const Loaded loaded =
          LoadText(Head(version) + "profiles: [{plugins: {filter: {disabled: [" + disabled + "]}}}]\n");
      EXPECT_TRUE(loaded.ok()) << version;
      return TodaysSets(loaded.config, InTree()).filter.contains("NodeVolumeLimits");
    };
    EXPECT_TRUE(filters("{name: NodeVolumeLimits}")) << version;
    EXPECT_TRUE(filters("{name: EBSLimits}, {name: GCEPDLimits}, {name: AzureDiskLimits}")) << version;
    EXPECT_FALSE(filters("{name: NodeVolumeLimits}, {name: EBSLimits}, {name: GCEPDLimits}, {name: AzureDiskLimits}"))
        << version;
  }
}

TEST(LegacyLoadTest, OldFieldsBecomeArgumentsAndDisabledPlugins) {
  const Loaded loaded = LoadText(Head("v1alpha1") + R"(schedulerName: mine
hardPodAffinitySymmetricWeight: 10
disablePreemption: true
bindTimeoutSeconds: 30
failureDomains: a
healthzBindAddress: 0.0.0.0:10251
leaderElection: {resourceLock: endpoints}
foo: 1
)");
  ASSERT_TRUE(loaded.ok());
  EXPECT_THAT(loaded.document.ToJson(),
              AllOf(HasSubstr(R"("leaderElection":{"resourceLock":"leases"})"), HasSubstr(R"("schedulerName":"mine")"),
                    HasSubstr(R"({"name":"InterPodAffinity","args":{"hardPodAffinityWeight":10}})"),
                    HasSubstr(R"({"name":"VolumeBinding","args":{"bindTimeoutSeconds":30}})"),
                    HasSubstr(R"("disabled":[{"name":"DefaultPreemption"}])")));
  EXPECT_THAT(
      Said(loaded),
      AllOf(HasSubstr("dropped f:7: failureDomains: It had no effect."),
            HasSubstr("dropped f:8: healthzBindAddress: \"0.0.0.0:10251\". Plain HTTP"),
            HasSubstr("changed f:9: leaderElection.resourceLock: \"endpoints\". Only leases are left."),
            HasSubstr("dropped f:10: foo: unknown field \"foo\", which kubescheduler.config.k8s.io/v1alpha1 ignored")));
  EXPECT_EQ(
      Wrong(Head("v1alpha1") + "bindTimeoutSeconds: soon\nhardPodAffinitySymmetricWeight: 101\nschedulerName: 3\n"),
      "f:3: bindTimeoutSeconds: Invalid value: \"soon\": must be an integer\n"
      "f:4: hardPodAffinitySymmetricWeight: Invalid value: 101: not in valid range [0, 100]\n"
      "f:5: schedulerName: Invalid value: 3: must be a string\n");
}

TEST(LegacyLoadTest, ExtendersAreReadInBothSpellings) {
  const std::string list =
      "extenders:\n- urlPrefix: http://x\n  filterVerb: f\n  %HTTPS%: true\n  httpTimeout: %TIMEOUT%\n"
      "  tlsConfig: {insecure: true}\n";
  const auto with = [&](const std::string& https, const std::string& timeout) {
    std::string text = list;
    text.replace(text.find("%HTTPS%"), 7, https);
    text.replace(text.find("%TIMEOUT%"), 9, timeout);
    return text;
  };
  const char* want = R"("extenders":[{"urlPrefix":"http://x","filterVerb":"f","enableHTTPS":true,"httpTimeout":"1.5s",)"
                     R"("tlsConfig":{"insecure":true}}])";
  for (const char* version : {"v1alpha2", "v1beta1", "v1beta2", "v1beta3"}) {
    EXPECT_THAT(Document(Head(version) + with("enableHttps", "1500000000")), HasSubstr(want)) << version;
    EXPECT_THAT(Document(Head(version) + with("enableHTTPS", "1.5s")), HasSubstr(want)) << version;
  }
  EXPECT_EQ(Wrong(Head("v1") + with("enableHttps", "1500000000")),
            "f:7: extenders[0].httpTimeout: Invalid value: 1500000000: must be a duration such as \"10s\"\n"
            "f:6: extenders[0].enableHttps: unknown field \"enableHttps\" (written enableHTTPS since v1beta1)\n");
  EXPECT_EQ(Wrong(Head("v1beta1") + "extenders: [{urlPrefix: a, enableHttps: true, enableHTTPS: false, foo: 1}]\n"),
            "f:3: extenders[0].enableHTTPS: duplicate field \"enableHTTPS\"\n"
            "f:3: extenders[0].foo: unknown field \"foo\"\n");
  EXPECT_EQ(
      Wrong(Head("v1beta1") + "extenders: [{urlPrefix: a, httpTimeout: 1.5}]\n"),
      "f:3: extenders[0].httpTimeout: Invalid value: 1.5: must be a whole number of nanoseconds, or a duration such as "
      "\"10s\"\n");
}

TEST(LegacyLoadTest, HalfConvertedFilesAreToldWhatIsLeft) {
  EXPECT_EQ(
      Wrong(Head("v1") + "schedulerName: a\nalgorithmSource: {provider: DefaultProvider}\nleaderElection: "
                         "{lockObjectName: x}\n"),
      "f:5: leaderElection.lockObjectName: unknown field \"lockObjectName\" (a field of v1alpha1; resourceName since "
      "v1alpha2)\n"
      "f:3: schedulerName: unknown field \"schedulerName\" (a field of v1alpha1; it belongs into profiles[0] since "
      "v1alpha2)\n"
      "f:4: algorithmSource: unknown field \"algorithmSource\" (a field of v1alpha1; what a Policy says is plugins of "
      "a "
      "profile since v1alpha2)\n");
  EXPECT_EQ(
      Wrong(Head("v1alpha1") + "profiles: [{schedulerName: a}]\nextenders: []\npredicates: []\n"),
      "f:3: profiles: unknown field \"profiles\" (a field since v1alpha2)\n"
      "f:4: extenders: unknown field \"extenders\" (a field of a Policy, and of this kind since v1alpha2)\n"
      "f:5: predicates: unknown field \"predicates\" (a field of a Policy, not of a KubeSchedulerConfiguration)\n");
  EXPECT_EQ(
      Wrong(Head("v1beta2") + "profiles:\n- plugins:\n    unreserve: {}\n  pluginConfig:\n  - name: NodeAffinity\n"
                              "    args: {apiVersion: kubescheduler.config.k8s.io/v1, addedAffinity: null}\n"),
      "f:5: profiles[0].plugins.unreserve: unknown field \"unreserve\" (a point of v1alpha1 and v1alpha2; reserve has "
      "both since v1beta1)\n"
      "f:8: profiles[0].pluginConfig[0].args: no kind \"NodeAffinityArgs\" is registered for version "
      "\"kubescheduler.config.k8s.io/v1\"\n");
}

TEST(LegacyLoadTest, WhatIsInTheWrongPlaceIsSentToTheRightOne) {
  EXPECT_EQ(
      Wrong("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  config.yaml: |\n    kind: x\n"),
      "f:5: data.config.yaml: this is a ConfigMap's manifest, not a configuration: give the text of this key as a file "
      "of its own, as a pod sees it that mounts the ConfigMap\n");
  EXPECT_EQ(
      Wrong(Head("v1beta1") + "---\nkind: Policy\napiVersion: v1\n"),
      "f:4: more than one document; a configuration file holds one: here is KubeSchedulerConfiguration, then Policy\n");
  LoadOptions options;
  options.no_policy = "none here";
  EXPECT_EQ(Wrong("apiVersion: v1\nkind: Policy\n", options), "f:2: kind: none here\n");
  options.policy = [](const PolicyReference&) -> Result<PolicyText> { return PolicyText{"p", Head("v1beta1")}; };
  EXPECT_EQ(Wrong(Head("v1alpha1") + "algorithmSource: {policy: {file: {path: p}}}\n", options),
            "p:2: kind: invalid policy: Invalid value: \"KubeSchedulerConfiguration\": must be \"Policy\"; a "
            "KubeSchedulerConfiguration is given with --config\n");
}

TEST(LegacyLoadTest, PoliciesThatCannotBeHadAreNamed) {
  const std::string file = Head("v1alpha1") + "algorithmSource:\n  policy:\n    file: {path: /none/policy}\n";
  EXPECT_EQ(Wrong(file), "f:5: algorithmSource.policy.file.path: missing policy config file /none/policy\n");
  EXPECT_EQ(Wrong(Head("v1alpha1") + "algorithmSource: {policy: {}}\n"),
            "f:3: algorithmSource.policy: Required value: file or configMap\n");
  EXPECT_EQ(
      Wrong(Head("v1alpha1") + "algorithmSource: {policy: {file: {path: a}, configMap: {name: b}}}\n").substr(0, 91),
      "f:3: algorithmSource.policy.file.path: missing policy config file a\nf:3: algorithmSource.po");
  LoadOptions options;
  options.policy = [](const PolicyReference& reference) -> Result<PolicyText> {
    return Error("couldn't get policy config map " + reference.name_space + "/" + reference.name + ": gone");
  };
  EXPECT_EQ(Wrong(Head("v1alpha1") + "algorithmSource: {policy: {configMap: {name: b}}}\n", options),
            "f:3: algorithmSource.policy.configMap: couldn't get policy config map kube-system/b: gone\n");
}

TEST(LegacyLoadTest, TheFileThatIsWrittenHasACommentAtEveryChangeAndStaysAsItIs) {
  const Loaded loaded = LoadText(R"({"predicates": [{"name": "MaxEBSVolumeCount"}],
"priorities": [{"name": "EqualPriority", "weight": 1}]})");
  ASSERT_TRUE(loaded.ok());
  const std::string file = CommentedFile(loaded, "f");
  EXPECT_THAT(file, AllOf(HasSubstr("# Converted from a Policy, f, by berth config convert.\n"),
                          HasSubstr("  # line 1, predicates[0]: MaxEBSVolumeCount: "),
                          HasSubstr("  # line 2, priorities[0]: EqualPriority: ")));
  const Loaded again = Load(file, "new", InTree());
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again.version, Version::kV1);
  const Value changes = ChangesDocument(loaded, "f");
  EXPECT_EQ(changes.Find("changes")->items().size(), loaded.changes.size());
  EXPECT_EQ(changes.Find("changes")->items().back().Find("line")->ToJson(), "1");
}

TEST(LegacyLoadTest, NothingIsAddedForWhoeverServesOnlyWhatIsNamed) {
  LoadOptions options;
  options.unnamed = config::UnnamedPlugins::kNone;
  const Loaded loaded =
      LoadText(Head("v1alpha2") +
                   "profiles: [{plugins: {filter: {enabled: [{name: NodeAffinity}]}, score: {enabled: [{name: "
                   "NodeResourcesMostAllocated, weight: 2}]}}}]\n",
               options);
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(
      loaded.document.Find("profiles")->ToJson(),
      R"([{"schedulerName":"default-scheduler","plugins":{"preFilter":{"enabled":[{"name":"NodeAffinity"}]},)"
      R"("filter":{"enabled":[{"name":"NodeAffinity"}]},"preScore":{"enabled":[{"name":"NodeResourcesFit"}]},)"
      R"("score":{"enabled":[{"name":"NodeResourcesFit","weight":2}]}},"pluginConfig":[{"name":"NodeResourcesFit",)"
      R"("args":{"scoringStrategy":{"type":"MostAllocated"}}}]}])");
}

TEST(LegacyLoadTest, LabelsWithAWeightBelowZeroAreRefused) {
  for (const char* weight : {"-1", "-2147483648"}) {
    EXPECT_THAT(Wrong(Head("v1beta1") + R"(
profiles:
- plugins:
    score: {enabled: [{name: NodeLabel, weight: )" +
                      weight + R"(}]}
  pluginConfig:
  - name: NodeLabel
    args: {presentLabelsPreference: [ssd]}
)"),
                HasSubstr("must be positive"))
        << weight;
  }
}

TEST(LegacyLoadTest, PluginsWithoutTheArgumentsTheyNeed) {
  for (const char* version : {"v1alpha2", "v1beta1"}) {
    for (const char* args : {"", "  pluginConfig: [{name: NodeLabel}, {name: ServiceAffinity, args: null}]\n",
                             "  pluginConfig: [{name: NodeLabel, args: {}}, {name: ServiceAffinity, args: {}}]\n"}) {
      const Loaded loaded = LoadText(Head(version) + R"(
profiles:
- plugins:
    preFilter: {enabled: [{name: ServiceAffinity}]}
    filter: {disabled: [{name: "*"}], enabled: [{name: NodeLabel}, {name: ServiceAffinity}, {name: NodeName}]}
    score: {disabled: [{name: "*"}], enabled: [{name: NodeLabel, weight: 2}, {name: ServiceAffinity}]}
)" + args);
      ASSERT_TRUE(loaded.ok()) << version << args << loaded.problems[0].ToString();
      EXPECT_EQ(ToString(TodaysSets(loaded.config, InTree())), "filter: NodeName; score:") << version << args;
      EXPECT_THAT(Said(loaded), AllOf(HasSubstr("NodeLabel without labels rejects no node"),
                                      HasSubstr("ServiceAffinity without affinityLabels rejects no node"),
                                      HasSubstr("NodeLabel without preferences gives every node the same"),
                                      HasSubstr("ServiceAffinity without antiAffinityLabelsPreference")))
          << version << args;
    }
    const std::string ratio = Head(version) + R"(
profiles:
- plugins:
    score: {disabled: [{name: "*"}], enabled: [{name: RequestedToCapacityRatio}]}
)";
    EXPECT_EQ(Wrong(ratio),
              "f:6: profiles[0].plugins.score.enabled[0].name: Invalid value: \"RequestedToCapacityRatio\": needs "
              "arguments in pluginConfig: a shape of at least one point\n");
    EXPECT_EQ(Wrong(ratio + "  pluginConfig:\n  - name: RequestedToCapacityRatio\n    args: {resources: []}\n"),
              "f:9: profiles[0].pluginConfig[0].args.shape: Required value: at least one point must be specified\n");
  }
}

TEST(LegacyLoadTest, WhatServiceAffinityFiltersByIsRefusedWhereItFilters) {
  const std::string args = "  pluginConfig: [{name: ServiceAffinity, args: {affinityLabels: [rack]}}]\n";
  EXPECT_THAT(Wrong(Head("v1beta1") + "profiles:\n- plugins: {filter: {enabled: [{name: ServiceAffinity}]}}\n" + args),
              HasSubstr("f:4: profiles[0].plugins.filter.enabled[0].name: Invalid value: \"ServiceAffinity\": Nothing "
                        "today ties"));
  EXPECT_EQ(Wrong(Head("v1beta1") + "profiles:\n- plugins: {score: {enabled: [{name: ServiceAffinity}]}}\n" + args),
            "");
}

TEST(LegacyLoadTest, ArgumentsInAPolicyThatSayNothing) {
  const Loaded loaded = LoadText(R"(kind: Policy
apiVersion: v1
predicates: [{name: a, argument: {labelsPresence: {}}}, {name: b, argument: {serviceAffinity: {labels: []}}}]
priorities: []
)");
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(ToString(TodaysSets(loaded.config, InTree())), "filter: NodeUnschedulable TaintToleration; score:");
  EXPECT_THAT(Said(loaded), AllOf(HasSubstr("dropped f:3: predicates[0]: a: without labels it rejects no node"),
                                  HasSubstr("dropped f:3: predicates[1]: b: without labels it rejects no node")));
  EXPECT_EQ(Wrong(R"(kind: Policy
apiVersion: v1
predicates:
- {name: CheckNodeLabelPresence, argument: null}
- {name: c, argument: {labelsPresence: null}}
priorities:
- {name: d, weight: 2, argument: {labelPreference: {}}}
- {name: e, weight: 2, argument: {serviceAntiAffinity: {}}}
- {name: f, weight: 2, argument: {requestedToCapacityRatioArguments: {}}}
- {name: g, weight: 2, argument: {labelPreference: {label: a b}}}
)"),
            "f:4: predicates[0].name: Invalid value: \"CheckNodeLabelPresence\": this predicate needs its argument, "
            "labelsPresence\n"
            "f:5: predicates[1].argument: Invalid value: \"c\": exactly 1 predicate argument is required, numArgs: 0\n"
            "f:7: priorities[0].argument.labelPreference.label: Required value: the label that d looks at\n"
            "f:8: priorities[1].argument.serviceAntiAffinity.label: Required value: the label that e looks at\n"
            "f:9: priorities[2].argument.requestedToCapacityRatioArguments.shape: Required value: at least one point "
            "must be specified\n"
            "f:10: priorities[3]: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' "
            "or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or "
            "'123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')\n");
}

TEST(LegacyLoadTest, AWeightThatCannotBeReadIsToldOnce) {
  EXPECT_EQ(
      Wrong(R"(kind: Policy
apiVersion: v1
predicates: []
priorities:
- {name: NodeAffinityPriority, weight: 99999999999999999999}
- {name: ImageLocalityPriority, weight: 1.5}
- {name: InterPodAffinityPriority, weight: "3"}
- {name: TaintTolerationPriority}
- {name: BalancedResourceAllocation, weight: 3000000000}
)"),
      "f:5: priorities[0].weight: Invalid value: 100000000000000000000: must fit in 64 bits\n"
      "f:6: priorities[1].weight: Invalid value: 1.5: must be an integer\n"
      "f:7: priorities[2].weight: Invalid value: \"3\": must be an integer\n"
      "f:8: priorities[3].weight: Invalid value: 0: priority TaintTolerationPriority should have a positive weight "
      "applied to it or it has overflown\n"
      "f:9: priorities[4].weight: Invalid value: 3000000000: must fit in 32 bits\n");
}

TEST(LegacyLoadTest, ArgumentsOfV1beta1AreStrictAlsoWhereThePluginIsGone) {
  EXPECT_EQ(Wrong(Head("v1beta1") + R"(profiles:
- pluginConfig:
  - name: NodeLabel
    args: {presentLabels: zone, absentLabel: [x]}
  - name: ServiceAffinity
    args: {labels: [x]}
  - name: RequestedToCapacityRatio
    args: {shape: [{utilisation: 3}], resources: 4}
  - name: NodeResourcesMostAllocated
    args: {resource: []}
)"),
            "f:6: profiles[0].pluginConfig[0].args.presentLabels: Invalid value: \"zone\": must be a list of strings\n"
            "f:6: profiles[0].pluginConfig[0].args.absentLabel: unknown field \"absentLabel\"\n"
            "f:8: profiles[0].pluginConfig[1].args.labels: unknown field \"labels\"\n"
            "f:10: profiles[0].pluginConfig[2].args.shape[0].utilisation: unknown field \"utilisation\"\n"
            "f:10: profiles[0].pluginConfig[2].args.resources: Invalid value: 4: must be a list\n"
            "f:12: profiles[0].pluginConfig[3].args.resource: unknown field \"resource\"\n");
}

TEST(LegacyLoadTest, PathsLeadToWhatIsInTheFile) {
  // Arguments that plugins of today get because of a label are not in the file.
  EXPECT_THAT(Wrong(Head("v1alpha1") + R"(plugins:
  score:
    enabled: [{name: NodeLabel, weight: 2}]
pluginConfig:
- name: NodeLabel
  args: {presentLabelsPreference: [""]}
)"),
              HasSubstr("f:5: plugins.score.enabled[0]: Invalid value: \"\": name part must be non-empty"));
  // Keys are found in whatever case they are read.
  EXPECT_EQ(Wrong(R"({"Predicates":[],
"Priorities":[{"Name":"ImageLocalityPriority",
"Weight":0}]})"),
            "f:3: Priorities[0].Weight: Invalid value: 0: priority ImageLocalityPriority should have a positive weight "
            "applied to it or it has overflown\n");
}

TEST(LegacyLoadTest, EntriesWithoutANameAreRefused) {
  EXPECT_EQ(Wrong(Head("v1beta2") + "profiles:\n- plugins:\n    score: {enabled: [null, {weight: 3}]}\n"),
            "f:5: profiles[0].plugins.score.enabled[0].name: Required value\n"
            "f:5: profiles[0].plugins.score.enabled[1].name: Required value\n");
}

TEST(LegacyLoadTest, PluginsThatNobodyHasAreNamedButCanBeWritten) {
  const Loaded loaded = LoadText(Head("v1alpha1") + R"(plugins:
  unreserve:
    enabled: [{name: sample-plugin}]
  score:
    enabled: [{name: sample-score}]
)");
  ASSERT_TRUE(loaded.ok());
  ASSERT_EQ(loaded.unknown.size(), 2U);
  EXPECT_EQ(
      loaded.unknown[0].ToString(),
      "f:7: plugins.score.enabled[0].name: Invalid value: \"sample-score\": ScorePlugin \"sample-score\" does not "
      "exist");
  EXPECT_EQ(loaded.unknown[1].ToString(),
            "f:5: plugins.unreserve.enabled[0].name: Invalid value: \"sample-plugin\": ReservePlugin \"sample-plugin\" "
            "does not exist");
}

TEST(LegacyLoadTest, WhatIsNoConfigurationIsNotCalledAnOldOne) {
  EXPECT_EQ(LoadText("apiVersion: v1\nkind: ConfigMap\ndata: {a: b}\n").Warning("f"), "");
}

TEST(LegacyLoadTest, KeysOfABarePolicyMayBeGos) {
  const Loaded loaded = LoadText(R"({"Predicates":[{"Name":"PodFitsResources"}],"Priorities":[]})");
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(ToString(TodaysSets(loaded.config, InTree())),
            "filter: NodeResourcesFit NodeUnschedulable TaintToleration; score:");
  // Even one that has nothing but extenders; but not what lacks the head of another kind.
  EXPECT_EQ(LoadText(R"({"extenders":[{"urlPrefix":"http://x"}]})").version, Version::kPolicy);
  EXPECT_THAT(Wrong(R"({"extenders":[],"profiles":[]})"), HasSubstr("kind: Required value"));
  EXPECT_EQ(Wrong(R"({"kind":"Policy","apiVersion":"v1","Predicates":[],"priorities":[]})"),
            "f:1: Predicates: unknown field \"Predicates\"\n");
}

TEST(LegacyLoadTest, WhatIsWrittenTwiceIsRefused) {
  EXPECT_THAT(Wrong(R"({"kind":"Policy","apiVersion":"v1","predicates":[],
"predicates":[]})"),
              HasSubstr("f:1: predicates: duplicate field \"predicates\""));
  EXPECT_THAT(Wrong(Head("v1beta1") + "profiles: [{plugins: {score: {enabled: [{name: Mine}, {name: Mine}]}}}]\n"),
              HasSubstr("profiles[0].plugins.score.enabled[1].name: Duplicate value: \"Mine\""));
}

}  // namespace
}  // namespace berth::legacy
