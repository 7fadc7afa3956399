// SPDX-License-Identifier: Apache-2.0
#include "config/feature_gates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "config/feature_gates_table.h"

namespace berth::config {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string ErrorOf(const std::vector<std::string>& values) {
  const Result<FeatureGates> gates = ReadFeatureGates(values);
  return gates.ok() ? "" : gates.error().text();
}

TEST(FeatureGatesTest, TheTableIsSortedAndItsDependenciesAreKnown) {
  const auto all = AllFeatureGates();
  EXPECT_EQ(all.size(), 241u);
  for (size_t i = 1; i < all.size(); ++i) EXPECT_LT(all[i - 1].name, all[i].name);
  const FeatureGates defaults;
  for (const GateDependency& dependency : AllGateDependencies()) {
    // Both are known, or this aborts; and nothing is on by default that what it needs is not.
    EXPECT_TRUE(!defaults.enabled(dependency.gate) || defaults.enabled(dependency.needs)) << dependency.gate;
  }
}

// What a running kube-scheduler v1.36.4 showed: gate, default, stage, locked, effect.
struct Observed {
  bool on = false, locked = false;
  std::string stage, effect;
};
std::map<std::string, Observed> ReadObserved() {
  std::map<std::string, Observed> gates;
  std::ifstream in(BERTH_OBSERVED "/feature-gates.txt");
  std::string line;
  std::getline(in, line);  // the head
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    std::string name, on, stage, locked, effect;
    fields >> name >> on >> stage >> locked >> effect;
    gates[name] = {on == "true", locked == "yes", stage, effect};
  }
  return gates;
}

const char* Name(GateEffect effect) {
  constexpr const char* kNames[] = {"-", "decision", "timing", "writes", "process", "client"};
  return kNames[static_cast<size_t>(effect)];
}

TEST(FeatureGatesTest, EveryGateIsAsARunningKubeSchedulerHasIt) {
  const std::map<std::string, Observed> observed = ReadObserved();
  ASSERT_EQ(observed.size(), 241u);
  ASSERT_EQ(AllFeatureGates().size(), observed.size());
  for (const FeatureGate& gate : AllFeatureGates()) {
    const auto at = observed.find(std::string(gate.name));
    ASSERT_NE(at, observed.end()) << gate.name;
    EXPECT_EQ(gate.on, at->second.on) << gate.name;
    EXPECT_EQ(gate.locked, at->second.locked) << gate.name;
    EXPECT_EQ(StageName(gate.stage), at->second.stage == "GA" ? "" : at->second.stage) << gate.name;
    EXPECT_EQ(Name(gate.effect), at->second.effect) << gate.name;
  }
}

// Each of them alone, at the value that is not its default.
TEST(FeatureGatesTest, NoGateThatChangesSomethingIsIgnored) {
  std::set<std::string_view> ruled;
  for (const GateRule& rule : AllGateRules()) {
    EXPECT_TRUE(ruled.insert(rule.gate).second) << rule.gate;
    EXPECT_EQ(rule.support == GateSupport::kRefused, !rule.upstream.empty()) << rule.gate;
  }
  for (const auto& [name, gate] : ReadObserved()) {
    SCOPED_TRACE(name);
    EXPECT_EQ(ruled.erase(name), gate.effect == "process" || gate.effect == "client" ? 1u : 0u);
    const std::string other = name + (gate.on ? "=false" : "=true");
    const std::vector<std::string> values{other};
    const Result<FeatureGates> read = ReadFeatureGates(values);
    const std::string error = read.ok() ? "" : read.error().text();
    if (gate.locked) {
      EXPECT_THAT(error, HasSubstr("feature is locked to"));
    } else if (error.find("depends on features that are disabled") != std::string::npos) {
      continue;  // kube-scheduler refuses it as well
    } else if (gate.effect == "decision" || gate.effect == "timing" || gate.effect == "writes") {
      EXPECT_THAT(error, HasSubstr("feature gate " + other + " is not supported: kube-scheduler "));
    } else if (gate.effect == "-") {
      EXPECT_EQ(error, "");
      EXPECT_TRUE(read.ok() && read->WithoutEffect().empty());
    }
  }
  EXPECT_TRUE(ruled.empty()) << "rules of gates that are not there";
}

TEST(FeatureGatesTest, GatesOfTheProcessAreHadSaidToHaveNoEffectOrRefused) {
  for (const GateRule& rule : AllGateRules()) {
    if (rule.gate == "AllAlpha" || rule.gate == "AllBeta") continue;
    const FeatureGates defaults;
    const std::vector<std::string> values{std::string(rule.gate) + (defaults.enabled(rule.gate) ? "=0" : "=1"),
                                          // what upstream wants off together with AtomicFIFO
                                          "StaleControllerConsistencyDaemonSet=0,StaleControllerConsistencyJob=0",
                                          "StaleControllerConsistencyReplicaSet=0",
                                          "StaleControllerConsistencyStatefulSet=0"};
    const Result<FeatureGates> read = ReadFeatureGates(values);
    if (rule.gate == "InOrderInformers") {
      EXPECT_FALSE(read.ok()) << "locked";
      continue;
    }
    EXPECT_EQ(read.ok(), rule.support != GateSupport::kRefused) << rule.gate;
    if (!read.ok()) continue;
    EXPECT_EQ(read->enabled(rule.gate), !defaults.enabled(rule.gate));
    std::vector<std::string_view> idle;
    for (const FeatureGate* gate : read->WithoutEffect()) idle.push_back(gate->name);
    EXPECT_EQ(idle.size(), rule.support == GateSupport::kNoEffect ? 1u : 0u) << rule.gate;
  }
}

TEST(FeatureGatesTest, TheMetricNamesEveryGateWithItsStage) {
  const std::vector<std::string> values{"CPUManagerPolicyAlphaOptions=true"};
  const Result<FeatureGates> gates = ReadFeatureGates(values);
  ASSERT_TRUE(gates.ok());
  std::vector<std::string> lines;
  gates->ForEach([&](std::string_view name, std::string_view stage, bool enabled) {
    lines.push_back("kubernetes_feature_enabled{name=\"" + std::string(name) + "\",stage=\"" + std::string(stage) +
                    "\"} " + (enabled ? "1" : "0"));
  });
  EXPECT_EQ(lines.size(), 241u);
  EXPECT_THAT(lines, ::testing::Contains("kubernetes_feature_enabled{name=\"SidecarContainers\",stage=\"\"} 1"));
  EXPECT_THAT(lines, ::testing::Contains(
                         "kubernetes_feature_enabled{name=\"CPUManagerPolicyAlphaOptions\",stage=\"ALPHA\"} 1"));
  EXPECT_THAT(gates->Alphas(), ::testing::ElementsAre("CPUManagerPolicyAlphaOptions"));
}

TEST(FeatureGatesTest, ValuesAreShownAsUpstreamShowsThem) {
  const std::vector<std::string> values{" SchedulerQueueingHints=true , AllAlpha=false", "APIServerIdentity=true"};
  EXPECT_EQ(FeatureGatesText(values), ":SchedulerQueueingHints=true,:AllAlpha=false,:APIServerIdentity=true");
  const std::vector<std::string> prefixed{"kube:AllAlpha=false,kube:APIServerIdentity=true"};
  EXPECT_EQ(FeatureGatesText(prefixed), "kube:AllAlpha=false,kube:APIServerIdentity=true");
  EXPECT_EQ(FeatureGatesText({}), "");
}

TEST(FeatureGatesTest, NothingGivenIsTheDefault) {
  const Result<FeatureGates> gates = ReadFeatureGates({});
  ASSERT_TRUE(gates.ok());
  EXPECT_TRUE(gates->enabled("SchedulerQueueingHints"));
  EXPECT_FALSE(gates->enabled("AllAlpha"));
  EXPECT_TRUE(gates->farewells().empty());
  EXPECT_EQ(ErrorOf({"", ",,"}), "");
}

TEST(FeatureGatesTest, GatesOfOtherComponentsAreTaken) {
  EXPECT_EQ(ErrorOf({" CPUManagerPolicyAlphaOptions = T ,CPUManagerPolicyBetaOptions=0"}), "");
  const std::vector<std::string> prefixed{"kube:CPUManagerPolicyAlphaOptions=true"};
  const Result<FeatureGates> gates = ReadFeatureGates(prefixed);
  ASSERT_TRUE(gates.ok()) << gates.error().text();
  EXPECT_TRUE(gates->enabled("CPUManagerPolicyAlphaOptions"));
}

TEST(FeatureGatesTest, TheLaterOfTwoCounts) {
  const std::vector<std::string> values{"CPUManagerPolicyAlphaOptions=true", "CPUManagerPolicyAlphaOptions=false"};
  const Result<FeatureGates> gates = ReadFeatureGates(values);
  ASSERT_TRUE(gates.ok());
  EXPECT_FALSE(gates->enabled("CPUManagerPolicyAlphaOptions"));
}

TEST(FeatureGatesTest, WhatIsMalformedIsNamedInUpstreamsWords) {
  EXPECT_EQ(ErrorOf({"Nonsense=true"}), "unrecognized feature gate: Nonsense");
  EXPECT_EQ(ErrorOf({"AllAlpha"}), "missing bool value for AllAlpha");
  EXPECT_EQ(ErrorOf({"AllAlpha=maybe"}),
            "invalid value of AllAlpha=maybe, err: strconv.ParseBool: parsing \"maybe\": invalid syntax");
  EXPECT_EQ(ErrorOf({"harbour:X=true"}), "component not registered: harbour");
  EXPECT_EQ(ErrorOf({"kube:AllAlpha=false,AllBeta=false"}),
            "set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use");
}

TEST(FeatureGatesTest, LockedGatesKeepTheirValue) {
  EXPECT_EQ(ErrorOf({"SchedulerQueueingHints=false"}),
            "cannot set feature gate SchedulerQueueingHints to false, feature is locked to true");
  EXPECT_EQ(ErrorOf({"SidecarContainers=false,SchedulerQueueingHints=false"}),
            "[cannot set feature gate SchedulerQueueingHints to false, feature is locked to true, cannot set feature "
            "gate SidecarContainers to false, feature is locked to true]");
  const std::vector<std::string> values{"SchedulerQueueingHints=true"};
  const Result<FeatureGates> gates = ReadFeatureGates(values);
  ASSERT_TRUE(gates.ok());
  ASSERT_EQ(gates->farewells().size(), 1u);
  EXPECT_EQ(gates->farewells()[0].gate->name, "SchedulerQueueingHints");
  EXPECT_TRUE(gates->farewells()[0].value);
}

TEST(FeatureGatesTest, WhatAGateNeedsMustBeOn) {
  EXPECT_EQ(
      ErrorOf({"ProcMountType=true,UserNamespacesSupport=true,ResourceHealthStatusMessage=true,"
               "ResourceHealthStatus=false"}),
      "ResourceHealthStatusMessage is enabled, but depends on features that are disabled: [ResourceHealthStatus]");
}

TEST(FeatureGatesTest, WhatWouldChangeDecisionsIsRefusedByName) {
  EXPECT_EQ(ErrorOf({"NodeInclusionPolicyInPodTopologySpread=true,SchedulerPopFromBackoffQ=false"}),
            "feature gate SchedulerPopFromBackoffQ=false is not supported: kube-scheduler decides at other times with "
            "it, and Berth does not");
  EXPECT_THAT(ErrorOf({"SchedulerAsyncAPICalls=true"}), HasSubstr("writes otherwise"));
  EXPECT_THAT(ErrorOf({"GenericWorkload=true"}), HasSubstr("decides otherwise"));
}

TEST(FeatureGatesTest, AllAlphaAndAllBetaCountAsEveryGateTheySwitch) {
  EXPECT_THAT(ErrorOf({"AllAlpha=true"}),
              AllOf(HasSubstr("feature gate GangScheduling=true (switched by AllAlpha) is not supported"),
                    Not(HasSubstr("CPUManagerPolicyAlphaOptions"))));
  EXPECT_THAT(ErrorOf({"AllBeta=true"}),
              HasSubstr("feature gate SchedulerAsyncAPICalls=true (switched by AllBeta) is not supported"));
  // What is said of a gate itself counts more than what is said of all.
  EXPECT_EQ(ErrorOf({"AllAlpha=false"}), "");
}

}  // namespace
}  // namespace berth::config
