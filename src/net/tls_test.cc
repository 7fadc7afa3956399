// SPDX-License-Identifier: Apache-2.0
#include "net/tls.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mutex>
#include <thread>
#include <vector>

#include "net/tls_test_util.h"

namespace berth::net {
namespace {

using Status = TlsSession::Status;

class TlsTest : public ::testing::Test {
 protected:
  TlsTest()
      : authority_(MakeIdentity("test authority")),
        server_(MakeIdentity("server", "DNS:localhost,IP:127.0.0.1", &authority_)) {
    options_.certificate_file = folder_.Write("server.crt", server_.certificate_pem);
    options_.key_file = folder_.Write("server.key", server_.key_pem);
    options_.look_every = Duration{0};
    client_.ca_data = authority_.certificate_pem;
  }

  // Two sessions on a pair of sockets, with their hands shaken as far as it goes.
  struct Pair {
    int fds[2] = {-1, -1};
    std::unique_ptr<TlsSession> server, client;
    Status server_status = Status::kWantRead, client_status = Status::kWantRead;

    Pair() = default;
    Pair(const Pair&) = delete;
    Pair& operator=(const Pair&) = delete;
    ~Pair() {
      server.reset();
      client.reset();
      for (const int fd : fds) ::close(fd);
    }
    bool shaken() const { return server_status == Status::kOk && client_status == Status::kOk; }
    // What the client sees of `text` that the server sends.
    std::string Carry(const std::string& text) {
      size_t count = 0;
      EXPECT_EQ(server->Write(text, &count), Status::kOk);
      std::string seen(text.size(), ' ');
      const Status status = client->Read(seen.data(), seen.size(), &count);
      return status == Status::kOk ? seen.substr(0, count) : "(" + client->problem() + ")";
    }
  };

  static std::unique_ptr<Pair> Shake(TlsContext& server, TlsContext& client, const std::string& host = "localhost") {
    auto pair = std::make_unique<Pair>();
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair->fds), 0);
    pair->server = std::move(server.NewSession(pair->fds[0])).value();
    pair->client = std::move(client.NewSession(pair->fds[1], host)).value();
    for (int i = 0; i < 10; ++i) {
      if (pair->client_status == Status::kWantRead) pair->client_status = pair->client->Handshake();
      if (pair->server_status == Status::kWantRead) pair->server_status = pair->server->Handshake();
    }
    return pair;
  }

  std::shared_ptr<TlsContext> Server() {
    auto context = TlsContext::Server(options_);
    EXPECT_TRUE(context.ok()) << context.error().text();
    return std::move(context).value();
  }
  std::shared_ptr<TlsContext> Client() {
    auto context = TlsContext::Client(client_);
    EXPECT_TRUE(context.ok()) << context.error().text();
    return std::move(context).value();
  }
  std::string ServerError() {
    const auto context = TlsContext::Server(options_);
    return context.ok() ? "" : context.error().text();
  }
  std::string ClientError() {
    const auto context = TlsContext::Client(client_);
    return context.ok() ? "" : context.error().text();
  }

  TestFolder folder_;
  TestIdentity authority_, server_;
  TlsOptions options_;
  TlsClientOptions client_;
};

TEST_F(TlsTest, CarriesBytesOverTls13WithHttp11) {
  const auto pair = Shake(*Server(), *Client());
  ASSERT_TRUE(pair->shaken()) << pair->client->problem() << pair->server->problem();
  EXPECT_EQ(pair->Carry("hello"), "hello");
  EXPECT_EQ(pair->client->Version(), "TLSv1.3");
  EXPECT_EQ(pair->client->Protocol(), "http/1.1");
  EXPECT_EQ(pair->client->PeerName(), "server");
  EXPECT_EQ(pair->server->PeerName(), "");
  size_t count = 0;
  char byte = 0;
  EXPECT_EQ(pair->server->Read(&byte, 1, &count), Status::kWantRead);
  pair->client->Shutdown();
  EXPECT_EQ(pair->server->Read(&byte, 1, &count), Status::kClosed);
}

TEST_F(TlsTest, TellsAnEndFromACut) {
  const auto pair = Shake(*Server(), *Client());
  ASSERT_TRUE(pair->shaken());
  ::shutdown(pair->fds[0], SHUT_RDWR);
  char data[16];
  size_t count = 0;
  // Tickets may come first.
  Status status = pair->client->Read(data, sizeof(data), &count);
  if (status == Status::kWantRead) status = pair->client->Read(data, sizeof(data), &count);
  EXPECT_EQ(status, Status::kFailed);
  // Writing to somebody who has gone is an error, and no signal that ends the program.
  EXPECT_EQ(pair->server->Write("x", &count), Status::kFailed);
}

TEST_F(TlsTest, BelievesTheRightServerOnly) {
  const auto server = Server();
  EXPECT_TRUE(Shake(*server, *Client(), "127.0.0.1")->shaken());
  const auto other_host = Shake(*server, *Client(), "example.com");
  EXPECT_EQ(other_host->client_status, Status::kFailed);
  EXPECT_EQ(other_host->client->problem(), "TLS handshake: certificate verify failed (hostname mismatch)");
  EXPECT_EQ(Shake(*server, *Client(), "127.0.0.2")->client_status, Status::kFailed);

  client_.server_name = "localhost";
  EXPECT_TRUE(Shake(*server, *Client(), "example.com")->shaken());
  client_.ca_data = MakeIdentity("another authority").certificate_pem;
  EXPECT_EQ(Shake(*server, *Client())->client_status, Status::kFailed);
  client_.ca_data.clear();
  EXPECT_EQ(Shake(*server, *Client())->client_status, Status::kFailed);  // the system does not know it either
  client_.insecure = true;
  const auto pair = Shake(*server, *Client());
  EXPECT_TRUE(pair->shaken());
  EXPECT_EQ(pair->client->PeerName(), "");  // nobody vouches for it
}

TEST_F(TlsTest, BelievesAnAuthorityThatAnotherOneSigned) {
  const TestIdentity root = MakeIdentity("root");
  const TestIdentity middle = MakeIdentity("middle", "", &root, 3600, /*authority=*/true);
  const TestIdentity server = MakeIdentity("server", "DNS:localhost", &middle);
  options_.certificate_file = folder_.Write("below.crt", server.certificate_pem);
  options_.key_file = folder_.Write("below.key", server.key_pem);
  client_.ca_data = middle.certificate_pem;  // without the root
  EXPECT_TRUE(Shake(*Server(), *Client())->shaken());
}

TEST_F(TlsTest, DoesNotTakeTheCommonNameForTheHost) {
  const TestIdentity named = MakeIdentity("localhost", "", &authority_);
  options_.certificate_file = folder_.Write("named.crt", named.certificate_pem);
  options_.key_file = folder_.Write("named.key", named.key_pem);
  EXPECT_EQ(Shake(*Server(), *Client())->client_status, Status::kFailed);
}

TEST_F(TlsTest, RefusesACertificateThatIsOver) {
  const TestIdentity old = MakeIdentity("server", "DNS:localhost", &authority_, -3600);
  options_.certificate_file = folder_.Write("old.crt", old.certificate_pem);
  options_.key_file = folder_.Write("old.key", old.key_pem);
  const auto pair = Shake(*Server(), *Client());
  EXPECT_EQ(pair->client->problem(), "TLS handshake: certificate verify failed (certificate has expired)");
}

TEST_F(TlsTest, LetsInOnlyClientsThatTheAuthoritySigned) {
  options_.client_ca_file = folder_.Write("ca.crt", authority_.certificate_pem);
  const auto server = Server();
  const auto nobody = Shake(*server, *Client());
  EXPECT_EQ(nobody->server_status, Status::kFailed);
  EXPECT_NE(nobody->server->problem().find("peer did not return a certificate"), std::string::npos)
      << nobody->server->problem();

  const TestIdentity known = MakeIdentity("kube-scheduler", "", &authority_);
  client_.certificate_data = known.certificate_pem;
  client_.key_data = known.key_pem;
  const auto pair = Shake(*server, *Client());
  ASSERT_TRUE(pair->shaken()) << pair->server->problem();
  EXPECT_EQ(pair->server->PeerName(), "kube-scheduler");

  const TestIdentity other_authority = MakeIdentity("another authority");
  const TestIdentity stranger = MakeIdentity("kube-scheduler", "", &other_authority);
  client_.certificate_data.clear();
  client_.key_data.clear();
  client_.certificate_file = folder_.Write("client.crt", stranger.certificate_pem);
  client_.key_file = folder_.Write("client.key", stranger.key_pem);
  EXPECT_EQ(Shake(*server, *Client())->server_status, Status::kFailed);
}

// As Go's clients do. What an API server is sent it checks again with every request.
TEST_F(TlsTest, AClientSendsTheCertificatesThatItWasGivenAndNotTheAuthoritiesThatItTrusts) {
  const TestIdentity between = MakeIdentity("between", "", &authority_, 3600, /*authority=*/true);
  const TestIdentity known = MakeIdentity("kube-scheduler", "", &between);
  options_.client_ca_file = folder_.Write("ca.crt", authority_.certificate_pem);
  client_.ca_data += between.certificate_pem;
  client_.certificate_data = known.certificate_pem;
  client_.key_data = known.key_pem;
  const auto server = Server();
  EXPECT_EQ(Shake(*server, *Client())->server_status, Status::kFailed) << "it was not given the one between";
  client_.certificate_data += between.certificate_pem;
  const auto pair = Shake(*server, *Client());
  EXPECT_TRUE(pair->shaken()) << pair->server->problem();
}

TEST_F(TlsTest, ManySmallRecordsAndLargeOnesArriveAsTheyWereSent) {
  const auto pair = Shake(*Server(), *Client());
  ASSERT_TRUE(pair->shaken());
  pair->client->WaitsWhenTold();
  std::string sent, seen, piece(size_t{20} << 10, ' ');
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 30; ++i) {
      const std::string text((i * 37 + round) % 700 + 1, static_cast<char>('a' + i % 26));
      size_t count = 0;
      ASSERT_EQ(pair->server->Write(text, &count), Status::kOk);
      ASSERT_EQ(count, text.size());
      sent += text;
    }
    if (round % 10 == 9) {
      const std::string text(size_t{30} << 10, 'Z');
      size_t done = 0, count = 0;
      while (done < text.size() && pair->server->Write(std::string_view(text).substr(done), &count) == Status::kOk)
        done += count;
      sent += text.substr(0, done);
    }
    // A socket that was empty is asked again only once there is something new.
    for (size_t count = 0; pair->client->Read(piece.data(), 1 + seen.size() % piece.size(), &count) == Status::kOk;)
      seen.append(piece, 0, count);
  }
  EXPECT_TRUE(seen == sent) << seen.size() << " of " << sent.size() << " bytes";
}

TEST_F(TlsTest, ReadsChangedFilesAndKeepsTheOldOnesUntilTheNewAreRight) {
  std::vector<std::string> warnings;
  options_.on_warning = [&](const Error& warning) { warnings.push_back(warning.text()); };
  const auto server = Server();
  const auto client = Client();
  const auto before = Shake(*server, *client);
  const TestIdentity renewed = MakeIdentity("renewed", "DNS:localhost", &authority_);
  folder_.Write("server.crt", renewed.certificate_pem + "\n");
  // Only half of the pair is there.
  EXPECT_EQ(Shake(*server, *client)->client->PeerName(), "server");
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0], "certificates have changed, but cannot be used: private key file " + options_.key_file +
                             ": does not belong to the certificate in certificate file " + options_.certificate_file);
  folder_.Write("server.key", renewed.key_pem + "\n");
  EXPECT_EQ(Shake(*server, *client)->client->PeerName(), "renewed");
  EXPECT_EQ(warnings.size(), 1U);
  EXPECT_EQ(before->Carry("still there"), "still there");
}

TEST_F(TlsTest, NamesFileAndReason) {
  options_.certificate_file = folder_.Path("none.crt");
  EXPECT_EQ(ServerError(),
            "certificate file " + options_.certificate_file + ": cannot open file: No such file or directory");
  options_.certificate_file = folder_.Write("text.crt", "hello\n");
  EXPECT_EQ(ServerError(), "certificate file " + options_.certificate_file + ": no PEM certificate in it");
  options_.certificate_file =
      folder_.Write("bad.crt", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
  EXPECT_TRUE(ServerError().starts_with("certificate file " + options_.certificate_file + ": ")) << ServerError();
  options_.certificate_file = folder_.Path("server.crt");
  options_.key_file = folder_.Write("text.key", server_.certificate_pem);
  EXPECT_TRUE(ServerError().starts_with("private key file " + options_.key_file + ": no usable PEM private key"))
      << ServerError();
  options_.key_file = folder_.Write("other.key", authority_.key_pem);
  EXPECT_EQ(ServerError(), "private key file " + options_.key_file +
                               ": does not belong to the certificate in certificate file " + options_.certificate_file);
  options_.key_file = folder_.Path("server.key");
  options_.client_ca_file = folder_.Path("none.ca");
  EXPECT_EQ(ServerError(),
            "client CA file " + options_.client_ca_file + ": cannot open file: No such file or directory");
  options_.client_ca_file.clear();
  EXPECT_EQ(ServerError(), "");

  client_.ca_data = "hello";
  EXPECT_EQ(ClientError(), "CA data: no PEM certificate in it");
  client_.ca_data.clear();
  client_.ca_file = folder_.Path("none.ca");
  EXPECT_EQ(ClientError(), "CA file " + client_.ca_file + ": cannot open file: No such file or directory");
  client_.ca_file.clear();
  client_.key_data = server_.key_pem;
  EXPECT_EQ(ClientError(), "a client key without a client certificate");
  client_.certificate_data = authority_.certificate_pem;
  EXPECT_EQ(ClientError(), "client key data: does not belong to the certificate in client certificate data");
}

TEST_F(TlsTest, FilesThatAreNoneAreNotWaitedFor) {
  options_.certificate_file = folder_.Path("pipe");
  ASSERT_EQ(::mkfifo(options_.certificate_file.c_str(), 0600), 0);
  EXPECT_EQ(ServerError(), "certificate file " + options_.certificate_file + ": is not a regular file");
  options_.certificate_file = "/dev/zero";
  EXPECT_EQ(ServerError(), "certificate file /dev/zero: is not a regular file");
}

TEST_F(TlsTest, MakesSessionsOnManyThreads) {
  const auto server = Server();
  const auto client = Client();
  std::vector<std::thread> threads;
  std::mutex mutex;
  int shaken = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 10; ++j) {
        const bool fine = Shake(*server, *client)->shaken();
        const std::lock_guard lock(mutex);
        shaken += fine ? 1 : 0;
      }
    });
  }
  for (int j = 0; j < 10; ++j)
    folder_.Write("server.crt", server_.certificate_pem + std::string(static_cast<size_t>(j), '\n'));
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(shaken, 40);
}

}  // namespace
}  // namespace berth::net
