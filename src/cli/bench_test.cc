// SPDX-License-Identifier: Apache-2.0
// `berth bench` as a user meets it: what is chosen, both outputs, exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "bench/live_test_util.h"
#include "cli/bench_command.h"
#include "plugins/builtin.h"

namespace berth::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Claims to look at nothing and changes its mind with every pod.
class Fickle final : public FilterPlugin {
 public:
  static constexpr std::string_view kName = "Fickle";
  Error Filter(const Cycle&, const PluginState*, const NodeBatch& nodes, Rejections& out) const override {
    if (++asked_ % 2 == 1) return Error::Ok();
    const VerdictId no = out.Intern(Verdict(Reason{"not today", Remedy::kNone}));
    for (size_t i = 0; i < nodes.size(); ++i) out.Reject(i, no);
    return Error::Ok();
  }
  Depends DependsOn(Point) const override { return Depends::OnRow(0); }
  bool Sign(const Pod&, Signature&) const override { return true; }

 private:
  mutable int asked_ = 0;
};

class BenchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    plugins::RegisterBuiltinPlugins(registry_);
    directory_ = (std::filesystem::temp_directory_path() / "berth-bench-cli-XXXXXX").string();
    ASSERT_NE(mkdtemp(directory_.data()), nullptr);
    file_ = directory_ + "/performance-config.yaml";
    std::ofstream(file_) << "- name: Basic\n"
                            "  workloadTemplate:\n"
                            "  - {opcode: createNodes, countParam: $size}\n"
                            "  - {opcode: createPods, countParam: $size, collectMetrics: true}\n"
                            "  featureGates: {Beta: true, Alpha: false}\n"
                            "  workloads:\n"
                            "  - {name: Two, params: {size: 2}}\n"
                            "  - {name: Three, params: {size: 3}}\n"
                            "- name: Devices\n"
                            "  workloadTemplate: [{opcode: createResourceDriver, driverName: d}]\n"
                            "  featureGates: {Gamma: true}\n"
                            "  workloads: [{name: Two}]\n";
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  int Run(const std::vector<std::string>& args) {
    out_.str("");
    err_.str("");
    return BenchCommand(args, registry_, out_, err_);
  }
  void Kubeconfig(const std::string& server) {
    kubeconfig_ = directory_ + "/kubeconfig";
    std::ofstream(kubeconfig_) << "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
                                  "clusters: [{name: c, cluster: {server: \"" +
                                      server +
                                      "\"}}]\n"
                                      "users: [{name: u, user: {}}]\n"
                                      "contexts: [{name: c, context: {cluster: c, user: u}}]\n";
  }
  Registry registry_;
  std::string directory_, file_, kubeconfig_;
  std::ostringstream out_, err_;
};

TEST_F(BenchTest, JsonHasOneObjectPerWorkload) {
  EXPECT_EQ(Run({"-f", file_, "--case", "Basic", "-o", "json"}), 0) << err_.str();
  for (const char* part :
       {"\"case\": \"Basic\"", "\"workload\": \"Two\"", "\"workload\": \"Three\"", "\"mode\": \"engine\"",
        "\"nodes\": 3", "\"scheduled\": 3", "\"unschedulable\": 0", "\"pods_per_s\"", "\"cpu_us_per_pod\"",
        "\"process_cpu_us_per_pod\"", "\"attempt_us\"", "\"p99\"", "\"rss_mb\"", "\"nodes_by_pods\": {"})
    EXPECT_THAT(out_.str(), HasSubstr(part));
}

TEST_F(BenchTest, CaseAndWorkloadMatchExactly) {
  EXPECT_EQ(Run({"-f", file_, "--case", "Basic", "--workload", "Two"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("Two"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("Three")));
  EXPECT_EQ(Run({"-f", file_, "--workload", "Tw"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("no workload \"Tw\""));
}

TEST_F(BenchTest, FeatureGatesOfWhatIsRunAreNotedInOneLine) {
  EXPECT_EQ(Run({"-f", file_}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("note: " + file_ + ": featureGates Alpha, Beta have no effect here\n"));
  EXPECT_THAT(err_.str(), Not(HasSubstr("Gamma")));
}

TEST_F(BenchTest, VerifyComparesInsteadOfTiming) {
  EXPECT_EQ(Run({"-f", file_, "--case", "Basic", "--workload", "Two", "--verify"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("DIFFERENCES"));
  EXPECT_EQ(Run({"-f", file_, "--case", "Basic", "--workload", "Two", "--verify", "-o", "json"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("\"decisions\": 2"));
  EXPECT_THAT(out_.str(), HasSubstr("\"differences\": 0"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("cpu_us_per_pod")));
}

TEST_F(BenchTest, VerifyFindsAPluginThatDoesNotKeepItsWord) {
  registry_.Add<Fickle>();
  std::ofstream(directory_ + "/config.yaml") << "apiVersion: kubescheduler.config.k8s.io/v1\n"
                                                "kind: KubeSchedulerConfiguration\n"
                                                "profiles: [{plugins: {multiPoint: {enabled: [{name: Fickle}]}}}]\n";
  std::ofstream(file_) << "- name: Basic\n"
                          "  schedulerConfigPath: config.yaml\n"
                          "  workloadTemplate: [{opcode: createNodes, count: 3},\n"
                          "                     {opcode: createPods, count: 4, collectMetrics: true}]\n"
                          "  workloads: [{name: Four}]\n";
  EXPECT_EQ(Run({"-f", file_}), 0) << err_.str();
  EXPECT_EQ(Run({"-f", file_, "--verify"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("Basic/Four: "));
  EXPECT_THAT(err_.str(), HasSubstr(" findings (decisions that differ from a full judgement, "));
  EXPECT_THAT(err_.str(), HasSubstr("; the first: namespace-1/pod-"));
}

TEST_F(BenchTest, WhatCannotBeRunIsNamedAndTheRestRuns) {
  EXPECT_EQ(Run({"-f", file_, "--workload", "Two"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("not run: Devices/Two: "));
  EXPECT_THAT(out_.str(), HasSubstr("Basic"));
}

TEST_F(BenchTest, LiveRunsOnAnApiServerAndKeepsEnginesColumnsOut) {
  bench::FakeCluster cluster;
  Kubeconfig(cluster.config().server);
  EXPECT_EQ(Run({"-f", file_, "--case", "Basic", "--mode", "live", "--kubeconfig", kubeconfig_}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("FIRST s"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("CPU us/POD")));
  EXPECT_THAT(err_.str(), HasSubstr("featureGates Alpha, Beta have no effect here: whoever started the API server"));
  const std::string pid = std::to_string(::getpid());
  EXPECT_EQ(Run({"-f", file_, "--case", "Basic", "--workload", "Two", "--mode", "live", "--kubeconfig", kubeconfig_,
                 "--pid", pid, "-o", "json"}),
            0)
      << err_.str();
  for (const char* part : {"\"mode\": \"live\"", "\"nodes\": 2", "\"scheduled\": 2", "\"pods_per_s\"",
                           "\"first_binding_s\"", "\"process_cpu_us_per_pod\"", "\"peak_rss_mb\""})
    EXPECT_THAT(out_.str(), HasSubstr(part));
  for (const char* part : {"attempt", "event_us_per_pod", "\"cpu_us_per_pod\"", "\"rss_mb\""})
    EXPECT_THAT(out_.str(), Not(HasSubstr(part)));
  EXPECT_THAT(cluster.Paths(), IsEmpty());
}

TEST_F(BenchTest, LiveNotesTheConfigurationThatTheSchedulerNeeds) {
  std::ofstream(file_) << "- name: Basic\n"
                          "  schedulerConfigPath: config.yaml\n"
                          "  workloadTemplate: [{opcode: createNodes, count: 1}]\n"
                          "  workloads: [{name: W}]\n";
  bench::FakeCluster cluster;
  Kubeconfig(cluster.config().server);
  EXPECT_EQ(Run({"-f", file_, "--mode", "live", "--kubeconfig", kubeconfig_}), 0) << err_.str();
  EXPECT_THAT(err_.str(), HasSubstr("note: Basic/W: the scheduler has to be one that was started with " + directory_ +
                                    "/config.yaml\n"));
}

TEST_F(BenchTest, LiveSaysWhatWentWrongAndWhatIsLeft) {
  {
    bench::FakeCluster cluster;
    cluster.rules = {{"DELETE", "/api/v1/nodes/node-0-1", {403, client::StatusJson(403, "not you"), ""}, 1, false}};
    Kubeconfig(cluster.config().server);
    const std::vector<std::string> live = {"-f", file_, "--mode", "live", "--kubeconfig", kubeconfig_};
    std::vector<std::string> two = live;
    two.insert(two.end(), {"--case", "Basic", "--workload", "Two"});
    EXPECT_EQ(Run(two), 2);
    EXPECT_THAT(err_.str(), HasSubstr("Basic/Two: not deleted: Node node-0-1: not you\n"));
    EXPECT_EQ(Run(two), 2);
    EXPECT_THAT(err_.str(), HasSubstr("Basic/Two: [0].workloadTemplate[0]: Node node-0-1 exists already"));
    std::vector<std::string> devices = live;
    devices.insert(devices.end(), {"--case", "Devices"});
    EXPECT_EQ(Run(devices), 1);
    EXPECT_THAT(err_.str(), HasSubstr("not run: Devices/Two: "));
  }
  EXPECT_EQ(Run({"-f", file_, "--case", "Basic", "--mode", "live", "--kubeconfig", kubeconfig_}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("Basic/Two: kubeconfig " + kubeconfig_ + ": GET http://127.0.0.1:"));
  EXPECT_EQ(Run({"-f", file_, "--mode", "live", "--kubeconfig", directory_ + "/none"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr(directory_ + "/none"));
}

TEST_F(BenchTest, FlagsOfTheOtherModeAreRefused) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--mode", "live"}, "--mode live: --kubeconfig is required"},
      {{"--mode", "live", "--kubeconfig", "k", "--verify"}, "--verify: only with --mode engine"},
      {{"--kubeconfig", "k"}, "--kubeconfig: only with --mode live"},
      {{"--timeout", "1m"}, "--timeout: only with --mode live"},
      {{"--pid", "1"}, "--pid: only with --mode live"},
      {{"--mode", "live", "--kubeconfig", "k", "--timeout", "soon"},
       "--timeout: must be a duration between 1ms and 24h, got \"soon\""},
      {{"--mode", "live", "--kubeconfig", "k", "--timeout", "0s"},
       "--timeout: must be a duration between 1ms and 24h, got \"0s\""},
      {{"--mode", "live", "--kubeconfig", "k", "--pid", "0"}, "--pid: must be the number of a process, got 0"},
  };
  for (const auto& [flags, complaint] : cases) {
    std::vector<std::string> args = {"-f", file_};
    args.insert(args.end(), flags.begin(), flags.end());
    EXPECT_EQ(Run(args), 2);
    EXPECT_THAT(err_.str(), HasSubstr("berth bench: " + complaint + "\n"));
  }
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
