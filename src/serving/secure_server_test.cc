// SPDX-License-Identifier: Apache-2.0
#include "serving/secure_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <atomic>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "net/http_client_test_util.h"
#include "net/http_test_util.h"
#include "net/tls_test_util.h"
#include "serving/recorded_answers_test_util.h"
#include "serving/review_test_util.h"
#include "util/steady_clock.h"
#include "util/system_clock.h"

namespace berth::serving {
namespace {

using testing::HasSubstr;
using testing::Not;

int FreePort() {
  const auto socket = net::ListeningSocket::Open({.address = "127.0.0.1"});
  EXPECT_TRUE(socket.ok());
  return (*socket)->port();
}

// What a client shows.
struct Who {
  const net::TestIdentity* identity = nullptr;
  std::string token = {};
  std::map<std::string, std::string> headers = {};
};

class SecureServerTest : public ::testing::Test {
 protected:
  using FakeRequest = client::FakeRequest;
  using FakeReply = client::FakeReply;

  SecureServerTest() {
    options_.bind_address = "127.0.0.1";
    options_.look_every = Duration{};
    options_.client_ca_file = folder_.Write("ca.crt", authority_.certificate_pem);
    // Making one with RSA takes longer than all else here.
    const net::TestIdentity own = net::MakeIdentity("localhost", "IP:127.0.0.1");
    options_.tls_cert_file = folder_.Write("own.crt", own.certificate_pem);
    options_.tls_private_key_file = folder_.Write("own.key", own.key_pem);
  }
  ~SecureServerTest() override { server_ = nullptr; }

  // An API server that knows the token "good" as bob, and lets bob see /metrics.
  FakeReply Answer(const FakeRequest& request) {
    const auto has = [&](const char* text) { return request.body.find(text) != std::string::npos; };
    if (request.target.find("tokenreviews") != std::string::npos) {
      return {201,
              TokenReviewJson(has("\"good\"") ? R"({"authenticated":true,"user":{"username":"bob","groups":["g1"]}})"
                                              : R"({"authenticated":false,"error":"invalid bearer token"})"),
              ""};
    }
    if (request.target.find("subjectaccessreviews") != std::string::npos) {
      if (fail_access_) return {400, client::StatusJson(400, "injected"), ""};
      return {201,
              AccessReviewJson(has(R"("path":"/metrics")") && has(R"("user":"bob")") ? R"({"allowed":true})"
                                                                                     : R"({"allowed":false})"),
              ""};
    }
    const std::lock_guard lock(mutex_);
    if (config_map_.empty()) return {404, client::StatusJson(404, "not found"), ""};
    if (request.target.find('?') == std::string::npos) return {200, config_map_, ""};
    return {200, client::ListJson("ConfigMapList", "10", {config_map_}), ""};
  }
  // Both kubeconfigs name it.
  void UseApiServer() {
    api_ = std::make_unique<client::FakeApiServer>([this](const FakeRequest& request) { return Answer(request); });
    const std::string file =
        folder_.Write("kubeconfig", R"({"apiVersion":"v1","kind":"Config","current-context":"c",)"
                                    R"("contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],)"
                                    R"("users":[{"name":"u","user":{}}],)"
                                    R"("clusters":[{"name":"c","cluster":{"server":")" +
                                        api_->config().server + R"("}}]})");
    options_.authentication_kubeconfig = options_.authorization_kubeconfig = file;
  }
  Error Open() {
    server_ = nullptr;
    Error error = Error::Ok();
    for (int tries = 0; tries < 5; ++tries) {  // somebody else may take the port meanwhile
      if (options_.secure_port != 0 && !fixed_port_) options_.secure_port = FreePort();
      ServingSurroundings around{.log = log_, .wall_clock = wall_, .steady_clock = steady_};
      around.in_cluster = in_cluster_;
      around.observer = observer_;
      around.retries = kQuickRetries;
      auto opened = SecureServer::Open(options_, around);
      if (opened.ok()) {
        server_ = std::move(opened).value();
        return Error::Ok();
      }
      error = opened.error();
      if (error.text().find("failed to create listener") == std::string::npos) break;
    }
    return error;
  }
  void Start() {
    const Error opened = Open();
    ASSERT_TRUE(opened.ok()) << opened.text();
    EndpointSources sources;
    sources.healthz = {{"leaderElection", [] { return Error::Ok(); }}};
    sources.metrics = [] { return std::string("metrics\n"); };
    sources.configz = [] { return std::string("{}"); };
    const Error served = server_->Serve(std::move(sources));
    ASSERT_TRUE(served.ok()) << served.text();
  }
  net::ClientOptions ClientOptions() const {
    net::ClientOptions options;
    options.url = "https://127.0.0.1:" + std::to_string(server_->port());
    options.tls.insecure = true;
    return options;
  }
  net::HttpResponse Ask(const std::string& path, const Who& who = {}, const std::string& method = "GET") {
    net::ClientOptions options = ClientOptions();
    if (who.identity != nullptr) {
      options.tls.certificate_data = who.identity->certificate_pem;
      options.tls.key_data = who.identity->key_pem;
    }
    const auto client = net::ClientOf(0, options);
    net::ClientRequest request = net::Request(method, path);
    request.headers.Add("User-Agent", "curl/8.0");
    if (!who.token.empty()) request.headers.Add("Authorization", "Bearer " + who.token);
    for (const auto& [name, value] : who.headers) request.headers.Add(name, value);
    const auto answer = net::Ask(*client, std::move(request));
    EXPECT_TRUE(answer.ok()) << answer.error().text();
    return answer.ok() ? *answer : net::HttpResponse{};
  }
  int Status(const std::string& path, const Who& who = {}, const std::string& method = "GET") {
    return Ask(path, who, method).status;
  }
  // What the API server was asked about the last access.
  std::string LastAccess() {
    std::string last;
    for (const FakeRequest& request : api_->requests()) {
      if (request.target.find("subjectaccessreviews") != std::string::npos) last = request.body;
    }
    return last;
  }

  const net::TestFolder folder_;
  const net::TestIdentity authority_ = net::MakeIdentity("authority"), stranger_ = net::MakeIdentity("stranger"),
                          proxy_authority_ = net::MakeIdentity("proxies");
  const net::TestIdentity admin_ = net::MakeIdentity("admin", "", &authority_, 3600, false, {"system:masters"});
  const net::TestIdentity jane_ = net::MakeIdentity("jane", "", &authority_, 3600, false, {"dev"});
  const net::TestIdentity proxy_ = net::MakeIdentity("front-proxy", "", &proxy_authority_);
  std::mutex mutex_;
  std::string config_map_;  // under mutex_
  std::atomic<bool> fail_access_{false};
  bool fixed_port_ = false;
  client::InCluster in_cluster_;
  ServingObserver* observer_ = nullptr;
  std::unique_ptr<client::FakeApiServer> api_;
  ServingOptions options_;
  std::ostringstream out_;  // read once the server is stopped
  util::SystemClock wall_;
  util::SteadyClock steady_;
  util::Log log_{out_, {.verbosity = 4}, wall_};
  std::unique_ptr<SecureServer> server_;
};

TEST_F(SecureServerTest, AnswersAsRecordedBeforeAnythingIsLookedUp) {
  UseApiServer();
  Start();
  const auto expect = [&](const net::HttpResponse& got, const char* title) {
    const auto recorded = Recorded(title);
    ASSERT_EQ(recorded.size(), 1) << title;
    EXPECT_EQ(got.status, recorded[0].status) << title;
    EXPECT_EQ(got.body, recorded[0].body) << title;
    for (const auto& [name, value] : recorded[0].headers) {
      const std::string* header = got.headers.Find(name);
      ASSERT_NE(header, nullptr) << title << " " << name;
      EXPECT_EQ(*header, value) << title;
    }
    const bool nosniff = std::ranges::any_of(
        recorded[0].headers, [](const auto& header) { return header.first == "x-content-type-options"; });
    EXPECT_EQ(got.headers.Find("X-Content-Type-Options") != nullptr, nosniff) << title;
  };
  expect(Ask("/metrics"), "GET /metrics, anonymous");
  expect(Ask("/healthz", {.token = "bad"}), "GET /healthz with a bad bearer token");
  expect(Ask("/nosuch", {.identity = &admin_}), "GET /nosuch, admin");
  fail_access_ = true;
  expect(Ask("/configz", {.token = "good"}), "GET /configz while SubjectAccessReview fails");
}

TEST_F(SecureServerTest, EveryoneIsWhoHeShowsToBe) {
  UseApiServer();
  Start();
  EXPECT_EQ(Status("/healthz"), 200);
  EXPECT_EQ(Status("/healthz/leaderElection"), 403) << "the allowed path is the whole one";
  EXPECT_EQ(Status("/metrics", {.identity = &admin_}), 200);
  EXPECT_EQ(Status("/metrics", {.token = "good"}), 200);
  EXPECT_EQ(Status("/configz", {.token = "good"}), 403);
  EXPECT_THAT(LastAccess(), HasSubstr(R"("user":"bob","groups":["g1","system:authenticated"])"));
  EXPECT_EQ(Status("/metrics", {.identity = &jane_}), 403);
  EXPECT_THAT(LastAccess(), HasSubstr(R"("user":"jane","groups":["dev","system:authenticated"],)"
                                      R"("extra":{"authentication.kubernetes.io/credential-id":["X509SHA256=)"));
  EXPECT_EQ(Status("/metrics"), 403);
  EXPECT_THAT(LastAccess(), HasSubstr(R"("user":"system:anonymous","groups":["system:unauthenticated"]})"));
  // Whoever shows what nobody believes is turned away, also where everybody may ask.
  EXPECT_EQ(Status("/healthz", {.identity = &stranger_}), 401);
  EXPECT_EQ(Status("/healthz", {.token = "bad"}), 401);
  EXPECT_EQ(Status("/metrics", {.identity = &stranger_, .token = "good"}), 200) << "something he shows is good";
  EXPECT_EQ(Status("/healthz", {.headers = {{"Authorization", "Basic x"}}}), 200) << "not what we look at";
  EXPECT_EQ(Status("/healthz", {.headers = {{"X-Remote-User", "root"}, {"X-Remote-Group", "system:masters"}}}), 200);
  EXPECT_EQ(Status("/metrics", {.headers = {{"X-Remote-User", "root"}, {"X-Remote-Group", "system:masters"}}}), 403);
  EXPECT_EQ(Status("/metrics",
                   {.identity = &jane_, .headers = {{"X-Remote-User", "root"}, {"X-Remote-Group", "system:masters"}}}),
            403);
}

TEST_F(SecureServerTest, PathsAreDecodedBeforeTheyAreJudged) {
  UseApiServer();
  Start();
  EXPECT_EQ(Status("/%68ealthz"), 200);
  EXPECT_EQ(Status("/healthz%2f..%2fmetrics"), 403);
  EXPECT_THAT(LastAccess(), HasSubstr(R"("path":"/healthz/../metrics")"));
  EXPECT_EQ(Status("/%zz"), 400);
  EXPECT_EQ(Status("/metrics", {.token = "good"}, "DELETE"), 200);
  EXPECT_THAT(LastAccess(), HasSubstr(R"("verb":"delete")"));
}

TEST_F(SecureServerTest, AProxyInFrontNamesUsers) {
  UseApiServer();
  options_.requestheader_client_ca_file = folder_.Write("proxy.crt", proxy_authority_.certificate_pem);
  options_.requestheader.allowed_clients = {"front-proxy"};
  options_.requestheader.uid = {"X-Remote-Uid"};
  Start();
  const std::map<std::string, std::string> bob = {
      {"X-Remote-User", "bob"}, {"x-remote-group", "g9"}, {"X-Remote-Extra-Foo%2fBar", "x"}, {"X-Remote-Uid", "7"}};
  EXPECT_EQ(Status("/metrics", {.identity = &proxy_, .headers = bob}), 200);
  EXPECT_THAT(LastAccess(), HasSubstr(R"("user":"bob","groups":["g9","system:authenticated"],)"
                                      R"("extra":{"foo/bar":["x"]},"uid":"7"})"));
  EXPECT_EQ(Status("/metrics", {.identity = &proxy_}), 401) << "its certificate is nobody's own";
  const net::TestIdentity other = net::MakeIdentity("other-proxy", "", &proxy_authority_);
  EXPECT_EQ(Status("/metrics", {.identity = &other, .headers = bob}), 401);
  EXPECT_EQ(Status("/metrics", {.identity = &jane_, .headers = bob}), 403) << "jane is jane";
  EXPECT_THAT(LastAccess(), HasSubstr(R"("user":"jane")"));
}

TEST_F(SecureServerTest, TheClusterSaysWhomToBelieve) {
  UseApiServer();
  options_.client_ca_file = "";
  const auto config_map = [&](const std::string& pem) {
    return R"({"metadata":{"name":"extension-apiserver-authentication","resourceVersion":"5"},"data":{"client-ca-file":")" +
           JsonEscaped(pem) + R"(","requestheader-client-ca-file":")" + JsonEscaped(proxy_authority_.certificate_pem) +
           R"(","requestheader-username-headers":"[\"X-Remote-User\"]","requestheader-group-headers":)"
           R"("[\"X-Remote-Group\"]"}})";
  };
  {
    const std::lock_guard lock(mutex_);
    config_map_ = config_map(authority_.certificate_pem);
  }
  Start();
  EXPECT_EQ(Status("/metrics", {.identity = &admin_}), 200);
  EXPECT_EQ(Status("/metrics",
                   {.identity = &proxy_, .headers = {{"X-Remote-User", "x"}, {"X-Remote-Group", "system:masters"}}}),
            200);
  const auto watch = api_->WaitForWatch(0);
  ASSERT_NE(watch, nullptr);
  watch->Event("MODIFIED", config_map(stranger_.certificate_pem));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (Status("/metrics", {.identity = &admin_}) != 401 && std::chrono::steady_clock::now() < end) {
  }
  EXPECT_EQ(Status("/metrics", {.identity = &admin_}), 401) << "the change applies";
}

TEST_F(SecureServerTest, AClusterThatDoesNotSayIsToleratedOrNot) {
  UseApiServer();
  options_.client_ca_file = "";
  api_ = nullptr;
  options_.authentication_tolerate_lookup_failure = false;
  EXPECT_THAT(Open().text(), testing::StartsWith("unable to load configmap based request-header-client-ca-file: "));
  options_.authentication_tolerate_lookup_failure = true;
  Start();
  EXPECT_EQ(Status("/healthz", {.identity = &admin_}), 200) << "as nobody";
  EXPECT_EQ(Status("/healthz", {.token = "good"}), 401) << "nobody knows";
  EXPECT_EQ(Status("/metrics"), 500);
  server_->Stop(Duration::Seconds(1));
  EXPECT_THAT(out_.str(), HasSubstr("Continuing without authentication configuration"));
}

TEST_F(SecureServerTest, WithoutAnApiServerTokensAreIgnoredAndTheRestIsForbidden) {
  options_.tls_cert_file = options_.tls_private_key_file = "";
  Start();
  EXPECT_EQ(Status("/healthz", {.token = "any"}), 200);
  EXPECT_EQ(Status("/metrics", {.token = "any"}), 403);
  EXPECT_EQ(Status("/metrics", {.identity = &admin_}), 200);
  EXPECT_EQ(Status("/metrics", {.identity = &jane_}), 403);
  server_->Stop(Duration::Seconds(1));
  EXPECT_THAT(out_.str(), HasSubstr("No authentication-kubeconfig provided in order to lookup requestheader-client-ca-"
                                    "file in configmap/extension-apiserver-authentication in kube-system"));
  EXPECT_THAT(out_.str(), HasSubstr("No authorization-kubeconfig provided"));
  EXPECT_THAT(out_.str(), HasSubstr("Generated self-signed cert in-memory"));
  EXPECT_THAT(out_.str(), HasSubstr("Serving securely on 127.0.0.1:"));
  EXPECT_THAT(out_.str(), HasSubstr("[graceful-termination] secure server is exiting"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("PRIVATE KEY")));
}

TEST_F(SecureServerTest, NoSecretIsLogged) {
  UseApiServer();
  Start();
  EXPECT_EQ(Status("/healthz", {.token = "s3cr3t-token"}), 401);
  server_->Stop(Duration::Seconds(1));
  EXPECT_THAT(out_.str(), HasSubstr("Unable to authenticate the request"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("s3cr3t")));
}

TEST_F(SecureServerTest, PortZeroIsNothingAtAll) {
  options_.secure_port = 0;
  options_.client_ca_file = folder_.Path("none");
  options_.tls_cert_file = options_.tls_private_key_file = folder_.Path("none");
  options_.authentication_kubeconfig = folder_.Path("none");
  ASSERT_TRUE(Open().ok());
  EXPECT_FALSE(server_->enabled());
  EXPECT_TRUE(server_->Serve({}).ok());
  server_->Stop(Duration::Seconds(1));
  EXPECT_EQ(out_.str(), "");
}

TEST_F(SecureServerTest, WhatCannotBeUsedIsAnErrorAtTheStart) {
  const auto fails = [this](const std::string& text) { EXPECT_THAT(Open().text(), HasSubstr(text)); };
  options_.tls_min_version = "x";
  fails("unknown tls version \"x\"");
  options_.tls_min_version = "";
  options_.client_ca_file = folder_.Path("none");
  fails("unable to load client CA provider: --client-ca-file " + folder_.Path("none"));
  options_.client_ca_file = "";
  options_.requestheader_client_ca_file = folder_.Write("bad", "no PEM");
  fails("unable to create request header authentication config: --requestheader-client-ca-file");
  options_.requestheader_client_ca_file = "";
  options_.authentication_kubeconfig = folder_.Path("none");
  fails("failed to get delegated authentication kubeconfig: ");
  options_.authentication_kubeconfig = "";
  options_.authorization_kubeconfig = folder_.Path("none");
  fails("failed to get delegated authorization kubeconfig: ");
  options_.authorization_kubeconfig = "";
  const std::string certificate = options_.tls_cert_file;
  options_.tls_cert_file = folder_.Path("none");
  fails(folder_.Path("none"));
  options_.tls_cert_file = folder_.Write("other.crt", jane_.certificate_pem);
  fails("does not belong to the certificate in");
  options_.tls_cert_file = certificate;
  const auto taken = net::ListeningSocket::Open({.address = "127.0.0.1"});
  ASSERT_TRUE(taken.ok());
  options_.secure_port = (*taken)->port();
  fixed_port_ = true;
  fails("failed to create listener: failed to listen on 127.0.0.1:" + std::to_string(options_.secure_port) +
        ": Address already in use");
}

TEST_F(SecureServerTest, GivenFilesAreShownAndReadAgain) {
  const net::TestIdentity first = net::MakeIdentity("first", "IP:127.0.0.1", &authority_),
                          second = net::MakeIdentity("second", "IP:127.0.0.1", &stranger_);
  options_.tls_cert_file = folder_.Write("s.crt", first.certificate_pem);
  options_.tls_private_key_file = folder_.Write("s.key", first.key_pem);
  Start();
  const auto believes = [&](const net::TestIdentity& authority) {
    net::ClientOptions options = ClientOptions();
    options.tls.insecure = false;
    options.tls.ca_data = authority.certificate_pem;
    const auto client = net::ClientOf(0, options);
    return net::Ask(*client, net::Request("GET", "/healthz")).ok();
  };
  EXPECT_TRUE(believes(authority_));
  EXPECT_FALSE(believes(stranger_));
  folder_.Write("s.key", second.key_pem);
  folder_.Write("s.crt", second.certificate_pem + " ");
  EXPECT_TRUE(believes(stranger_));
}

// The common name of what is shown to a client of that version that asks for the name; "refused".
std::string Shown(uint16_t port, int version, const char* name) {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  SSL_CTX_set_max_proto_version(context.get(), version);
  const std::unique_ptr<SSL, decltype(&SSL_free)> ssl(SSL_new(context.get()), SSL_free);
  const net::RawClient socket(port);
  SSL_set_fd(ssl.get(), socket.fd());
  SSL_set_tlsext_host_name(ssl.get(), name);
  if (SSL_connect(ssl.get()) != 1) return "refused";
  const std::unique_ptr<X509, decltype(&X509_free)> shown(SSL_get1_peer_certificate(ssl.get()), X509_free);
  char text[200];
  return X509_NAME_oneline(X509_get_subject_name(shown.get()), text, sizeof(text));
}

TEST_F(SecureServerTest, OptionsOfTlsHaveTheirEffect) {
  const net::TestIdentity named = net::MakeIdentity("named");
  const std::string files =
      folder_.Write("n.crt", named.certificate_pem) + "," + folder_.Write("n.key", named.key_pem) + ":*.example.com";
  options_.tls_sni_cert_keys = {*ParseNamedCertificate(files)};
  Start();
  EXPECT_EQ(Shown(server_->port(), TLS1_2_VERSION, "a.example.com"), "/CN=named");
  EXPECT_EQ(Shown(server_->port(), TLS1_2_VERSION, "localhost"), "/CN=localhost");
  options_.tls_min_version = "VersionTLS13";
  Start();
  EXPECT_EQ(Shown(server_->port(), TLS1_2_VERSION, "localhost"), "refused");
  EXPECT_EQ(Shown(server_->port(), TLS1_3_VERSION, "localhost"), "/CN=localhost");
  options_.tls_min_version = "";
  options_.tls_cipher_suites = {"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"};
  Start();
  EXPECT_EQ(Shown(server_->port(), TLS1_2_VERSION, "localhost"), "refused") << "the certificate has no RSA key";
  options_.tls_cipher_suites = {};
  options_.tls_curve_preferences = {25};
  Start();
  EXPECT_EQ(Shown(server_->port(), TLS1_3_VERSION, "localhost"), "/CN=localhost");
  options_.permit_port_sharing = true;
  Start();
  const auto second = net::ListeningSocket::Open(
      {.address = "127.0.0.1", .port = server_->port(), .all_families = false, .share_port = true});
  EXPECT_TRUE(second.ok());
}

TEST_F(SecureServerTest, AFloodOfTokensDoesNotReachTheApiServerAllAtOnce) {
  Gate gate;
  std::atomic<int> reviews = 0;
  api_ = std::make_unique<client::FakeApiServer>([&](const FakeRequest& request) {
    if (request.target.find("tokenreviews") == std::string::npos) return FakeReply{404, "{}", ""};
    ++reviews;
    gate.Wait();
    return FakeReply{201, TokenReviewJson(R"({"authenticated":false})"), ""};
  });
  client::Kubeconfig config = api_->config();
  auto link = ApiLink::Connect(config, "test", nullptr);
  ASSERT_TRUE(link.ok());
  link.value()->Close();
  options_.authentication_kubeconfig = folder_.Write(
      "k", R"({"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":)"
           R"({"cluster":"c","user":"u"}}],"users":[{"name":"u","user":{}}],"clusters":[{"name":"c",)"
           R"("cluster":{"server":")" +
               config.server + R"("}}]})");
  options_.secure_port = FreePort();
  ServingSurroundings around{.log = log_, .wall_clock = wall_, .steady_clock = steady_};
  around.in_cluster = {};
  around.most_reviews = 4;
  auto opened = SecureServer::Open(options_, around);
  ASSERT_TRUE(opened.ok()) << opened.error().text();
  server_ = std::move(opened).value();
  ASSERT_TRUE(server_->Serve({}).ok());
  net::ClientOptions options = ClientOptions();
  options.max_connections = 32;
  const auto client = net::ClientOf(0, options);
  Box<int> answers;
  for (int i = 0; i < 20; ++i) {
    net::ClientRequest request = net::Request("GET", "/healthz");
    request.headers.Add("Authorization", "Bearer t" + std::to_string(i));
    client->Send(std::move(request),
                 [&](const Result<net::HttpResponse>& answer) { answers.Put(answer.ok() ? answer->status : 0); });
  }
  EXPECT_THAT(answers.Wait(16), testing::Each(429));
  EXPECT_EQ(Status("/healthz"), 200) << "nobody else is kept waiting";
  gate.Open();
  const auto all = answers.Wait(20);
  EXPECT_EQ(std::count(all.begin(), all.end(), 401), 4);
  EXPECT_LE(reviews, 4);
  server_ = nullptr;
  api_ = nullptr;  // its answers use what ends here
}

TEST_F(SecureServerTest, ClientsThatComeBeforeItServesWait) {
  ASSERT_TRUE(Open().ok());
  net::ClientOptions options = ClientOptions();
  const auto client = net::ClientOf(0, options);
  Box<int> answers;
  client->Send(net::Request("GET", "/healthz"),
               [&](const Result<net::HttpResponse>& answer) { answers.Put(answer.ok() ? answer->status : 0); });
  ASSERT_TRUE(server_->Serve({}).ok());
  EXPECT_EQ(answers.Wait(1).at(0), 200);
  EXPECT_FALSE(server_->Serve({}).ok()) << "once";
}

TEST_F(SecureServerTest, RequestsUnderWayAreAnsweredBeforeItStops) {
  UseApiServer();
  ASSERT_TRUE(Open().ok());
  Box<net::Respond> held;
  EndpointSources sources;
  sources.extra["/slow"] = [&](const net::HttpRequest&, net::Respond respond) { held.Put(std::move(respond)); };
  ASSERT_TRUE(server_->Serve(std::move(sources)).ok());
  net::ClientOptions options = ClientOptions();
  options.tls.certificate_data = admin_.certificate_pem;
  options.tls.key_data = admin_.key_pem;
  const auto client = net::ClientOf(0, options);
  Box<int> answers;
  client->Send(net::Request("GET", "/slow"),
               [&](const Result<net::HttpResponse>& answer) { answers.Put(answer.ok() ? answer->status : 0); });
  const net::Respond respond = held.Wait(1).at(0);
  std::thread stopping([&] { server_->Stop(Duration::Seconds(20)); });
  respond(net::HttpResponse{});
  EXPECT_EQ(answers.Wait(1).at(0), 200);
  stopping.join();
}

struct Counting final : ServingObserver {
  void Authenticated(std::string_view result, std::string_view user, double) override {
    Note("authenticated " + std::string(result) + " " + std::string(user));
  }
  void Authorized(std::string_view result, double) override { Note("authorized " + std::string(result)); }
  void TokenReviewed(std::string_view code, double) override { Note("token " + std::string(code)); }
  void AccessReviewed(std::string_view code, double) override { Note("access " + std::string(code)); }
  void TokenLookedUp(bool hit, double /*seconds*/) override { Note(hit ? "hit" : "miss"); }
  void TokenFetched(bool ok) override { Note(ok ? "fetched" : "not fetched"); }
  void TokenFetches(size_t in_flight, size_t blocked) override {
    Note("fetches " + std::to_string(in_flight) + " " + std::to_string(blocked));
  }
  void CertificateShown(double seconds_left) override { Note(seconds_left > 0 ? "certificate" : "old certificate"); }
  void Note(const std::string& text) {
    const std::lock_guard lock(mutex);
    notes += text + "\n";
  }
  std::mutex mutex;
  std::string notes;
};

TEST_F(SecureServerTest, SomebodyMayCount) {
  Counting counting;
  observer_ = &counting;
  UseApiServer();
  Start();
  Ask("/metrics", {.token = "good"});
  Ask("/metrics", {.token = "good"});
  Ask("/metrics", {.token = "bad"});
  Ask("/metrics", {.identity = &admin_});
  server_->Stop(Duration::Seconds(1));
  EXPECT_THAT(counting.notes,
              ::testing::StartsWith(
                  "fetches 1 1\ntoken 201\nfetches 0 0\nfetched\nmiss\nauthenticated success bob\naccess 201\n"
                  "authorized allowed\n"
                  "hit\nauthenticated success bob\nauthorized allowed\n"
                  "fetches 1 1\ntoken 201\nfetches 0 0\nnot fetched\nmiss\nauthenticated error \n"
                  "certificate\nauthenticated success"));
  server_ = nullptr;
}

TEST_F(SecureServerTest, APodThatHasNoServiceAccountGoesWithout) {
  in_cluster_ = {"127.0.0.1", "1", folder_.Path("nowhere")};
  Start();
  EXPECT_EQ(Status("/metrics", {.token = "any"}), 403);
  server_->Stop(Duration::Seconds(1));
  EXPECT_THAT(out_.str(), HasSubstr("failed to read in-cluster kubeconfig for delegated authentication"));
  EXPECT_THAT(out_.str(), HasSubstr("failed to read in-cluster kubeconfig for delegated authorization"));
}

TEST_F(SecureServerTest, WhatThrowsIsAnsweredWith500) {
  UseApiServer();
  ASSERT_TRUE(Open().ok());
  EndpointSources sources;
  sources.extra["/metrics"] = [](const net::HttpRequest&, const net::Respond&) { throw std::runtime_error("oh"); };
  ASSERT_TRUE(server_->Serve(std::move(sources)).ok());
  EXPECT_EQ(Status("/metrics", {.identity = &admin_}), 500);
  EXPECT_EQ(Status("/metrics", {.token = "good"}), 500) << "on the thread that had the review's answer";
  EXPECT_EQ(Status("/healthz"), 200);
  server_->Stop(Duration::Seconds(1));
  EXPECT_THAT(out_.str(), HasSubstr("Observed a panic"));
}

TEST_F(SecureServerTest, BytesFromOutsideBreakNothing) {
  UseApiServer();
  Start();
  const std::string long_value(20'000, 'a');
  EXPECT_EQ(Status("/metrics", {.headers = {{"Accept", ";;,,/,*/;q=,a/b;q=x;=;as=" + long_value}}}), 403);
  EXPECT_EQ(Status("/statusz", {.identity = &admin_, .headers = {{"Accept", "application/json;as=;g=;v="}}}), 406);
  EXPECT_EQ(Status("/healthz", {.headers = {{"Authorization", "Bearer"}}}), 200);
  EXPECT_EQ(Status("/healthz", {.headers = {{"Authorization", "bearer  x"}}}), 200) << "an empty token is none";
  EXPECT_EQ(Status("/healthz?exclude=%00%ff&exclude=" + long_value), 200);
  EXPECT_EQ(Status("/metrics", {.token = "\xff\xfe"}), 401);
  EXPECT_EQ(Status("/%ff%00%0a", {.identity = &admin_}), 404);
  EXPECT_EQ(Status("/" + long_value, {.token = "good"}), 403);
  net::RawClient plain(server_->port());
  plain.Send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  plain.ReadAll();
  EXPECT_EQ(Status("/healthz"), 200);
}

}  // namespace
}  // namespace berth::serving
