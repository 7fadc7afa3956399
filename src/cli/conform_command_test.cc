// SPDX-License-Identifier: Apache-2.0
// `berth conform`: its flags, its exit codes, and our own extender in front of it.
#include "cli/conform_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <sstream>
#include <thread>  // the server has some: for ThreadSanitizer

#include "extender/extender_server.h"
#include "extender/preset_plugins.h"
#include "extender/presets.h"
#include "util/log.h"
#include "util/system_clock.h"

namespace berth::cli {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class ConformCommandTest : public ::testing::Test {
 protected:
  ConformCommandTest() { extender::RegisterPresetPlugins(registry_); }

  // One of our presets, without an API server.
  void Serve(const char* name) {
    const Result<extender::Preset> preset = extender::MakePreset(name);
    ASSERT_TRUE(preset.ok());
    extender::ExtenderServerOptions options;
    options.profile = preset->profile;
    options.service = preset->options;
    options.routes = preset->routes;
    options.server.threads = 2;
    log_.emplace(log_text_, util::LogOptions{.verbosity = util::log_level::kError}, clock_);
    auto server = extender::ExtenderServer::Start(options, registry_, clock_, nullptr, *log_);
    ASSERT_TRUE(server.ok()) << server.error().text();
    server_ = std::move(server).value();
    url_ = "http://127.0.0.1:" + std::to_string(server_->port());
  }
  int Run(const std::vector<std::string>& args) {
    out_.str("");
    err_.str("");
    return ConformCommand(args, out_, err_);
  }
  // With bodies that a test has time for, and time for a busy machine.
  int RunOnServer(std::vector<std::string> args) {
    args.insert(args.begin(), {url_, "--nodes", "100", "--timeout", "60s"});
    return Run(args);
  }

  Registry registry_;
  util::SystemClock clock_;
  std::ostringstream log_text_;
  std::optional<util::Log> log_;
  std::unique_ptr<extender::ExtenderServer> server_;
  std::string url_;
  std::ostringstream out_, err_;
};

TEST_F(ConformCommandTest, OurDemoExtenderPassesWithoutAWarningInBothShapes) {
  Serve("demo");
  EXPECT_EQ(RunOnServer({"--filter-verb", "scheduler/predicates/TruePredicate", "--prioritize-verb",
                         "scheduler/priorities/ZeroPriority", "--preempt-verb", "scheduler/preemption", "--bind-verb",
                         "scheduler/bind", "--shape", "both", "--strict"}),
            0)
      << out_.str() << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("74 checks: 74 passed, 0 with warnings, 0 failed, 0 skipped"));
  EXPECT_THAT(out_.str(), HasSubstr("refuses a pod that does not exist: the demo extender binds nothing"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("\x1b"))) << "a string is no terminal";
}

TEST_F(ConformCommandTest, TheIndexExtenderIsWarnedAboutItsScores) {
  Serve("demo-index");
  EXPECT_EQ(RunOnServer({"--shape", "both", "--skip", "latency", "-o", "json"}), 0) << out_.str();
  EXPECT_THAT(out_.str(), HasSubstr("1 score outside 0 to 10, for example 11"));
  EXPECT_THAT(out_.str(), HasSubstr("\"failed\": 0"));
  EXPECT_EQ(RunOnServer({"--shape", "both", "--strict", "--skip", "latency", "--skip", "server"}), 1);
  EXPECT_THAT(out_.str(), HasSubstr("(warnings fail with --strict)"));
}

TEST_F(ConformCommandTest, TheLabelExtenderPassesOnLabelledNodesAndNeedsAClusterForNames) {
  Serve("label-priority");
  EXPECT_EQ(
      RunOnServer({"--shape", "nodes", "--strict", "--skip", "latency", "--node-label", "priority.lixueduan.com=7"}), 0)
      << out_.str();
  EXPECT_THAT(out_.str(), HasSubstr("12 nodes: 8 pass, 4 fail"));
  EXPECT_EQ(RunOnServer({"--node-label", "priority.lixueduan.com=7", "--skip", "server", "--skip", "latency"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("serves whole nodes only"));
  EXPECT_EQ(RunOnServer({"--shape", "names", "-o", "junit"}), 1);
  EXPECT_THAT(out_.str(), HasSubstr("<testsuites name=\"berth conform\""));
  EXPECT_THAT(out_.str(), HasSubstr("no API server is configured"));
}

TEST_F(ConformCommandTest, TheFirstRunOnTheLabelExtenderSaysWhichNodesItNeeds) {
  Serve("label-priority");
  EXPECT_EQ(RunOnServer({"--skip", "server", "--skip", "latency"}), 1);
  EXPECT_THAT(out_.str(),
              HasSubstr("\nhint: the nodes were made up: an extender that wants a label needs --node-label "));
}

TEST_F(ConformCommandTest, NothingCheckedIsNoPass) {
  Serve("label-priority");
  for (const char* format : {"text", "json", "junit"}) {
    EXPECT_EQ(RunOnServer({"--skip", "answers", "-o", format}), 1) << format;
    EXPECT_THAT(out_.str(), AnyOf(HasSubstr("nothing was checked"), HasSubstr("\"ok\": false"))) << format;
  }
}

TEST_F(ConformCommandTest, NobodyThereIsNeitherPassNorFail) {
  EXPECT_EQ(Run({"http://127.0.0.1:1"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("nobody answers at http://127.0.0.1:1"));
  EXPECT_THAT(out_.str(), IsEmpty());
}

TEST_F(ConformCommandTest, BadArgumentsAreNamed) {
  const std::string url = "http://127.0.0.1:1";
  const struct {
    std::vector<std::string> args;
    const char* complaint;
  } cases[] = {
      {{}, "no URL"},
      {{url, "more"}, "unexpected argument \"more\""},
      {{"ftp://x"}, "ftp://x"},
      {{url, "--shape", "round"}, "must be one of auto, both, nodes, names"},
      {{url, "--nodes", "0"}, "flag --nodes: must be between 1 and 100000, got 0"},
      {{url, "--timeout", "soon"}, "flag --timeout"},
      {{url, "--timeout", "0s"}, "flag --timeout: must be above 0s"},
      {{url, "--node-label", "x"}, "flag --node-label: must be KEY=VALUE, got \"x\""},
      {{url, "--insecure", "--ca-file", "ca.pem"}, "flag --insecure"},
      {{url, "--cert-file", "x.pem"}, "--key-file"},
      {{url, "--pod", "/nonexistent/pod.yaml"}, "flag --pod: /nonexistent/pod.yaml"},
      {{url, "--nodes-file", "/nonexistent/nodes.yaml"}, "flag --nodes-file: /nonexistent/nodes.yaml"},
      {{url, "--skip", "nothing-of-that-name"}, "no check is named \"nothing-of-that-name\""},
      {{url, "--filter-verb=", "--prioritize-verb="}, "no verb is to be checked"},
      {{"https://127.0.0.1:1", "--ca-file", "/nonexistent/ca.pem"}, "/nonexistent/ca.pem"},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(Run(one.args), 2) << one.complaint;
    EXPECT_THAT(err_.str(), HasSubstr(one.complaint));
  }
}

TEST_F(ConformCommandTest, ChecksAreListedByName) {
  EXPECT_EQ(Run({"--list-checks"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("filter.names.subset"));
  EXPECT_THAT(out_.str(), HasSubstr("server.slow-client"));
}

}  // namespace
}  // namespace berth::cli
