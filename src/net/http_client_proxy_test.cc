// SPDX-License-Identifier: Apache-2.0
// The client behind proxies of every kind, and behind such as mean harm.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <functional>
#include <thread>

#include "net/http_client_test_util.h"
#include "net/tls_test_util.h"

namespace berth::net {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

int ConnectHere(uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  EXPECT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  return fd;
}

void SayTo(int fd, std::string_view text) { ::send(fd, text.data(), text.size(), MSG_NOSIGNAL); }

// Both ways, until one of them is closed.
void Relay(int one, int other) {
  std::array<pollfd, 2> both = {{{one, POLLIN, 0}, {other, POLLIN, 0}}};
  std::array<char, 4096> data;
  while (::poll(both.data(), both.size(), -1) > 0) {
    for (size_t i = 0; i < 2; ++i) {
      if (both[i].revents == 0) continue;
      const ssize_t count = ::recv(both[i].fd, data.data(), data.size(), 0);
      if (count <= 0) return;
      SayTo(both[1 - i].fd, {data.data(), static_cast<size_t>(count)});
    }
  }
}

// Accepts on a port of this machine, and hands each connection to `serve` on a thread of its own.
class TestListener {
 public:
  explicit TestListener(std::function<void(int fd)> serve) : serve_(std::move(serve)) {
    std::tie(listener_, port_) = ListenAnywhere();
    acceptor_ = std::thread([this] {
      for (;;) {
        const int fd = ::accept(listener_, nullptr, nullptr);
        if (fd < 0) return;
        const std::lock_guard lock(mutex_);
        open_.push_back(fd);
        threads_.emplace_back([this, fd] {
          serve_(fd);
          ::shutdown(fd, SHUT_RDWR);
        });
      }
    });
  }
  ~TestListener() {
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
    for (std::thread& thread : threads_) thread.join();
    for (const int fd : open_) ::close(fd);
    ::close(listener_);
  }
  TestListener(const TestListener&) = delete;
  TestListener& operator=(const TestListener&) = delete;
  uint16_t port() const { return port_; }

 private:
  const std::function<void(int)> serve_;
  int listener_ = -1;
  uint16_t port_ = 0;
  std::mutex mutex_;
  std::vector<int> open_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

// What was said to a proxy, by everybody.
class Notes {
 public:
  void Add(std::string note) {
    const std::lock_guard lock(mutex_);
    notes_.push_back(std::move(note));
  }
  std::vector<std::string> all() const {
    const std::lock_guard lock(mutex_);
    return notes_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> notes_;
};

std::string ReadHead(int fd) {
  std::string head;
  char byte = 0;
  while (!head.ends_with("\r\n\r\n") && ::recv(fd, &byte, 1, 0) == 1) head += byte;
  return head;
}

std::string ReadBytes(int fd, size_t count) {
  std::string bytes(count, '\0');
  return ::recv(fd, bytes.data(), count, MSG_WAITALL) == static_cast<ssize_t>(count) ? bytes : "";
}

// An HTTP proxy that leads everybody to `target`, whatever they ask for.
std::function<void(int)> HttpProxy(uint16_t target, Notes& notes) {
  return [target, &notes](int fd) {
    const std::string head = ReadHead(fd);
    if (head.empty()) return;
    notes.Add(head);
    const int server = ConnectHere(target);
    if (head.starts_with("CONNECT "))
      SayTo(fd, "HTTP/1.1 200 Connection established\r\nVia: 1.1 test\r\n\r\n");
    else
      SayTo(server, head);
    Relay(fd, server);
    ::close(server);
  };
}

// The same with SOCKS; with `user` nobody else is served.
std::function<void(int)> SocksProxy(uint16_t target, Notes& notes, const std::string& user = "") {
  return [target, &notes, user](int fd) {
    const std::string hello = ReadBytes(fd, 2);
    if (hello.size() < 2) return;
    const std::string methods = ReadBytes(fd, static_cast<size_t>(hello[1]));
    const char wanted = user.empty() ? '\0' : '\2';
    if (methods.find(wanted) == std::string::npos) return SayTo(fd, "\x05\xff");
    SayTo(fd, std::string("\x05") + wanted);
    if (!user.empty()) {
      const std::string name = ReadBytes(fd, static_cast<size_t>(ReadBytes(fd, 2)[1]));
      const std::string password = ReadBytes(fd, static_cast<size_t>(ReadBytes(fd, 1)[0]));
      const bool known = name + ":" + password == user;
      SayTo(fd, std::string("\x01", 1) + (known ? '\0' : '\1'));
      if (!known) return;
    }
    std::string request = ReadBytes(fd, 4);
    if (request.size() < 4) return;
    request += request[3] == '\x03' ? ReadBytes(fd, static_cast<size_t>((request += ReadBytes(fd, 1)).back()) + 2)
                                    : ReadBytes(fd, request[3] == '\x01' ? 6 : 18);
    notes.Add(request);
    const int server = ConnectHere(target);
    SayTo(fd, std::string("\x05\x00\x00\x03\x01x\x00\x01", 8));
    Relay(fd, server);
    ::close(server);
  };
}

// TLS in front of something that does not speak it.
std::function<void(int)> TlsFront(std::shared_ptr<TlsContext> tls, uint16_t target) {
  return [tls, target](int fd) {
    const auto session = tls->NewSession(fd);
    ASSERT_TRUE(session.ok());
    TlsSession& outer = *session.value();
    if (outer.Handshake() != TlsSession::Status::kOk) return;  // the socket blocks
    const int inner = ConnectHere(target);
    std::array<pollfd, 2> both = {{{fd, POLLIN, 0}, {inner, POLLIN, 0}}};
    std::array<char, 4096> data;
    for (;;) {
      // What is there first: the handshake may have read more than itself.
      size_t count = 0;
      ::fcntl(fd, F_SETFL, O_NONBLOCK);
      TlsSession::Status status = TlsSession::Status::kOk;
      while ((status = outer.Read(data.data(), data.size(), &count)) == TlsSession::Status::kOk)
        SayTo(inner, {data.data(), count});
      ::fcntl(fd, F_SETFL, 0);
      if (status != TlsSession::Status::kWantRead || ::poll(both.data(), both.size(), -1) <= 0) break;
      if (both[1].revents == 0) continue;
      const ssize_t got = ::recv(inner, data.data(), data.size(), 0);
      if (got <= 0) break;
      std::string_view rest(data.data(), static_cast<size_t>(got));
      while (!rest.empty() && outer.Write(rest, &count) == TlsSession::Status::kOk) rest.remove_prefix(count);
      if (!rest.empty()) break;
    }
    ::close(inner);
  };
}

class HttpClientProxyTest : public ::testing::Test {
 protected:
  HttpClientProxyTest() {
    tls_.certificate_file = folder_.Write("server.crt", identity_.certificate_pem);
    tls_.key_file = folder_.Write("server.key", identity_.key_pem);
    ServerOptions serving;
    serving.tls = &tls_;
    secure_ = Serve(Echo, serving);
    plain_ = Serve();
  }
  ClientOptions Through(const std::string& proxy, const std::string& url) const {
    ClientOptions options;
    options.proxy = proxy;
    options.url = url;
    options.tls.ca_data = authority_.certificate_pem;
    return options;
  }
  // Nobody is there: only a proxy can lead to the server.
  static std::string Secure() { return "https://127.0.0.1:9"; }
  static std::string Plain() { return "http://127.0.0.1:9"; }
  static std::string Here(const TestListener& listener, const std::string& scheme, const std::string& user = "") {
    return scheme + "://" + user + "127.0.0.1:" + std::to_string(listener.port());
  }
  std::string Get(const ClientOptions& options) {
    const auto client = ClientOf(0, options);
    return Text(Ask(*client, Request("GET", "/a?b=c")));
  }

  const TestFolder folder_;
  const TestIdentity authority_ = MakeIdentity("test authority");
  const TestIdentity identity_ = MakeIdentity("server", "IP:127.0.0.1,DNS:api.example", &authority_);
  TlsOptions tls_;
  std::unique_ptr<HttpServer> secure_, plain_;
  Notes notes_;
};

TEST_F(HttpClientProxyTest, AServerWithTlsIsReachedByConnect) {
  const TestListener proxy(HttpProxy(secure_->port(), notes_));
  const auto client = ClientOf(0, Through(Here(proxy, "http", "me:a%40b@"), Secure()));
  EXPECT_EQ(Text(Ask(*client, Request("GET", "/a?b=c"))), "GET /a?b=c ");
  EXPECT_EQ(Text(Ask(*client, Request("POST", "/", "body"))), "POST /? body") << "on the same connection";
  EXPECT_THAT(notes_.all(), ElementsAre("CONNECT 127.0.0.1:9 HTTP/1.1\r\nHost: 127.0.0.1:9\r\n"
                                        "Proxy-Authorization: Basic bWU6YUBi\r\n\r\n"));
  EXPECT_EQ(Get(Through(Here(proxy, "http"), "https://api.example")), "GET /a?b=c ") << "it need not be known here";
  EXPECT_EQ(notes_.all().back(), "CONNECT api.example:443 HTTP/1.1\r\nHost: api.example:443\r\n\r\n");
  EXPECT_THAT(Get(Through(Here(proxy, "http"), "https://other.example")), HasSubstr("TLS handshake"))
      << "the server is checked, whoever is in between";
  Heard heard;
  const auto stream = heard.Start(*client, Request("GET", "/stream"));
  ASSERT_TRUE(heard.WaitForEnd());
  EXPECT_EQ(heard.error, "");
  EXPECT_EQ(heard.text, "GET /stream? ");
}

TEST_F(HttpClientProxyTest, AServerWithoutTlsIsAskedForByTheProxy) {
  const TestListener proxy(HttpProxy(plain_->port(), notes_));
  ClientOptions options = Through(Here(proxy, "http", "me:a%40b@"), Plain() + "/prefix");
  const auto client = ClientOf(0, options);
  EXPECT_EQ(Text(Ask(*client, Request("GET", "/a"))), "GET /prefix/a? ");
  ASSERT_THAT(notes_.all(), SizeIs(1));
  EXPECT_THAT(notes_.all()[0], AllOf(HasSubstr("GET http://127.0.0.1:9/prefix/a HTTP/1.1\r\nHost: 127.0.0.1:9\r\n"),
                                     HasSubstr("Proxy-Authorization: Basic bWU6YUBi\r\n")));
}

TEST_F(HttpClientProxyTest, SocksLeadsToBoth) {
  const std::string here("\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x09", 10);
  const TestListener secure(SocksProxy(secure_->port(), notes_));
  EXPECT_EQ(Get(Through(Here(secure, "socks5"), Secure())), "GET /a?b=c ");
  EXPECT_EQ(Get(Through(Here(secure, "socks5", "me:secret@"), Secure())), "GET /a?b=c ") << "nobody asks for it";
  const TestListener plain(SocksProxy(plain_->port(), notes_, "me:secret"));
  EXPECT_EQ(Get(Through(Here(plain, "socks5", "me:secret@"), Plain())), "GET /a?b=c ");
  EXPECT_THAT(notes_.all(), ElementsAre(here, here, here));
  EXPECT_EQ(Get(Through(Here(plain, "socks5", "me:secret@"), "http://api.example:256")), "GET /a?b=c ");
  EXPECT_EQ(notes_.all().back(), std::string("\x05\x01\x00\x03\x0b", 5) + "api.example" + std::string("\x01\x00", 2));
  EXPECT_EQ(Get(Through(Here(plain, "socks5", "me:secret@"), "http://[fd00::1]:256")), "GET /a?b=c ");
  EXPECT_THAT(notes_.all().back(), SizeIs(22));

  EXPECT_THAT(Get(Through(Here(plain, "socks5", "me:hunter2@"), Plain())),
              AllOf(HasSubstr("proxy socks5://127.0.0.1:"), HasSubstr("it refuses user and password"),
                    Not(HasSubstr("hunter2"))));
  EXPECT_THAT(Get(Through(Here(plain, "socks5"), Plain())), HasSubstr("it wants to know who we are"));
}

TEST_F(HttpClientProxyTest, AProxyMaySpeakTlsItself) {
  const TestIdentity identity = MakeIdentity("proxy", "IP:127.0.0.1", &authority_);
  TlsOptions tls;
  tls.certificate_data = identity.certificate_pem;
  tls.key_data = identity.key_pem;
  const auto context = TlsContext::Server(tls);
  ASSERT_TRUE(context.ok()) << context.error().text();
  const TestListener secure(HttpProxy(secure_->port(), notes_)), plain(HttpProxy(plain_->port(), notes_));
  const TestListener secure_front(TlsFront(*context, secure.port())), plain_front(TlsFront(*context, plain.port()));
  const auto client = ClientOf(0, Through(Here(secure_front, "https", "me:a@"), Secure()));
  EXPECT_EQ(Text(Ask(*client, Request("GET", "/a"))), "GET /a? ");
  const std::string large(300'000, 'x');
  EXPECT_EQ(Text(Ask(*client, Request("POST", "/", large))), "POST /? " + large);
  ASSERT_THAT(notes_.all(), SizeIs(1));
  EXPECT_THAT(notes_.all()[0], HasSubstr("CONNECT 127.0.0.1:9 HTTP/1.1\r\n"));
  EXPECT_EQ(Get(Through(Here(plain_front, "https"), Plain())), "GET /a?b=c ");
  EXPECT_THAT(notes_.all().back(), HasSubstr("GET http://127.0.0.1:9/a?b=c HTTP/1.1\r\n"));

  ClientOptions strangers = Through(Here(secure_front, "https"), Secure());
  strangers.tls.ca_data = MakeIdentity("another authority").certificate_pem;
  EXPECT_THAT(Get(strangers), AllOf(HasSubstr("proxy https://127.0.0.1:"), HasSubstr("TLS handshake")));
}

TEST_F(HttpClientProxyTest, WhatAProxyRefusesIsItsRefusalAndNoPasswordIsShown) {
  const auto says = [this](const std::string& answer, const std::string& scheme = "http") {
    const TestListener proxy([&answer](int fd) {
      std::array<char, 4096> data;
      if (::recv(fd, data.data(), data.size(), 0) <= 0) return;
      SayTo(fd, answer);
      ::shutdown(fd, SHUT_WR);
      while (::recv(fd, data.data(), data.size(), 0) > 0) {
      }
    });
    ClientOptions options = Through(Here(proxy, scheme, "me:hunter2@"), Secure());
    const std::string text = Get(options);
    EXPECT_THAT(text, AllOf(HasSubstr("(GET https://127.0.0.1:9/a?b=c: proxy " + Here(proxy, scheme) + ": "),
                            Not(HasSubstr("hunter2"))));
    return text;
  };
  EXPECT_THAT(says("HTTP/1.1 407 No\r\n\r\n"), HasSubstr("CONNECT 127.0.0.1:9: 407 Proxy Authentication Required"));
  EXPECT_THAT(says("HTTP/1.1 503 No\r\nContent-Length: 3\r\n\r\nabc"), HasSubstr("503 Service Unavailable"));
  EXPECT_THAT(says("HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n"), HasSubstr("302 Found"));
  EXPECT_THAT(says(""), HasSubstr("the proxy closed the connection"));
  EXPECT_THAT(says("HTTP/1.1 200 OK"), HasSubstr("the proxy closed the connection"));
  EXPECT_THAT(says("garbage\r\n\r\n"), HasSubstr("the answer's header: "));
  EXPECT_THAT(says("HTTP/1.1 200 OK\r\n\r\nmore"), HasSubstr("more in the answer than belongs there"));
  EXPECT_THAT(says("HTTP/1.1 200 OK\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n"),
              HasSubstr("the answer's header: "));
  std::string interim;
  for (int i = 0; i < 100; ++i) interim += "HTTP/1.1 100 Continue\r\n\r\n";
  EXPECT_THAT(says(interim), HasSubstr("the answer does not come"));

  EXPECT_THAT(says("", "socks5"), HasSubstr("the proxy closed the connection"));
  EXPECT_THAT(says("HTTP/1.1 400 Bad Request\r\n\r\n", "socks5"), HasSubstr("it is no socks5 proxy"));
  EXPECT_THAT(says("\x05\xff", "socks5"), HasSubstr("it wants to know who we are"));
  const std::string hello("\x05\x00", 2);
  EXPECT_THAT(says(hello + std::string("\x05\x05\x00\x01", 4), "socks5"),
              HasSubstr("connecting to 127.0.0.1:9: connection refused"));
  EXPECT_THAT(says(hello + std::string("\x05\x63\x00\x01", 4), "socks5"), HasSubstr("unknown error"));
  EXPECT_THAT(says(hello + std::string("\x05\x00\x00\x07", 4), "socks5"), HasSubstr("an address of no known type"));
  EXPECT_THAT(says(hello + std::string("\x04\x00\x00\x01", 4), "socks5"), HasSubstr("it is no socks5 proxy"));
  EXPECT_THAT(says(hello + std::string("\x05\x00\x00\x03\xff", 5) + "short", "socks5"),
              HasSubstr("the proxy closed the connection"));
}

TEST_F(HttpClientProxyTest, AProxyThatIsNotThereOrDoesNotAnswerIsNamed) {
  const auto [fd, port] = ListenAnywhere();
  ::close(fd);
  EXPECT_THAT(Get(Through("http://me:hunter2@127.0.0.1:" + std::to_string(port), Secure())),
              AllOf(HasSubstr("proxy http://127.0.0.1:" + std::to_string(port) + ": connecting: Connection refused"),
                    Not(HasSubstr("hunter2"))));
  const TestListener silent([](int client) {
    std::array<char, 4096> data;
    while (::recv(client, data.data(), data.size(), 0) > 0) {
    }
  });
  ClientOptions options = Through(Here(silent, "http"), Secure());
  options.connect_timeout = Duration::Seconds(1);
  EXPECT_THAT(Get(options), HasSubstr("proxy " + Here(silent, "http") + ": timed out"));
  options.proxy = "ftp://me:hunter2@p";
  const auto client = HttpClient::Create(options);
  ASSERT_FALSE(client.ok());
  EXPECT_EQ(client.error().text(), "proxy: unsupported scheme \"ftp\", must be http, https, or socks5");
}

}  // namespace
}  // namespace berth::net
