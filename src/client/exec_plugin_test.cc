// SPDX-License-Identifier: Apache-2.0
// Programs that give credentials, good ones and others, and requests that wait for them.
#include "client/exec_plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <future>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "api/json_reader.h"
#include "berth/value.h"
#include "client/api_requests.h"
#include "client/credentials.h"
#include "client/live_cluster_test_util.h"
#include "net/http_server.h"
#include "net/tls_test_util.h"

namespace berth::client {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kExecVersion[] = "client.authentication.k8s.io/v1";

std::string CredentialJson(const std::string& status, const std::string& version = kExecVersion) {
  return R"({"kind":"ExecCredential","apiVersion":")" + version + R"(","status":)" + status + "}";
}

// Programs in a folder of their own, and how often they were run.
class ExecPluginTest : public LiveClusterTest {
 protected:
  // A program that notes that it was run, then does this.
  ExecConfig Program(const std::string& script) {
    ExecConfig config;
    config.command = "sh";
    config.args = {folder_.Write("plugin.sh", "echo run >> " + folder_.Path("runs") + "\n" + script + "\n"), "arg"};
    config.api_version = kExecVersion;
    return config;
  }
  // One that says what is in the file "answer".
  ExecConfig Cat() { return Program("cat " + folder_.Path("answer")); }
  void SetAnswer(const std::string& status) { folder_.Write("answer", CredentialJson(status)); }
  size_t Runs() const {
    std::ifstream in(folder_.Path("runs"));
    size_t runs = 0;
    for (std::string line; std::getline(in, line);) ++runs;
    return runs;
  }
  static std::string Await(ExecPlugin& plugin) {
    std::promise<std::string> said;
    plugin.Ask([&said](const Result<std::string>& header) {
      said.set_value(header.ok() ? *header : "(" + header.error().text() + ")");
    });
    return said.get_future().get();
  }
  std::string Once(const std::string& script, ExecPluginOptions options = {}) {
    ExecPlugin plugin(Program(script), std::move(options));
    return Await(plugin);
  }

  net::TestFolder folder_;
};

TEST_F(ExecPluginTest, ThePluginIsToldAsClientGoTellsIt) {
  ExecConfig config;
  config.api_version = "client.authentication.k8s.io/v1beta1";
  EXPECT_EQ(ExecInfo(config, false), R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1",)"
                                     R"("spec":{"interactive":false}})"
                                     "\n");
  config.cluster = R"({"server":"https://a","config":null})";
  EXPECT_EQ(ExecInfo(config, true), R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1",)"
                                    R"("spec":{"cluster":{"server":"https://a","config":null},"interactive":true}})"
                                    "\n");

  config = Program("printf '%s|%s|%s|' \"$1\" \"$BERTH_EXEC\" \"$KUBERNETES_EXEC_INFO\" > " + folder_.Path("told") +
                   "; cat >> " + folder_.Path("told") + "; exit 1");
  config.env = {{"BERTH_EXEC", "a b"}, {"KUBERNETES_EXEC_INFO", "not this"}};
  ExecPlugin plugin(config);
  EXPECT_EQ(Await(plugin), "(getting credentials: exec: executable sh failed with exit code 1)");
  std::ostringstream told;
  told << std::ifstream(folder_.Path("told")).rdbuf();
  EXPECT_EQ(told.str(), "arg|a b|" + ExecInfo(config, false) + "|");
}

TEST_F(ExecPluginTest, AnswersAreReadAndErrorsAreUpstreams) {
  Result<ExecCredential> read = ReadExecCredential(
      CredentialJson(R"({"token":"t1","expirationTimestamp":"2026-01-02T03:04:05Z"})"), kExecVersion);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read->token, "t1");
  ASSERT_TRUE(read->expires);
  EXPECT_EQ(read->expires->ns, int64_t{1767323045} * 1'000'000'000);
  read = ReadExecCredential(
      "kind: ExecCredential\napiVersion: " + std::string(kExecVersion) + "\nstatus: {token: t2}\n", kExecVersion);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read->token, "t2");
  EXPECT_FALSE(read->expires);

  const net::TestIdentity one = net::MakeIdentity("one"), two = net::MakeIdentity("two");
  const auto pair = [](const net::TestIdentity& certificate, const net::TestIdentity& key) {
    return R"({"clientCertificateData":)" + Value::String(certificate.certificate_pem).ToJson() +
           R"(,"clientKeyData":)" + Value::String(key.key_pem).ToJson() + "}";
  };
  read = ReadExecCredential(CredentialJson(pair(one, one)), kExecVersion);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read->key_data, one.key_pem);

  const struct {
    std::string output;
    const char* want;
  } cases[] = {
      {"", "decoding stdout: there is nothing in it"},
      {"hunter2", "decoding stdout: "},
      {"{\"hunter2", "decoding stdout: "},
      {R"({"kind":"Hunter2"})", "decoding stdout: kind: must be ExecCredential"},
      {CredentialJson("{}") + CredentialJson("{}"), "decoding stdout: there is more than one document"},
      {CredentialJson("{}", "client.authentication.k8s.io/v1beta1"),
       "exec plugin is configured to use API version client.authentication.k8s.io/v1, plugin returned version "
       "client.authentication.k8s.io/v1beta1"},
      {CredentialJson("null"), "exec plugin didn't return a status field"},
      {CredentialJson("\"hunter2\""), "decoding stdout: status: must be an object"},
      {CredentialJson("{}"), "exec plugin didn't return a token or cert/key pair"},
      {CredentialJson(R"({"token":["hunter2"]})"), "decoding stdout: status.token: must be a string"},
      {CredentialJson(R"({"token":"hunter2\n"})"), "exec plugin returned a bad token: there is a line break"},
      {CredentialJson(R"({"clientKeyData":"hunter2"})"), "exec plugin returned only certificate or key, not both"},
      {CredentialJson(R"({"token":"hunter2","clientCertificateData":"x"})"),
       "exec plugin returned only certificate or key, not both"},
      {CredentialJson(R"({"clientCertificateData":"x","clientKeyData":"hunter2"})"),
       "failed parsing client key/certificate: "},
      {CredentialJson(pair(one, two)), "failed parsing client key/certificate: "},
      {CredentialJson(R"({"token":"hunter2","expirationTimestamp":"tomorrow"})"),
       "decoding stdout: status.expirationTimestamp: must be a time (RFC 3339)"},
  };
  for (const auto& c : cases) {
    const Result<ExecCredential> bad = ReadExecCredential(c.output, kExecVersion);
    ASSERT_FALSE(bad.ok()) << c.output;
    EXPECT_THAT(bad.error().text(), AllOf(HasSubstr(c.want), Not(HasSubstr("hunter2")))) << c.output;
  }
}

TEST_F(ExecPluginTest, ItIsRunWhenFirstAskedAndOnceForAllWhoWait) {
  SetAnswer(R"({"token":"t1"})");
  ExecPlugin plugin(Cat());
  EXPECT_EQ(plugin.Known(), std::nullopt);
  EXPECT_EQ(Runs(), 0u);
  std::vector<std::promise<std::string>> promises(5);
  for (auto& promise : promises)
    plugin.Ask([&promise](const Result<std::string>& header) { promise.set_value(header.ok() ? *header : "?"); });
  for (auto& promise : promises) EXPECT_EQ(promise.get_future().get(), "Bearer t1");
  EXPECT_EQ(plugin.Known(), "Bearer t1");
  bool said = false;
  plugin.Ask([&](const Result<std::string>&) { said = true; });
  EXPECT_TRUE(said) << "what is known is said at once";
  EXPECT_EQ(Runs(), 1u);
}

TEST_F(ExecPluginTest, ItIsRunAgainAfterItsAnswerHasExpiredOrWasRefused) {
  Time now = *ParseTime("2026-01-01T00:00:00Z");
  SetAnswer(R"({"token":"t1","expirationTimestamp":"2026-01-01T00:00:10Z"})");
  ExecPluginOptions options;
  options.now = [&now] { return now; };
  ExecPlugin plugin(Cat(), options);
  EXPECT_EQ(Await(plugin), "Bearer t1");
  now = now + Duration::Seconds(10);  // no leeway
  EXPECT_EQ(Await(plugin), "Bearer t1");
  EXPECT_EQ(Runs(), 1u);
  SetAnswer(R"({"token":"t2"})");
  now = now + Duration::Seconds(1);
  EXPECT_EQ(plugin.Known(), std::nullopt);
  EXPECT_EQ(Await(plugin), "Bearer t2");
  EXPECT_EQ(Runs(), 2u);
  now = now + Duration::Seconds(1'000'000);
  plugin.Refuse("Bearer t1");  // long gone
  EXPECT_EQ(Await(plugin), "Bearer t2");
  EXPECT_EQ(Runs(), 2u);
  SetAnswer(R"({"token":"t3"})");
  plugin.Refuse("Bearer t2");
  EXPECT_EQ(Await(plugin), "Bearer t3");
  EXPECT_EQ(Runs(), 3u);
}

TEST_F(ExecPluginTest, WhatGoesWrongIsSaidAndNotTriedForEverybody) {
  EXPECT_EQ(Once("exit 7"), "(getting credentials: exec: executable sh failed with exit code 7)");
  EXPECT_EQ(Once("kill -9 $$"), "(getting credentials: exec: executable sh failed with exit code -1)");
  EXPECT_THAT(Once("echo hunter2"), AllOf(HasSubstr("decoding stdout"), Not(HasSubstr("hunter2"))));
  ExecPluginOptions options;
  options.timeout = Duration::Millis(100);
  EXPECT_EQ(Once("sleep 1000", options), "(getting credentials: exec: executable sh did not end within 0 s)");
  options = {};
  options.max_output = 1024;
  EXPECT_EQ(Once("while :; do echo xxxxxxxxxxxx; done", options),
            "(getting credentials: exec: executable sh wrote more than 1 KiB)");
  ExecConfig missing = Program("");
  missing.command = "no-such-program-of-berth";
  ExecPlugin nothing(missing);
  EXPECT_EQ(Await(nothing), "(getting credentials: exec: executable no-such-program-of-berth not found)");
  missing.install_hint = "try another one";
  ExecPlugin hint(missing);
  EXPECT_THAT(Await(hint), HasSubstr("not found: try another one"));
  ExecConfig terminal = Cat();
  terminal.mode = InteractiveMode::kAlways;
  if (::isatty(0) != 1) {
    ExecPlugin always(terminal);
    EXPECT_EQ(Await(always),
              "(getting credentials: exec plugin cannot support interactive mode: standard input is not a terminal)");
  }

  options = {};
  options.failure_lasts = Duration::Seconds(3600);
  const size_t before = Runs();
  ExecPlugin failing(Program("exit 1"), options);
  EXPECT_THAT(Await(failing), HasSubstr("exit code 1"));
  EXPECT_THAT(Await(failing), HasSubstr("exit code 1"));
  EXPECT_EQ(Runs(), before + 1);
  options.failure_lasts = Duration{0};
  ExecPlugin again(Program("exit 1"), options);
  Await(again);
  Await(again);
  EXPECT_EQ(Runs(), before + 3);
}

TEST_F(ExecPluginTest, WhoeverWaitsAtItsEndHearsOfIt) {
  std::string said;
  {
    ExecPlugin plugin(Program("sleep 1000"));
    plugin.Ask([&said](const Result<std::string>& header) { said = header.ok() ? *header : header.error().text(); });
  }
  EXPECT_EQ(said, "getting credentials: cancelled");
}

TEST_F(ExecPluginTest, CallsAndCertificatesAreCounted) {
  ExecPluginTally tally;
  Time now{5'000'000'000'000'000'000};
  ExecPluginOptions options;
  options.tally = &tally;
  options.now = [&now] { return now; };
  options.failure_lasts = Duration{0};
  options.max_output = 100000;
  EXPECT_THAT(Once("exit 3", options), HasSubstr("exit code 3"));
  EXPECT_THAT(Once("cat /dev/zero", options), HasSubstr("wrote more than"));
  ExecConfig missing = Cat();
  missing.command = folder_.Path("none");
  {
    ExecPlugin plugin(missing, options);
    Await(plugin);
  }
  const auto show = [&](const net::TestIdentity& identity) {
    SetAnswer("{\"clientCertificateData\":" + Value::String(identity.certificate_pem).ToJson() +
              ",\"clientKeyData\":" + Value::String(identity.key_pem).ToJson() + "}");
  };
  {
    const net::TestIdentity first = net::MakeIdentity("a"), second = net::MakeIdentity("b");
    now = net::DatesOf(first.certificate_pem)->not_before + Duration::Seconds(100);
    ExecPlugin plugin(Cat(), options);
    show(first);
    EXPECT_EQ(Await(plugin), "");
    EXPECT_EQ(tally.FirstExpiry(), net::DatesOf(first.certificate_pem)->not_after);
    uint64_t seen = 0;
    EXPECT_THAT(tally.RotationsSince(seen), ElementsAre());
    plugin.Refuse("");
    EXPECT_EQ(Await(plugin), "");
    EXPECT_THAT(tally.RotationsSince(seen), ElementsAre()) << "it is the same";
    show(second);
    plugin.Refuse("");
    EXPECT_EQ(Await(plugin), "");
    EXPECT_THAT(tally.RotationsSince(seen), ElementsAre(100));
    EXPECT_EQ(tally.FirstExpiry(), net::DatesOf(second.certificate_pem)->not_after);
  }
  EXPECT_EQ(tally.FirstExpiry(), std::nullopt) << "it has gone";
  EXPECT_EQ(tally.calls(), (ExecPluginTally::Calls{{{-1, "plugin_execution_error"}, 1},
                                                   {{0, "no_error"}, 3},
                                                   {{1, "plugin_not_found_error"}, 1},
                                                   {{3, "plugin_execution_error"}, 1}}));
}

TEST_F(ExecPluginTest, EqualConfigsShareOne) {
  ExecConfig config = Cat();
  const auto one = ExecPlugin::Shared(config);
  EXPECT_EQ(ExecPlugin::Shared(config), one);
  config.env = {{"A", "b"}};
  EXPECT_NE(ExecPlugin::Shared(config), one);
}

TEST_F(ExecPluginTest, RequestsAndWatchesWaitForItAndARefusalRunsItAgain) {
  SetAnswer(R"({"token":"t1"})");
  server_ = std::make_unique<FakeApiServer>([](const FakeRequest& request) -> FakeReply {
    if (!request.Has("Authorization: Bearer t2\r\n")) return {401, StatusJson(401, "Unauthorized"), ""};
    return {200, ListJson("PodList", "9", {}), ""};
  });
  Kubeconfig config = server_->config();
  config.exec = Cat();
  Connect(config);
  const auto watch = api_->StartWatch(Kind::kPod, "9", {[](const WatchEvent&) {}, [](const ApiStatus&) {}});
  EXPECT_TRUE(server_->WaitForWatch(0)->request().Has("Authorization: Bearer t1\r\n"));
  EXPECT_EQ(Runs(), 1u);
  SetAnswer(R"({"token":"t2"})");
  EXPECT_TRUE(List().status.ok());
  EXPECT_EQ(Runs(), 2u);
  const std::vector<FakeRequest> requests = server_->requests();
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_TRUE(requests[0].Has("Authorization: Bearer t1\r\n"));
  EXPECT_TRUE(requests[1].Has("Authorization: Bearer t2\r\n"));
  EXPECT_TRUE(List().status.ok());
  EXPECT_EQ(Runs(), 2u);
}

TEST_F(ExecPluginTest, WithoutCredentialsNothingIsSent) {
  server_ = std::make_unique<FakeApiServer>([](const FakeRequest&) -> FakeReply { return {500, "", ""}; });
  Kubeconfig config = server_->config();
  config.exec = Program("exit 3");
  Connect(config);
  const ApiStatus status = List().status;
  EXPECT_EQ(status.code, 0);
  EXPECT_TRUE(status.unsent());
  EXPECT_EQ(status.message, "getting credentials: exec: executable sh failed with exit code 3");
  std::string closed;
  const auto watch = api_->StartWatch(Kind::kPod, "9",
                                      {[](const WatchEvent&) {}, [&](const ApiStatus& why) { closed = why.message; }});
  Until([&] { return !closed.empty(); });
  EXPECT_THAT(closed, HasSubstr("exit code 3"));
  EXPECT_EQ(server_->connections(), 0u);
}

TEST_F(ExecPluginTest, ARequestWaitsForItNoLongerThanItsDeadline) {
  server_ = std::make_unique<FakeApiServer>([](const FakeRequest&) -> FakeReply { return {500, "", ""}; });
  Kubeconfig config = server_->config();
  config.exec = Program("sleep 1000");
  options_.lease_timeout = Duration::Millis(500);
  Connect(config);
  bool listed = false;
  api_->List(Kind::kPod, [&](const ListAnswer&) { listed = true; });
  std::vector<ApiStatus> ends;
  const auto end = [&ends](const ApiStatus& status) { ends.push_back(status); };
  api_->BindBy(util::After(Duration::Millis(500)), kPod, "n", end);
  api_->GetPodBy(util::After(Duration::Millis(500)), "ns", "a",
                 [&](const ApiStatus& status, const Ptr<Pod>&) { end(status); });
  api_->GetLease("ns", "l", [&](const ApiStatus& status, const Lease&) { end(status); });
  Until([&] { return ends.size() == 3; });
  for (const ApiStatus& status : ends) {
    EXPECT_TRUE(status.unsent());
    EXPECT_EQ(status.message, "getting credentials: exec: executable sh has not answered in time");
  }
  EXPECT_FALSE(listed) << "it has no deadline";
  EXPECT_EQ(server_->connections(), 0u);
}

TEST_F(ExecPluginTest, ADoorThatIsClosedMeanwhileTellsNobody) {
  server_ = std::make_unique<FakeApiServer>([](const FakeRequest&) -> FakeReply { return {500, "", ""}; });
  Kubeconfig config = server_->config();
  config.exec = Program("touch " + folder_.Path("begun") + "; sleep 1000");
  const auto held = ExecPlugin::Shared(config.exec);  // goes on after the door
  Connect(config);
  bool called = false;
  api_->List(Kind::kPod, [&](const ListAnswer&) { called = true; });
  auto watch = api_->StartWatch(Kind::kPod, "9",
                                {[&](const WatchEvent&) { called = true; }, [&](const ApiStatus&) { called = true; }});
  Until([&] { return std::ifstream(folder_.Path("begun")).good(); });
  api_ = nullptr;
  watch = nullptr;
  inbox_.Drain();
  EXPECT_FALSE(called);
}

TEST_F(ExecPluginTest, AClientThatEndsAnswersThoseWhoWaitAndHoldsThemNoLonger) {
  server_ = std::make_unique<FakeApiServer>([](const FakeRequest&) -> FakeReply { return {500, "", ""}; });
  Kubeconfig config = server_->config();
  config.exec = Program("touch " + folder_.Path("begun") + "; sleep 1000");
  Credentials credentials(config, Duration::Seconds(1));  // goes on after the client
  net::ClientOptions http;
  http.url = config.server;
  auto client = net::HttpClient::Create(http);
  ASSERT_TRUE(client.ok());
  auto requests = std::make_unique<ApiRequests>(std::move(client).value(), credentials, "test");
  const auto held = std::make_shared<int>(0);
  std::vector<std::string> answers;
  ApiRequest request;
  request.path = "/api";
  requests->Send(std::move(request), nullptr, [held, &answers](const ApiReply& reply) {
    EXPECT_TRUE(reply.status.unsent());
    answers.push_back(reply.status.message);
  });
  Until([&] { return std::ifstream(folder_.Path("begun")).good(); });
  requests = nullptr;
  EXPECT_EQ(answers, std::vector<std::string>{"not sent: the client is closed"});
  EXPECT_EQ(held.use_count(), 1);
}

TEST_F(ExecPluginTest, ACertificateIsShownAndANewOneAfterARefusal) {
  const net::TestIdentity ca = net::MakeIdentity("ca");
  const net::TestIdentity server = net::MakeIdentity("server", "IP:127.0.0.1", &ca);
  const auto answer = [&](const std::string& name) {
    const net::TestIdentity me = net::MakeIdentity(name, "", &ca);
    SetAnswer(R"({"clientCertificateData":)" + Value::String(me.certificate_pem).ToJson() + R"(,"clientKeyData":)" +
              Value::String(me.key_pem).ToJson() + "}");
  };
  net::TlsOptions tls;
  tls.certificate_file = folder_.Write("server.crt", server.certificate_pem);
  tls.key_file = folder_.Write("server.key", server.key_pem);
  tls.client_ca_file = folder_.Write("ca.crt", ca.certificate_pem);
  net::ServerOptions serving;
  serving.tls = &tls;
  std::atomic<bool> known = true;
  auto http = net::HttpServer::Start(serving, [&](net::HttpRequest request, const net::Respond& respond) {
    net::HttpResponse response;
    if (!known && request.client_name == "first") {
      response.status = 401;
    } else {
      response.body = ListJson("PodList", "9", {PodJson(request.client_name, 3)});
    }
    respond(std::move(response));
  });
  ASSERT_TRUE(http.ok()) << http.error().text();
  Kubeconfig config;
  config.source = "test";
  config.server = "https://127.0.0.1:" + std::to_string(http.value()->port());
  config.tls.ca_data = ca.certificate_pem;
  config.exec = Cat();
  answer("first");
  Connect(config);
  const auto name = [this] {
    const ListAnswer listed = List();
    return listed.status.ok() ? MetaOf(listed.objects.at(0)).name : listed.status.message;
  };
  EXPECT_EQ(name(), "first");
  EXPECT_EQ(name(), "first");
  EXPECT_EQ(Runs(), 1u);
  answer("second");
  EXPECT_EQ(name(), "first") << "nobody has asked for another one";
  known = false;
  EXPECT_EQ(name(), "second");
  EXPECT_EQ(Runs(), 2u);
  api_ = nullptr;
}

}  // namespace
}  // namespace berth::client
