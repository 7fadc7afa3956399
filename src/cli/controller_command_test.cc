// SPDX-License-Identifier: Apache-2.0
// `berth controller` up to the start of the process.
#include "cli/controller_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "plugins/builtin.h"

namespace berth::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class ControllerCommandTest : public ::testing::Test {
 protected:
  ControllerCommandTest() {
    plugins::RegisterBuiltinPlugins(registry_);
    kubeconfig_ = (std::filesystem::temp_directory_path() / "berth_controller_command_test").string() +
                  std::to_string(::getpid());
    std::ofstream(kubeconfig_) << "apiVersion: v1\nkind: Config\n"
                                  "clusters: [{name: c, cluster: {server: \"http://127.0.0.1:1\"}}]\n"
                                  "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
                                  "users: [{name: u, user: {}}]\ncurrent-context: c\n";
    ::unsetenv("KUBERNETES_SERVICE_HOST");
  }
  ~ControllerCommandTest() override { std::filesystem::remove(kubeconfig_); }

  int Run(const std::vector<std::string>& args) {
    std::ostringstream out, err;
    loaded_.reset();
    const int code = ControllerCommand(args, registry_, out, err, -1,
                                       [this](const LoadedController& loaded, const Registry&, util::Log&) {
                                         loaded_ = loaded;
                                         return 0;
                                       });
    out_ = out.str();
    err_ = err.str();
    return code;
  }

  Registry registry_;
  std::string kubeconfig_, out_, err_;
  std::optional<LoadedController> loaded_;
};

TEST_F(ControllerCommandTest, FlagsBecomeAConfigurationWithOneProfile) {
  ASSERT_EQ(Run({"--scheduler-name=mine", "--kubeconfig", kubeconfig_, "--placement", "least-pods", "--seed", "5",
                 "--ready-nodes-only", "--kube-api-qps=200", "--leader-elect-lease-duration=30s", "-v", "3"}),
            0)
      << err_;
  ASSERT_TRUE(loaded_);
  const config::SchedulerConfiguration& config = loaded_->process.config;
  ASSERT_EQ(config.profiles.size(), 1u);
  EXPECT_EQ(config.profiles[0].scheduler_name, "mine");
  EXPECT_EQ(config.client_connection.qps, 200);
  EXPECT_TRUE(config.leader_election.leader_elect);
  EXPECT_EQ(config.leader_election.resource_name, "mine");
  EXPECT_EQ(config.leader_election.lease_duration, Duration::Seconds(30));
  EXPECT_EQ(loaded_->seed, 5u);
  EXPECT_EQ(loaded_->process.api_server.server, "http://127.0.0.1:1");
  EXPECT_EQ(loaded_->process.flags.logs.verbosity, 3u);
}

TEST_F(ControllerCommandTest, PluginsHaveArguments) {
  ASSERT_EQ(Run({"--scheduler-name=mine", "--kubeconfig", kubeconfig_, "--plugin",
                 "NodeResourcesFit={\"scoringStrategy\":{\"type\":\"MostAllocated\"}}", "--plugin", "TaintToleration"}),
            0)
      << err_;
  const config::Profile& profile = loaded_->process.config.profiles[0];
  ASSERT_EQ(profile.plugins.multi_point.enabled.size(), 2u);
  EXPECT_EQ(profile.plugins.multi_point.enabled[0].name, "NodeResourcesFit");
  EXPECT_FALSE(loaded_->seed);
}

TEST_F(ControllerCommandTest, WhatIsWrongIsASentenceAndCodeTwo) {
  const struct {
    std::vector<std::string> args;
    const char* want;
  } cases[] = {
      {{}, "berth controller: --scheduler-name is missing"},
      {{"--scheduler-name=m", "--placement=best"}, "berth controller: --placement: there is no \"best\""},
      {{"--scheduler-name=m", "--plugin=Nonsense"}, "berth controller: --plugin: there is no plugin \"Nonsense\""},
      {{"--scheduler-name=m", "--plugin=NodeName", "--placement=first"}, "berth controller: give either"},
      {{"--scheduler-name=m", "--seed=-1"}, "berth controller: invalid argument \"-1\" for \"--seed\" flag"},
      {{"--scheduler-name=m", "more"}, "berth controller: unexpected argument \"more\""},
      {{"--nonsense"}, "berth controller: unknown flag: --nonsense"},
      {{"--scheduler-name=m", "--secure-port=70000"}, "berth controller: "},
      {{"--scheduler-name=m", "--leader-elect-renew-deadline=1h"}, "berth controller: "},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.want);
    EXPECT_EQ(Run(c.args), 2);
    EXPECT_THAT(err_, StartsWith(c.want));
    EXPECT_FALSE(loaded_);
  }
}

TEST_F(ControllerCommandTest, WithoutAnApiServerItFails) {
  EXPECT_EQ(Run({"--scheduler-name=mine"}), 1);
  EXPECT_THAT(err_, HasSubstr("no configuration has been provided"));
}

TEST_F(ControllerCommandTest, HelpNamesThePlacements) {
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_THAT(out_, HasSubstr("least-pods: the one with the fewest pods"));
  EXPECT_THAT(out_, HasSubstr("--leader-elect"));
}

}  // namespace
}  // namespace berth::cli
