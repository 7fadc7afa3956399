// SPDX-License-Identifier: Apache-2.0
// The whole extender on a port: many clients, clients that vanish, clients that mean harm.
#include "extender/extender_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <future>
#include <sstream>
#include <thread>

#include "berth/version.h"
#include "extender/extender_test_util.h"
#include "extender/preset_plugins.h"
#include "extender/presets.h"
#include "net/http_test_util.h"
#include "net/tls_test_util.h"
#include "util/system_clock.h"

namespace berth::extender {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// One reply: head and body. What came until then when the connection ended.
std::string Receive(net::RawClient& client) {
  std::string reply = client.ReadUntil("\r\n\r\n");
  const size_t at = reply.find("Content-Length: ");
  if (at == std::string::npos) return reply;
  return reply + client.ReadBytes(std::stoul(reply.substr(at + 16)));
}

std::string Post(const std::string& path, const std::string& body) {
  return "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}
std::string Get(const std::string& path) { return "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n"; }
std::string FilterBody(const std::string& names) {
  return R"({"Pod":{"metadata":{"name":"p","namespace":"d","uid":"u"},"spec":{"containers":[{"name":"c","env":[)"
         R"({"name":"A","value":"secret"}]}]}},"Nodes":null,"NodeNames":[)" +
         names + "]}";
}

// Lets a test look on while a filter is asked.
class Waits final : public NodePlugin {
 public:
  static constexpr std::string_view kName = "Waits";
  static inline std::promise<void>* asked = nullptr;
  static inline std::shared_future<void>* go_on = nullptr;
  Depends DependsOn(Point) const override { return Depends::OnRow(0); }
  Verdict FilterNode(const Pod&, NodeView) const override {
    asked->set_value();
    go_on->wait();
    return kFits;
  }
};

class ExtenderServerTest : public ::testing::Test {
 protected:
  ExtenderServerTest() {
    RegisterPresetPlugins(registry_);
    registry_.Add<Waits>();
    options_.server.threads = 2;
  }
  void Start(int verbosity = 0) {
    log_.emplace(text_, util::LogOptions{.verbosity = verbosity}, clock_);
    auto server = ExtenderServer::Start(options_, registry_, clock_, nullptr, *log_);
    ASSERT_TRUE(server.ok()) << server.error().text();
    server_ = std::move(server).value();
  }
  void StartPreset(const char* name, int verbosity = 0) {
    const Result<Preset> preset = MakePreset(name);
    ASSERT_TRUE(preset.ok());
    options_.profile = preset->profile;
    options_.service = preset->options;
    options_.routes = preset->routes;
    Start(verbosity);
  }
  std::string Ask(const std::string& request) const {
    net::RawClient client(server_->port());
    client.Send(request);
    return Receive(client);
  }
  void ExpectItWorks() const {
    EXPECT_THAT(Ask(Post("/filter", FilterBody("\"a\""))), HasSubstr(R"("NodeNames":["a"])"));
  }

  Registry registry_;
  util::SystemClock clock_;
  std::ostringstream text_;
  std::optional<util::Log> log_;
  ExtenderServerOptions options_;
  std::unique_ptr<ExtenderServer> server_;
};

TEST_F(ExtenderServerTest, AThousandClientsAtOnceEachGetTheirOwnAnswer) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 4096);
  setrlimit(RLIMIT_NOFILE, &limit);
  const size_t count = std::min<size_t>(1000, (limit.rlim_cur - 100) / 2);
  StartPreset("demo-index", util::log_level::kError);
  std::vector<net::RawClient> clients;
  for (size_t i = 0; i < count; ++i) clients.emplace_back(server_->port());
  for (size_t i = 0; i < count; ++i) {
    const std::string name = "n" + std::to_string(i);
    clients[i].Send(Post("/prioritize", FilterBody("\"first\",\"" + name + "\"")));
  }
  for (size_t i = 0; i < count; ++i) {
    EXPECT_THAT(Receive(clients[i]),
                HasSubstr(R"([{"Host":"first","Score":0},{"Host":"n)" + std::to_string(i) + R"(","Score":1}])"));
  }
}

TEST_F(ExtenderServerTest, ClientsThatVanishHarmNobody) {
  StartPreset("demo-index", util::log_level::kError);
  const std::string request = Post("/filter", FilterBody("\"a\""));
  for (size_t i = 0; i < 200; ++i) {
    net::RawClient client(server_->port());
    client.Send(std::string_view(request).substr(0, request.size() * (i % 11) / 10));
    client.Vanish();
  }
  ExpectItWorks();
}

TEST_F(ExtenderServerTest, WhatAHostileClientSendsIsRefusedAndTheNextRequestWorks) {
  options_.server.max_request_bytes = 1 << 20;
  StartPreset("demo-index", util::log_level::kError);
  const std::string long_value(100'000, 'x');
  const std::pair<std::string, int> cases[] = {
      {"\x16\x03\x01\x02\x00\x01\xfc\r\n\r\n", 400},
      {"POST /filter HTTP/1.1\r\n\r\n", 400},
      {"POST /filter HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"POST /filter HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400},
      {"POST /filter HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400},
      {Post("/filter", "{"), 400},
      {Post("/filter", "\xff\xfe{}"), 400},
      {Post("/prioritize", "[]"), 400},
      {Post("/prioritize", "{}"), 400},
      {Post("/bind", R"({"PodName":["x"]})"), 400},
      {Post("/filter", std::string(1'000'000, '[')), 400},
      {Post("/filter", "{\"Nodes\":{\"items\":" + std::string(900'000, '[')), 400},
      {Post("/filter", "{\"NodeNames\":[" + std::string(900'000, ' ') + "7]}"), 400},
      {Post("/nothing", "{}"), 404},
      {Post("/filter/", "{}"), 404},
      {Get("/filter"), 405},
      {"DELETE /bind HTTP/1.1\r\nHost: x\r\n\r\n", 405},
      {Post("/metrics", "{}"), 405},
      {"POST /filter HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n", 413},
      {"POST /filter HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n200000\r\n" + std::string(0x200000, ' '),
       413},
      {"POST /filter HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}", 415},
      {"POST /filter HTTP/1.1\r\nHost: x\r\nX-Long: " + long_value + "\r\n\r\n", 431},
  };
  for (const auto& [request, status] : cases) {
    EXPECT_THAT(Ask(request), StartsWith("HTTP/1.1 " + std::to_string(status))) << request.substr(0, 100);
    ExpectItWorks();
  }
  EXPECT_THAT(Ask(Post("/filter", "{}")), HasSubstr(R"("Error":"Pod: Required value"})"));
}

TEST_F(ExtenderServerTest, WhoDoesNotFinishARequestIsRefusedAndTheNextRequestWorks) {
  options_.server.body_timeout = options_.server.header_timeout = Duration::Seconds(1);
  StartPreset("demo-index", util::log_level::kError);
  net::RawClient body(server_->port()), head(server_->port());  // both are waited for at the same time
  body.Send("POST /filter HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n{");
  head.Send("POST /filter HTT");
  EXPECT_THAT(Receive(body), StartsWith("HTTP/1.1 408"));
  EXPECT_THAT(Receive(head), StartsWith("HTTP/1.1 408"));
  ExpectItWorks();
}

TEST_F(ExtenderServerTest, ACallUnderWayIsAnsweredWhenTheServerStops) {
  std::promise<void> asked, release;
  std::shared_future<void> go_on = release.get_future().share();
  Waits::asked = &asked;
  Waits::go_on = &go_on;
  options_.profile = ProfileOf({"Waits"});
  options_.routes = {{"/filter", Verb::kFilter}};
  Start();
  net::RawClient client(server_->port());
  client.Send(Post("/filter", FilterBody("\"a\"")));
  asked.get_future().wait();
  std::thread stopper([&] { server_->Stop(Duration::Seconds(60)); });
  release.set_value();
  EXPECT_THAT(Receive(client), HasSubstr(R"("NodeNames":["a"])"));
  stopper.join();
}

TEST_F(ExtenderServerTest, HealthAndMetricsAreAnsweredWhilePluginsTakeTheirTime) {
  std::promise<void> asked, release;
  std::shared_future<void> go_on = release.get_future().share();
  Waits::asked = &asked;
  Waits::go_on = &go_on;
  options_.profile = ProfileOf({"Waits"});
  options_.routes = {{"/filter", Verb::kFilter}};
  options_.server.threads = 1;
  options_.workers = 1;
  options_.most_waiting = 3;
  Start();
  std::vector<net::RawClient> clients;
  for (int i = 0; i < 4; ++i) clients.emplace_back(server_->port());
  clients[0].Send(Post("/filter", FilterBody("\"a\"")));
  asked.get_future().wait();
  for (int i = 0; i < 20; ++i) {
    for (const char* path : {"/healthz", "/livez", "/readyz", "/version", "/metrics"}) {
      EXPECT_THAT(Ask(Get(path)), StartsWith("HTTP/1.1 200")) << path;
    }
    EXPECT_THAT(Ask(Get("/nothing")), StartsWith("HTTP/1.1 404"));
  }
  // Without a node nobody asks the plugin.
  for (size_t i = 1; i < 4; ++i) clients[i].Send(Post("/filter", FilterBody("")));
  std::string text;
  while (text.find("berth_extender_calls_waiting 3\n") == std::string::npos) {
    text = Ask(Get("/metrics"));
    ASSERT_THAT(text, StartsWith("HTTP/1.1 200"));
  }
  const std::string refused = Ask(Post("/filter", FilterBody("")));
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(refused, HasSubstr("too many calls wait to be computed"));
  EXPECT_THAT(Ask(Get("/metrics")),
              HasSubstr("berth_extender_requests_total{code=\"503\",result=\"error\",route=\"/filter\"} 1\n"));
  release.set_value();
  EXPECT_THAT(Receive(clients[0]), HasSubstr(R"("NodeNames":["a"])"));
  for (size_t i = 1; i < 4; ++i) EXPECT_THAT(Receive(clients[i]), HasSubstr("200 OK"));
}

TEST_F(ExtenderServerTest, ACallThatNobodyWaitsForAnyMoreIsNotComputed) {
  std::promise<void> asked, release;
  std::shared_future<void> go_on = release.get_future().share();
  Waits::asked = &asked;
  Waits::go_on = &go_on;
  options_.profile = ProfileOf({"Waits"});
  options_.routes = {{"/filter", Verb::kFilter}};
  options_.workers = 1;
  Start();
  net::RawClient busy(server_->port());
  busy.Send(Post("/filter", FilterBody("\"a\"")));
  asked.get_future().wait();
  {
    net::RawClient hasty(server_->port());
    hasty.Send(Post("/filter", FilterBody("\"b\"")));  // it would set the promise a second time, which throws
    while (Ask(Get("/metrics")).find("berth_extender_calls_waiting 1\n") == std::string::npos) {
    }
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(1'100));  // what counts as long
  release.set_value();
  EXPECT_THAT(Receive(busy), HasSubstr(R"("NodeNames":["a"])"));
  server_->Stop(Duration::Seconds(60));
  EXPECT_THAT(text_.str(), HasSubstr("status=503 error=\"whoever asked did not wait until it could be computed\""));
}

TEST_F(ExtenderServerTest, WithQuickPluginsSmallCallsNeedNoOtherThread) {
  options_.plugins_are_quick = true;
  options_.most_waiting = 0;  // nothing can be handed over
  StartPreset("demo-index", util::log_level::kError);
  ExpectItWorks();
  const std::string large = Ask(Post("/filter", FilterBody("\"a\"") + std::string(100'000, ' ')));
  EXPECT_THAT(large, StartsWith("HTTP/1.1 503"));
  ExpectItWorks();
}

// Finds every pod and answers no binding before its end.
class HangingApi final : public client::ClusterApi {
 public:
  HangingApi(util::Inbox& inbox, std::promise<void>& asked) : inbox_(inbox), asked_(asked) {}
  ~HangingApi() override {
    for (client::Answer& done : held_) inbox_.Post([done = std::move(done)] { done({0, "cancelled"}); });
  }
  void GetPod(const std::string& ns, const std::string& name,
              std::function<void(const client::ApiStatus&, Ptr<Pod>)> done) override {
    inbox_.Post([done = std::move(done),
                 pod = std::make_shared<const Pod>(MakePod(name).Namespace(ns).Uid("u").Build())] { done({}, pod); });
  }
  void Bind(const client::ObjectName&, const std::string&, client::Answer done) override {
    held_.push_back(std::move(done));
    asked_.set_value();
  }
  void List(Kind, std::function<void(client::ListAnswer)>) override {}
  std::unique_ptr<client::Watch> StartWatch(Kind, const std::string&, client::WatchCallbacks) override {
    return std::make_unique<client::Watch>();
  }
  void PatchPodStatus(const client::PodStatusPatch&, client::Answer) override {}
  void DeletePod(const client::ObjectName&, client::Answer) override {}
  void PostEvent(const client::EventRecord&, client::Answer) override {}
  void PatchEvent(const client::EventRecord&, client::Answer) override {}
  void GetLease(const std::string&, const std::string&,
                std::function<void(const client::ApiStatus&, const client::Lease&)>) override {}
  void PutLease(const client::Lease&, std::function<void(const client::ApiStatus&, const client::Lease&)>) override {}

 private:
  util::Inbox& inbox_;
  std::promise<void>& asked_;
  std::vector<client::Answer> held_;
};

// Leaves it to the host, as most do.
class Hands final : public BindPlugin {
 public:
  static constexpr std::string_view kName = "Hands";
  explicit Hands(Handle& handle) : handle_(handle) {}
  void Bind(const Placement& placement, StateSlot&, Done done) const override {
    handle_.writer().Bind(*placement.pod, placement.node, std::move(done));
  }

 private:
  Handle& handle_;
};
// Means to answer, until its end.
class Keeps final : public BindPlugin {
 public:
  static constexpr std::string_view kName = "Keeps";
  static inline std::promise<void>* asked = nullptr;
  void Bind(const Placement&, StateSlot&, Done done) const override {
    kept_ = std::move(done);
    asked->set_value();
  }

 private:
  mutable Done kept_;
};

TEST_F(ExtenderServerTest, ABindingUnderWayWhenAllEndsHarmsNobody) {
  registry_.Add<Hands>();
  registry_.Add<Keeps>();
  for (const char* plugin : {"TruePredicate", "Hands", "Keeps"}) {
    std::promise<void> asked;
    Keeps::asked = &asked;
    log_.emplace(text_, util::LogOptions{}, clock_);
    auto feed = ClusterFeed::Make(
        [&](util::Inbox& inbox) -> Result<std::unique_ptr<client::ClusterApi>> {
          return std::unique_ptr<client::ClusterApi>(std::make_unique<HangingApi>(inbox, asked));
        },
        clock_, *log_);
    ASSERT_TRUE(feed.ok());
    options_.profile = ProfileOf({plugin});
    options_.routes = {{"/bind", Verb::kBind}};
    auto server = ExtenderServer::Start(options_, registry_, clock_, feed->get(), *log_);
    ASSERT_TRUE(server.ok()) << server.error().text();
    net::RawClient client((*server)->port());
    client.Send(Post("/bind", R"({"PodName":"p","PodNamespace":"d","PodUID":"u","Node":"n"})"));
    asked.get_future().wait();
    (*server)->Stop(Duration::Millis(1));
    EXPECT_THAT(Receive(client), Not(HasSubstr("200 OK"))) << plugin;
    (*feed)->Stop();
    // The server goes first, then the feed.
  }
  EXPECT_THAT(text_.str(), Not(HasSubstr("route=\"/bind\""))) << "nobody is told of what comes after the end";
}

// Counts its indexes.
class Indexed final : public NodePlugin {
 public:
  static constexpr std::string_view kName = "Indexed";
  static inline int made = 0;
  Verdict FilterNode(const Pod&, NodeView) const override { return kFits; }
  std::unique_ptr<PluginIndex> MakeIndex() override {
    ++made;
    return nullptr;
  }
};

TEST_F(ExtenderServerTest, PluginsHaveTheirIndexesBeforeAnybodyCanAsk) {
  StartPreset("demo");
  registry_.Add<Indexed>();
  std::promise<void> asked;
  auto feed = ClusterFeed::Make(
      [&](util::Inbox& inbox) -> Result<std::unique_ptr<client::ClusterApi>> {
        return std::unique_ptr<client::ClusterApi>(std::make_unique<HangingApi>(inbox, asked));
      },
      clock_, *log_);
  ASSERT_TRUE(feed.ok());
  options_.profile = ProfileOf({"Indexed"});
  options_.server.port = server_->port();  // taken: the server comes no further than to the port
  EXPECT_FALSE(ExtenderServer::Start(options_, registry_, clock_, feed->get(), *log_).ok());
  EXPECT_EQ(Indexed::made, 1);
}

TEST_F(ExtenderServerTest, WhatNoVerbTakesIsAWarning) {
  StartPreset("demo-index");
  Ask(Post("/fliter", FilterBody("\"a\"")));
  Ask(Get("/filter"));
  Ask(Get("/healthz"));
  Ask("BREW /" + std::string(5'000, 'x') + " HTTP/1.1\r\nHost: x\r\n\r\n");
  server_->Stop(Duration::Seconds(60));
  const std::string text = text_.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;
  EXPECT_THAT(text, HasSubstr(R"("No such route" method="POST" path="/fliter" status=404)"));
  EXPECT_THAT(text, HasSubstr(R"("Wrong method" method="GET" path="/filter" status=405)"));
  EXPECT_THAT(text, HasSubstr("... (5001 bytes)\" status=404"));
  EXPECT_LT(text.size(), 1'500u);
}

TEST_F(ExtenderServerTest, HandshakesThatFailAreALineOnce) {
  const net::TestFolder folder;
  const net::TestIdentity identity = net::MakeIdentity("server");
  net::TlsOptions tls;
  tls.certificate_file = folder.Write("server.crt", identity.certificate_pem);
  tls.key_file = folder.Write("server.key", identity.key_pem);
  options_.server.tls = &tls;
  StartPreset("demo-index");
  for (int i = 0; i < 3; ++i) Ask(Get("/healthz"));  // without TLS
  server_->Stop(Duration::Seconds(60));
  const std::string text = text_.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  EXPECT_THAT(text, HasSubstr(R"("Refused" error="TLS handshake: )"));
}

TEST_F(ExtenderServerTest, NamesOfAnyLengthMakeShortLines) {
  StartPreset("demo-index");
  const std::string name(3'000'000, 'x');
  Ask(Post("/filter", R"({"Pod":{"metadata":{"name":")" + name + R"("}},"NodeNames":[]})"));
  const std::string reply =
      Ask(Post("/bind", R"({"PodName":")" + name + R"(","PodNamespace":"d","PodUID":"u","Node":")" + name + "\"}"));
  EXPECT_LT(reply.size(), 1'500u);
  server_->Stop(Duration::Seconds(60));
  EXPECT_THAT(text_.str(), HasSubstr("... (3000000 bytes)\""));
  EXPECT_LT(text_.str().size(), 4'000u) << text_.str().substr(0, 4'000);
}

TEST_F(ExtenderServerTest, ACallIsOneLineOfTheLogAndBodiesAreForDebug) {
  StartPreset("demo-index");
  Ask(Post("/filter", FilterBody(R"("a","b")")));
  Ask(Post("/prioritize", "{"));
  Ask(Post("/bind", R"({"PodName":"p\nforged","PodNamespace":"d","PodUID":"u","Node":"n"})"));
  server_->Stop(Duration::Seconds(60));
  const std::string text = text_.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;
  EXPECT_THAT(text, HasSubstr(R"("Served" route="/filter" verb="filter" pod="d/p" nodesIn=2 nodesOut=2 ms=)"));
  EXPECT_THAT(text, HasSubstr(R"("Call failed" route="/prioritize" verb="prioritize" pod="")"));
  EXPECT_THAT(text, HasSubstr(R"(status=400 error="malformed JSON)"));
  EXPECT_THAT(text, HasSubstr(R"(node="n" nodesIn=1 nodesOut=0)"));
  EXPECT_THAT(text, HasSubstr(R"(error="PodName: Invalid value: )"));

  text_.str("");
  StartPreset("demo-index", util::log_level::kDebug);
  Ask(Post("/filter", FilterBody("\"a\"")));
  server_->Stop(Duration::Seconds(60));
  EXPECT_THAT(text_.str(), HasSubstr(R"("Request" route="/filter" bytes=)"));
  EXPECT_THAT(text_.str(), HasSubstr(R"({"name":"A","value":"***"})"));
  EXPECT_THAT(text_.str(), HasSubstr(R"("Reply" route="/filter" bytes=)"));
  EXPECT_THAT(text_.str(), HasSubstr(R"("NodeNames":["a"])"));
  EXPECT_THAT(text_.str(), Not(HasSubstr("secret")));
}

TEST_F(ExtenderServerTest, MetricsTellOfRequestsSizesTimesAndPlugins) {
  StartPreset("demo-index", util::log_level::kError);
  Ask(Post("/filter", FilterBody("\"a\"")));
  Ask(Post("/filter", "{"));
  Ask(Get("/filter"));
  Ask(Get("/nothing"));
  Ask("POST /filter HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}");
  const std::string text = Ask(Get("/metrics"));
  EXPECT_THAT(text, HasSubstr("Content-Type: text/plain; version=0.0.4"));
  EXPECT_THAT(text, HasSubstr("berth_extender_requests_total{code=\"200\",result=\"success\",route=\"/filter\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("berth_extender_requests_total{code=\"400\",result=\"error\",route=\"/filter\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("berth_extender_requests_total{code=\"405\",result=\"error\",route=\"/filter\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("berth_extender_requests_total{code=\"404\",result=\"error\",route=\"other\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("berth_extender_requests_total{code=\"415\",result=\"error\",route=\"other\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("berth_extender_request_duration_seconds_count{route=\"/filter\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("berth_extender_request_size_bytes_count{route=\"/filter\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("berth_extender_response_size_bytes_sum{route=\"/filter\"}"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "berth_extender_plugin_duration_seconds_count{extension_point=\"Filter\",plugin=\"TruePredicate\"} 1\n"));
}

TEST_F(ExtenderServerTest, MetricsTellFailuresFromSuccesses) {
  StartPreset("label-priority", util::log_level::kError);
  Ask(Post("/filter", FilterBody("\"a\"")));  // names alone, and no API server
  Ask(Post("/filter", R"({"Pod":{"metadata":{"name":"p"}},"Nodes":{"items":[{"metadata":{"name":"a"}}]}})"));
  Ask(Post("/filter", R"({"Pod":{"metadata":{"name":"p"}},"Nodes":{"items":[)"
                      R"({"metadata":{"name":"a","labels":{"priority.lixueduan.com":"1"}}}]}})"));
  Ask(Post("/prioritize", FilterBody("\"a\"")));
  Ask(Post("/bind", R"({"PodName":"p","PodNamespace":"d","PodUID":"u","Node":"n"})"));
  const std::string text = Ask(Get("/metrics"));
  for (const char* line : {"{code=\"200\",result=\"error\",route=\"/filter\"} 2\n",
                           "{code=\"200\",result=\"success\",route=\"/filter\"} 1\n",
                           "{code=\"500\",result=\"error\",route=\"/prioritize\"} 1\n",
                           "{code=\"200\",result=\"error\",route=\"/bind\"} 1\n",
                           "{code=\"200\",result=\"success\",route=\"/bind\"} 0\n"}) {
    EXPECT_THAT(text, HasSubstr(std::string("berth_extender_requests_total") + line));
  }
}

TEST_F(ExtenderServerTest, MetricsTellOfTheProgramItself) {
  StartPreset("demo", util::log_level::kError);
  const std::string text = Ask(Get("/metrics"));
  EXPECT_THAT(text, HasSubstr("berth_build_info{kubernetes_version=\"v1.36.4\",version=\"" + std::string(kVersion) +
                              "\"} 1\n"));
  for (const char* name : {"process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds",
                           "process_start_time_seconds"}) {
    EXPECT_THAT(text, HasSubstr(std::string("\n") + name + " "));
  }
  EXPECT_THAT(text, Not(HasSubstr("berth_extender_cluster"))) << "there is no copy of a cluster";
}

TEST_F(ExtenderServerTest, APortThatIsTakenIsAnError) {
  StartPreset("demo");
  options_.server.port = server_->port();
  const auto again = ExtenderServer::Start(options_, registry_, clock_, nullptr, *log_);
  ASSERT_FALSE(again.ok());
  EXPECT_THAT(again.error().text(), HasSubstr(std::to_string(server_->port())));
}

TEST(IsLoopbackTest, OnlyAddressesOfThisMachineAre) {
  for (const char* address : {"127.0.0.1", "127.8.0.1", "::1", "[::1]", "localhost"}) {
    EXPECT_TRUE(IsLoopback(address)) << address;
  }
  for (const char* address : {"0.0.0.0", "::", "10.0.0.1", "", "127", "example.com", "127.example.com"}) {
    EXPECT_FALSE(IsLoopback(address)) << address;
  }
}

TEST(OpenDoorWarningTest, ItIsLoudUnlessNobodyElseOrOnlyKnownClientsCanCall) {
  net::ServerOptions server;
  const std::vector<Route> filter = {{"/filter", Verb::kFilter}}, bind = {{"/bind", Verb::kBind}};
  EXPECT_EQ(OpenDoorWarning(server, bind), "");
  server.address = "0.0.0.0";
  EXPECT_THAT(OpenDoorWarning(server, filter), StartsWith("ANYBODY WHO REACHES 0.0.0.0 CAN CALL THIS EXTENDER: "));
  EXPECT_THAT(OpenDoorWarning(server, bind), HasSubstr("BIND PODS WITH ITS RIGHTS"));
  net::TlsOptions tls;
  server.tls = &tls;
  EXPECT_NE(OpenDoorWarning(server, bind), "");
  tls.client_ca_file = "ca.pem";
  EXPECT_EQ(OpenDoorWarning(server, bind), "");
}

}  // namespace
}  // namespace berth::extender
