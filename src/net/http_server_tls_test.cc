// SPDX-License-Identifier: Apache-2.0
// Handshakes with a server that fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <vector>

#include "net/http_client_test_util.h"
#include "net/http_test_util.h"
#include "net/raw_connection.h"
#include "net/tls_test_util.h"

namespace berth::net {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(HttpServerTls, TellsOfHandshakesThatFail) {
  const TestFolder folder;
  const TestIdentity authority = MakeIdentity("test authority");
  const TestIdentity identity = MakeIdentity("server", "IP:127.0.0.1", &authority);
  TlsOptions tls;
  tls.certificate_file = folder.Write("server.crt", identity.certificate_pem);
  tls.key_file = folder.Write("server.key", identity.key_pem);
  tls.client_ca_file = folder.Write("ca.crt", authority.certificate_pem);
  ServerOptions options;
  options.tls = &tls;
  std::mutex mutex;
  std::vector<std::string> told;
  options.on_handshake_failure = [&](const std::string& problem) {
    const std::lock_guard lock(mutex);
    told.push_back(problem);
  };
  auto server = Serve(Echo, options);
  RawClient probe(server->port());
  probe.CloseSending();
  probe.ReadAll();
  RawClient plain(server->port());
  plain.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  plain.ReadAll();
  ClientOptions nobody;
  nobody.url = "https://127.0.0.1:" + std::to_string(server->port());
  nobody.tls.ca_data = authority.certificate_pem;
  EXPECT_FALSE(Ask(*ClientOf(0, nobody), Request("GET", "/")).ok());
  server = nullptr;

  options.header_timeout = Duration::Seconds(1);
  server = Serve(Echo, options);
  RawClient silent(server->port()), slow(server->port());
  slow.Send("\x16\x03\x01");
  EXPECT_EQ(silent.ReadAll(), "");
  EXPECT_EQ(slow.ReadAll(), "");
  server = nullptr;
  EXPECT_THAT(told, ElementsAre(StartsWith("TLS handshake: http request"),
                                HasSubstr("peer did not return a certificate"), "TLS handshake: timed out"));
}

TEST(HttpServerTls, ARenewedClientAuthorityGoesForConnectionsThatAreKept) {
  const TestFolder folder;
  const TestIdentity authority = MakeIdentity("test authority"), other = MakeIdentity("another authority");
  const TestIdentity identity = MakeIdentity("server", "IP:127.0.0.1", &authority);
  const TestIdentity scheduler = MakeIdentity("scheduler", "", &authority);
  TlsOptions tls;
  tls.certificate_file = folder.Write("server.crt", identity.certificate_pem);
  tls.key_file = folder.Write("server.key", identity.key_pem);
  tls.client_ca_file = folder.Write("ca.crt", authority.certificate_pem);
  tls.look_every = Duration{0};
  ServerOptions options;
  options.tls = &tls;
  std::mutex mutex;
  std::vector<std::string> told;
  options.on_handshake_failure = [&](const std::string& problem) {
    const std::lock_guard lock(mutex);
    told.push_back(problem);
  };
  auto server = Serve(Echo, options);

  TlsClientOptions client;
  client.ca_data = authority.certificate_pem;
  client.certificate_data = scheduler.certificate_pem;
  client.key_data = scheduler.key_pem;
  const Result<std::shared_ptr<TlsContext>> context = TlsContext::Client(client);
  ASSERT_TRUE(context.ok()) << context.error().text();
  const Result<Url> url = ParseUrl("https://127.0.0.1:" + std::to_string(server->port()));
  ASSERT_TRUE(url.ok());
  const Deadline soon = util::After(Duration::Seconds(20));
  Result<std::unique_ptr<RawConnection>> connection = RawConnection::Open(*url, context->get(), soon);
  ASSERT_TRUE(connection.ok()) << connection.error().text();
  const auto ask = [&] {
    EXPECT_TRUE((*connection)->Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n", soon).ok());
    const Result<std::string> answer = (*connection)->Receive(soon);
    return answer.ok() ? answer->substr(0, answer->find('\r')) : "";
  };
  EXPECT_EQ(ask(), "HTTP/1.1 200 OK");
  folder.Write("ca.crt", other.certificate_pem + authority.certificate_pem);  // both, for a while
  EXPECT_EQ(ask(), "HTTP/1.1 200 OK");
  folder.Write("server.crt", identity.certificate_pem + authority.certificate_pem);  // nothing to do with clients
  EXPECT_EQ(ask(), "HTTP/1.1 200 OK");
  folder.Write("ca.crt", other.certificate_pem);
  EXPECT_EQ(ask(), "");
  server = nullptr;
  EXPECT_THAT(told, ElementsAre(HasSubstr("no longer covers")));
}

}  // namespace
}  // namespace berth::net
