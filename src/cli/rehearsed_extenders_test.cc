// SPDX-License-Identifier: Apache-2.0
// Extenders in `berth explain` and `berth sim`: ignored and named, or asked for real; and never to bind.
#include "cli/rehearsed_extenders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>

#include "api/json_value.h"
#include "cli/explain_command.h"
#include "cli/sim_command.h"
#include "net/http_client_test_util.h"
#include "plugins/builtin.h"

namespace berth::cli {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kThreeNodes[] = R"(
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: a, annotations: {rack: r1}}, status: {allocatable: {cpu: "2", memory: 8Gi, pods: "10"}}}
- {apiVersion: v1, kind: Node, metadata: {name: b}, status: {allocatable: {cpu: "2", memory: 8Gi, pods: "10"}}}
- {apiVersion: v1, kind: Node, metadata: {name: c}, status: {allocatable: {cpu: "2", memory: 8Gi, pods: "10"}}}
- {apiVersion: v1, kind: Pod, metadata: {name: low, annotations: {x: "on"}}, spec: {nodeName: c, containers: [{name: c, image: i, resources: {requests: {cpu: "2"}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: web, annotations: {team: red}}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}}
)";

class RehearsedExtendersTest : public ::testing::Test {
 protected:
  RehearsedExtendersTest() {
    plugins::RegisterBuiltinPlugins(registry_);
    directory_ = (std::filesystem::temp_directory_path() / "berth-rehearsal-XXXXXX").string();
    EXPECT_NE(mkdtemp(directory_.data()), nullptr);
    objects_ = File("objects.yaml", kThreeNodes);
    config_ = Config("http://127.0.0.1:1");
    server_ = net::Serve([this](net::HttpRequest request, const net::Respond& respond) {
      const std::lock_guard lock(mutex_);
      heard_.push_back(request.path + " " + request.body);
      const auto answer = answers_.find(request.path);
      respond({answer == answers_.end() ? 500 : 200,
               "application/json",
               answer == answers_.end() ? "" : answer->second,
               {}});
    });
    url_ = "http://127.0.0.1:" + std::to_string(server_->port());
    Say("/filter", R"({"Nodes":{"items":[{"metadata":{"name":"b"}},{"metadata":{"name":"a"}}]}})");
    Say("/prioritize", R"([{"Host":"a","Score":1},{"Host":"b","Score":9}])");
    Say("/bind", "{}");
  }
  ~RehearsedExtendersTest() override { std::filesystem::remove_all(directory_); }
  // The extender's answer from now on.
  void Say(const std::string& path, std::string answer) {
    const std::lock_guard lock(mutex_);
    answers_[path] = std::move(answer);
  }
  void SayNothing(const std::string& path) {
    const std::lock_guard lock(mutex_);
    answers_.erase(path);
  }
  std::string File(const std::string& name, const std::string& text) {
    std::ofstream(directory_ + "/" + name) << text;
    return directory_ + "/" + name;
  }
  std::string Config(const std::string& url) {
    return File("config.yaml",
                "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nextenders:\n"
                "- {urlPrefix: \"" +
                    url +
                    "\", filterVerb: filter, prioritizeVerb: prioritize, preemptVerb: preempt,\n"
                    "   bindVerb: bind, weight: 2, httpTimeout: 5s}\n");
  }
  int Explain(std::vector<std::string> args) {
    args.insert(args.end(), {"--offline", "-f", objects_, "--pod", "web", "--config", config_, "-o", "json"});
    return ExplainCommand(args, registry_, out_, err_);
  }
  int Sim(std::vector<std::string> args) {
    args.insert(args.end(), {"-f", objects_, "--config", config_});
    return SimCommand(args, registry_, out_, err_);
  }
  std::vector<std::string> Called() { return {"--extenders", "call", "--extender-url", "0=" + url_}; }
  std::vector<std::string> heard() {
    const std::lock_guard lock(mutex_);
    return heard_;
  }

  Registry registry_;
  std::string directory_, objects_, config_, url_;
  std::ostringstream out_, err_;
  std::mutex mutex_;
  std::vector<std::string> heard_;
  std::map<std::string, std::string> answers_;
  std::unique_ptr<net::HttpServer> server_;
};

TEST_F(RehearsedExtendersTest, WhoIsNotAskedIsNamed) {
  EXPECT_EQ(Explain({}), 0) << err_.str();
  EXPECT_THAT(err_.str(), HasSubstr("extenders[0] (http://127.0.0.1:1) was not asked"));
  EXPECT_THAT(out_.str(), HasSubstr("\"extendersNotAsked\": ["));
  out_.str("");
  err_.str("");
  EXPECT_EQ(Sim({}), 0) << err_.str();
  EXPECT_THAT(err_.str(), HasSubstr("note: extenders[0] (http://127.0.0.1:1) was not asked"));
}

TEST_F(RehearsedExtendersTest, VerdictsAndScoresStandBesideThePlugins) {
  Say("/filter", R"({"Nodes":{"items":[{"metadata":{"name":"b"}},{"metadata":{"name":"c"}}]},)"
                 R"("FailedNodes":{"a":"no licence"}})");
  objects_ = File("objects.yaml",
                  std::string(kThreeNodes).replace(std::string(kThreeNodes).find("nodeName: c"), 11, "nodeName: x"));
  Say("/prioritize", R"([{"Host":"c","Score":1},{"Host":"b","Score":9}])");
  EXPECT_EQ(Explain(Called()), 0) << err_.str();
  const std::string json = out_.str();
  EXPECT_THAT(json, HasSubstr("\"plugin\": \"Extender\""));
  EXPECT_THAT(json, HasSubstr("\"no licence\""));
  EXPECT_THAT(json,
              HasSubstr("\"" + url_ +
                        "\": {\n          \"raw\": 9,\n          \"normalized\": 9,\n          \"weighted\": 180"));
  EXPECT_THAT(json, Not(HasSubstr("extendersNotAsked")));
  const std::vector<std::string> all = heard();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_THAT(all[0], HasSubstr(R"("annotations":{"team":"red"})")) << "as the file has it";
  EXPECT_THAT(all[0], HasSubstr(R"("annotations":{"rack":"r1"})"));
  EXPECT_THAT(all[0], Not(HasSubstr(R"("kind")")));
  EXPECT_THAT(all[1], HasSubstr("/prioritize "));
}

TEST_F(RehearsedExtendersTest, AFailureIsTheAnswer) {
  SayNothing("/filter");
  EXPECT_EQ(Explain(Called()), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("failed filter with extender at URL " + url_ + "/filter, code 500"));
}

TEST_F(RehearsedExtendersTest, ASimulationAsksAndNeverLetsItBind) {
  EXPECT_EQ(Sim(Called()), 0) << err_.str();
  EXPECT_THAT(out_.str(), ::testing::ContainsRegex("web +b "));
  EXPECT_THAT(heard(), Contains(HasSubstr("/filter ")));
  EXPECT_THAT(heard(), Contains(HasSubstr("/prioritize ")));
  EXPECT_THAT(heard(), Each(Not(HasSubstr("/bind"))));
}

TEST_F(RehearsedExtendersTest, VictimsAreAskedAboutInBoth) {
  objects_ = File("objects.yaml", R"(
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: c}, status: {allocatable: {cpu: "2", memory: 8Gi, pods: "10"}}}
- {apiVersion: v1, kind: Pod, metadata: {name: low, uid: u-low, annotations: {x: "on"}}, spec: {nodeName: c, containers: [{name: c, image: i, resources: {requests: {cpu: "2"}}}]}}
- {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 10}
- {apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {priorityClassName: high, containers: [{name: c, image: i, resources: {requests: {cpu: "2"}}}]}}
)");
  Say("/preempt", R"({"NodeNameToMetaVictims":{}})");
  EXPECT_EQ(Explain(Called()), 0) << err_.str();
  EXPECT_THAT(heard(), ElementsAre(HasSubstr(R"("annotations":{"x":"on"})")));
  EXPECT_THAT(out_.str(), HasSubstr("preemption: no candidate node for preemption"));
}

TEST_F(RehearsedExtendersTest, FlagsThatMakeNoSense) {
  const struct {
    std::vector<std::string> args;
    const char* text;
  } cases[] = {
      {{"--extenders", "perhaps"}, "perhaps"},
      {{"--extender-url", "0=http://x"}, "needs --extenders=call"},
      {{"--extenders=call", "--extender-url", "http://x"}, "must be INDEX=URL"},
      {{"--extenders=call", "--extender-url", "-1=http://x"}, "must be INDEX=URL"},
      {{"--extenders=call", "--extender-url", "0="}, "--extender-url"},
      {{"--extenders=call", "--extender-url", "0=http://x", "--extender-url", "0=http://y"}, "given before"},
      {{"--extenders=call", "--extender-url", "3=http://x"}, "the configuration has 1 extenders"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    err_.str("");
    EXPECT_EQ(Explain(c.args), 2);
    EXPECT_THAT(err_.str(), HasSubstr(c.text));
    err_.str("");
    EXPECT_EQ(Sim(c.args), 2);
    EXPECT_THAT(err_.str(), HasSubstr(c.text));
  }
  EXPECT_THAT(heard(), IsEmpty());
}

}  // namespace
}  // namespace berth::cli
