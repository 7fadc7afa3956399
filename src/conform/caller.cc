// SPDX-License-Identifier: Apache-2.0
#include "conform/caller.h"

#include <chrono>
#include <future>
#include <utility>

#include "api/json_scan.h"
#include "conform/gzip.h"
#include "net/http_text.h"

namespace berth::conform {
namespace {

using std::chrono::steady_clock;

constexpr size_t kConnections = 64;
constexpr uint64_t kMostBytes = uint64_t{256} << 20;

// Starts the request; the future gets the exchange.
std::future<Exchange> Start(net::HttpClient& client, net::ClientRequest request) {
  struct Pending {
    std::promise<Exchange> promise;
    Exchange exchange;
    steady_clock::time_point begin = steady_clock::now();
  };
  auto pending = std::make_shared<Pending>();
  pending->exchange.asked = request.method + " " + request.path + " " + Excerpt(request.body);
  std::future<Exchange> future = pending->promise.get_future();
  client.Send(std::move(request), [pending](Result<net::HttpResponse> response) {
    Exchange& exchange = pending->exchange;
    const std::chrono::duration<double, std::milli> took = steady_clock::now() - pending->begin;
    exchange.milliseconds = took.count();
    if (response.ok()) {
      exchange.status = response->status;
      exchange.headers = response->headers;
      exchange.body = std::move(std::move(response).value().body);
    } else {
      exchange.failure = response.error().text();
      const ErrorKind kind = response.error().kind();
      exchange.timed_out = kind == ErrorKind::kTimedOut || kind == ErrorKind::kUnsent;
    }
    pending->promise.set_value(std::move(exchange));
  });
  return future;
}

// What Go's client does with an answer to a request for gzip: it looks at that one coding and passes on all others.
Exchange Unzipped(Exchange exchange) {
  const std::string* coding = exchange.headers.Find("Content-Encoding");
  if (exchange.status == 0 || coding == nullptr || !net::EqualIgnoringCase(*coding, "gzip")) return exchange;
  if (Result<std::string> text = Gunzip(exchange.body, kMostBytes); text.ok()) {
    exchange.body = std::move(text).value();
  } else {
    exchange.garbled = text.error().text();
  }
  return exchange;
}

// Without control characters, and without the parts of characters that were cut at either end.
std::string InOneLine(std::string text) {
  const auto inner = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  size_t from = 0;
  while (from < text.size() && from < 3 && inner(text[from])) ++from;
  text.erase(0, from);
  for (size_t cut = 0; cut < 3 && !text.empty() && !CheckUtf8(text).ok(); ++cut) {
    const bool part = static_cast<unsigned char>(text.back()) >= 0x80;
    if (!part) break;
    text.pop_back();
  }
  const bool readable = CheckUtf8(text).ok();
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte == 0x7f) c = ' ';
    if (byte >= 0x80 && !readable) c = '?';
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

}  // namespace

std::string Excerpt(const std::string& text, size_t length) {
  if (text.size() <= length) return InOneLine(text);
  const size_t end = length / 3;
  return InOneLine(text.substr(0, length - end)) + " … " + InOneLine(text.substr(text.size() - end)) + " (" +
         std::to_string(text.size()) + " bytes)";
}

std::string Exchange::Received() const {
  return status == 0 ? "no answer: " + failure : std::to_string(status) + " " + Excerpt(body);
}

Result<std::unique_ptr<Caller>> Caller::Create(const Options& options) {
  Result<net::Url> url = net::ParseUrl(options.url);
  if (!url.ok()) return url.error();
  std::unique_ptr<Caller> caller(new Caller(std::move(url).value(), options.timeout));
  net::ClientOptions client_options;
  client_options.url = options.url;
  client_options.tls = options.tls;
  client_options.max_connections = kConnections;
  client_options.connect_timeout = options.timeout;
  client_options.max_response_bytes = kMostBytes;
  Result<std::unique_ptr<net::HttpClient>> client = net::HttpClient::Create(client_options);
  if (!client.ok()) return client.error();
  caller->client_ = std::move(client).value();
  if (caller->url_.tls) {
    Result<std::shared_ptr<net::TlsContext>> tls = net::TlsContext::Client(options.tls);
    if (!tls.ok()) return tls.error();
    caller->tls_ = std::move(tls).value();
  }
  return caller;
}

net::ClientRequest Caller::Request(const std::string& verb, std::string body) const {
  net::ClientRequest request;
  request.method = "POST";
  request.path = "/" + verb;
  request.headers.Add("Content-Type", "application/json");
  // As Go's client does by itself.
  request.headers.Add("Accept-Encoding", "gzip");
  request.headers.Add("User-Agent", "berth-conform");
  request.body = std::move(body);
  request.timeout = timeout_;
  return request;
}

Exchange Caller::Send(net::ClientRequest request) {
  request.timeout = timeout_;
  return Start(*client_, std::move(request)).get();
}

Exchange Caller::Post(const std::string& verb, std::string body) {
  Exchange exchange = Start(*client_, Request(verb, body)).get();
  if (exchange.status != 0 || exchange.timed_out) return Unzipped(std::move(exchange));
  Exchange again = Start(*client_, Request(verb, std::move(body))).get();
  if (again.status != 0) ++lost_connections_;
  return Unzipped(std::move(again));
}

std::vector<Exchange> Caller::PostAll(const std::string& verb, const std::vector<std::string>& bodies) {
  std::vector<std::future<Exchange>> futures;
  futures.reserve(bodies.size());
  for (const std::string& body : bodies) futures.push_back(Start(*client_, Request(verb, body)));
  std::vector<Exchange> exchanges;
  exchanges.reserve(bodies.size());
  for (std::future<Exchange>& future : futures) exchanges.push_back(Unzipped(future.get()));
  return exchanges;
}

Result<std::unique_ptr<net::RawConnection>> Caller::Connect() {
  return net::RawConnection::Open(url_, tls_.get(), Deadline());
}

std::string Caller::Bytes(const std::string& verb, const std::string& body) const {
  return "POST " + url_.prefix + "/" + verb + " HTTP/1.1\r\nHost: " + url_.authority +
         "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace berth::conform
