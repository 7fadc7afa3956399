// SPDX-License-Identifier: Apache-2.0
// RequestLog: says which requests to an API server had to wait for their turn, as client-go does.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>

#include "berth/clock.h"
#include "client/request_observer.h"
#include "util/log.h"

namespace berth::live {

// A line at -v=3 for every request that our own rate has kept waiting for more than 50 ms. One that waited for more
// than a second is told of whatever -v says: at most one in 10 s, or in a second at -v=2. Another observer is told of
// everything.
//
// Thread safety: all methods.
class RequestLog final : public client::RequestObserver {
 public:
  // REQUIRES: all of them outlive it.
  RequestLog(client::RequestObserver& next, util::Log& log, const Clock& clock)
      : next_(next), log_(log), clock_(clock) {}
  void Paced(const client::PacedRequest& request) override;
  void Tried(const std::string& host, const std::string& method, int code, size_t bytes, bool repeated) override {
    next_.Tried(host, method, code, bytes, repeated);
  }
  void Finished(const std::string& host, const std::string& method, double seconds, size_t bytes) override {
    next_.Finished(host, method, seconds, bytes);
  }

 private:
  void Say(int verbosity, const client::PacedRequest& request) const;
  // The verbosity of a line that is due for those who want few; none: there was one just now.
  std::optional<int> Due();

  client::RequestObserver& next_;
  util::Log& log_;
  const Clock& clock_;
  std::mutex mutex_;
  std::optional<Time> said_at_two_, said_at_zero_;  // under mutex_
};

}  // namespace berth::live
