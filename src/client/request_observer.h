// SPDX-License-Identifier: Apache-2.0
// RequestObserver: what there is to count about requests to an API server.
#pragma once

#include <cstddef>
#include <string>

namespace berth::client {

// `host`: of the server, with its port. Called on any thread; what it does must be quick. Thread safety: all methods.
class RequestObserver {
 public:
  virtual ~RequestObserver() = default;
  // A request has waited this long for its turn.
  virtual void Paced(const std::string& /*host*/, const std::string& /*method*/, double /*seconds*/) {}
  // It was sent, with a body of `bytes`, and answered with this code; 0: there was no answer. `repeated`: not for the
  // first time. A watch counts when it is opened.
  virtual void Tried(const std::string& /*host*/, const std::string& /*method*/, int /*code*/, size_t /*bytes*/,
                     bool /*repeated*/) {}
  // It is over, with all tries and all waiting; the last answer had `bytes`. Not called for watches.
  virtual void Finished(const std::string& /*host*/, const std::string& /*method*/, double /*seconds*/,
                        size_t /*bytes*/) {}
};

}  // namespace berth::client
