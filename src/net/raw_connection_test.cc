// SPDX-License-Identifier: Apache-2.0
#include "net/raw_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "net/http_server.h"
#include "net/tls_test_util.h"

namespace berth::net {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kRequest[] = "POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello";

Deadline Soon() { return After(Duration::Seconds(30)); }

std::unique_ptr<HttpServer> EchoBack(const TlsOptions* tls = nullptr) {
  ServerOptions options;
  options.tls = tls;
  auto server = HttpServer::Start(options, [](HttpRequest request, const Respond& respond) {
    respond({200, "text/plain", "heard " + request.body, {}});
  });
  EXPECT_TRUE(server.ok()) << server.error().text();
  return std::move(server).value();
}

Url UrlOf(const HttpServer& server, const char* scheme = "http") {
  return ParseUrl(std::string(scheme) + "://127.0.0.1:" + std::to_string(server.port())).value();
}

std::string ReceiveAll(RawConnection& connection) {
  std::string all;
  for (;;) {
    const Result<std::string> piece = connection.Receive(Soon());
    if (!piece.ok()) return all + " (" + piece.error().text() + ")";
    if (piece->empty()) return all;
    all += *piece;
  }
}

TEST(RawConnectionTest, SendsInPiecesWhatItIsToldAndReceivesTheAnswer) {
  const std::unique_ptr<HttpServer> server = EchoBack();
  Result<std::unique_ptr<RawConnection>> connection = RawConnection::Open(UrlOf(*server), nullptr, Soon());
  ASSERT_TRUE(connection.ok()) << connection.error().text();
  const std::string_view request = kRequest;
  EXPECT_TRUE((*connection)->Send(request.substr(0, 30), Soon()).ok());
  EXPECT_TRUE((*connection)->Send(request.substr(30), Soon()).ok());
  const std::string answer = ReceiveAll(**connection);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(answer, HasSubstr("heard hello"));
}

TEST(RawConnectionTest, SpeaksTls) {
  const TestFolder folder;
  const TestIdentity authority = MakeIdentity("authority");
  const TestIdentity identity = MakeIdentity("server", "IP:127.0.0.1", &authority);
  TlsOptions tls;
  tls.certificate_file = folder.Write("server.pem", identity.certificate_pem);
  tls.key_file = folder.Write("server.key", identity.key_pem);
  const std::unique_ptr<HttpServer> server = EchoBack(&tls);
  TlsClientOptions client;
  client.ca_data = authority.certificate_pem;
  Result<std::shared_ptr<TlsContext>> context = TlsContext::Client(client);
  ASSERT_TRUE(context.ok());
  Result<std::unique_ptr<RawConnection>> connection =
      RawConnection::Open(UrlOf(*server, "https"), context->get(), Soon());
  ASSERT_TRUE(connection.ok()) << connection.error().text();
  EXPECT_TRUE((*connection)->Send(kRequest, Soon()).ok());
  EXPECT_THAT(ReceiveAll(**connection), HasSubstr("heard hello"));

  Result<std::shared_ptr<TlsContext>> stranger = TlsContext::Client({});
  ASSERT_TRUE(stranger.ok());
  EXPECT_THAT(RawConnection::Open(UrlOf(*server, "https"), stranger->get(), Soon()).error().text(),
              HasSubstr("TLS handshake"));
}

TEST(RawConnectionTest, WaitsNoLongerThanTheDeadline) {
  const std::unique_ptr<HttpServer> server = EchoBack();
  Result<std::unique_ptr<RawConnection>> connection = RawConnection::Open(UrlOf(*server), nullptr, Soon());
  ASSERT_TRUE(connection.ok());
  const Result<std::string> late = (*connection)->Receive(After(Duration::Millis(1)));
  EXPECT_EQ(late.error().text(), "timed out");
  EXPECT_EQ(late.error().kind(), ErrorKind::kTimedOut);
}

TEST(RawConnectionTest, NobodyThereIsAnErrorThatNamesTheAddress) {
  EXPECT_THAT(RawConnection::Open(ParseUrl("http://127.0.0.1:1").value(), nullptr, Soon()).error().text(),
              HasSubstr("127.0.0.1:1: Connection refused"));
}

TEST(RawConnectionTest, AServerOutlivesAClientThatVanishes) {
  const std::unique_ptr<HttpServer> server = EchoBack();
  Result<std::unique_ptr<RawConnection>> first = RawConnection::Open(UrlOf(*server), nullptr, Soon());
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE((*first)->Send(std::string_view(kRequest).substr(0, 40), Soon()).ok());
  (*first)->Vanish();
  Result<std::unique_ptr<RawConnection>> second = RawConnection::Open(UrlOf(*server), nullptr, Soon());
  ASSERT_TRUE(second.ok());
  EXPECT_TRUE((*second)->Send(kRequest, Soon()).ok());
  EXPECT_THAT(ReceiveAll(**second), HasSubstr("heard hello"));
}

}  // namespace
}  // namespace berth::net
