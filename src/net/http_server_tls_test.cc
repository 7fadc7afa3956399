// SPDX-License-Identifier: Apache-2.0
// Handshakes with a server that fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <vector>

#include "net/http_client_test_util.h"
#include "net/http_test_util.h"
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

  options.header_timeout = Duration::Millis(50);
  server = Serve(Echo, options);
  RawClient silent(server->port());
  EXPECT_EQ(silent.ReadAll(), "");
  RawClient slow(server->port());
  slow.Send("\x16\x03\x01");
  EXPECT_EQ(slow.ReadAll(), "");
  server = nullptr;
  EXPECT_THAT(told, ElementsAre(StartsWith("TLS handshake: http request"),
                                HasSubstr("peer did not return a certificate"), "TLS handshake: timed out"));
}

}  // namespace
}  // namespace berth::net
