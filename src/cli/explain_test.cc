// SPDX-License-Identifier: Apache-2.0
// `berth explain --offline`: exit codes, complaints, the table for people and the JSON for tools.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "api/json_value.h"
#include "cli/explain_command.h"
#include "plugins/builtin.h"

namespace berth::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kCluster[] = R"(
apiVersion: v1
kind: Node
metadata: {name: a}
status: {allocatable: {cpu: "8", memory: 16Gi, pods: "110"}}
---
apiVersion: v1
kind: Node
metadata: {name: b}
status: {allocatable: {cpu: "2", memory: 16Gi, pods: "110"}}
---
apiVersion: v1
kind: Node
metadata: {name: c}
spec: {taints: [{key: gpu, effect: NoSchedule}]}
status: {allocatable: {cpu: "8", memory: 16Gi, pods: "110"}}
---
apiVersion: v1
kind: Node
metadata: {name: d}
spec: {taints: [{key: gpu, effect: NoSchedule}]}
status: {allocatable: {cpu: "8", memory: 16Gi, pods: "110"}}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: whale, namespace: ml}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "64"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: held}
spec: {schedulingGates: [{name: example.com/quota}], containers: [{name: c, image: i}]}
---
apiVersion: v1
kind: Pod
metadata: {name: foreign}
spec: {schedulerName: other, containers: [{name: c, image: i}]}
)";

class ExplainTest : public ::testing::Test {
 protected:
  void SetUp() override {
    plugins::RegisterBuiltinPlugins(registry_);
    directory_ = (std::filesystem::temp_directory_path() / "berth-explain-XXXXXX").string();
    ASSERT_NE(mkdtemp(directory_.data()), nullptr);
    cluster_ = File("cluster.yaml", kCluster);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string File(const std::string& name, const std::string& text) {
    std::ofstream(directory_ + "/" + name) << text;
    return directory_ + "/" + name;
  }
  int Run(const std::vector<std::string>& args) {
    out_.str("");
    err_.str("");
    return ExplainCommand(args, registry_, out_, err_);
  }
  int Explain(const std::string& pod, const std::vector<std::string>& more = {}) {
    std::vector<std::string> args = {"--offline", "-f", cluster_, "--pod", pod};
    args.insert(args.end(), more.begin(), more.end());
    return Run(args);
  }

  Registry registry_;
  std::string directory_, cluster_;
  std::ostringstream out_, err_;
};

TEST_F(ExplainTest, TheTableSaysWhoWinsByHowMuchAndWhichTermDecided) {
  ASSERT_EQ(Explain("web"), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("Pod default/web (profile default-scheduler)\n"
                                    "Goes to a: 2 of 4 nodes fit. Ahead of b by "));
  EXPECT_THAT(out_.str(), HasSubstr("; NodeResourcesFit decided (+"));
  EXPECT_THAT(out_.str(), HasSubstr("NODE  TOTAL"));
  EXPECT_THAT(err_.str(), IsEmpty());
}

TEST_F(ExplainTest, TheTableGroupsRefusalsByPluginAndReason) {
  ASSERT_EQ(Explain("ml/whale"), 0) << "not fitting is an answer too";
  EXPECT_THAT(out_.str(), HasSubstr("Pending: 0/4 nodes are available: 2 Insufficient cpu, 2 node(s) had untolerated "
                                    "taint(s)."));
  EXPECT_THAT(out_.str(), ::testing::ContainsRegex("2 +NodeResourcesFit +Insufficient cpu +[a-z ]+  a, b\n"));
  EXPECT_THAT(out_.str(), ::testing::ContainsRegex("2 +TaintToleration +node.s. had untolerated taint.s. +evicting "
                                                   "pods cannot help +c, d\n"));
}

TEST_F(ExplainTest, AGatedPodIsRefusedAsAWhole) {
  ASSERT_EQ(Explain("held"), 0);
  EXPECT_THAT(out_.str(), HasSubstr("Refused as a whole by SchedulingGates: waiting for scheduling gates: "
                                    "[example.com/quota]\n"));
}

TEST_F(ExplainTest, TheJsonIsTheContractsDocument) {
  ASSERT_EQ(Explain("default/web", {"-o", "json"}), 0);
  std::vector<FieldError> errors;
  const Value document = ParseJson(out_.str(), errors);
  ASSERT_TRUE(errors.empty()) << errors.front().ToString();
  EXPECT_EQ(document.Find("apiVersion")->text(), "berth.dev/v1alpha1");
  EXPECT_EQ(document.Find("kind")->text(), "Explanation");
  EXPECT_EQ(document.Find("pod")->text(), "default/web");
  EXPECT_TRUE(document.Find("preFilter")->is_null());
  EXPECT_TRUE(document.Find("preemption")->is_null());
  EXPECT_EQ(document.Find("message")->text(), "");
  EXPECT_EQ(document.Find("winners")->ToJson(), R"(["a"])");
  const std::vector<Value>& nodes = document.Find("nodes")->items();
  ASSERT_EQ(nodes.size(), 4u);
  EXPECT_EQ(nodes[0].Find("name")->text(), "a");
  EXPECT_TRUE(nodes[0].Find("feasible")->bool_value());
  EXPECT_NE(nodes[0].Find("scores")->Find("ImageLocality"), nullptr);
  EXPECT_EQ(nodes[2].ToJson(), R"json({"name":"c","feasible":false,"plugin":"TaintToleration",)json"
                               R"json("code":"UnschedulableAndUnresolvable",)json"
                               R"json("reasons":["node(s) had untolerated taint(s)"]})json");
}

TEST_F(ExplainTest, TheSameQuestionGetsTheSameBytes) {
  ASSERT_EQ(Explain("web", {"-ojson"}), 0);
  const std::string first = out_.str();
  ASSERT_EQ(Explain("web", {"-ojson"}), 0);
  EXPECT_EQ(out_.str(), first);
}

TEST_F(ExplainTest, APodThatIsNotInTheFilesIsBadInput) {
  EXPECT_EQ(Explain("shop/web"), 2);
  EXPECT_EQ(err_.str(), "--pod: \"shop/web\" is not in the files\n");
  EXPECT_THAT(out_.str(), IsEmpty());
}

TEST_F(ExplainTest, ASchedulerNameWithoutProfileIsJudgedByTheDefaultOneUnlessAConfigurationIsGiven) {
  EXPECT_EQ(Explain("foreign"), 0);
  EXPECT_THAT(out_.str(), HasSubstr("(profile default-scheduler)"));
  const std::string config =
      File("config.yaml", "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n");
  EXPECT_EQ(Explain("foreign", {"--config", config}), 2);
  EXPECT_EQ(err_.str(), config + ": no profile has the schedulerName \"other\" of pod default/foreign\n");
  EXPECT_EQ(Explain("web", {"--config", config}), 0);
}

TEST_F(ExplainTest, AConfigurationChangesWhoIsAsked) {
  const std::string config = File("config.yaml",
                                  "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
                                  "profiles: [{plugins: {filter: {disabled: [{name: TaintToleration}]}}}]\n");
  ASSERT_EQ(Explain("web", {"--config=" + config}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("4 of 4 nodes fit"));
}

TEST_F(ExplainTest, AllErrorsOfAllFilesAndTheConfigurationAreListed) {
  const std::string bad1 = File("bad1.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {containers: 7}\n");
  const std::string bad2 =
      File("bad2.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: y1}\nstatus: {allocatable: {cpu: lots}}\n");
  const std::string config = File("bad3.yaml",
                                  "apiVersion: kubescheduler.config.k8s.io/v1\n"
                                  "kind: KubeSchedulerConfiguration\nparallelism: -1\nnonsense: 1\n");
  const std::string none = directory_ + "/none.yaml";
  EXPECT_EQ(Run({"--offline", "-f", bad1, "-f", bad2, "-f", none, "--pod", "x", "--config", config}), 2);
  for (const char* text : {"bad1.yaml: Pod \"default/x\": spec.containers",
                           "bad2.yaml: Node \"y1\": status.allocatable[cpu]", "none.yaml", "bad3.yaml:4: ", "nonsense"})
    EXPECT_THAT(err_.str(), HasSubstr(text));
  EXPECT_THAT(out_.str(), IsEmpty());
}

TEST_F(ExplainTest, TwoPodsOfOneUidAreBadInput) {
  const std::string twins = File("twins.yaml",
                                 "apiVersion: v1\nkind: Pod\nmetadata: {name: t1, uid: u}\n"
                                 "spec: {containers: [{name: c, image: i}]}\n---\n"
                                 "apiVersion: v1\nkind: Pod\nmetadata: {name: t2, uid: u}\n"
                                 "spec: {containers: [{name: c, image: i}]}\n");
  EXPECT_EQ(Run({"--offline", "-f", twins, "--pod", "t1"}), 2);
  EXPECT_EQ(err_.str(),
            "Pod \"default/t2\": metadata.uid: Duplicate value: \"u\", which is also the uid of default/t1\n");
}

TEST_F(ExplainTest, KindsThatAreNotReadAreWarnedAboutAndPassedOver) {
  const std::string map = File("map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n");
  EXPECT_EQ(Explain("web", {"-f", map}), 0);
  EXPECT_THAT(err_.str(), HasSubstr("warning: "));
  EXPECT_THAT(err_.str(), HasSubstr("ConfigMap"));
}

TEST_F(ExplainTest, WrongUseIsExplainedWithTheUsage) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{}, "only --offline is there yet"},
      {{"--offline", "--pod", "x"}, "no files: -f is required"},
      {{"--offline", "-f", cluster_}, "--pod is required"},
      {{"--offline", "-f", cluster_, "--pod", "x", "more"}, "unexpected argument \"more\""},
      {{"--nonsense"}, "unknown flag: --nonsense"},
      {{"--offline", "-o", "xml"}, "flag -o: must be one of table, json, got \"xml\""},
      {{"--pod"}, "flag needs an argument: --pod"}};
  for (const auto& [args, complaint] : cases) {
    EXPECT_EQ(Run(args), 2);
    EXPECT_THAT(err_.str(), HasSubstr("berth explain: " + complaint + "\n\nusage: berth explain"));
    EXPECT_THAT(out_.str(), IsEmpty());
  }
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("usage: berth explain"));
}

}  // namespace
}  // namespace berth::cli
