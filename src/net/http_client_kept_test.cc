// SPDX-License-Identifier: Apache-2.0
// Connections that are kept, and how long; streams that are silent.
#include <gtest/gtest.h>

#include <atomic>

#include "net/http_client_test_util.h"
#include "net/tls_test_util.h"

namespace berth::net {
namespace {

TEST(HttpClientKept, AChangedCertificateIsShownAtOnce) {
  const TestFolder folder;
  const TestIdentity authority = MakeIdentity("test authority");
  const TestIdentity identity = MakeIdentity("server", "IP:127.0.0.1", &authority);
  const TestIdentity before = MakeIdentity("before", "", &authority);
  const TestIdentity after = MakeIdentity("after", "", &authority);
  TlsOptions tls;
  tls.certificate_file = folder.Write("server.crt", identity.certificate_pem);
  tls.key_file = folder.Write("server.key", identity.key_pem);
  tls.client_ca_file = folder.Write("ca.crt", authority.certificate_pem);
  ServerOptions serving;
  serving.tls = &tls;
  const auto server = Serve(Echo, serving);

  ClientOptions options;
  options.url = "https://127.0.0.1:" + std::to_string(server->port());
  options.tls.ca_file = tls.client_ca_file;
  options.tls.certificate_file = folder.Write("me.crt", before.certificate_pem);
  options.tls.key_file = folder.Write("me.key", before.key_pem);
  options.tls.look_every = Duration{0};
  std::vector<std::string> warnings;
  options.tls.on_warning = [&](const Error& warning) { warnings.push_back(warning.text()); };
  const auto client = ClientOf(0, options);
  const auto name = [&] {
    const auto response = Ask(*client, Request("GET", "/"));
    return response.ok() ? *response->headers.Find("X-Client") : response.error().text();
  };
  EXPECT_EQ(name(), "before");
  folder.Write("me.crt", after.certificate_pem + "\n");
  EXPECT_EQ(name(), "before");  // its key is still to come
  EXPECT_EQ(warnings.size(), 1u);
  folder.Write("me.key", after.key_pem + "\n");
  EXPECT_EQ(name(), "after");
  EXPECT_EQ(warnings.size(), 1u);
}

TEST(HttpClientKept, ANewIdentityIsShownAtOnceAndEndsStreamsOfTheOldOne) {
  const TestFolder folder;
  const TestIdentity authority = MakeIdentity("test authority");
  const TestIdentity identity = MakeIdentity("server", "IP:127.0.0.1", &authority);
  const TestIdentity before = MakeIdentity("before", "", &authority);
  const TestIdentity after = MakeIdentity("after", "", &authority);
  TlsOptions tls;
  tls.certificate_file = folder.Write("server.crt", identity.certificate_pem);
  tls.key_file = folder.Write("server.key", identity.key_pem);
  tls.client_ca_file = folder.Write("ca.crt", authority.certificate_pem);
  ServerOptions serving;
  serving.tls = &tls;
  std::promise<void> asked;
  std::vector<Respond> unanswered;
  const auto server = Serve(
      [&](const HttpRequest& request, const Respond& respond) {
        if (request.path != "/watch") return Echo(request, respond);
        unanswered.push_back(respond);
        asked.set_value();
      },
      serving);

  ClientOptions options;
  options.url = "https://127.0.0.1:" + std::to_string(server->port());
  options.look_every = Duration::Millis(1);
  options.tls.ca_file = tls.client_ca_file;
  options.tls.identity = std::make_shared<TlsIdentity>();
  const auto client = ClientOf(0, options);
  const auto name = [&] {
    const auto response = Ask(*client, Request("GET", "/"));
    return response.ok() ? *response->headers.Find("X-Client") : "(" + response.error().text() + ")";
  };
  EXPECT_EQ(name()[0], '(') << "nothing is shown yet";
  options.tls.identity->Set(before.certificate_pem, before.key_pem);
  EXPECT_EQ(name(), "before");
  Heard heard;
  const auto stream = heard.Start(*client, Request("GET", "/watch"));
  asked.get_future().wait();
  options.tls.identity->Set(before.certificate_pem, before.key_pem);  // the same
  EXPECT_EQ(name(), "before");
  EXPECT_FALSE(heard.WaitFor([&] { return heard.ended; }, std::chrono::milliseconds(20)));
  options.tls.identity->Set(after.certificate_pem, after.key_pem);
  ASSERT_TRUE(heard.WaitForEnd());
  EXPECT_NE(heard.error.find("the certificates have changed"), std::string::npos) << heard.error;
  EXPECT_EQ(name(), "after");
}

TEST(HttpClientKept, WhatIsGatheredIsAnsweredAllTheSame) {
  const auto server = Serve(Echo);
  ClientOptions options;
  options.gather = Duration::Millis(2);
  const auto client = ClientOf(server->port(), options);
  // One after the other, so that each has to wait for its turn once credit is used up.
  for (int i = 0; i < 40; ++i) EXPECT_TRUE(Ask(*client, Request("GET", "/" + std::to_string(i))).ok());
  std::atomic<int> answered = 0;
  std::promise<void> all;
  for (int i = 0; i < 200; ++i) {
    client->Send(Request("GET", "/many"), [&](const Result<HttpResponse>& response) {
      EXPECT_TRUE(response.ok());
      if (++answered == 200) all.set_value();
    });
  }
  all.get_future().wait();
}

TEST(HttpClientKept, AConnectionThatTheServerHasClosedIsLetGoThoughNobodyAsks) {
  Holding server("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  ClientOptions options;
  options.look_every = Duration::Millis(1);
  const auto client = ClientOf(server.port(), options);
  EXPECT_EQ(Text(Ask(*client, Request("GET", "/"))), "ok");
  server.CloseSending();
  EXPECT_TRUE(server.WaitUntilItCloses());
}

TEST(HttpClientKept, AConnectionThatIsTooOldIsLetGoThoughNobodyAsks) {
  Holding server("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  ClientOptions options;
  options.look_every = options.idle_timeout = Duration::Millis(1);
  const auto client = ClientOf(server.port(), options);
  EXPECT_EQ(Text(Ask(*client, Request("GET", "/"))), "ok");
  EXPECT_TRUE(server.WaitUntilItCloses());
}

constexpr const char* kBegun = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n";

TEST(HttpClientStream, EndsWhenItIsSilentForTooLong) {
  const Holding server(kBegun);
  const auto client = ClientOf(server.port());
  ClientRequest request = Request("GET", "/watch");
  request.read_timeout = Duration::Millis(50);
  Heard heard;
  const auto stream = heard.Start(*client, request);
  ASSERT_TRUE(heard.WaitForEnd());
  EXPECT_EQ(heard.text, "abc");
  EXPECT_NE(heard.error.find("reading the answer: timed out"), std::string::npos) << heard.error;
}

TEST(HttpClientStream, EndsWhenItDoesNotBeginInTime) {
  const Holding server("");
  const auto client = ClientOf(server.port());
  ClientRequest request = Request("GET", "/watch");
  request.timeout = Duration::Seconds(1);
  Heard heard;
  const auto stream = heard.Start(*client, request);
  ASSERT_TRUE(heard.WaitForEnd());
  EXPECT_EQ(heard.status, 0);
  EXPECT_NE(heard.error.find("waiting for the answer: timed out"), std::string::npos) << heard.error;
}

TEST(HttpClientStream, GoesOnWhenTheTimeToBeginIsOver) {
  // On a slow machine the head may be late; with more time it is not.
  for (int64_t milliseconds = 100;; milliseconds *= 2) {
    Holding server(kBegun);
    const auto client = ClientOf(server.port());
    ClientRequest request = Request("GET", "/watch");
    request.timeout = Duration::Millis(milliseconds);
    Heard heard;
    const auto stream = heard.Start(*client, request);
    bool begun = false;
    heard.WaitFor([&] {
      begun = heard.text == "abc";
      return begun || heard.ended;
    });
    if (!begun) continue;
    // As much time again passes for a request whose answer does not end.
    EXPECT_NE(Text(Ask(*client, request)).find("timed out"), std::string::npos);
    server.Say("2\r\nde\r\n0\r\n\r\n");
    ASSERT_TRUE(heard.WaitForEnd());
    EXPECT_EQ(heard.error, "");
    EXPECT_EQ(heard.text, "abcde");
    return;
  }
}

}  // namespace
}  // namespace berth::net
