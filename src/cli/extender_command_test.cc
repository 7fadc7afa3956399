// SPDX-License-Identifier: Apache-2.0
// `berth extender`: what it refuses, what it says at start, and that it ends when told to.
#include "cli/extender_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <sstream>
#include <thread>

#include "berth/testing.h"
#include "extender/preset_plugins.h"
#include "net/http_test_util.h"
#include "net/tls_test_util.h"
#include "plugins/builtin.h"

namespace berth::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// A stream that one thread writes and another reads.
class SharedText final : public std::streambuf {
 public:
  std::string text() {
    const std::lock_guard lock(mutex_);
    return text_;
  }
  void Clear() {
    const std::lock_guard lock(mutex_);
    text_.clear();
  }

 protected:
  int_type overflow(int_type c) override {
    const std::lock_guard lock(mutex_);
    text_.push_back(static_cast<char>(c));
    return c;
  }
  std::streamsize xsputn(const char* data, std::streamsize size) override {
    const std::lock_guard lock(mutex_);
    text_.append(data, static_cast<size_t>(size));
    return size;
  }

 private:
  std::mutex mutex_;
  std::string text_;
};

// Keeps pods off nodes with the label `hot`.
class Cool final : public NodePlugin {
 public:
  static constexpr std::string_view kName = "Cool";
  static constexpr Reason kHot{"node(s) were hot", Remedy::kNone};
  Verdict FilterNode(const Pod&, NodeView node) const override { return node.Label("hot") ? kHot : kFits; }
};

// Has the name of a preset's plugin.
class Namesake final : public NodePlugin {
 public:
  static constexpr std::string_view kName = "LabelPriority";
  int64_t ScoreNode(const Pod&, NodeView) const override { return 1; }
};

class ExtenderCommandTest : public ::testing::Test {
 protected:
  ExtenderCommandTest() {
    plugins::RegisterBuiltinPlugins(registry_);
    extender::RegisterPresetPlugins(registry_);
    registry_.Add<Cool>();
    ::setenv("LOG_LEVEL", "INFO", 1);
    ::unsetenv("KUBERNETES_SERVICE_HOST");
  }
  ~ExtenderCommandTest() override {
    if (thread_.joinable()) Stop();  // a test that has failed
  }
  // Runs it where it ends by itself.
  int Refused(const std::vector<std::string>& args) {
    std::ostringstream out, err;
    const int code = ExtenderCommand(args, registry_, out, err);
    said_ = err.str();
    return code;
  }
  // Starts it on a free port; returns when it listens. What it says about further routes may come later.
  void Start(std::vector<std::string> args) {
    args.insert(args.end(), {"--port", "0"});
    err_.Clear();
    ended_ = false;
    thread_ = std::thread([this, args] {
      std::ostream out(&out_), err(&err_);
      code_ = ExtenderCommand(args, registry_, out, err);
      ended_ = true;
    });
    constexpr char kPort[] = "server listening on the port : ";
    while (err_.text().find(kPort) == std::string::npos || err_.text().find("serves ") == std::string::npos) {
      ASSERT_FALSE(ended_) << err_.text();
      std::this_thread::yield();
    }
    const std::string text = err_.text();
    port_ = static_cast<uint16_t>(std::stoi(text.substr(text.find(kPort) + sizeof kPort - 1)));
  }
  int Stop(int signal = SIGTERM) {
    pthread_kill(thread_.native_handle(), signal);
    thread_.join();
    return code_;
  }
  std::string Ask(const std::string& head, const std::string& body = "") const {
    net::RawClient client(port_);
    client.Send(head + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) +
                "\r\n\r\n" + body);
    return client.ReadAll();
  }

  Registry registry_;
  net::TestFolder folder_;
  std::string said_;
  SharedText out_, err_;
  std::thread thread_;
  std::atomic<bool> ended_ = false;
  int code_ = -1;
  uint16_t port_ = 0;
};

constexpr char kTwoNodes[] =
    R"({"Pod":{"metadata":{"name":"p","namespace":"d"}},"Nodes":{"items":[{"metadata":{"name":"a",)"
    R"("labels":{"hot":"1","priority.lixueduan.com":"7"}}},{"metadata":{"name":"b"}}]},"NodeNames":null})";

TEST_F(ExtenderCommandTest, APresetIsServedUntilASignalComes) {
  Start({"--preset", "label-priority"});
  EXPECT_THAT(err_.text(), HasSubstr("Log level was set to INFO"));
  EXPECT_THAT(err_.text(), HasSubstr(", at http://127.0.0.1:" + std::to_string(port_)));
  EXPECT_THAT(Ask("GET /version"), HasSubstr("200 OK"));
  EXPECT_THAT(Ask("POST /prioritize", kTwoNodes), HasSubstr(R"([{"Host":"a","Score":7},{"Host":"b","Score":0}])"));
  EXPECT_THAT(Ask("GET /filter"), HasSubstr("405"));
  EXPECT_EQ(Stop(), 0);
  EXPECT_THAT(err_.text(), HasSubstr("serves filter (only the best) at POST /filter_onlyone"));
  EXPECT_THAT(err_.text(), Not(HasSubstr("ANYBODY")));
  EXPECT_THAT(err_.text(), HasSubstr("SIGTERM: calls under way are answered"));
}

TEST_F(ExtenderCommandTest, RequestsToTheApiServerAreLimitedByFlagConfigurationOrPreset) {
  // Nobody listens there; the limits are told at the start.
  const std::string kubeconfig = folder_.Write("k.yaml",
                                               "current-context: c\n"
                                               "contexts: [{name: c, context: {cluster: here, user: me}}]\n"
                                               "clusters: [{name: here, cluster: {server: 'http://127.0.0.1:1'}}]\n"
                                               "users: [{name: me, user: {}}]\n");
  const std::string config = folder_.Write("c.yaml",
                                           "apiVersion: kubescheduler.config.k8s.io/v1\n"
                                           "kind: KubeSchedulerConfiguration\n"
                                           "clientConnection: {qps: 7.5, burst: 9}\n"
                                           "profiles: [{plugins: {filter: {enabled: [{name: Cool}]}}}]\n");
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--preset=demo"}, "at most 100 requests a second and 200 at once"},
      {{"--preset=demo", "--kube-api-qps=20", "--kube-api-burst=30"}, "at most 20 requests a second and 30 at once"},
      {{"--preset=demo", "--kube-api-qps=0"}, "any number of requests a second"},
      {{"--config", config}, "at most 7.5 requests a second and 9 at once"},
      {{"--config", config, "--kube-api-burst=12"}, "at most 7.5 requests a second and 12 at once"},
  };
  for (const auto& [args, limits] : cases) {
    std::vector<std::string> all = args;
    all.insert(all.end(), {"--kubeconfig", kubeconfig});
    Start(std::move(all));
    EXPECT_EQ(Stop(), 0);
    EXPECT_THAT(err_.text(), HasSubstr("API server http://127.0.0.1:1, from kubeconfig " + kubeconfig + ", " + limits));
  }
}

TEST_F(ExtenderCommandTest, AProfileIsServedUnderAnyPrefixAndVerb) {
  const std::string config = folder_.Write("c.yaml",
                                           "apiVersion: kubescheduler.config.k8s.io/v1\n"
                                           "kind: KubeSchedulerConfiguration\n"
                                           "profiles:\n"
                                           "- schedulerName: one\n"
                                           "- schedulerName: two\n"
                                           "  plugins: {filter: {enabled: [{name: Cool}]}}\n");
  Start({"--config", config, "--profile=two", "--prefix", "/api/scheduler/", "--filter-verb=f", "--bind-verb="});
  EXPECT_THAT(Ask("POST /api/scheduler/f", kTwoNodes), HasSubstr(R"("FailedAndUnresolvableNodes":{"a":"node(s) were)"));
  EXPECT_THAT(Ask("POST /api/scheduler/preempt", "{}"), HasSubstr("400"));
  EXPECT_THAT(Ask("POST /api/scheduler/bind", "{}"), HasSubstr("404"));
  EXPECT_EQ(Stop(SIGINT), 0);

  EXPECT_EQ(Refused({"--config", config}), 2);
  EXPECT_THAT(said_, HasSubstr("has several profiles; name one with --profile: one, two"));
  EXPECT_EQ(Refused({"--config", config, "--profile", "three"}), 2);
  EXPECT_THAT(said_, HasSubstr("has no profile \"three\"; there are one, two"));
  // Nothing is enabled by default here.
  EXPECT_EQ(Refused({"--config", config, "--profile", "one", "--port=0"}), 2);
  EXPECT_THAT(said_, HasSubstr("the profile names no plugin"));
}

TEST_F(ExtenderCommandTest, WhatTheProtocolCannotCarryIsRefusedByName) {
  const std::string config = folder_.Write("c.yaml",
                                           "apiVersion: kubescheduler.config.k8s.io/v1\n"
                                           "kind: KubeSchedulerConfiguration\n"
                                           "profiles:\n"
                                           "- plugins: {multiPoint: {enabled: [{name: SchedulingGates}]}}\n");
  EXPECT_EQ(Refused({"--config", config, "--port=0"}), 2);
  EXPECT_THAT(said_, HasSubstr("plugin \"SchedulingGates\" cannot be served at PreEnqueue: "));
}

TEST_F(ExtenderCommandTest, VerbsThatAreGivenReplaceThoseOfAPreset) {
  Start({"--preset=label-priority", "--prefix=/x", "--filter-verb=only", "--only-best", "--bind-verb="});
  EXPECT_THAT(Ask("POST /x/only", kTwoNodes), HasSubstr(R"("name":"a")"));
  EXPECT_THAT(Ask("POST /x/prioritize", kTwoNodes), HasSubstr("200"));
  for (const char* path : {"/x/filter", "/x/filter_onlyone", "/x/bind", "/prioritize"}) {
    EXPECT_THAT(Ask(std::string("POST ") + path, kTwoNodes), HasSubstr("404")) << path;
  }
  Stop();
}

TEST_F(ExtenderCommandTest, APresetIsServedByItsOwnPluginsWhoeverHasTheirNames) {
  registry_ = {};
  registry_.Add<Namesake>();
  extender::RegisterPresetPlugins(registry_);
  EXPECT_EQ(registry_.Find("LabelPriority")->points, Bit(Point::kScore));
  Start({"--preset", "label-priority"});
  EXPECT_THAT(Ask("POST /prioritize", kTwoNodes), HasSubstr(R"([{"Host":"a","Score":7},{"Host":"b","Score":0}])"));
  Stop();
}

TEST_F(ExtenderCommandTest, ALevelThatIsNoneIsInfoWithAWarning) {
  ::setenv("LOG_LEVEL", "LOUD", 1);
  Start({"--preset=demo"});
  EXPECT_THAT(err_.text(), HasSubstr("LOG_LEVEL=\"LOUD\" is empty or invalid, falling back to \"INFO\"."));
  EXPECT_THAT(err_.text(), HasSubstr("Log level was set to INFO"));
  Stop();
}

TEST_F(ExtenderCommandTest, VerbosityAndFormatAreFlagsThatBeatTheLevel) {
  ::setenv("LOG_LEVEL", "LOUD", 1);
  Start({"--preset=demo-index", "-v=4"});
  EXPECT_THAT(err_.text(), Not(HasSubstr("LOG_LEVEL")));
  EXPECT_THAT(err_.text(), HasSubstr("Log level was set to DEBUG, -v=4"));
  Ask("POST /filter", kTwoNodes);
  EXPECT_THAT(err_.text(), HasSubstr("] \"Request\" route=\"/filter\""));
  EXPECT_EQ(Stop(), 0);
  Start({"--preset=demo-index", "-v", "0", "--logging-format=json"});
  Ask("POST /filter", kTwoNodes);
  EXPECT_EQ(Stop(), 0);
  std::istringstream lines(err_.text());
  size_t served = 0;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_TRUE(line.starts_with("{\"ts\":") && line.ends_with("}")) << line;
    served += line.find(R"("msg":"Served","v":0,"route":"/filter")") != std::string::npos;
    EXPECT_EQ(line.find("\"Request\""), std::string::npos) << line;
  }
  EXPECT_EQ(served, 1u) << err_.text();
}

TEST_F(ExtenderCommandTest, VerbosityAndFormatAreChecked) {
  EXPECT_EQ(Refused({"--preset=demo", "-v=-1"}), 2);
  EXPECT_THAT(said_, HasSubstr("flag -v: must be 0 to 2147483647, got -1"));
  EXPECT_EQ(Refused({"--preset=demo", "-v=loud"}), 2);
  EXPECT_THAT(said_, HasSubstr("flag -v: must be a whole number, got \"loud\""));
  EXPECT_EQ(Refused({"--preset=demo", "--logging-format=xml"}), 2);
  EXPECT_THAT(said_, HasSubstr("flag --logging-format: must be one of text, json, got \"xml\""));
}

TEST_F(ExtenderCommandTest, AnOpenDoorIsToldOfAtAnyLevel) {
  ::setenv("LOG_LEVEL", "ERROR", 1);
  thread_ = std::thread([this] {
    std::ostream out(&out_), err(&err_);
    // An address that is loopback, but in a form that we do not take for one.
    code_ = ExtenderCommand({"--preset=demo", "--address=127.1", "--port=0"}, registry_, out, err);
    ended_ = true;
  });
  while (err_.text().find("ANYBODY WHO REACHES 127.1 CAN CALL") == std::string::npos && !ended_) {
    std::this_thread::yield();
  }
  EXPECT_FALSE(ended_) << err_.text();
  EXPECT_EQ(Stop(), 0);
}

TEST_F(ExtenderCommandTest, APodWithoutAnAccountHasNoApiServer) {
  if (std::filesystem::exists("/var/run/secrets/kubernetes.io/serviceaccount/token")) GTEST_SKIP() << "there is one";
  ::setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1", 1);
  Start({"--preset=demo-index"});
  ::unsetenv("KUBERNETES_SERVICE_HOST");
  EXPECT_THAT(err_.text(), HasSubstr("without a service account token: there is no "));
  EXPECT_THAT(err_.text(), HasSubstr("there is no API server: bind, and NodeNames"));
  EXPECT_THAT(Ask("POST /bind", R"({"PodName":"p","PodNamespace":"d","PodUID":"u","Node":"n"})"),
              HasSubstr("cannot bind: no API server is configured"));
  EXPECT_EQ(Stop(), 0);
}

TEST_F(ExtenderCommandTest, WithCertificatesItSpeaksTls) {
  const net::TestIdentity ca = net::MakeIdentity("ca");
  const net::TestIdentity server = net::MakeIdentity("server", "IP:127.0.0.1", &ca);
  const std::string cert = folder_.Write("server.pem", server.certificate_pem);
  const std::string key = folder_.Write("server-key.pem", server.key_pem);
  const std::string clients = folder_.Write("ca.pem", ca.certificate_pem);
  std::filesystem::permissions(key, std::filesystem::perms(0600));
  Start({"--preset=demo", "--tls-cert-file", cert, "--tls-private-key-file", key, "--client-ca-file", clients});
  EXPECT_THAT(err_.text(), HasSubstr("https://127.0.0.1:"));
  EXPECT_THAT(err_.text(), Not(HasSubstr("can read it")));
  EXPECT_THAT(Ask("GET /version"), Not(HasSubstr("200")));
  Stop();

  const std::string broken = folder_.Write("broken.pem", "no certificate");
  EXPECT_EQ(Refused({"--preset=demo", "--port=0", "--tls-cert-file", broken, "--tls-private-key-file", key}), 2);
  EXPECT_THAT(said_, HasSubstr(broken));
}

TEST_F(ExtenderCommandTest, WhatIsUnwiseWithSecretsIsAWarningAtStart) {
  const net::TestIdentity server = net::MakeIdentity("server", "IP:127.0.0.1");
  const std::string cert = folder_.Write("server.pem", server.certificate_pem);
  const std::string key = folder_.Write("server-key.pem", server.key_pem);
  std::filesystem::permissions(key, std::filesystem::perms(0644));
  const std::string kubeconfig = folder_.Write("k.yaml",
                                               "current-context: c\n"
                                               "contexts: [{name: c, context: {cluster: here, user: me}}]\n"
                                               "clusters: [{name: here, cluster: {server: 'http://127.0.0.1:1'}}]\n"
                                               "users: [{name: me, user: {token: hunter2}}]\n");
  std::filesystem::permissions(kubeconfig, std::filesystem::perms(0600));
  Start({"--preset=demo", "--tls-cert-file", cert, "--tls-private-key-file", key, "--kubeconfig", kubeconfig});
  EXPECT_EQ(Stop(), 0);
  EXPECT_THAT(err_.text(), ContainsRegex("\nW[^\n]* --tls-private-key-file " + key +
                                         ": group and others can read it \\(mode 0644\\)\n"));
  EXPECT_THAT(err_.text(), ContainsRegex("\nW[^\n]* kubeconfig " + kubeconfig +
                                         ": the bearer token is sent to http://127.0.0.1:1 without TLS"));
  EXPECT_THAT(err_.text(), Not(HasSubstr("hunter2")));
}

TEST_F(ExtenderCommandTest, NothingOfAFileThatIsSomethingElseIsShown) {
  const std::string pem = net::MakeIdentity("server").key_pem;
  const std::string file = folder_.Write("server.key", pem);
  EXPECT_EQ(Refused({"--config", file}), 2);
  EXPECT_EQ(said_, file + ":1: a KubeSchedulerConfiguration must be an object, not a string\n");
  EXPECT_EQ(Refused({"--preset=demo", "--port=0", "--kubeconfig", file}), 2);
  EXPECT_THAT(said_, HasSubstr("kubeconfig " + file + ": must be an object"));
  EXPECT_THAT(said_, Not(HasSubstr("PRIVATE KEY")));
}

TEST_F(ExtenderCommandTest, WrongFlagsAreNamed) {
  const std::string there = folder_.Write("there.pem", "x");
  const std::string gone = folder_.Path("gone.pem");
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{}, "give either --preset or --config"},
      {{"--preset=demo", "--config=x"}, "give either --preset or --config"},
      {{"--preset=dmeo"}, "flag --preset: must be one of demo, label-priority, demo-index, got \"dmeo\""},
      {{"--preset=demo", "--profile=x"}, "--profile belongs to --config"},
      {{"--preset=demo", "--label=x"}, "--label belongs to --preset label-priority"},
      {{"--preset=label-priority", "--label=a b", "--port=0"}, "a b"},
      {{"--preset=demo", "--port=65536"}, "flag --port: must be 0 to 65535, got 65536"},
      {{"--preset=demo", "--kube-api-qps=-1"}, "flag --kube-api-qps: must be 0 to 1000000, got -1"},
      {{"--preset=demo", "--kube-api-burst=0"}, "flag --kube-api-burst: must be 1 to 1000000, got 0"},
      {{"--preset=demo", "--max-request-bytes=0"}, "flag --max-request-bytes: must be at least 1, got 0"},
      {{"--preset=demo", "--tls-cert-file=" + there}, "--tls-cert-file " + there + " needs --tls-private-key-file"},
      {{"--preset=demo", "--tls-private-key-file=" + there}, there + " needs --tls-cert-file"},
      {{"--preset=demo", "--client-ca-file=" + there}, "--client-ca-file " + there + " needs --tls-cert-file"},
      {{"--preset=demo", "--tls-cert-file=" + gone, "--tls-private-key-file=" + there}, "--tls-cert-file: cannot read"},
      {{"--preset=demo", "--filter-verb=a?b"}, "filter verb: Invalid value: \"a?b\""},
      {{"--preset=demo", "--prefix=/", "--filter-verb=metrics", "--port=0"}, "\"/metrics\" cannot be served as filter"},
      {{"--preset=demo", "--prefix=a b?x"}, "prefix: Invalid value: \"a b?x\": must be a path without query"},
      {{"--preset=demo", "--address="}, "flag --address: must not be empty"},
      {{"--preset=demo", "--filter-verb=", "--prioritize-verb=", "--preempt-verb=", "--bind-verb="},
       "all verbs are empty: there is nothing to serve"},
      {{"--preset=demo", "--only-best", "--filter-verb="}, "--only-best needs a filter, but --filter-verb is empty"},
      {{"--preset=demo", "--kubeconfig=" + gone, "--port=0"}, gone},
      {{"--preset=demo", "--kubeconfig=" + there, "--port=0"}, there},
      {{"--preset=demo", "extra"}, "unexpected argument \"extra\""},
      {{"--config=" + gone}, gone},
      {{"--preset=demo", "--address=nowhere.invalid", "--port=0"}, "nowhere.invalid"},
  };
  for (const auto& [args, want] : cases) {
    EXPECT_EQ(Refused(args), 2) << want;
    EXPECT_THAT(said_, HasSubstr(want));
  }
}

TEST_F(ExtenderCommandTest, HelpNamesEveryFlag) {
  std::ostringstream out, err;
  EXPECT_EQ(ExtenderCommand({"--help"}, registry_, out, err), 0);
  for (const char* flag : {"--preset",
                           "--config",
                           "--profile",
                           "--prefix",
                           "--filter-verb",
                           "--prioritize-verb",
                           "--preempt-verb",
                           "--bind-verb",
                           "--only-best",
                           "--address",
                           "--port",
                           "--tls-cert-file",
                           "--tls-private-key-file",
                           "--client-ca-file",
                           "--kubeconfig",
                           "--scheduler-name",
                           "--label",
                           "--max-request-bytes",
                           "--kube-api-qps",
                           "--kube-api-burst"}) {
    EXPECT_THAT(out.str(), HasSubstr(flag));
  }
}

}  // namespace
}  // namespace berth::cli
