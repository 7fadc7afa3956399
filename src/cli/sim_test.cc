// SPDX-License-Identifier: Apache-2.0
// `berth sim` as a user meets it: flags, the three outputs, exit codes, and that two runs give the same bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/sim_command.h"
#include "plugins/builtin.h"

namespace berth::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string NodeText(const std::string& name, int cpu) {
  return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name + "}\nstatus: {allocatable: {cpu: \"" +
         std::to_string(cpu) + "\", memory: 16Gi, pods: \"110\"}}\n";
}
std::string PodText(const std::string& name, const std::string& cpu, const std::string& spec = "") {
  return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + "}\nspec: {" + spec +
         "containers: [{name: c, image: i, resources: {requests: {cpu: \"" + cpu + "\"}}}]}\n";
}

class SimTest : public ::testing::Test {
 protected:
  void SetUp() override {
    plugins::RegisterBuiltinPlugins(registry_);
    directory_ = (std::filesystem::temp_directory_path() / "berth-sim-XXXXXX").string();
    ASSERT_NE(mkdtemp(directory_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string File(const std::string& text, const std::string& name = "objects.yaml") {
    std::ofstream(directory_ + "/" + name) << text;
    return directory_ + "/" + name;
  }
  std::string ScenarioFile(const std::string& text, const std::string& name = "story.yaml") {
    return File("apiVersion: berth.dev/v1alpha1\nkind: Scenario\nfiles: [objects.yaml]\n" + text, name);
  }
  std::string ConfigFile(const std::string& name, const std::string& strategy) {
    return File(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
        "- pluginConfig:\n  - name: NodeResourcesFit\n    args: {scoringStrategy: {type: " +
            strategy + "}}\n",
        name);
  }
  int Run(const std::vector<std::string>& args) {
    out_.str("");
    err_.str("");
    return SimCommand(args, registry_, out_, err_);
  }
  Registry registry_;
  std::string directory_;
  std::ostringstream out_, err_;
};

TEST_F(SimTest, TheTableSaysWhereEachPodWentAndWhy) {
  const std::string file = File(NodeText("a", 8) + NodeText("b", 2) + PodText("p1", "1") + PodText("p2", "4") +
                                PodText("p3", "64") + PodText("p4", "1", "schedulerName: other, "));
  ASSERT_EQ(Run({"-f", file}), 0) << err_.str();
  EXPECT_THAT(out_.str(), ContainsRegex("default/p1 +a +[0-9]+ +best of 2, ahead of b by [0-9]+ "
                                        ".NodeResourcesFit .[0-9]+.\n"));
  EXPECT_THAT(out_.str(), ContainsRegex("default/p2 +a +- +the only node that fits\n"));
  EXPECT_THAT(out_.str(), ContainsRegex("default/p3 +<pending> +- +0/2 nodes are available: 2 Insuff"));
  EXPECT_THAT(out_.str(), ContainsRegex("default/p4 +<pending> +- +belongs to another scheduler: \"other\"\n"));
  EXPECT_THAT(out_.str(), HasSubstr("2 placed, 2 pending, on 2 nodes that already held 0 pods\n"));
}

TEST_F(SimTest, TheTableSaysWhoWasEvicted) {
  const std::string file =
      File(NodeText("a", 2) + PodText("low", "2", "nodeName: a, ") + PodText("high", "2", "priority: 10, "));
  ASSERT_EQ(Run({"-f", file}), 0) << err_.str();
  EXPECT_THAT(out_.str(), ContainsRegex("default/low +<evicted> +- +preempted by default/high at "));
  EXPECT_THAT(out_.str(), ContainsRegex("default/high +a "));
}

TEST_F(SimTest, TheTableLeavesLongListsToTheJson) {
  ASSERT_EQ(Run({"--nodes", "20", "--pods", "300"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("... and 100 more (-o json lists all)\n"));
  ASSERT_EQ(Run({"--nodes", "20", "--pods", "200"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), Not(HasSubstr("more (-o json")));
}

TEST_F(SimTest, TheJsonHasPlacementsPendingPodsAndASummary) {
  const std::string file =
      File(NodeText("a", 2) + PodText("p1", "1") + PodText("held", "1", "schedulingGates: [{name: g}], "));
  ASSERT_EQ(Run({"-f", file, "-o=json"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), ::testing::StartsWith(R"({
  "apiVersion": "berth.dev/v1alpha1",
  "kind": "SimulationResult",
  "placements": [
    {
      "pod": "default/p1",
      "node": "a",
      "total": null
    }
  ],
  "pending": [
    {
      "pod": "default/held",
      "message": "waiting for scheduling gates: [g]"
    }
  ],
  "summary": {
    "nodes": 1,
    "pods": 2,
    "placed": 1,
    "pending": 1,
)"));
}

TEST_F(SimTest, TwoRunsOverManyPodsGiveTheSameBytes) {
  std::string text;
  for (int i = 0; i < 30; ++i) text += NodeText("node" + std::to_string(i), 4 + i % 3);
  for (int i = 0; i < 120; ++i)
    text += PodText("pod" + std::to_string(i), std::to_string(100 + i * 37 % 900) + "m",
                    i % 5 ? "" : "priority: " + std::to_string(i) + ", ");
  const std::string file = File(text);
  for (const std::vector<std::string>& args : {std::vector<std::string>{"-f", file, "-o", "json"},
                                               {"-f", file, "-o", "json", "--faults", "--seed", "4"},
                                               {"--nodes=50", "--pods=400", "--seed=7", "-o", "json"}}) {
    ASSERT_EQ(Run(args), 0) << err_.str();
    const std::string first = out_.str();
    EXPECT_THAT(first, HasSubstr("\"pending\": 0"));
    ASSERT_EQ(Run(args), 0);
    EXPECT_EQ(out_.str(), first);
  }
}

TEST_F(SimTest, AnExpectationThatIsNotMetIsExitOneWithWhatHappenedInstead) {
  File(NodeText("a", 2) + PodText("p", "1") + PodText("huge", "64"));
  const std::string good = ScenarioFile("expect:\n- {pod: p, node: a}\n- {at: 5s, pod: huge, message: Insufficient}\n");
  EXPECT_EQ(Run({good}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("2 of 2 expectations met\n"));

  const std::string bad =
      ScenarioFile("expect:\n- {pod: p, pending: true}\n- {at: 5s, pod: huge, node: a}\n", "bad.yaml");
  EXPECT_EQ(Run({bad}), 1) << err_.str();
  EXPECT_THAT(out_.str(), ContainsRegex("NOT MET: pod default/p at the end\n  expected: pending\n  actual:   on node a "
                                        "since [0-9.ms]+: the only node that fits\n"));
  EXPECT_THAT(out_.str(), ContainsRegex("NOT MET: pod default/huge at 5s\n  expected: on node a\n  actual:   pending "
                                        "since 0s: 0/1 nodes are available: 1 Insufficient cpu"));
  EXPECT_EQ(Run({bad, "-o", "json"}), 1);
  EXPECT_THAT(out_.str(), HasSubstr("\"met\": false"));
  EXPECT_THAT(out_.str(), HasSubstr("\"name\": \"bad\""));
  EXPECT_EQ(Run({good, bad, "-o", "json"}), 1);
  EXPECT_THAT(out_.str(), HasSubstr("\"scenarios\": ["));
  EXPECT_EQ(Run({good, bad, "-o", "junit"}), 1);
  EXPECT_THAT(out_.str(), HasSubstr("<testsuites name=\"berth sim\" tests=\"4\" failures=\"2\" errors=\"0\">"));
  EXPECT_THAT(out_.str(), HasSubstr("<testcase classname=\"story\" name=\"default/p at end: on node a\"/>"));
  EXPECT_EQ(Run({good, bad}), 1);
  EXPECT_THAT(out_.str(), HasSubstr("== bad (" + bad + ")\n"));
}

TEST_F(SimTest, PendingPodsAloneAreNoFailure) {
  EXPECT_EQ(Run({"-f", File(PodText("p", "1"))}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("no nodes available to schedule pods"));
}

TEST_F(SimTest, TwoConfigurationsAreComparedSideBySide) {
  const std::string file = File(NodeText("a", 8) + NodeText("b", 4) + PodText("p1", "1") + PodText("p2", "1"));
  const std::string least = ConfigFile("least.yaml", "LeastAllocated"), most = ConfigFile("most.yaml", "MostAllocated");
  ASSERT_EQ(Run({"-f", file, "--config", least, "--config", most}), 0) << err_.str();
  EXPECT_THAT(out_.str(), ContainsRegex(least + " -> " + most + ": [12] pods? moved"));
  EXPECT_THAT(out_.str(), ContainsRegex("  default/p1 +a +b\n"));
  EXPECT_THAT(out_.str(), ContainsRegex("cpu requested +16.6% +16.6%"));
  ASSERT_EQ(Run({"-f", file, "--config", least, "--config", most, "-o", "json"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("\"configs\": ["));
  EXPECT_THAT(out_.str(), HasSubstr("\"base\": \"" + least + "\""));
}

TEST_F(SimTest, ADecisionCanBeExplained) {
  const std::string file = File(NodeText("a", 8) + NodeText("b", 4) + PodText("p", "1"));
  ASSERT_EQ(Run({"-f", file, "--explain", "p"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("At the end: on node a: best of 2"));
  EXPECT_THAT(out_.str(), HasSubstr("Scores (times weight):\n"));
  ASSERT_EQ(Run({"-f", file, "--explain", "default/p", "-o", "json"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("\"explanation\": {\n    \"apiVersion\": \"berth.dev/v1alpha1\""));
  EXPECT_EQ(Run({"-f", file, "--explain", "q"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("flag --explain: no file, step or generator creates Pod \"default/q\""));
}

TEST_F(SimTest, AScenarioNamesItsOwnConfigurationAndTheFlagWins) {
  File(NodeText("a", 8) + NodeText("b", 4) + PodText("p", "1"));
  ConfigFile("most.yaml", "MostAllocated");
  const std::string story = ScenarioFile("config: most.yaml\nexpect: [{pod: p, node: b}]\n");
  EXPECT_EQ(Run({story}), 0) << out_.str() << err_.str();
  EXPECT_EQ(Run({story, "--config", ConfigFile("least.yaml", "LeastAllocated")}), 1) << out_.str();
  EXPECT_EQ(Run({ScenarioFile("config: none.yaml\n", "other.yaml")}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("none.yaml"));
}

TEST_F(SimTest, BadScenariosAreExitTwoWithEveryErrorOnce) {
  const std::string objects =
      File(NodeText("a", 2) + "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {}\n");
  const std::string one =
      File("apiVersion: berth.dev/v1alpha1\nkind: Scenario\nsteps: [{at: 3s, applly: {}}]\n", "1.yaml");
  const std::string two =
      File("apiVersion: berth.dev/v1alpha1\nkind: Scenario\nexpect: [{pod: q, node: a}]\n", "2.yaml");
  EXPECT_EQ(Run({one, two, "-f", objects, "--config", directory_ + "/none.yaml"}), 2);
  EXPECT_THAT(out_.str(), IsEmpty());
  EXPECT_THAT(err_.str(), HasSubstr("1.yaml: steps[0].applly: unknown field"));
  EXPECT_THAT(err_.str(), HasSubstr("2.yaml: expect[0].pod: no file, step or generator creates Pod \"default/q\""));
  EXPECT_THAT(err_.str(), HasSubstr("none.yaml"));
  const std::string error = "Pod \"default/p\": spec.containers";
  ASSERT_THAT(err_.str(), HasSubstr(error));
  EXPECT_EQ(err_.str().find(error), err_.str().rfind(error)) << "once for both scenarios:\n" << err_.str();
}

TEST_F(SimTest, WrongFlagsAreNamed) {
  EXPECT_EQ(Run({"--nodes", "-1", "--pods", "20000000", "--seed", "-3", "--duration", "soon", "--churn", "5"}), 2);
  for (const char* flag : {"--nodes: must be between 0 and 1000000, got -1", "--pods: must be between",
                           "--seed: must not be negative, got -3", "--duration: time: invalid duration \"soon\""})
    EXPECT_THAT(err_.str(), HasSubstr(std::string("flag ") + flag));
  EXPECT_EQ(Run({"--nodes", "1", "--churn", "5"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("flag --churn: needs --pods and --duration"));
  EXPECT_EQ(Run({"--nodes", "1", "--duration", "0s"}), 2);
  EXPECT_EQ(Run({"--nodes", "many"}), 2);
  EXPECT_EQ(Run({"--nodes", "1", "-o", "xml"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("flag -o: must be one of table, json, junit, got \"xml\""));
  EXPECT_EQ(Run({"--nodes", "1", "--config", "", "--explain", ""}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("flag --config: must name a file, got \"\""));
  EXPECT_THAT(err_.str(), HasSubstr("flag --explain: must name a pod, got \"\""));
}

TEST_F(SimTest, BadInputAndWrongUseAreExitTwo) {
  EXPECT_EQ(Run({}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("berth sim: no files: "));
  EXPECT_THAT(err_.str(), HasSubstr("\n\nusage: berth sim"));
  EXPECT_EQ(Run({"-f", directory_ + "/none.yaml"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("none.yaml"));
  EXPECT_EQ(Run({"-f", File(NodeText("a", 2)), "--config", directory_ + "/none.yaml"}), 2);
  EXPECT_EQ(Run({"-f", File(NodeText("a", 2)), "--config", directory_}), 2) << "a folder is no configuration";
  EXPECT_EQ(Run({"-f", File(NodeText("a", 2)), "surplus"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("surplus"));
  EXPECT_THAT(out_.str(), IsEmpty());
  EXPECT_EQ(Run({"-h"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("usage: berth sim"));
}

TEST_F(SimTest, FilesWithoutPodsPlaceNothing) {
  EXPECT_EQ(Run({"-f", File(NodeText("a", 2))}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("0 placed, 0 pending, on 1 node that"));
}

}  // namespace
}  // namespace berth::cli
