// SPDX-License-Identifier: Apache-2.0
// `berth sim`: the table, the JSON, and that two runs give the same bytes.
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

using ::testing::HasSubstr;
using ::testing::IsEmpty;

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
  std::string File(const std::string& text) {
    std::ofstream(directory_ + "/objects.yaml") << text;
    return directory_ + "/objects.yaml";
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
  EXPECT_THAT(out_.str(), ::testing::ContainsRegex("default/p1 +a +[0-9]+ +best of 2, ahead of b by [0-9]+ "
                                                   ".NodeResourcesFit .[0-9]+.\n"));
  EXPECT_THAT(out_.str(), ::testing::ContainsRegex("default/p2 +a +- +the only node that fits\n"));
  EXPECT_THAT(out_.str(), ::testing::ContainsRegex("default/p3 +<pending> +- +0/2 nodes are available: 2 Insuff"));
  EXPECT_THAT(out_.str(), HasSubstr("2 placed, 1 pending, on 2 nodes that already held 0 pods\n"));
  EXPECT_THAT(out_.str(), HasSubstr("not tried: default/p4 belongs to another scheduler\n"));
}

TEST_F(SimTest, TheTableSaysWhatPreemptionWouldTake) {
  const std::string file =
      File(NodeText("a", 2) + PodText("low", "2", "nodeName: a, ") + PodText("high", "2", "priority: 10, "));
  ASSERT_EQ(Run({"-f", file}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("Evicting default/low from a would make room."));
}

TEST_F(SimTest, TheJsonHasPlacementsPendingPodsAndASummary) {
  const std::string file =
      File(NodeText("a", 2) + PodText("p1", "1") + PodText("held", "1", "schedulingGates: [{name: g}], "));
  ASSERT_EQ(Run({"-f", file, "-o=json"}), 0) << err_.str();
  EXPECT_EQ(out_.str(), R"({
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
    "placed": 1,
    "pending": 1
  }
}
)");
}

TEST_F(SimTest, TwoRunsOverManyPodsGiveTheSameBytes) {
  std::string text;
  for (int i = 0; i < 30; ++i) text += NodeText("node" + std::to_string(i), 4 + i % 3);
  for (int i = 0; i < 120; ++i)
    text += PodText("pod" + std::to_string(i), std::to_string(100 + i * 37 % 900) + "m",
                    i % 5 ? "" : "priority: " + std::to_string(i) + ", ");
  const std::string file = File(text);
  ASSERT_EQ(Run({"-f", file, "-o", "json"}), 0) << err_.str();
  const std::string first = out_.str();
  EXPECT_THAT(first, HasSubstr("\"placed\": 120"));
  ASSERT_EQ(Run({"-f", file, "-o", "json"}), 0);
  EXPECT_EQ(out_.str(), first);
}

TEST_F(SimTest, BadInputAndWrongUseAreExitTwo) {
  EXPECT_EQ(Run({}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("berth sim: no files: -f is required\n\nusage: berth sim"));
  EXPECT_EQ(Run({"-f", directory_ + "/none.yaml"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("none.yaml"));
  EXPECT_EQ(Run({"-f", File(NodeText("a", 2)), "--config", directory_ + "/none.yaml"}), 2);
  EXPECT_EQ(Run({"-f", File(NodeText("a", 2)), "--config", directory_}), 2) << "a folder is no configuration";
  EXPECT_EQ(Run({"-f", File(NodeText("a", 2)), "surplus"}), 2);
  EXPECT_THAT(out_.str(), IsEmpty());
  EXPECT_EQ(Run({"-h"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("usage: berth sim"));
}

TEST_F(SimTest, FilesWithoutPodsPlaceNothing) {
  EXPECT_EQ(Run({"-f", File(NodeText("a", 2))}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("0 placed, 0 pending, on 1 nodes"));
}

}  // namespace
}  // namespace berth::cli
