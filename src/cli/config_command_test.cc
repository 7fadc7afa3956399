// SPDX-License-Identifier: Apache-2.0
// `berth config`: output, exit codes, and that the built-in plugins complete to kube-scheduler's defaults.
#include "cli/config_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "api/json_value.h"
#include "config/load.h"
#include "plugins/builtin.h"
#include "testing/default_configuration.h"

namespace berth::cli {
namespace {

class ConfigCommandTest : public ::testing::Test {
 protected:
  void SetUp() override {
    plugins::RegisterBuiltinPlugins(registry_);
    directory_ = (std::filesystem::temp_directory_path() / "berth-config-XXXXXX").string();
    ASSERT_NE(mkdtemp(directory_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string File(const std::string& body) {
    const std::string name = directory_ + "/config.yaml";
    std::ofstream(name) << "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n" << body;
    return name;
  }

  int Run(const std::vector<std::string>& args) {
    out_.str("");
    err_.str("");
    return ConfigCommand(args, registry_, out_, err_);
  }

  Registry registry_;
  std::string directory_;
  std::ostringstream out_, err_;
};

TEST_F(ConfigCommandTest, CheckPrintsTheDefaultProfile) {
  EXPECT_EQ(Run({"check", File("")}), 0) << err_.str();
  EXPECT_EQ(out_.str(),
            "profile default-scheduler (percentageOfNodesToScore 0)\n"
            "  PreEnqueue:  SchedulingGates, DynamicResources, DefaultPreemption\n"
            "  QueueSort:   PrioritySort\n"
            "  PreFilter:   NodeAffinity, NodePorts, NodeResourcesFit, VolumeRestrictions, NodeVolumeLimits, "
            "VolumeBinding, VolumeZone, PodTopologySpread, InterPodAffinity, DynamicResources, NodeDeclaredFeatures\n"
            "  Filter:      NodeUnschedulable, NodeName, TaintToleration, NodeAffinity, NodePorts, NodeResourcesFit, "
            "VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone, PodTopologySpread, InterPodAffinity, "
            "DynamicResources, NodeDeclaredFeatures\n"
            "  PostFilter:  DynamicResources, DefaultPreemption\n"
            "  PreScore:    TaintToleration, NodeAffinity, NodeResourcesFit, VolumeBinding, PodTopologySpread, "
            "InterPodAffinity, NodeResourcesBalancedAllocation\n"
            "  Score:       TaintToleration 3, NodeAffinity 2, NodeResourcesFit 1, VolumeBinding 1, "
            "PodTopologySpread 2, InterPodAffinity 2, DynamicResources 2, NodeResourcesBalancedAllocation 1, "
            "ImageLocality 1\n"
            "  Reserve:     VolumeBinding, DynamicResources\n"
            "  Permit:      -\n"
            "  PreBind:     VolumeBinding, DynamicResources\n"
            "  Bind:        DefaultBinder\n"
            "  PostBind:    -\n");
  EXPECT_EQ(err_.str(), "");
}

TEST_F(ConfigCommandTest, CheckListsAllErrorsOfTheFile) {
  const std::string file = File("parallelism: 0\nfoo: 1\n");
  EXPECT_EQ(Run({"check", file}), 2);
  EXPECT_EQ(err_.str(), file + ":4: foo: unknown field \"foo\"\n" + file +
                            ":3: parallelism: Invalid value: 0: should be an integer value greater than zero\n");
  EXPECT_EQ(out_.str(), "");
}

TEST_F(ConfigCommandTest, AFileThatIsSomethingElseIsNamedAndNotShown) {
  const std::string file = directory_ + "/server.key";
  std::ofstream(file) << "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----\n";
  for (const char* what : {"check", "defaults"}) {
    EXPECT_EQ(Run({what, file}), 2);
    EXPECT_EQ(err_.str(), file + ":1: a KubeSchedulerConfiguration must be an object, not a string\n");
    EXPECT_EQ(out_.str(), "");
  }
}

TEST_F(ConfigCommandTest, KeysAndTokensInTheWrongPlaceAreNotShown) {
  const std::string file = File(
      "parallelism: \"-----BEGIN PRIVATE KEY-----\\nMIIEvQ\\n-----END PRIVATE KEY-----\"\n"
      "podMaxBackoffSeconds: eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln\n"
      "clientConnection: [hunter2]\n"
      "extenders: [{tlsConfig: {keyData: [hunter2], certData: {hunter2: hunter2}, caData: 'hunter2!'}}]\n");
  EXPECT_EQ(Run({"check", file}), 2);
  for (const char* line : {"3: parallelism: Invalid value: \"***\": must be an integer",
                           "5: clientConnection: Invalid value: must be an object, not a list",
                           "4: podMaxBackoffSeconds: Invalid value: \"***\": must be an integer",
                           "6: extenders[0].tlsConfig.certData: Invalid value: must be a string",
                           "6: extenders[0].tlsConfig.keyData: Invalid value: must be a string",
                           "6: extenders[0].tlsConfig.caData: illegal base64 data at input byte 7"}) {
    EXPECT_NE(err_.str().find(file + ":" + line + "\n"), std::string::npos) << line << "\n" << err_.str();
  }
  EXPECT_EQ(err_.str().find("hunter2"), std::string::npos) << err_.str();
}

TEST_F(ConfigCommandTest, CheckBuildsTheProfiles) {
  const std::string file = File("profiles: [{plugins: {score: {enabled: [{name: NodeName}]}}}]\n");
  EXPECT_EQ(Run({"check", file}), 2);
  EXPECT_EQ(err_.str(), file +
                            ": creating profile for scheduler name default-scheduler: plugin \"NodeName\" does not "
                            "extend ScorePlugin plugin\n");
}

TEST_F(ConfigCommandTest, CheckNamesThePlacesOfPluginsThatNobodyHas) {
  const std::string file = File(
      "profiles:\n- plugins:\n    multiPoint: {enabled: [{name: Foo}]}\n    score:\n      enabled:\n"
      "      - name: NodeResourcesMostAllocated\n");
  EXPECT_EQ(Run({"check", file}), 2);
  EXPECT_EQ(err_.str(),
            file +
                ":5: profiles[0].plugins.multiPoint.enabled[0].name: Invalid value: \"Foo\": plugin \"Foo\" does not "
                "exist\n" +
                file +
                ":8: profiles[0].plugins.score.enabled[0].name: Invalid value: \"NodeResourcesMostAllocated\": "
                "ScorePlugin \"NodeResourcesMostAllocated\" does not exist. Today NodeResourcesFit scores, with a "
                "scoringStrategy of that type. A profile has one strategy.\n");
  // Nothing of that keeps it from being written.
  EXPECT_EQ(Run({"convert", file}), 0);
  EXPECT_EQ(Run({"defaults", file}), 0);
  // Together with whatever else is wrong.
  const std::string half = File("schedulerName: a\nprofiles: [{plugins: {filter: {enabled: [{name: NodeLabel}]}}}]\n");
  EXPECT_EQ(Run({"check", half}), 2);
  EXPECT_THAT(err_.str(),
              ::testing::AllOf(::testing::HasSubstr(half + ":3: schedulerName: unknown field"),
                               ::testing::HasSubstr(half + ":4: profiles[0].plugins.filter.enabled[0].name: "
                                                           "Invalid value: \"NodeLabel\": FilterPlugin")));
}

TEST_F(ConfigCommandTest, DefaultsAreKubeSchedulersInBothFormats) {
  std::vector<FieldError> errors;
  const Value golden = ParseJson(testing::kDefaultConfiguration, errors);
  EXPECT_EQ(Run({"defaults", "-o", "json"}), 0);
  EXPECT_EQ(ParseJson(out_.str(), errors).ToJson(1), golden.ToJson(1));
  EXPECT_EQ(Run({"defaults"}), 0);
  const config::Loaded loaded = config::LoadConfiguration(out_.str(), registry_);
  ASSERT_TRUE(loaded.ok()) << loaded.errors[0].ToString();
  EXPECT_EQ(config::ToValue(loaded.config, registry_).ToJson(1), golden.ToJson(1));
}

TEST_F(ConfigCommandTest, DefaultsCompletesAFile) {
  EXPECT_EQ(Run({"defaults", File("parallelism: 3\n"), "--output=json"}), 0);
  std::vector<FieldError> errors;
  EXPECT_EQ(ParseJson(out_.str(), errors).Find("parallelism")->text(), "3");
  EXPECT_EQ(Run({"defaults", File("parallelism: x\n")}), 2);
  EXPECT_EQ(out_.str(), "");
}

TEST_F(ConfigCommandTest, WrongUsageIsExitCode2) {
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{{},
                                                                                    {"check", "a", "b"},
                                                                                    {"check", "a", "-o", "json"},
                                                                                    {"defaults", "a", "b"},
                                                                                    {"defaults", "-o"},
                                                                                    {"defaults", "-o", "xml"},
                                                                                    {"defaults", "--what"},
                                                                                    {"convert", "a", "b"},
                                                                                    {"check", "--table"},
                                                                                    {"rewrite", "a"}}) {
    EXPECT_EQ(Run(args), 2);
    EXPECT_NE(err_.str().find("usage: berth config"), std::string::npos);
  }
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_NE(out_.str().find("usage: berth config"), std::string::npos);
}

TEST_F(ConfigCommandTest, AFileThatCannotBeReadIsNamed) {
  EXPECT_EQ(Run({"check", directory_ + "/none"}), 2);
  EXPECT_EQ(err_.str(), directory_ + "/none: cannot open file: No such file or directory\n");
  EXPECT_EQ(Run({"check", directory_}), 2);
  EXPECT_EQ(err_.str(), directory_ + ": is a folder\n");
  EXPECT_EQ(Run({"check", "/dev/zero"}), 2);
  EXPECT_EQ(err_.str(), "/dev/zero: is a device that gives more than 1 MiB\n");
  EXPECT_EQ(Run({"check", "/proc/self/mem"}), 2);
  EXPECT_EQ(err_.str(), "/proc/self/mem: cannot read file: Input/output error\n");
  std::ofstream(directory_ + "/large") << std::string((size_t{16} << 20) + 1, '#');
  EXPECT_EQ(Run({"check", directory_ + "/large"}), 2);
  EXPECT_EQ(err_.str(), directory_ + "/large: has more than 16 MiB\n");
}

}  // namespace
}  // namespace berth::cli
