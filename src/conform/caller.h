// SPDX-License-Identifier: Apache-2.0
// Caller: asks an extender over HTTP and waits for the answer.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "berth/clock.h"
#include "berth/error.h"
#include "conform/options.h"
#include "net/http.h"
#include "net/http_client.h"
#include "net/raw_connection.h"
#include "net/url.h"

namespace berth::conform {

// One request and what came of it.
struct Exchange {
  std::string asked;  // "POST /filter" and an excerpt of the body
  int status = 0;     // 0: no answer
  std::string body;
  net::Headers headers;
  std::string failure;  // why there is no answer
  std::string garbled;  // why the body cannot be read, in which case it is as it came; empty: it can
  bool timed_out = false;
  double milliseconds = 0;

  // The status and an excerpt of the body, or the failure.
  std::string Received() const;
};

// A body, in one line of valid UTF-8; of a long one the beginning and the end.
std::string Excerpt(const std::string& text, size_t length = 300);

// Thread safety: none.
class Caller {
 public:
  // The Error names the URL, or file and reason. Nothing is connected yet.
  static Result<std::unique_ptr<Caller>> Create(const Options& options);

  Exchange Send(net::ClientRequest request);
  // POSTs as kube-scheduler does. As Go's client does, it asks for gzip and reads it, and no other coding; and it tries
  // a second time when a kept connection turns out to be closed.
  Exchange Post(const std::string& verb, std::string body);
  // All at the same time; answers in the order of the requests.
  std::vector<Exchange> PostAll(const std::string& verb, const std::vector<std::string>& bodies);

  // A connection for what is no proper request; and a request with its head, in bytes.
  Result<std::unique_ptr<net::RawConnection>> Connect();
  std::string Bytes(const std::string& verb, const std::string& body) const;
  net::Deadline Deadline() const { return net::After(timeout_); }

  // How often a kept connection was closed under a request.
  size_t lost_connections() const { return lost_connections_; }

 private:
  Caller(net::Url url, Duration timeout) : url_(std::move(url)), timeout_(timeout) {}
  net::ClientRequest Request(const std::string& verb, std::string body) const;

  net::Url url_;
  Duration timeout_;
  std::shared_ptr<net::TlsContext> tls_;  // null: plain
  std::unique_ptr<net::HttpClient> client_;
  size_t lost_connections_ = 0;
};

}  // namespace berth::conform
