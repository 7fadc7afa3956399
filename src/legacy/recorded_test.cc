// SPDX-License-Identifier: Apache-2.0
// What older releases made of older configurations, held against what becomes of them here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "api/json_value.h"
#include "legacy/load.h"
#include "legacy/sets_test_util.h"
#include "plugins/builtin.h"

namespace berth::legacy {
namespace {

using ::testing::HasSubstr;

const Registry& Builtin() {
  static const Registry registry = [] {
    Registry made;
    plugins::RegisterBuiltinPlugins(made);
    return made;
  }();
  return registry;
}

std::string Observed(const std::string& name) {
  std::ifstream in(std::string(BERTH_OBSERVED "/legacy/") + name);
  std::ostringstream text;
  text << in.rdbuf();
  EXPECT_NE(text.str(), "") << name;
  return text.str();
}

std::vector<Value> Lines(const std::string& name) {
  std::vector<Value> lines;
  std::istringstream in(Observed(name));
  for (std::string line; std::getline(in, line);) {
    std::vector<FieldError> errors;
    lines.push_back(ParseJson(line, errors));
    EXPECT_TRUE(errors.empty());
  }
  return lines;
}

std::string Field(const Value& object, const char* name) {
  const Value* value = object.Find(name);
  return value == nullptr ? "" : value->text();
}

LoadOptions WithPolicyFile() {
  LoadOptions options;
  options.policy = [](const PolicyReference& reference) -> Result<PolicyText> {
    return PolicyText{reference.file.empty() ? reference.name : reference.file,
                      R"({"kind":"Policy","apiVersion":"v1","predicates":[],"priorities":[]})"};
  };
  return options;
}

std::string AllProblems(const Loaded& loaded) {
  std::string text;
  for (const Problem& problem : loaded.problems) text += problem.ToString() + "\n";
  return text;
}

// What is written as v1 must load, mean the same, and need no more conversion.
void ExpectRoundTrip(const Loaded& loaded, const std::string& name) {
  const std::string file = CommentedFile(loaded, "old.yaml");
  const Loaded again = Load(file, "new.yaml", Builtin());
  EXPECT_TRUE(again.ok()) << name << "\n" << AllProblems(again) << file;
  EXPECT_EQ(again.version, Version::kV1);
  EXPECT_EQ(config::ToValue(again.config, Builtin()).ToJson(), config::ToValue(loaded.config, Builtin()).ToJson())
      << name;
}

void ExpectSets(const Loaded& loaded, const ReleasePoints& then, const std::string& name) {
  const Expected expected = ExpectedToday(then);
  if (expected.refused) {
    EXPECT_FALSE(loaded.ok()) << name;
    return;
  }
  ASSERT_TRUE(loaded.ok()) << name << "\n" << AllProblems(loaded);
  EXPECT_EQ(ToString(TodaysSets(loaded.config, Builtin())), ToString(expected.sets)) << name;
  ExpectRoundTrip(loaded, name);
}

TEST(RecordedTest, OddPoliciesMeanWhatTheReleasesMadeOfThem) {
  int compared = 0;
  for (const Value& line : Lines("policy-cases.jsonl")) {
    const std::string name = Field(line, "case"), release = Field(line, "v1.22.17"), before = Field(line, "v1.18.20");
    std::string input = Field(line, "input");
    for (size_t at = 0; (at = input.find("\\n", at)) != std::string::npos;) input.replace(at, 2, "\n");
    const Loaded loaded = Load(input, name, Builtin());
    EXPECT_TRUE(loaded.version == Version::kPolicy) << name;
    ++compared;
    if (release.starts_with("ok. ")) {
      ExpectSets(loaded, ParsePoints(release.substr(4, release.find(" | ") - 4)), name);
    } else if (name == "q2-csa-arg") {
      EXPECT_THAT(AllProblems(loaded), HasSubstr("podAffinity")) << name;
    } else if (IsAcceptedToday(release)) {
      EXPECT_TRUE(loaded.ok()) << name << "\n" << AllProblems(loaded);
    } else {
      EXPECT_FALSE(loaded.ok()) << name << ": " << release;
    }
  }
  EXPECT_EQ(compared, 39);
}

TEST(RecordedTest, RefusedPoliciesAreRefusedInTheReleasesWordsWithLineAndPath) {
  const struct {
    const char* text;
    const char* want;
  } cases[] = {
      {R"({"kind":"Policy","apiVersion":"v1","predicates":[],
"priorities":[{"name":"NoSuchPriority","weight":1}]})",
       "p:2: priorities[0].name: Invalid value: \"NoSuchPriority\": priority type not found for \"NoSuchPriority\"\n"},
      {R"({"kind":"Policy","apiVersion":"v1","predicates":[{"name":"Nope"},
{"name":"LeastRequestedPriority"}]})",
       "p:1: predicates[0].name: Invalid value: \"Nope\": predicate type not found for \"Nope\"\n"
       "p:2: predicates[1].name: Invalid value: \"LeastRequestedPriority\": predicate type not found for "
       "\"LeastRequestedPriority\"; it is a priority\n"},
      {"kind: Policy\napiVersion: v1\npriorities:\n- name: LeastRequestedPriority\n- name: EqualPriority\n  weight: "
       "-3\n"
       "- name: ImageLocalityPriority\n  weight: 3000000000\n",
       "p:4: priorities[0].weight: Invalid value: 0: priority LeastRequestedPriority should have a positive weight "
       "applied "
       "to it or it has overflown\n"
       "p:6: priorities[1].weight: Invalid value: -3: priority EqualPriority should have a positive weight applied to "
       "it "
       "or it has overflown\n"
       "p:8: priorities[2].weight: Invalid value: 3000000000: must fit in 32 bits\n"},
      {"kind: Policy\napiVersion: v1\npredicates:\n- name: PodFitsResources\n  argument:\n    labelsPresence:\n"
       "      labels: [a]\n",
       "p:5: predicates[0].argument: Invalid value: \"PodFitsResources\": this predicate takes no argument; "
       "labelsPresence and serviceAffinity need a name of their own\n"},
      {R"({"kind":"Policy","apiVersion":"v1","predicates":[{"name":"z","argument":{}}],"priorities":[],
"hardPodAffinitySymmetricWeight":101, "prioritys":[]})",
       "p:1: predicates[0].argument: Invalid value: \"z\": exactly 1 predicate argument is required, numArgs: 0\n"
       "p:2: hardPodAffinitySymmetricWeight: Invalid value: 101: not in valid range [0-100]\n"
       "p:2: prioritys: unknown field \"prioritys\"\n"},
      {R"({"kind":"Policy","apiVersion":"v1","priorities":[{"name":"x","weight":2,"argument":{"labelPreference":
{"label":"a","presence":true}}},{"name":"y","weight":3,"argument":{"labelPreference":{"label":"b"}}}]})",
       "p:2: priorities[1].weight: Invalid value: 3: LabelPreference  priority \"y\" has a different weight with "
       "\"x\"\n"},
      {R"({"kind":"Policy","apiVersion":"v1","predicates":[],"priorities":[{"name":"LeastRequestedPriority","weight":1},
{"name":"MostRequestedPriority","weight":1}]})",
       "p:2: priorities[1].name: Invalid value: \"MostRequestedPriority\": LeastRequestedPriority and "
       "MostRequestedPriority score together, which a profile cannot do any more: NodeResourcesFit has one "
       "scoringStrategy; leave all but one out\n"},
      {R"({"kind":"Policy","apiVersion":"v1","extenders":[{"urlPrefix":"http://x","bindVerb":"b"},
{"urlPrefix":"http://y","bindVerb":"b","prioritizeVerb":"p"}]})",
       "p:1: extenders: Invalid value: \"found 2 extenders implementing bind\": only one extender can implement "
       "bind\n"
       "p:2: extenders[1].weight: Invalid value: 0: must have a positive weight applied to it\n"},
  };
  for (const auto& c : cases) EXPECT_EQ(AllProblems(Load(c.text, "p", Builtin())), c.want) << c.text;
}

TEST(RecordedTest, EveryPredicateAndPriorityIsMapped) {
  int compared = 0;
  for (const Value& line : Lines("predicates-priorities.jsonl")) {
    const bool predicate = Field(line, "kind") == "predicate";
    const std::string name = Field(line, "name"), release = Field(line, "v1.22.17");
    EXPECT_NE(FindRow(predicate ? RowKind::kPredicate : RowKind::kPriority, name), nullptr) << name;
    const std::string text =
        predicate ? R"({"kind":"Policy","apiVersion":"v1","priorities":[],"predicates":[{"name":")" + name + "\"}]}"
                  : R"({"kind":"Policy","apiVersion":"v1","predicates":[],"priorities":[{"name":")" + name +
                        "\",\"weight\":7}]}";
    const Loaded loaded = Load(text, name, Builtin());
    ++compared;
    if (release.starts_with("NEW ERROR")) {
      const bool accepted = name.starts_with("CheckNode") && name != "CheckNodeLabelPresence";
      EXPECT_EQ(loaded.ok(), accepted) << name << "\n" << AllProblems(loaded);
      continue;
    }
    ReleasePoints points = ParsePoints(release);
    if (release.starts_with("(")) points.clear();
    for (const char* always : {"NodeUnschedulable", "TaintToleration"}) points["Filter"].push_back(always);
    ExpectSets(loaded, points, name);
  }
  EXPECT_EQ(compared, 39);
}

struct ConfigCase {
  std::string name, text;
  std::map<std::string, std::string> results;  // by release
};

std::vector<ConfigCase> ConfigCases() {
  std::vector<ConfigCase> cases;
  std::istringstream in(Observed("config-cases.txt"));
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("## ")) {
      cases.push_back({line.substr(3), "", {}});
    } else if (line.starts_with("    ")) {
      cases.back().text += line.substr(4) + "\n";
    } else if (line.starts_with("v1.")) {
      cases.back().results[line.substr(0, line.find(':'))] = line.substr(line.find(": ") + 2);
    }
  }
  return cases;
}

std::map<std::string, ReleasePoints> DefaultLists() {
  std::map<std::string, ReleasePoints> lists;
  std::istringstream in(Observed("defaults.txt"));
  std::string version, text;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("v1.")) {
      version = line.substr(0, line.find(' ', line.find(", ") + 2));
      while (version.back() == ':' || version.back() == ',') version.pop_back();
    } else if (line.starts_with("  ") && line.find(':') != std::string::npos) {
      for (const auto& [point, names] : ParsePoints(line)) lists[version][point] = names;
    }
  }
  return lists;
}

TEST(RecordedTest, EmptyConfigurationsHaveTheirVersionsDefaultPlugins) {
  const auto lists = DefaultLists();
  const struct {
    const char* version;
    const char* recorded;
  } cases[] = {{"v1alpha1", "v1.18.20, v1alpha1"},
               {"v1alpha2", "v1.18.20, v1alpha1"},
               {"v1beta1", "v1.22.17, v1beta1"},
               {"v1beta2", "v1.27.16, v1beta2"},
               {"v1beta2", "v1.22.17, v1beta2"}};
  for (const auto& c : cases) {
    ASSERT_TRUE(lists.contains(c.recorded)) << c.recorded;
    const Loaded loaded = Load(
        "apiVersion: kubescheduler.config.k8s.io/" + std::string(c.version) + "\nkind: KubeSchedulerConfiguration\n",
        c.version, Builtin());
    ExpectSets(loaded, lists.at(c.recorded), c.version);
  }
  const Loaded beta3 =
      Load("apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n", "b", Builtin());
  ASSERT_TRUE(beta3.ok());
  EXPECT_EQ(ToString(TodaysSets(beta3.config, Builtin())),
            ToString(TodaysSets(config::DefaultConfiguration(Builtin()), Builtin())));
  const Loaded component =
      Load("apiVersion: componentconfig/v1alpha1\nkind: KubeSchedulerConfiguration\n", "c", Builtin());
  ExpectSets(component, lists.at("v1.18.20, v1alpha1"), "componentconfig");
}

TEST(RecordedTest, OddConfigurationsMeanWhatTheReleasesMadeOfThem) {
  // Read then, and refused here, as the table says.
  const std::set<std::string> refused = {"caa-alpha1-both", "cd2-beta2-removed", "ca5-alpha1-points"};
  const auto lists = DefaultLists();
  const std::vector<ConfigCase> cases = ConfigCases();
  EXPECT_EQ(cases.size(), 31u);
  for (const ConfigCase& c : cases) {
    const Loaded loaded = Load(c.text, c.name, Builtin(), WithPolicyFile());
    if (refused.contains(c.name)) {
      EXPECT_FALSE(loaded.ok()) << c.name;
      continue;
    }
    bool ok = false, accepted = false;
    for (const auto& [release, result] : c.results) {
      const size_t at = result.find("ok. ");
      if (at != std::string::npos) ExpectSets(loaded, ParsePoints(result.substr(at + 4)), c.name);
      if (result.find("exactly the default lists") != std::string::npos) {
        const std::string version = std::string(ToString(loaded.version)).substr(28);
        const std::string key = release + ", " + (version == "v1alpha2" ? "v1alpha1" : version);
        ASSERT_TRUE(lists.contains(key)) << key;
        ExpectSets(loaded, lists.at(key), c.name);
      }
      const bool fine = result.find("ok") == 0 || result.find("; ok") != std::string::npos ||
                        result.starts_with("decodes and validates");
      ok |= fine;
      accepted |= !fine && IsAcceptedToday(result);
    }
    EXPECT_EQ(loaded.ok(), ok || accepted) << c.name << "\n" << AllProblems(loaded);
  }
}

TEST(RecordedTest, RefusedConfigurationsSayWhere) {
  const auto all = [](const std::string& name) {
    for (const ConfigCase& c : ConfigCases())
      if (c.name == name) return AllProblems(Load(c.text, "f", Builtin(), WithPolicyFile()));
    return std::string("no case " + name);
  };
  EXPECT_THAT(
      all("ca4-alpha1-lock-mismatch"),
      HasSubstr("f:3: leaderElection.lockObjectName: Invalid value: \"a\": ResourceName and LockObjectName are both "
                "set and do not match, ResourceName: b, LockObjectName: a"));
  EXPECT_THAT(all("ca9-alpha1-badprov"), HasSubstr("f:3: algorithmSource.provider: Invalid value: \"Nope\": algorithm "
                                                   "provider \"Nope\" is not registered"));
  EXPECT_THAT(all("caa-alpha1-both"), HasSubstr("f:3: algorithmSource: provider and policy are both given"));
  EXPECT_THAT(all("cab-alpha1-policy-plugins"),
              HasSubstr("f:4: plugins: using Plugins and Policy simultaneously is not supported"));
  EXPECT_THAT(all("cac-alpha1-policy-hard"),
              HasSubstr("f:4: hardPodAffinitySymmetricWeight: using PluginConfig and Policy"));
  EXPECT_EQ(
      all("cb2-alpha2-unknown"),
      "f:3: schedulerName: unknown field \"schedulerName\" (a field of v1alpha1; it belongs into profiles[0] since "
      "v1alpha2)\n");
  EXPECT_THAT(all("cb3-alpha2-lock"),
              HasSubstr("f:3: leaderElection.lockObjectName: unknown field \"lockObjectName\""));
  EXPECT_THAT(all("cb4-alpha2-postfilter"),
              HasSubstr("f:3: profiles[0].plugins.postFilter: unknown field \"postFilter\""));
  EXPECT_THAT(all("cc5-beta1-fitscore"), HasSubstr("was conflict with [\"NodeResourcesLeastAllocated\"]"));
  EXPECT_THAT(all("cd2-beta2-removed"), HasSubstr("\"NodeResourcesMostAllocated\": was removed in version"));
  EXPECT_THAT(all("ce2-beta3-addr"), HasSubstr("f:3: healthzBindAddress: unknown field"));
}

// The part of a recorded page between two headings.
std::string Between(const std::string& text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  const size_t end = to.empty() ? std::string::npos : text.find(to, at);
  return text.substr(at + from.size(), end == std::string::npos ? std::string::npos : end - at - from.size());
}

TEST(RecordedTest, TheDocumentsPoliciesBecomeTheRecordedV1) {
  constexpr char kS0Config[] = R"(apiVersion: kubescheduler.config.k8s.io/v1alpha1
kind: KubeSchedulerConfiguration
schedulerName: my-scheduler
algorithmSource:
  policy:
    configMap:
      namespace: kube-system
      name: my-scheduler-policy
leaderElection:
  leaderElect: true
  lockObjectName: my-scheduler
  lockObjectNamespace: kube-system
)";
  constexpr char kS0Policy[] = R"({
    "kind" : "Policy",
    "apiVersion" : "v1",
    "predicates" : [
      {"name" : "PodFitsHostPorts"},
      {"name" : "PodFitsResources"},
      {"name" : "NoDiskConflict"},
      {"name" : "MatchNodeSelector"},
      {"name" : "HostName"}
    ],
    "priorities" : [
      {"name" : "LeastRequestedPriority", "weight" : 1},
      {"name" : "BalancedResourceAllocation", "weight" : 1},
      {"name" : "ServiceSpreadingPriority", "weight" : 1},
      {"name" : "EqualPriority", "weight" : 1}
    ],
    "extenders" : [{
      "urlPrefix": "http://localhost/scheduler",
      "filterVerb": "predicates/TruePredicate",
      "prioritizeVerb": "priorities/ZeroPriority",
      "preemptVerb": "preemption",
      "bindVerb": "",
      "weight": 1,
      "enableHttps": false,
      "nodeCacheCapable": false
    }],
    "hardPodAffinitySymmetricWeight" : 10
})";
  constexpr char kS3[] =
      R"({"predicates": [{"name": "HostName"}, {"name": "MatchNodeSelector"}, {"name": "PodFitsResources"}],
  "priorities": [{"name": "LeastRequestedPriority", "weight": 1}],
  "extenders": [{"urlPrefix": "http://127.0.0.1:12345/api/scheduler", "filterVerb": "filter", "enableHttps": false}]})";
  LoadOptions options;
  options.policy = [&](const PolicyReference& reference) -> Result<PolicyText> {
    EXPECT_EQ(reference.name_space + "/" + reference.name, "kube-system/my-scheduler-policy");
    return PolicyText{"the ConfigMap", kS0Policy};
  };
  const Loaded s0 = Load(kS0Config, "s0", Builtin(), options), s3 = Load(kS3, "s3", Builtin());
  ASSERT_TRUE(s0.ok()) << AllProblems(s0);
  ASSERT_TRUE(s3.ok()) << AllProblems(s3);
  for (const auto& [loaded, page] : {std::pair{&s0, "s0.txt"}, std::pair{&s3, "s3.txt"}}) {
    const std::string text = Observed(page);
    const std::string recorded = text.substr(text.rfind("apiVersion: kubescheduler.config.k8s.io/v1\n"));
    const Loaded equal = Load(recorded, page, Builtin());
    ASSERT_TRUE(equal.ok()) << AllProblems(equal);
    EXPECT_EQ(config::ToValue(loaded->config, Builtin()).ToJson(2), config::ToValue(equal.config, Builtin()).ToJson(2))
        << page;
    const std::string expansion = Between(text, "  rc 0\n", "\n\n");
    ReleasePoints points;
    std::istringstream lines(expansion);
    for (std::string line; std::getline(lines, line);)
      for (const auto& [point, names] : ParsePoints(line)) points[point] = names;
    ExpectSets(*loaded, points, page);
  }
  std::string said;
  for (const Change& change : s0.changes) said += change.ToString() + "\n";
  EXPECT_THAT(said,
              HasSubstr("the ConfigMap:27: hardPodAffinitySymmetricWeight: without InterPodAffinityPriority it had "
                        "no effect, and has none\n"));
  EXPECT_THAT(said, HasSubstr("the ConfigMap:15: priorities[3]: EqualPriority: "));
  EXPECT_THAT(said, HasSubstr("s0:9: leaderElection: the lock. "));
}

TEST(RecordedTest, TheDocumentsPluginConfigurationBecomesTheRecordedV1WithItsOldWeights) {
  constexpr char kS1[] = R"(apiVersion: kubescheduler.config.k8s.io/v1alpha1
kind: KubeSchedulerConfiguration
schedulerName: sample-scheduler
leaderElection:
  leaderElect: true
  lockObjectName: sample-scheduler
  lockObjectNamespace: kube-system
plugins:
  preFilter: {enabled: [{name: sample-plugin}]}
  filter: {enabled: [{name: sample-plugin}]}
  preBind: {enabled: [{name: sample-plugin}]}
pluginConfig:
- name: sample-plugin
  args: {favorite_color: "#326CE5", favorite_number: 7, thanks_to: tanjunchen}
)";
  const Loaded s1 = Load(kS1, "s1", Builtin());
  ASSERT_TRUE(s1.ok()) << AllProblems(s1);
  const std::string text = Observed("s1.txt");
  std::string recorded = text.substr(text.rfind("apiVersion: kubescheduler.config.k8s.io/v1\n"));
  const std::string plugins = "  plugins:\n";
  recorded.insert(
      recorded.find(plugins) + plugins.size(),
      "    multiPoint: {enabled: [{name: TaintToleration, weight: 1}, {name: NodeAffinity, weight: 1}, {name: "
      "PodTopologySpread, weight: 1}, {name: InterPodAffinity, weight: 1}]}\n");
  const Loaded equal = Load(recorded, "s1.txt", Builtin());
  ASSERT_TRUE(equal.ok()) << AllProblems(equal);
  EXPECT_EQ(config::ToValue(s1.config, Builtin()).ToJson(2), config::ToValue(equal.config, Builtin()).ToJson(2));
}

TEST(RecordedTest, TheDocumentsOfTodayNeedNoConversion) {
  for (const char* body : {"profiles:\n  - schedulerName: i-scheduler-extender\nleaderElection:\n  leaderElect: false\n"
                           "extenders:\n- urlPrefix: \"http://localhost:8080\"\n  enableHTTPS: false\n  filterVerb: "
                           "\"filter_onlyone\"\n  prioritizeVerb: \"prioritize\"\n  bindVerb: \"bind\"\n  weight: 1\n"
                           "  nodeCacheCapable: false\n",
                           "profiles:\n  - schedulerName: my-scheduler\nleaderElection:\n  leaderElect: false\n"}) {
    const Loaded loaded =
        Load(std::string("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n") + body, "f",
             Builtin());
    EXPECT_TRUE(loaded.ok()) << AllProblems(loaded);
    EXPECT_EQ(loaded.version, Version::kV1);
    EXPECT_TRUE(loaded.changes.empty());
  }
}

}  // namespace
}  // namespace berth::legacy
