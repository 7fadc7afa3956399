// SPDX-License-Identifier: Apache-2.0
// `berth bench` as a user meets it: what is chosen, both outputs, exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/bench_command.h"
#include "plugins/builtin.h"

namespace berth::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class BenchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    plugins::RegisterBuiltinPlugins(registry_);
    directory_ = (std::filesystem::temp_directory_path() / "berth-bench-cli-XXXXXX").string();
    ASSERT_NE(mkdtemp(directory_.data()), nullptr);
    file_ = directory_ + "/performance-config.yaml";
    std::ofstream(file_) << "- name: Basic\n"
                            "  workloadTemplate:\n"
                            "  - {opcode: createNodes, countParam: $n}\n"
                            "  - {opcode: createPods, countParam: $n, collectMetrics: true}\n"
                            "  workloads:\n"
                            "  - {name: Two, params: {n: 2}}\n"
                            "  - {name: Three, params: {n: 3}}\n"
                            "- name: Devices\n"
                            "  workloadTemplate: [{opcode: createResourceDriver, driverName: d}]\n"
                            "  workloads: [{name: Two}]\n";
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  int Run(const std::vector<std::string>& args) {
    out_.str("");
    err_.str("");
    return BenchCommand(args, registry_, out_, err_);
  }
  Registry registry_;
  std::string directory_, file_;
  std::ostringstream out_, err_;
};

TEST_F(BenchTest, JsonHasOneObjectPerWorkload) {
  EXPECT_EQ(Run({"-f", file_, "--case", "Basic", "-o", "json"}), 0) << err_.str();
  for (const char* part : {"\"case\": \"Basic\"", "\"workload\": \"Two\"", "\"workload\": \"Three\"",
                           "\"mode\": \"engine\"", "\"nodes\": 3", "\"scheduled\": 3", "\"unschedulable\": 0",
                           "\"pods_per_s\"", "\"cpu_us_per_pod\"", "\"attempt_us\"", "\"p99\"", "\"rss_mb\""})
    EXPECT_THAT(out_.str(), HasSubstr(part));
}

TEST_F(BenchTest, CaseAndWorkloadMatchExactly) {
  EXPECT_EQ(Run({"-f", file_, "--case", "Basic", "--workload", "Two"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("Two"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("Three")));
  EXPECT_EQ(Run({"-f", file_, "--workload", "Tw"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("no workload \"Tw\""));
}

TEST_F(BenchTest, WhatCannotBeRunIsNamedAndTheRestRuns) {
  EXPECT_EQ(Run({"-f", file_, "--workload", "Two"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("not run: Devices/Two: "));
  EXPECT_THAT(out_.str(), HasSubstr("Basic"));
}

TEST_F(BenchTest, BadArgumentsAndFilesAreRefused) {
  EXPECT_EQ(Run({}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("-f is required"));
  EXPECT_EQ(Run({"-f", file_, "--mode", "cluster"}), 2);
  EXPECT_EQ(Run({"-f", directory_ + "/none.yaml"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("none.yaml: cannot open file"));
  std::ofstream(file_) << "- {name: X, workloadTemplate: [{opcode: fly}], workloads: [{name: W}]}\n";
  EXPECT_EQ(Run({"-f", file_}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("\"fly\": unknown op"));
}

}  // namespace
}  // namespace berth::cli
