// SPDX-License-Identifier: Apache-2.0
// A controller's life against an API server that the test speaks for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <thread>

#include "client/fake_api_server_test_util.h"
#include "controller/controller_config.h"
#include "controller/placements.h"
#include "live/scheduler_process.h"
#include "plugins/builtin.h"

namespace berth::controller {
namespace {

using client::FakeReply;
using client::FakeRequest;
using ::testing::HasSubstr;
using ::testing::Not;

std::string NodeText(const std::string& name) {
  return R"({"kind":"Node","apiVersion":"v1","metadata":{"name":")" + name + R"(","uid":")" + name +
         R"(","resourceVersion":"3"},"spec":{},"status":{"allocatable":{"pods":"0"},)"
         R"("conditions":[{"type":"Ready","status":"True"}]}})";
}
// `of`: its scheduler's name.
std::string PodText(const std::string& name, const std::string& of, const std::string& node = "") {
  std::string pod = client::PodJson(name, 4, "uid-" + name);
  return pod.replace(pod.find("\"spec\":{"), 8,
                     "\"spec\":{\"schedulerName\":\"" + of + "\",\"nodeName\":\"" + node + "\",");
}

class ControllerTest : public ::testing::Test {
 protected:
  ControllerTest() {
    plugins::RegisterBuiltinPlugins(registry_);
    RegisterPlacements(registry_);
    options_.scheduler_name = "mine";
    options_.leader_election.leader_elect = false;
  }
  ~ControllerTest() override { End(); }

  FakeReply Answer(const FakeRequest& request) {
    const std::string path = request.target.substr(0, request.target.find('?'));
    if (path.ends_with("/events")) return {201, request.body, ""};
    if (const size_t at = path.find("/events/"); at != std::string::npos)
      return {200, R"({"kind":"Event","metadata":{"namespace":"ns","name":")" + path.substr(at + 8) + "\"}}", ""};
    if (path.ends_with("/binding") && refuse_binding_ != 0)
      return {refuse_binding_, client::StatusJson(refuse_binding_, "pod is already assigned to node"), ""};
    if (request.method == "POST") return {201, client::SuccessJson(), ""};
    if (request.method == "PATCH") return {200, "{}", ""};
    if (path == "/api/v1/nodes") return {200, client::ListJson("NodeList", "9", nodes_), ""};
    if (path == "/api/v1/pods") return {200, client::ListJson("PodList", "9", pods_), ""};
    return {404, client::StatusJson(404, "not found"), ""};
  }
  void Start() {
    auto made = ControllerConfiguration(options_, registry_);
    ASSERT_TRUE(made.ok()) << made.error().text();
    config::SchedulerConfiguration config = std::move(made).value();
    config.client_connection.content_type = "application/json";  // which a test can read
    live::SchedulerProcessOptions options;
    options.version = "v1.36.4";
    options.api_server = server_.config();
    options.serving.secure_port = 0;
    options.program = "berth-controller";
    options.greeting = "Starting controller";
    options.may_end = true;
    options.seed = 1;
    log_ = std::make_unique<util::Log>(text_, util::LogOptions{.verbosity = 3}, clock_);
    auto process = live::SchedulerProcess::Make(config, registry_, std::move(options), *log_);
    ASSERT_TRUE(process.ok()) << process.error().text();
    process_ = std::move(process).value();
    thread_ = std::thread([this] { code_ = process_->Run(); });
  }
  int End() {
    if (thread_.joinable()) {
      process_->Terminate();
      thread_.join();
    }
    return code_;
  }
  // Bodies of the requests that begin so.
  std::vector<std::string> Asked(const std::string& start) const {
    std::vector<std::string> bodies;
    for (const FakeRequest& request : server_.requests())
      if ((request.method + " " + request.target).starts_with(start)) bodies.push_back(request.body);
    return bodies;
  }
  void Until(const std::function<bool()>& done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!done() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_TRUE(done()) << "it does not come; the log:\n" << text_.str();
  }
  // The watch of a kind, once it is there.
  std::shared_ptr<client::FakeWatch> WatchOf(const std::string& path) {
    for (size_t i = 0; i < 2; ++i) {
      const auto watch = server_.WaitForWatch(i);
      if (watch && watch->request().target.starts_with(path)) return watch;
    }
    return nullptr;
  }

  const util::SystemClock clock_;
  Registry registry_;
  ControllerOptions options_;
  std::vector<std::string> nodes_, pods_;
  int refuse_binding_ = 0;
  client::FakeApiServer server_{[this](const FakeRequest& request) { return Answer(request); }};
  std::ostringstream text_;
  std::unique_ptr<util::Log> log_;
  std::unique_ptr<live::SchedulerProcess> process_;
  std::thread thread_;
  int code_ = -1;
};

constexpr char kEvents[] = "POST /apis/events.k8s.io/v1/namespaces/ns/events";

TEST_F(ControllerTest, ItBindsPodsOfItsNameWhetherTheyFitOrNotAndEndsWell) {
  nodes_ = {NodeText("n1")};
  pods_ = {PodText("a", "mine"), PodText("b", "default-scheduler"), PodText("c", "mine", "n1")};
  Start();
  Until([&] { return !Asked("POST /api/v1/namespaces/ns/pods/a/binding").empty() && !Asked(kEvents).empty(); });
  EXPECT_EQ(End(), 0);
  EXPECT_THAT(Asked("POST /api/v1/namespaces/ns/pods/a/binding").front(), HasSubstr("\"name\":\"n1\""));
  EXPECT_THAT(Asked(kEvents).front(), HasSubstr("Successfully assigned ns/a to n1"));
  EXPECT_THAT(Asked(kEvents).front(), HasSubstr("\"reportingController\":\"mine\""));
  EXPECT_TRUE(Asked("POST /api/v1/namespaces/ns/pods/b/binding").empty());
  EXPECT_TRUE(Asked("POST /api/v1/namespaces/ns/pods/c/binding").empty());
  for (const FakeRequest& request : server_.requests()) {
    EXPECT_TRUE(request.Has("User-Agent: berth-controller/")) << request.head;
    EXPECT_THAT(request.target, Not(HasSubstr("services"))) << "it needs pods and nodes, and nothing else";
  }
  EXPECT_THAT(text_.str(), HasSubstr("\"Starting controller\""));
  EXPECT_THAT(text_.str(), Not(HasSubstr("Kubernetes Scheduler")));
}

TEST_F(ControllerTest, WithoutANodeThePodIsToldAndBoundWhenOneComes) {
  pods_ = {PodText("a", "mine")};
  Start();
  Until([&] { return !Asked(kEvents).empty(); });
  EXPECT_THAT(Asked(kEvents).front(), HasSubstr("no nodes available to schedule pods"));
  EXPECT_THAT(Asked(kEvents).front(), HasSubstr("FailedScheduling"));
  EXPECT_TRUE(Asked("POST /api/v1/namespaces/ns/pods/a/binding").empty());
  const auto watch = WatchOf("/api/v1/nodes");
  ASSERT_NE(watch, nullptr);
  std::string node = NodeText("late");
  watch->Event("ADDED", node.replace(node.find("\"3\""), 3, "\"12\""));
  Until([&] { return !Asked("POST /api/v1/namespaces/ns/pods/a/binding").empty(); });
  EXPECT_THAT(Asked("POST /api/v1/namespaces/ns/pods/a/binding").front(), HasSubstr("\"name\":\"late\""));
  EXPECT_EQ(End(), 0);
}

TEST_F(ControllerTest, APodThatSomebodyElseHasBoundIsLetGo) {
  nodes_ = {NodeText("n1")};
  pods_ = {PodText("a", "mine")};
  refuse_binding_ = 409;
  Start();
  const auto tries = [&] { return Asked("POST /api/v1/namespaces/ns/pods/a/binding").size(); };
  Until([&] { return tries() > 0; });
  const auto watch = WatchOf("/api/v1/pods");
  ASSERT_NE(watch, nullptr);
  std::string pod = PodText("a", "mine", "n7");
  watch->Event("MODIFIED", pod.replace(pod.find("\"4\""), 3, "\"12\""));
  // What comes after it on the watch is seen after it.
  std::string next = PodText("b", "mine");
  watch->Event("ADDED", next.replace(next.find("\"4\""), 3, "\"13\""));
  Until([&] { return !Asked("POST /api/v1/namespaces/ns/pods/b/binding").empty(); });
  // The backoff of the first failure is a second; afterwards it would be tried again.
  const size_t before = tries();
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  EXPECT_EQ(tries(), before);
  EXPECT_EQ(End(), 0);
}

TEST_F(ControllerTest, ABindingThatIsRefusedIsTriedAgain) {
  nodes_ = {NodeText("n1")};
  pods_ = {PodText("a", "mine")};
  refuse_binding_ = 409;
  Start();
  Until([&] { return Asked("POST /api/v1/namespaces/ns/pods/a/binding").size() > 1; });
  EXPECT_EQ(End(), 0);
}

}  // namespace
}  // namespace berth::controller
