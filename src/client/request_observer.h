// SPDX-License-Identifier: Apache-2.0
// RequestObserver: what there is to count about requests to an API server.
#pragma once

#include <cstddef>
#include <string>

namespace berth::client {

// A request whose turn has come. Valid during the call only.
struct PacedRequest {
  const std::string& host;
  const std::string& method;
  const std::string& server;  // its URL, without a slash at the end
  const std::string& path;    // with the query
  double seconds;             // that our own rate has kept it waiting
};

// `host`: of the server, with its port. Called on any thread; what it does must be quick. Thread safety: all methods.
class RequestObserver {
 public:
  virtual ~RequestObserver() = default;
  // Once for every request that has to wait for its turn, also if the turn comes at once.
  virtual void Paced(const PacedRequest&) {}
  // It was sent, with a body of `bytes`, and answered with this code; 0: there was no answer. `repeated`: not for the
  // first time. A watch counts when it is opened.
  virtual void Tried(const std::string& /*host*/, const std::string& /*method*/, int /*code*/, size_t /*bytes*/,
                     bool /*repeated*/) {}
  // It is over, with all tries and all waiting; the last answer had `bytes`. Not called for watches.
  virtual void Finished(const std::string& /*host*/, const std::string& /*method*/, double /*seconds*/,
                        size_t /*bytes*/) {}
};

}  // namespace berth::client
