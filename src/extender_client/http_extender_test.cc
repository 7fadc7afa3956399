// SPDX-License-Identifier: Apache-2.0
// One extender as a client, before servers that are right, wrong, slow, silent, lying, huge and closing.
#include "extender_client/http_extender.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/source_text.h"
#include "berth/testing.h"
#include "net/http_client_test_util.h"
#include "net/tls_test_util.h"

namespace berth::extender_client {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::StartsWith;

TEST(HttpExtenderTest, NamesAreSentToWhoHasNodesOfItsOwn) {
  Server server(R"({"NodeNames":["n2"],"FailedNodes":{"n1":"no licence"}})");
  const auto extender = Made(Config(server.url("/prefix//")));
  const auto answer = Filter(*extender, {"n1", "n2"});
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  EXPECT_THAT(server.heard(),
              ElementsAre(R"(POST /prefix/filter application/json {"Pod":{"metadata":{"name":"p"},"spec":{"x":1}},)"
                          R"("Nodes":null,"NodeNames":["n1","n2"]})"));
  EXPECT_THAT(answer->passed, ElementsAre(1));
  EXPECT_THAT(answer->failed, ElementsAre(Pair("n1", "no licence")));
  EXPECT_THAT(answer->unresolvable, IsEmpty());
}

TEST(HttpExtenderTest, WholeNodesAreSentToOthers) {
  Server server(R"({"nodes":{"ITEMS":[{"metadata":{"name":"n1"}}]},"failedandunresolvablenodes":{"n2":"never"}})");
  config::Extender config = Config(server.url());
  config.node_cache_capable = false;
  const auto extender = Made(config);
  const auto answer = Filter(*extender, {"n1", "n2"});
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  EXPECT_THAT(server.heard(),
              ElementsAre(HasSubstr(R"("Nodes":{"metadata":{},"items":[{"metadata":{"name":"n1"},"extra":true},)"
                                    R"({"metadata":{"name":"n2"},"extra":true}]},"NodeNames":null})")));
  EXPECT_THAT(answer->passed, ElementsAre(0));
  EXPECT_THAT(answer->unresolvable, ElementsAre(Pair("n2", "never")));
}

TEST(HttpExtenderTest, WhichListCounts) {
  const std::string names = R"("NodeNames":["n1"])", nodes = R"("Nodes":{"items":[{"metadata":{"name":"n2"}}]})";
  const struct {
    const char* name;
    bool capable;
    std::string answer;
    std::vector<size_t> passed;
  } cases[] = {
      {"capable, both", true, "{" + names + "," + nodes + "}", {0}},
      {"capable, names", true, "{" + names + "}", {0}},
      {"capable, nodes", true, "{" + nodes + ",\"NodeNames\":null}", {1}},
      {"capable, none", true, "{}", {}},
      {"capable, null", true, "null", {}},
      {"capable, no names", true, R"({"NodeNames":[],"Nodes":{"items":[]}})", {}},
      {"not, names", false, "{" + names + "}", {}},
      {"not, both", false, "{" + names + "," + nodes + "}", {1}},
      {"not, no items", false, R"({"Nodes":{}})", {}},
      {"twice", true, R"({"NodeNames":["n1","n1"]})", {0}},
      {"what follows is not looked at", true, "{" + names + "} nonsense", {0}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Server server(c.answer);
    config::Extender config = Config(server.url());
    config.node_cache_capable = c.capable;
    const auto answer = Filter(*Made(config), {"n1", "n2"});
    ASSERT_TRUE(answer.ok()) << answer.error().text();
    EXPECT_EQ(answer->passed, c.passed);
  }
}

TEST(HttpExtenderTest, FailuresAreSaidAsKubeSchedulerSaysThem) {
  Server server;
  const auto extender = Made(Config(server.url("/x/")));
  const std::string url = server.url("/x/");
  const struct {
    const char* name;
    std::string answer;
    int status;
    std::string text;
  } cases[] = {
      {"status", "{}", 500, "failed filter with extender at URL " + server.url("/x/filter") + ", code 500"},
      {"another success", "{}", 201, "failed filter with extender at URL " + server.url("/x/filter") + ", code 201"},
      {"redirect", "", 307, "failed filter with extender at URL " + server.url("/x/filter") + ", code 307"},
      {"its own words", R"({"Error":"no room at all","NodeNames":["n1"]})", 200, "no room at all"},
      {"a name that nobody asked about", R"({"NodeNames":["n1","n9"]})", 200,
       "extender \"" + url + "\" claims a filtered node \"n9\" which is not found in the input node list"},
      {"a node that nobody asked about", R"({"Nodes":{"items":[{"metadata":{"name":"n9"}}]}})", 200,
       "extender \"" + url + "\" claims a filtered node \"n9\" which is not found in the input node list"},
      {"empty", "", 200, "EOF"},
      {"blank", " \n", 200, "EOF"},
      {"cut", R"({"NodeNames":["n1")", 200, "unexpected EOF"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    server.Say(c.answer, c.status);
    EXPECT_EQ(Failure(*extender), c.text);
  }
}

TEST(HttpExtenderTest, WhatIsNotOfTheProtocolIsAFailure) {
  Server server;
  const auto extender = Made(Config(server.url()));
  for (const char* answer : {"[]", "1", "\"x\"", "{", "nonsense", R"({"NodeNames":"n1"})", R"({"NodeNames":[1]})",
                             R"({"FailedNodes":[]})", R"({"FailedNodes":{"n1":2}})", R"({"Error":3})",
                             R"({"Nodes":{"items":[{"metadata":{"name":5}}]}})", "{\"Error\":\"\xff\"}"}) {
    SCOPED_TRACE(answer);
    server.Say(answer);
    EXPECT_NE(Failure(*extender), "no failure");
    EXPECT_THAT(Failure(*extender), Not(HasSubstr("terminate")));
  }
}

TEST(HttpExtenderTest, ScoresAreTakenAsTheyAre) {
  Server server(R"([{"Host":"n2","Score":7},{"host":"n2","score":-9223372036854775808},{"Host":"nowhere"},{},)"
                R"({"Host":"n1"}])");
  const auto extender = Made(Config(server.url()));
  const auto answer = Prioritize(*extender, {"n1", "n2"});
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  EXPECT_THAT(*answer, ElementsAre(Pair(1, 7), Pair(1, INT64_MIN), Pair(0, 0)));
  EXPECT_THAT(server.heard(), ElementsAre(StartsWith("POST /prioritize application/json {\"Pod\":")));
  for (const char* wrong : {"{}", R"([{"Host":"n1","Score":1.5}])", R"([{"Host":"n1","Score":"7"}])", "[1]"}) {
    SCOPED_TRACE(wrong);
    server.Say(wrong);
    EXPECT_FALSE(Prioritize(*extender, {"n1"}).ok());
  }
  server.Say("null");
  EXPECT_THAT(*Prioritize(*extender, {"n1"}), IsEmpty());
}

TEST(HttpExtenderTest, VictimsAreSentAsUidsOrWhole) {
  Server server(R"({"NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":"u-w"},{}],"NumPDBViolations":4},"n2":{}}})");
  config::Extender config = Config(server.url());
  const auto answer = Preempt(*Made(config));
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  EXPECT_EQ(*answer, (Extender::VictimMap{{"n1", {{"u-w", ""}, 4}}, {"n2", {}}}));
  config.node_cache_capable = false;
  EXPECT_TRUE(Preempt(*Made(config)).ok());
  EXPECT_THAT(
      server.heard(),
      ElementsAre(
          HasSubstr(R"("NodeNameToVictims":null,"NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":"u-w"}],)"
                    R"("NumPDBViolations":0},"n2":{"Pods":[{"UID":"u-v"}],"NumPDBViolations":1}}})"),
          HasSubstr(
              R"("NodeNameToVictims":{"n1":{"Pods":[{"metadata":{"name":"w"}}],"NumPDBViolations":0},)"
              R"("n2":{"Pods":[{"metadata":{"name":"v"}}],"NumPDBViolations":1}},"NodeNameToMetaVictims":null})")));
}

TEST(HttpExtenderTest, VictimsThatWouldCrashKubeSchedulerAreAFailure) {
  Server server;
  const auto extender = Made(Config(server.url()));
  for (const char* wrong :
       {R"({"NodeNameToMetaVictims":{"n1":null}})", R"({"NodeNameToMetaVictims":{"n1":{"Pods":[null]}}})", "[]"}) {
    SCOPED_TRACE(wrong);
    server.Say(wrong);
    EXPECT_FALSE(Preempt(*extender).ok());
  }
  for (const char* none : {"{}", R"({"NodeNameToMetaVictims":null})", "null"}) {
    server.Say(none);
    ASSERT_TRUE(Preempt(*extender).ok());
    EXPECT_THAT(*Preempt(*extender), IsEmpty());
  }
}

TEST(HttpExtenderTest, ABinderIsToldPodAndNode) {
  Server server;
  const auto extender = Made(Config(server.url()));
  EXPECT_TRUE(Bind(*extender).ok());
  EXPECT_THAT(server.heard(), ElementsAre(R"(POST /bind application/json {"PodName":"p","PodNamespace":"default",)"
                                          R"("PodUID":"u-p","Node":"n1"})"));
  server.Say(R"({"Error":"taken"})");
  EXPECT_EQ(Bind(*extender).text(), "taken");
  server.Say("", 404);
  EXPECT_EQ(Bind(*extender).text(), "failed bind with extender at URL " + server.url("/bind") + ", code 404");
}

TEST(HttpExtenderTest, AVerbMayHaveAPathAndAQuery) {
  Server server;
  config::Extender config = Config(server.url("/v1"));
  config.filter_verb = "a/filter?x=1";
  EXPECT_TRUE(Filter(*Made(config), {"n1"}).ok());
  EXPECT_THAT(server.heard(), ElementsAre(StartsWith("POST /v1/a/filter?x=1 ")));
}

TEST(HttpExtenderTest, ObjectsWithoutTheirJsonAreSentAsFarAsTheyAreKnown) {
  Server server;
  config::Extender config = Config(server.url());
  config.node_cache_capable = false;
  const auto extender = Made(config);
  const auto pod = std::make_shared<const Pod>(MakePod("bare").Label("a", "b").Request({{"cpu", "500m"}}).Build());
  const Node node = MakeNode("n1").Label("zone", "z").Capacity({{"cpu", "2"}, {"pods", "10"}});
  const auto answer = Wait<Result<Extender::Filtered>>(
      [&](auto done) { extender->Filter(pod, std::vector<Ptr<Node>>{std::make_shared<const Node>(node)}, done); });
  EXPECT_TRUE(answer.ok());
  EXPECT_THAT(server.heard(),
              ElementsAre(AllOf(HasSubstr(R"("name":"bare","namespace":"default")"), HasSubstr(R"("labels":{"a":"b"})"),
                                HasSubstr(R"("requests":{"cpu":"0.5"})"), HasSubstr(R"("labels":{"zone":"z"})"),
                                HasSubstr(R"("cpu":"2000m")"))));
}

TEST(HttpExtenderTest, ItIsInterestedInWhatItManages) {
  config::Extender config = Config("http://127.0.0.1:1");
  EXPECT_TRUE(Made(config)->IsInterested(MakePod("p").Build()));
  config.managed_resources = {{"example.com/gpu", true}, {"example.com/fpga", false}};
  const auto extender = Made(config);
  EXPECT_FALSE(extender->IsInterested(MakePod("p").Build()));
  EXPECT_FALSE(extender->IsInterested(MakePod("p").Request({{"cpu", "1"}, {"example.com/other", "1"}}).Build()));
  EXPECT_TRUE(extender->IsInterested(MakePod("p").Request({{"example.com/fpga", "1"}}).Build()));
  EXPECT_TRUE(
      extender->IsInterested(MakePod("p").Request({{"cpu", "1"}}).InitContainer({{"example.com/gpu", "1"}}).Build()));
  Pod limits = MakePod("p").Request({{"cpu", "1"}}).Build();
  limits.containers.Edit()[0].limits = {{InternResource("example.com/gpu"), *Quantity::Parse("1")}};
  EXPECT_TRUE(extender->IsInterested(limits));
  Pod whole = MakePod("p").Build();
  whole.pod_requests = ResourceList{{InternResource("example.com/gpu"), *Quantity::Parse("1")}};
  whole.overhead = {{InternResource("example.com/gpu"), *Quantity::Parse("1")}};
  EXPECT_FALSE(extender->IsInterested(whole));
}

TEST(HttpExtenderTest, EveryCallIsReported) {
  Server server("{}");
  std::mutex mutex;
  std::vector<std::string> reports;
  HttpExtenderOptions options;
  options.on_call = [&](const CallReport& report) {
    const std::lock_guard lock(mutex);
    reports.push_back(std::string(report.verb) + " " + (report.error.ok() ? "ok" : report.error.text()));
    EXPECT_GE(report.took, Duration{});
  };
  const auto extender = Made(Config(server.url()), options);
  EXPECT_TRUE(Filter(*extender, {"n1"}).ok());
  server.Say(R"({"Error":"no"})");
  EXPECT_FALSE(Bind(*extender).ok());
  const std::lock_guard lock(mutex);
  EXPECT_THAT(reports, ElementsAre("filter ok", "bind no"));
}

class HttpExtenderTlsTest : public ::testing::Test {
 protected:
  HttpExtenderTlsTest() {
    net::TlsOptions tls;
    tls.certificate_data = server_.certificate_pem;
    tls.key_data = server_.key_pem;
    tls.client_ca_file = folder_.Write("ca.pem", authority_.certificate_pem);
    net::ServerOptions options;
    options.tls = &tls;
    secure_ = net::Serve(
        [](const net::HttpRequest& request, const net::Respond& respond) {
          respond({200, "application/json", R"({"Error":")" + request.client_name + "\"}", {}});
        },
        options);
  }
  config::Extender Secure() {
    config::Extender config = Config("https://127.0.0.1:" + std::to_string(secure_->port()));
    config.tls.emplace();
    config.tls->ca_data = authority_.certificate_pem;
    config.tls->cert_data = client_.certificate_pem;
    config.tls->key_data = client_.key_pem;
    return config;
  }
  net::TestFolder folder_;
  net::TestIdentity authority_ = net::MakeIdentity("authority");
  net::TestIdentity server_ = net::MakeIdentity("server", "DNS:extender.example,IP:127.0.0.1", &authority_);
  net::TestIdentity client_ = net::MakeIdentity("scheduler", "", &authority_);
  std::unique_ptr<net::HttpServer> secure_;
};

TEST_F(HttpExtenderTlsTest, CertificatesFromTheConfigurationOrFromFiles) {
  EXPECT_EQ(Failure(*Made(Secure())), "scheduler");
  config::Extender files = Secure();
  files.tls = config::ExtenderTls();
  files.tls->ca_file = folder_.Write("ca2.pem", authority_.certificate_pem);
  files.tls->cert_file = folder_.Write("client.pem", client_.certificate_pem);
  files.tls->key_file = folder_.Write("client.key", client_.key_pem);
  EXPECT_EQ(Failure(*Made(files)), "scheduler");
}

TEST_F(HttpExtenderTlsTest, WhomToBelieve) {
  config::Extender config = Secure();
  config.tls->ca_data = net::MakeIdentity("another").certificate_pem;
  EXPECT_THAT(Failure(*Made(config)), HasSubstr("certificate"));
  config.tls->ca_data.clear();
  config.tls->insecure = true;
  EXPECT_EQ(Failure(*Made(config)), "scheduler");
  config.tls->insecure = false;
  EXPECT_THAT(Failure(*Made(config)), HasSubstr("certificate")) << "the system does not know it";
  config.enable_https = true;  // and no CA: anybody is believed
  EXPECT_EQ(Failure(*Made(config)), "scheduler");
}

TEST_F(HttpExtenderTlsTest, TheNameMayBeAnother) {
  config::Extender config = Secure();
  config.tls->server_name = "extender.example";
  EXPECT_EQ(Failure(*Made(config)), "scheduler");
  config.tls->server_name = "other.example";
  EXPECT_NE(Failure(*Made(config)), "scheduler");
}

TEST_F(HttpExtenderTlsTest, WhatCannotWorkIsRefusedAtTheStartWithoutShowingKeys) {
  config::Extender config = Secure();
  config.tls->insecure = true;
  EXPECT_EQ(MakeExtenders({config}, {}).error().text(),
            "couldn't build extenders: specifying a root certificates file with the insecure flag is not allowed");
  config = Secure();
  config.tls->key_data = "my secret key";
  const auto made = HttpExtender::Make(config);
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().text(), Not(HasSubstr("secret")));
  config = Secure();
  config.tls->ca_data.clear();
  config.tls->ca_file = "/nowhere/ca.pem";
  EXPECT_THAT(HttpExtender::Make(config).error().text(), HasSubstr("/nowhere/ca.pem"));
  EXPECT_FALSE(HttpExtender::Make(Config("ftp://host")).ok());
}

TEST_F(HttpExtenderTlsTest, ACertificateWithoutItsKeyIsNotShown) {
  config::Extender config = Secure();
  config.tls->key_data.clear();
  EXPECT_NE(Failure(*Made(config)), "scheduler");
}

}  // namespace
}  // namespace berth::extender_client
