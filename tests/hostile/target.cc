// SPDX-License-Identifier: Apache-2.0
#include "target.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "util/deadline.h"

namespace berth::hostile {
namespace {

// Where nothing is said of time, an answer that takes longer will not come: longer than any timeout of the server's
// for a request that is complete.
constexpr Duration kPatience = Duration::Seconds(30);

}  // namespace

std::string Get(const std::string& path) { return "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n"; }

std::string Post(const std::string& path, std::string_view body) {
  std::string request =
      "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  return request.append(body);
}

Result<std::unique_ptr<Target>> Target::Make(const TargetOptions& options) {
  std::unique_ptr<Target> made(new Target);
  made->options_ = options;
  Result<net::Url> url = net::ParseUrl(options.url);
  if (!url.ok()) return url.error();
  made->url_ = std::move(url).value();
  if (options.tls || made->url_.tls) {
    net::TlsClientOptions tls;
    tls.insecure = true;  // whoever it is
    auto context = net::TlsContext::Client(tls);
    if (!context.ok()) return context.error();
    made->tls_ = std::move(context).value();
  }
  return made;
}

Connection Target::Open(net::TlsContext* tls) const {
  auto opened = net::RawConnection::Open(url_, tls, net::After(kPatience));
  return opened.ok() ? std::move(opened).value() : nullptr;
}

Connection Target::Connect() const { return Open(tls_.get()); }
Connection Target::ConnectBare() const { return Open(nullptr); }

Answer Target::Ask(std::string_view request) const {
  const Connection connection = Connect();
  if (connection == nullptr) return {0, "", "cannot connect"};
  // A server that refuses may stop reading before all is sent.
  (void)connection->Send(request, net::After(kPatience));
  return Receive(*connection, net::After(kPatience));
}

Answer Target::Receive(net::RawConnection& connection, net::Deadline deadline) {
  Answer answer;
  std::string& text = answer.text;
  size_t wanted = std::string::npos;
  while (text.size() < wanted) {
    const Result<std::string> piece = connection.Receive(deadline);
    if (!piece.ok() && piece.error().kind() == ErrorKind::kTimedOut) {
      answer.problem = "no answer, and no end, in time";
      return answer;
    }
    if (!piece.ok()) answer.end = piece.error().text();
    if (!piece.ok() || piece->empty()) break;
    text += *piece;
    const size_t head = text.find("\r\n\r\n");
    if (wanted != std::string::npos || head == std::string::npos) continue;
    const size_t length = text.find("Content-Length: ");
    wanted = head + 4 + (length < head ? std::strtoull(text.c_str() + length + 16, nullptr, 10) : 0);
  }
  if (text.empty()) return answer;
  if (!text.starts_with("HTTP/1.1 ") || text.size() < 12) {
    answer.problem = "no HTTP: " + text.substr(0, 40);
    return answer;
  }
  answer.status = std::atoi(text.c_str() + 9);
  if (wanted == std::string::npos || text.size() < wanted) answer.problem = "the answer is cut off";
  return answer;
}

std::string Target::Unhealthy() const {
  const auto begin = std::chrono::steady_clock::now();
  Answer answer;
  answer.problem = "cannot connect";
  if (const Connection connection = Connect()) {
    const net::Deadline until = net::After(options_.answer_within);
    (void)connection->Send(Get("/healthz"), until);
    answer = Receive(*connection, until);
  }
  const Duration took{std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count()};
  if (!answer.problem.empty()) return "/healthz: " + answer.problem;
  if (answer.status == 0) return "/healthz: no answer on its connection: " + answer.end;
  if (answer.status != 200) return "/healthz is " + std::to_string(answer.status);
  slowest_ = std::max(slowest_, took);
  if (took > options_.answer_within) return "/healthz took " + std::to_string(took.ns / 1'000'000) + " ms";
  if (const std::optional<uint64_t> memory = Memory(); memory && *memory > options_.max_memory) {
    return "the server has " + std::to_string(*memory >> 20) + " MiB";
  }
  return "";
}

std::optional<uint64_t> Target::Memory() const {
  const Answer answer = Ask(Get("/metrics"));
  constexpr std::string_view kName = "\nprocess_resident_memory_bytes ";
  const size_t at = answer.text.find(kName);
  if (answer.status != 200 || at == std::string::npos) return std::nullopt;
  return static_cast<uint64_t>(std::strtod(answer.text.c_str() + at + kName.size(), nullptr));
}

}  // namespace berth::hostile
