// SPDX-License-Identifier: Apache-2.0
// What a plugin logs, in every host: its name, its keys, the program's format and level.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>
#include <thread>  // the server has some: for ThreadSanitizer

#include "berth/testing.h"
#include "cli/explain_command.h"
#include "cli/sim_command.h"
#include "extender/extender_server.h"
#include "extender/extender_test_util.h"
#include "net/http_test_util.h"
#include "net/tls_test_util.h"
#include "plugins/builtin.h"
#include "util/system_clock.h"

namespace berth::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Speaks at every level there is.
class Talks final : public NodePlugin {
 public:
  static constexpr std::string_view kName = "Talks";
  explicit Talks(Handle& handle) : log_(handle.log()) {}
  Verdict FilterNode(const Pod& pod, NodeView node) const override {
    log_.V(3).Info("Looked", {{"pod", pod}, {"node", node.name()}});
    log_.Warn("Rack is hot", {{"node", node.name()}, {"celsius", 40}});
    return kFits;
  }

 private:
  const Logger log_;
};

constexpr char kObjects[] =
    "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"
    "status: {allocatable: {cpu: \"8\", memory: 16Gi, pods: \"110\"}}\n"
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i}]}\n";
constexpr char kConfiguration[] =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    "profiles: [{plugins: {multiPoint: {enabled: [{name: Talks}]}}}]\n";

class PluginLogTest : public ::testing::Test {
 protected:
  PluginLogTest() {
    plugins::RegisterBuiltinPlugins(registry_);
    registry_.Add<Talks>();
    ::unsetenv("LOG_LEVEL");
  }
  // What the command writes to standard error.
  std::string Run(decltype(&ExplainCommand) command, std::vector<std::string> args) {
    std::ostringstream out, err;
    args.insert(args.end(), {"-f", folder_.Write("objects.yaml", kObjects), "--config",
                             folder_.Write("config.yaml", kConfiguration)});
    EXPECT_EQ(command(args, registry_, out, err), 0) << err.str();
    return err.str();
  }
  std::string Explain(std::vector<std::string> args) {
    args.insert(args.end(), {"--offline", "--pod", "p"});
    return Run(ExplainCommand, args);
  }

  Registry registry_;
  net::TestFolder folder_;
};

constexpr char kHot[] =
    "W[0-9]{4} .* plugin_log_test.cc:[0-9]+\\] \"Rack is hot\" logger=\"Talks\" node=\"n1\" celsius=40\n";
constexpr char kLooked[] = "\"Looked\" logger=\"Talks\" pod=\"default/p\" node=\"n1\"\n";

TEST_F(PluginLogTest, ExplainHasWarningsAndWithVerbosityTheRest) {
  EXPECT_THAT(Explain({}), ContainsRegex(kHot));
  EXPECT_THAT(Explain({}), Not(HasSubstr("Looked")));
  EXPECT_THAT(Explain({"-v=2"}), Not(HasSubstr("Looked")));
  EXPECT_THAT(Explain({"-v=3"}), HasSubstr(kLooked));
  EXPECT_THAT(Explain({"-v=3", "--logging-format=json"}),
              HasSubstr(R"("msg":"Looked","v":3,"pod":{"name":"p","namespace":"default"},"node":"n1"})"));
}

TEST_F(PluginLogTest, TheLevelOfTheEnvironmentCountsToo) {
  ::setenv("LOG_LEVEL", "ERROR", 1);
  EXPECT_EQ(Explain({}), "");
  ::setenv("LOG_LEVEL", "DEBUG", 1);
  EXPECT_THAT(Explain({}), HasSubstr(kLooked));
  ::unsetenv("LOG_LEVEL");
}

TEST_F(PluginLogTest, TheSimulatorLogsInVirtualTime) {
  ::setenv("TZ", "UTC", 1);
  EXPECT_THAT(Run(SimCommand, {}), ContainsRegex(kHot));
  EXPECT_THAT(Run(SimCommand, {}), ContainsRegex("W0101 00:00:00"));
  EXPECT_THAT(Run(SimCommand, {}), Not(HasSubstr("Looked")));
  EXPECT_THAT(Run(SimCommand, {"-v", "3"}), HasSubstr(kLooked));
  ::unsetenv("TZ");
}

TEST_F(PluginLogTest, VerifyingLogsNothingTwice) {
  const std::string text = Run(SimCommand, {"--verify"});
  const size_t first = text.find("Rack is hot");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(text.find("Rack is hot", first + 1), std::string::npos) << text;
}

TEST_F(PluginLogTest, TheExtenderHasItAmongItsOwnLines) {
  std::ostringstream text;
  const util::SystemClock clock;
  util::Log log(text, {.verbosity = 3}, clock);
  extender::ExtenderServerOptions options;
  options.profile = extender::ProfileOf({"Talks"});
  options.routes = {{"/filter", extender::Verb::kFilter}};
  auto server = extender::ExtenderServer::Start(options, registry_, clock, nullptr, log);
  ASSERT_TRUE(server.ok()) << server.error().text();
  net::RawClient client((*server)->port());
  const std::string body =
      R"({"Pod":{"metadata":{"name":"p","namespace":"default"}},"Nodes":{"items":[{"metadata":{"name":"n1"}}]}})";
  client.Send("POST /filter HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n" + body);
  client.ReadAll();
  (*server)->Stop(Duration::Millis(1));
  EXPECT_THAT(text.str(), ContainsRegex(kHot));
  EXPECT_THAT(text.str(), HasSubstr(kLooked));
  EXPECT_THAT(text.str(), HasSubstr("\"Served\" route=\"/filter\""));
}

TEST_F(PluginLogTest, ATestKeepsTheLines) {
  TestLog log;
  const std::unique_ptr<Handle> handle = MakeTestHandle({}, &log);
  const Talks plugin(*handle);
  EXPECT_TRUE(FilterOne(plugin, MakePod("p"), MakeNode("n1")).fits());
  EXPECT_THAT(log.lines(),
              ElementsAre("I \"Looked\" pod=\"default/p\" node=\"n1\"", "W \"Rack is hot\" node=\"n1\" celsius=40"));
}

}  // namespace
}  // namespace berth::cli
