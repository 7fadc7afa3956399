// SPDX-License-Identifier: Apache-2.0
// Target: the server that is attacked, and what it must still do: answer its health, and keep its memory bounded.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/clock.h"
#include "berth/error.h"
#include "net/raw_connection.h"
#include "net/tls.h"
#include "net/url.h"

namespace berth::hostile {

struct TargetOptions {
  std::string url;                                // http://127.0.0.1:8080
  bool tls = false;                               // also with http://
  Duration answer_within = Duration::Seconds(5);  // of health, whatever happens
  uint64_t max_memory = uint64_t{1536} << 20;     // of the server, by its /metrics
};

// The answer to one request. Status 0: the connection ended without one.
struct Answer {
  int status = 0;
  std::string text;                   // all of it
  std::string problem;                // not empty: neither an answer nor an end in time
  std::string end = "it was closed";  // how the connection ended, where that was within the answer or before it
};

using Connection = std::unique_ptr<net::RawConnection>;

// Thread safety: any thread.
class Target {
 public:
  static Result<std::unique_ptr<Target>> Make(const TargetOptions& options);

  // With TLS if the server has it. Null: it did not take us.
  Connection Connect() const;
  // A bare socket, whatever the server speaks.
  Connection ConnectBare() const;
  // Sends what it can and waits for one answer.
  Answer Ask(std::string_view request) const;
  static Answer Receive(net::RawConnection& connection, net::Deadline deadline);

  // What is wrong with it now; empty: nothing.
  std::string Unhealthy() const;
  // Of its process; no value where it does not tell.
  std::optional<uint64_t> Memory() const;

  bool tls() const { return tls_ != nullptr; }
  const TargetOptions& options() const { return options_; }
  // The longest that a healthy answer has taken.
  Duration slowest() const { return slowest_; }

 private:
  Target() = default;
  Connection Open(net::TlsContext* tls) const;

  TargetOptions options_;
  net::Url url_;
  std::shared_ptr<net::TlsContext> tls_;
  mutable Duration slowest_;
};

// GET or POST with a Host and, for POST, a Content-Length.
std::string Get(const std::string& path);
std::string Post(const std::string& path, std::string_view body);

}  // namespace berth::hostile
