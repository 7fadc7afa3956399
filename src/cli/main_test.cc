// SPDX-License-Identifier: Apache-2.0
// berth::Main: the right command, the right exit code, and plugins that a custom scheduler registers.
#include "berth/main.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

#include "berth/registry.h"
#include "berth/version.h"

namespace berth {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct MainRun {
  int code = 0;
  std::string out, err;
};

MainRun RunMain(std::vector<std::string> args, RegisterFn register_plugins = nullptr, const char* program = "berth") {
  args.insert(args.begin(), program);
  std::vector<char*> argv;
  for (std::string& arg : args) argv.push_back(arg.data());
  argv.push_back(nullptr);
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  MainRun ran;
  ran.code = Main(static_cast<int>(args.size()), argv.data(), register_plugins);
  std::cout.flush();
  ran.out = ::testing::internal::GetCapturedStdout();
  ran.err = ::testing::internal::GetCapturedStderr();
  return ran;
}

TEST(MainTest, WithoutACommandTheUsageGoesToStandardErrorAndTheAnswerIsTwo) {
  const MainRun ran = RunMain({});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("usage: berth COMMAND"));
  EXPECT_THAT(ran.out, IsEmpty());
}

TEST(MainTest, WhoAsksForHelpGetsItOnStandardOutput) {
  for (const char* arg : {"help", "--help", "-h"}) {
    const MainRun ran = RunMain({arg});
    EXPECT_EQ(ran.code, 0);
    EXPECT_THAT(ran.out, HasSubstr("usage: berth COMMAND"));
  }
  for (const char* command : {"sim", "explain", "conform"}) {
    const MainRun ran = RunMain({command, "--help"});
    EXPECT_EQ(ran.code, 0);
    EXPECT_THAT(ran.out, HasSubstr(std::string("usage: berth ") + command));
  }
}

TEST(MainTest, AnUnknownCommandIsNamed) {
  const MainRun ran = RunMain({"dance"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("berth: unknown command \"dance\""));
}

TEST(MainTest, TheVersionIsTextOrJson) {
  const MainRun text = RunMain({"version"});
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.out, HasSubstr(std::string("berth ") + kVersion));
  EXPECT_THAT(text.out, HasSubstr(kUpstreamVersion));
  EXPECT_EQ(RunMain({"--version"}).out, text.out);
  const MainRun json = RunMain({"version", "-o", "json"});
  EXPECT_THAT(json.out, HasSubstr("\"kubeSchedulerVersion\": \"v1.36.4\""));
  EXPECT_EQ(RunMain({"version", "surplus"}).code, 2);
  EXPECT_EQ(RunMain({"version", "--nonsense"}).code, 2);
}

TEST(MainTest, AsKubeSchedulerItIsTheScheduler) {
  for (const char* program : {"kube-scheduler", "/usr/local/bin/kube-scheduler"}) {
    const MainRun ran = RunMain({"--help"}, nullptr, program);
    EXPECT_EQ(ran.code, 0);
    EXPECT_THAT(ran.out, HasSubstr("Usage:\n  kube-scheduler [flags]\n"));
    EXPECT_EQ(RunMain({"--version"}, nullptr, program).out, std::string("Kubernetes ") + kUpstreamVersion + "\n");
    // No command of ours hides there.
    EXPECT_EQ(RunMain({"sim"}, nullptr, program).err,
              "Error: \"kube-scheduler\" does not take any arguments, got [\"sim\"]\n");
  }
}

TEST(MainTest, ALeadingFlagMeansTheScheduler) {
  EXPECT_THAT(RunMain({"--nope"}).err, HasSubstr("\nError: unknown flag: --nope\n"));
  EXPECT_EQ(RunMain({"--nope"}).code, 1);
  EXPECT_EQ(RunMain({"--leader-elect=false", "--version"}).out, std::string("Kubernetes ") + kUpstreamVersion + "\n");
  EXPECT_EQ(RunMain({"scheduler", "--version"}).out, std::string("Kubernetes ") + kUpstreamVersion + "\n");
  EXPECT_THAT(RunMain({"scheduler", "--help"}).out, HasSubstr("Usage:\n  berth scheduler [flags]\n"));
}

TEST(MainTest, CommandsGetTheirOwnArguments) {
  EXPECT_EQ(RunMain({"sim", "-f", "/nonexistent/file.yaml"}).code, 2);
  EXPECT_EQ(RunMain({"explain", "--offline", "--pod", "x"}).code, 2);
}

class Hello final : public NodePlugin {
 public:
  static constexpr std::string_view kName = "Hello";
  int64_t ScoreNode(const Pod&, NodeView) const override { return 1; }
};

TEST(MainTest, PluginsOfACustomSchedulerAreRegistered) {
  static bool called = false;
  const MainRun ran = RunMain({"version"}, [](Registry& registry) {
    called = true;
    registry.Add<Hello>();
    EXPECT_NE(registry.Find("NodeResourcesFit"), nullptr) << "the built-in ones are there already";
  });
  EXPECT_EQ(ran.code, 0);
  EXPECT_TRUE(called);
}

TEST(MainTest, TwoPluginsOfOneNameAreRefusedBeforeAnythingIsJudged) {
  const MainRun ran = RunMain({"sim", "-f", "/dev/null"}, [](Registry& registry) {
    registry.Add<Hello>();
    registry.Add<Hello>();
  });
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("a plugin named Hello already exists"));
}

}  // namespace
}  // namespace berth
