// SPDX-License-Identifier: Apache-2.0
#include "net/certificates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <mutex>
#include <string>

#include "net/digest.h"
#include "net/http_client_test_util.h"
#include "net/http_test_util.h"
#include "net/self_signed.h"
#include "net/tls_test_util.h"
#include "util/system_clock.h"

namespace berth::net {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Time Now() { return util::SystemClock().Now(); }

// A server that asks for certificates, and what the last client showed.
class AskingServer {
 public:
  explicit AskingServer(TlsSettings settings = {}) {
    const TestIdentity own = MakeIdentity("localhost", "IP:127.0.0.1");
    TlsOptions tls;
    tls.certificate_data = own.certificate_pem;
    tls.key_data = own.key_pem;
    tls.settings = std::move(settings);
    tls.ask_for = [] { return std::vector<std::shared_ptr<const CertificatePool>>{nullptr}; };
    ServerOptions options;
    options.tls = &tls;
    server_ = Serve(
        [this](const HttpRequest& request, const Respond& respond) {
          {
            const std::lock_guard lock(mutex_);
            peer_ = request.peer;
          }
          HttpResponse response;
          response.body = "as \"" + request.client_name + "\"";
          respond(std::move(response));
        },
        options);
  }
  std::string Ask(TlsClientOptions tls) {
    ClientOptions options;
    options.url = "https://127.0.0.1:" + std::to_string(server_->port());
    options.tls = std::move(tls);
    options.tls.insecure = true;
    const auto client = ClientOf(0, options);
    return Text(net::Ask(*client, Request("GET", "/")));
  }
  std::shared_ptr<const PeerCertificates> peer() {
    const std::lock_guard lock(mutex_);
    return peer_;
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<const PeerCertificates> peer_;
  std::unique_ptr<HttpServer> server_;
};

TlsClientOptions As(const TestIdentity& identity) {
  TlsClientOptions tls;
  tls.certificate_data = identity.certificate_pem;
  tls.key_data = identity.key_pem;
  return tls;
}

TEST(CertificatesTest, AClientWithoutCertificateIsServed) {
  AskingServer server;
  EXPECT_EQ(server.Ask({}), "as \"\"");
  EXPECT_EQ(server.peer(), nullptr);
}

TEST(CertificatesTest, WhatAClientShowsIsJudgedByPoolsAlone) {
  const TestIdentity authority = MakeIdentity("authority"), other = MakeIdentity("other authority");
  const TestIdentity jane = MakeIdentity("jane", "", &authority, 3600, false, {"dev", "ops"});
  AskingServer server;
  EXPECT_EQ(server.Ask(As(jane)), "as \"\"") << "nobody has verified the name";
  const auto peer = server.peer();
  ASSERT_NE(peer, nullptr);
  EXPECT_EQ(peer->common_name(), "jane");
  EXPECT_THAT(peer->organizations(), ElementsAre("dev", "ops"));
  EXPECT_EQ(peer->sha256().size(), 64);
  EXPECT_THAT(peer->identifier(), HasSubstr("SN="));

  const auto good = CertificatePool::Parse("ca", authority.certificate_pem);
  ASSERT_TRUE(good.ok());
  EXPECT_TRUE((*good)->VerifyClient(*peer).ok());
  const auto bad = CertificatePool::Parse("ca", other.certificate_pem);
  ASSERT_TRUE(bad.ok());
  EXPECT_THAT((*bad)->VerifyClient(*peer).text(), HasSubstr("unable to get local issuer certificate"));
  const auto both = CertificatePool::Parse("ca", other.certificate_pem + authority.certificate_pem);
  ASSERT_TRUE(both.ok());
  EXPECT_TRUE((*both)->VerifyClient(*peer).ok());
}

TEST(CertificatesTest, AnIntermediateThatTheClientSendsIsUsed) {
  const TestIdentity root = MakeIdentity("root");
  const TestIdentity middle = MakeIdentity("middle", "", &root, 3600, true);
  TestIdentity leaf = MakeIdentity("leaf", "", &middle);
  leaf.certificate_pem += middle.certificate_pem;
  AskingServer server;
  server.Ask(As(leaf));
  ASSERT_NE(server.peer(), nullptr);
  const auto pool = CertificatePool::Parse("ca", root.certificate_pem);
  ASSERT_TRUE(pool.ok());
  EXPECT_TRUE((*pool)->VerifyClient(*server.peer()).ok());
}

TEST(CertificatesTest, WhatHasExpiredIsNotBelieved) {
  const TestIdentity authority = MakeIdentity("authority");
  AskingServer server;
  server.Ask(As(MakeIdentity("late", "", &authority, -60)));
  ASSERT_NE(server.peer(), nullptr);
  const auto pool = CertificatePool::Parse("ca", authority.certificate_pem);
  ASSERT_TRUE(pool.ok());
  EXPECT_THAT((*pool)->VerifyClient(*server.peer()).text(), HasSubstr("certificate has expired"));
}

TEST(CertificatesTest, AServersCertificateIsNoClients) {
  const Result<SelfSigned> server_only = MakeSelfSigned("localhost", {}, {}, Now());
  ASSERT_TRUE(server_only.ok());
  TlsClientOptions tls;
  tls.certificate_data = server_only->certificate_pem;
  tls.key_data = server_only->key_pem;
  AskingServer server;
  server.Ask(tls);
  ASSERT_NE(server.peer(), nullptr);
  const auto pool = CertificatePool::Parse("ca", server_only->certificate_pem);  // its authority among them
  ASSERT_TRUE(pool.ok());
  EXPECT_THAT((*pool)->VerifyClient(*server.peer()).text(), HasSubstr("purpose"));
}

TEST(CertificatesTest, APoolWithoutCertificatesIsAnError) {
  EXPECT_EQ(CertificatePool::Parse("client-ca-file", "nothing").error().text(),
            "client-ca-file: no PEM certificate in it");
  EXPECT_THAT(
      CertificatePool::Parse("x", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").error().text(),
      testing::StartsWith("x: "));
}

TEST(SelfSignedTest, HasNamesChainAndTimes) {
  const Result<SelfSigned> made =
      MakeSelfSigned("localhost", {"localhost"}, {"127.0.0.1", "10.1.2.3"}, Time{1'794'782'713'500'000'000});
  ASSERT_TRUE(made.ok()) << made.error().text();
  EXPECT_THAT(made->key_pem, testing::StartsWith("-----BEGIN RSA PRIVATE KEY-----"));
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> bio(
      BIO_new_mem_buf(made->certificate_pem.data(), static_cast<int>(made->certificate_pem.size())), BIO_free_all);
  const std::unique_ptr<X509, decltype(&X509_free)> own(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr),
                                                        X509_free),
      authority(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr), X509_free);
  ASSERT_NE(own, nullptr);
  ASSERT_NE(authority, nullptr) << "the chain is sent";
  const auto subject = [](X509* certificate) {
    char text[200];
    return std::string(X509_NAME_oneline(X509_get_subject_name(certificate), text, sizeof(text)));
  };
  EXPECT_EQ(subject(own.get()), "/CN=localhost@1794782713");
  EXPECT_EQ(subject(authority.get()), "/CN=localhost-ca@1794782713");
  EXPECT_EQ(X509_check_issued(authority.get(), own.get()), X509_V_OK);
  EXPECT_EQ(EVP_PKEY_get_bits(X509_get0_pubkey(own.get())), 2048);
  EXPECT_EQ(X509_check_host(own.get(), "localhost", 0, 0, nullptr), 1);
  EXPECT_EQ(X509_check_ip_asc(own.get(), "127.0.0.1", 0), 1);
  EXPECT_EQ(X509_check_ip_asc(own.get(), "10.1.2.3", 0), 1);
  EXPECT_NE(X509_check_ip_asc(own.get(), "10.1.2.4", 0), 1);
  time_t from = 1'794'782'713 - 3600;
  EXPECT_EQ(ASN1_TIME_cmp_time_t(X509_get0_notBefore(own.get()), from), 0);
  EXPECT_EQ(ASN1_TIME_cmp_time_t(X509_get0_notAfter(own.get()), from + 365 * 24 * 3600), 0);
  EXPECT_EQ(ASN1_TIME_cmp_time_t(X509_get0_notAfter(authority.get()), from + 365 * 24 * 3600), 0);
  const std::optional<CertificateDates> dates = DatesOf(made->certificate_pem);
  ASSERT_TRUE(dates);
  EXPECT_EQ(dates->not_before.ns, from * 1'000'000'000);
  EXPECT_EQ(dates->not_after.ns, (from + 365 * 24 * 3600) * 1'000'000'000);
  EXPECT_FALSE(DatesOf("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"));
  EXPECT_FALSE(DatesOf(""));
}

// What a client of exactly that version is told.
std::string Handshake(uint16_t port, int version, const char* ciphers = nullptr, const char* name = nullptr) {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  SSL_CTX_set_security_level(context.get(), 0);
  SSL_CTX_set_min_proto_version(context.get(), version);
  SSL_CTX_set_max_proto_version(context.get(), version);
  if (ciphers != nullptr) SSL_CTX_set_cipher_list(context.get(), ciphers);
  const std::unique_ptr<SSL, decltype(&SSL_free)> ssl(SSL_new(context.get()), SSL_free);
  RawClient socket(port);
  SSL_set_fd(ssl.get(), socket.fd());
  if (name != nullptr) SSL_set_tlsext_host_name(ssl.get(), name);
  if (SSL_connect(ssl.get()) != 1) return "refused";
  const std::unique_ptr<X509, decltype(&X509_free)> shown(SSL_get1_peer_certificate(ssl.get()), X509_free);
  char text[200];
  return std::string(X509_NAME_oneline(X509_get_subject_name(shown.get()), text, sizeof(text))) + " " +
         SSL_get_cipher_name(ssl.get());
}

std::unique_ptr<HttpServer> ServeTls(TlsOptions tls) {
  ServerOptions options;
  options.tls = &tls;
  return Serve(Echo, options);
}

TEST(TlsServerSettingsTest, VersionsAndSuitesAreKept) {
  const TestIdentity own = MakeIdentity("localhost", "DNS:localhost");
  TlsOptions tls;
  tls.certificate_data = own.certificate_pem;
  tls.key_data = own.key_pem;
  {
    const auto server = ServeTls(tls);
    EXPECT_EQ(Handshake(server->port(), TLS1_1_VERSION), "refused");
    EXPECT_THAT(Handshake(server->port(), TLS1_2_VERSION), HasSubstr("/CN=localhost ECDHE-ECDSA-"));
  }
  tls.settings.min_version = TlsVersion::k13;
  {
    const auto server = ServeTls(tls);
    EXPECT_EQ(Handshake(server->port(), TLS1_2_VERSION), "refused");
    EXPECT_THAT(Handshake(server->port(), TLS1_3_VERSION), HasSubstr("TLS_"));
  }
  tls.settings.min_version = TlsVersion::k10;
  {
    const auto server = ServeTls(tls);
    EXPECT_THAT(Handshake(server->port(), TLS1_1_VERSION), HasSubstr("ECDHE-ECDSA-"));
  }
  tls.settings.min_version = TlsVersion::k12;
  tls.settings.cipher_suites = {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"};
  {
    const auto server = ServeTls(tls);
    EXPECT_THAT(Handshake(server->port(), TLS1_2_VERSION), HasSubstr("ECDHE-ECDSA-AES256-GCM-SHA384"));
    EXPECT_EQ(Handshake(server->port(), TLS1_2_VERSION, "ECDHE-ECDSA-AES128-GCM-SHA256"), "refused");
  }
  tls.settings.cipher_suites = {"TLS_AES_128_GCM_SHA256"};
  {
    const auto server = ServeTls(tls);
    EXPECT_EQ(Handshake(server->port(), TLS1_2_VERSION), "refused") << "none of its suites is allowed";
    EXPECT_THAT(Handshake(server->port(), TLS1_3_VERSION), HasSubstr("TLS_"));
  }
}

TEST(TlsServerSettingsTest, ClientsAreToldWhoseCertificatesAreWelcome) {
  const TestIdentity own = MakeIdentity("localhost"), one = MakeIdentity("one"), two = MakeIdentity("two");
  std::mutex mutex;
  std::vector<std::shared_ptr<const CertificatePool>> pools;  // under mutex
  TlsOptions tls;
  tls.certificate_data = own.certificate_pem;
  tls.key_data = own.key_pem;
  tls.ask_for = [&] {
    const std::lock_guard lock(mutex);
    return pools;
  };
  const auto server = ServeTls(tls);
  const auto named = [&] {
    const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
    const std::unique_ptr<SSL, decltype(&SSL_free)> ssl(SSL_new(context.get()), SSL_free);
    const RawClient socket(server->port());
    SSL_set_fd(ssl.get(), socket.fd());
    std::vector<std::string> names;
    if (SSL_connect(ssl.get()) != 1) return names;
    const STACK_OF(X509_NAME)* list = SSL_get0_peer_CA_list(ssl.get());
    for (int i = 0; i < sk_X509_NAME_num(list); ++i) {
      char text[100];
      names.emplace_back(X509_NAME_oneline(sk_X509_NAME_value(list, i), text, sizeof(text)));
    }
    return names;
  };
  EXPECT_THAT(named(), testing::IsEmpty());
  {
    const std::lock_guard lock(mutex);
    pools = {*CertificatePool::Parse("a", one.certificate_pem), nullptr,
             *CertificatePool::Parse("b", two.certificate_pem)};
  }
  EXPECT_THAT(named(), ElementsAre("/CN=one", "/CN=two")) << "as it is now";
}

TEST(TlsServerNamesTest, TheCertificateIsTheOneOfTheNameAndReadAgain) {
  const TestFolder folder;
  const TestIdentity own = MakeIdentity("default"), first = MakeIdentity("first"), second = MakeIdentity("second");
  TlsOptions tls;
  tls.certificate_data = own.certificate_pem;
  tls.key_data = own.key_pem;
  tls.look_every = Duration{};
  NamedCertificate named;
  named.certificate_file = folder.Write("a.crt", first.certificate_pem);
  named.key_file = folder.Write("a.key", first.key_pem);
  named.names = {"*.example.com", "127.0.0.9"};
  tls.named = {named};
  const auto server = ServeTls(tls);
  EXPECT_THAT(Handshake(server->port(), TLS1_3_VERSION), HasSubstr("CN=default"));
  EXPECT_THAT(Handshake(server->port(), TLS1_3_VERSION, nullptr, "a.example.com"), HasSubstr("CN=first"));
  EXPECT_THAT(Handshake(server->port(), TLS1_2_VERSION, nullptr, "a.example.com"), HasSubstr("CN=first"));
  EXPECT_THAT(Handshake(server->port(), TLS1_3_VERSION, nullptr, "example.com"), HasSubstr("CN=default"));
  folder.Write("a.key", second.key_pem);
  folder.Write("a.crt", second.certificate_pem + " ");  // another size, whatever the clock says
  EXPECT_THAT(Handshake(server->port(), TLS1_3_VERSION, nullptr, "a.example.com"), HasSubstr("CN=second"));
  named.names = {"127.0.0.1"};
  tls.named = {named};
  const auto by_address = ServeTls(tls);
  EXPECT_THAT(Handshake(by_address->port(), TLS1_3_VERSION), HasSubstr("CN=second"));
}

TEST(KeyedDigestTest, DependsOnKeyAndText) {
  const KeyedDigest one, other;
  EXPECT_EQ(one.Of("token"), one.Of("token"));
  EXPECT_NE(one.Of("token"), one.Of("tokem"));
  EXPECT_NE(one.Of("token"), other.Of("token"));
  EXPECT_EQ(one.Of("").size(), 32);
}

TEST(ListeningSocketTest, ClientsWaitUntilAServerTakesItOver) {
  auto listener = ListeningSocket::Open({.address = "127.0.0.1"});
  ASSERT_TRUE(listener.ok());
  EXPECT_EQ((*listener)->where(), "127.0.0.1:" + std::to_string((*listener)->port()));
  RawClient early((*listener)->port());
  ASSERT_TRUE(early.connected());
  early.Send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  ServerOptions options;
  options.listener = *listener;
  const auto server = Serve(Echo, options);
  EXPECT_EQ(server->port(), (*listener)->port());
  EXPECT_EQ(StatusOf(early.ReadAll()), 200);
  EXPECT_FALSE(HttpServer::Start(options, Echo).ok()) << "it is taken";
}

TEST(ListeningSocketTest, APortIsSharedByAgreementOnly) {
  const auto first = ListeningSocket::Open({.address = "127.0.0.1", .share_port = true});
  ASSERT_TRUE(first.ok());
  const uint16_t port = (*first)->port();
  EXPECT_TRUE(ListeningSocket::Open({.address = "127.0.0.1", .port = port, .share_port = true}).ok());
  EXPECT_THAT(ListeningSocket::Open({.address = "127.0.0.1", .port = port}).error().text(),
              HasSubstr("127.0.0.1:" + std::to_string(port) + ": Address already in use"));
}

}  // namespace
}  // namespace berth::net
