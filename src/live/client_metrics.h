// SPDX-License-Identifier: Apache-2.0
// ClientMetrics: what client-go tells of requests to an API server, told of ours.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>

#include "client/request_observer.h"
#include "util/metrics.h"

namespace berth::live {

// rest_client_requests_total, …_request_duration_seconds, …_rate_limiter_duration_seconds, …_request_size_bytes,
// …_response_size_bytes and …_request_retries_total, by host and verb. Thread safety: all methods.
class ClientMetrics final : public client::RequestObserver {
 public:
  // REQUIRES: metrics outlive it.
  explicit ClientMetrics(util::Metrics& metrics) : metrics_(metrics) {}
  void Paced(const client::PacedRequest& request) override;
  void Tried(const std::string& host, const std::string& method, int code, size_t bytes, bool repeated) override;
  void Finished(const std::string& host, const std::string& method, double seconds, size_t bytes) override;

 private:
  using Key = std::pair<std::string, std::string>;  // host and method
  struct OfVerb {
    util::Metrics::Histogram duration, limiter, sent, received;
  };
  OfVerb& Of(const std::string& host, const std::string& method);

  util::Metrics& metrics_;
  std::mutex mutex_;
  // Under mutex; each made when it is first needed.
  std::map<Key, OfVerb> of_verb_;
  std::map<std::tuple<std::string, std::string, int>, util::Metrics::Counter> requests_, retries_;
};

}  // namespace berth::live
