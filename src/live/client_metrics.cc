// SPDX-License-Identifier: Apache-2.0
// Upstream: component-base/metrics/prometheus/restclient/metrics.go, client-go/rest/request.go (v0.36.4).
#include "live/client_metrics.h"

#include <vector>

namespace berth::live {
namespace {

using util::Metrics;

const std::vector<double>& SecondsBuckets() {
  static const std::vector<double> kBuckets = {0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60};
  return kBuckets;
}
const std::vector<double>& BytesBuckets() {
  static const std::vector<double> kBuckets = {64,    256,    512,     1024,    4096,    16384,
                                               65536, 262144, 1048576, 4194304, 16777216};
  return kBuckets;
}

}  // namespace

ClientMetrics::OfVerb& ClientMetrics::Of(const std::string& host, const std::string& method) {
  const Key key(host, method);
  if (const auto known = of_verb_.find(key); known != of_verb_.end()) return known->second;
  const Metrics::Labels labels = {{"host", host}, {"verb", method}};
  return of_verb_
      .emplace(
          key,
          OfVerb{metrics_.histogram("rest_client_request_duration_seconds",
                                    "Request latency in seconds. Broken down by verb, and host.", SecondsBuckets(),
                                    labels),
                 metrics_.histogram("rest_client_rate_limiter_duration_seconds",
                                    "Client side rate limiter latency in seconds. Broken down by verb, and "
                                    "host.",
                                    SecondsBuckets(), labels),
                 metrics_.histogram("rest_client_request_size_bytes",
                                    "Request size in bytes. Broken down by verb and host.", BytesBuckets(), labels),
                 metrics_.histogram("rest_client_response_size_bytes",
                                    "Response size in bytes. Broken down by verb and host.", BytesBuckets(), labels)})
      .first->second;
}

void ClientMetrics::Paced(const client::PacedRequest& request) {
  const std::lock_guard lock(mutex_);
  Of(request.host, request.method).limiter.Observe(request.seconds);
}

void ClientMetrics::Tried(const std::string& host, const std::string& method, int code, size_t bytes, bool repeated) {
  const std::string text = code == 0 ? "<error>" : std::to_string(code);
  const std::lock_guard lock(mutex_);
  const std::tuple key(host, method, code);
  auto known = requests_.find(key);
  if (known == requests_.end()) {
    known = requests_
                .emplace(key, metrics_.counter("rest_client_requests_total",
                                               "Number of HTTP requests, partitioned by status code, method, and host.",
                                               {{"code", text}, {"host", host}, {"method", method}}))
                .first;
  }
  known->second.Add();
  if (bytes > 0) Of(host, method).sent.Observe(static_cast<double>(bytes));
  if (!repeated) return;
  known = retries_.find(key);
  if (known == retries_.end()) {
    known = retries_
                .emplace(key, metrics_.counter("rest_client_request_retries_total",
                                               "Number of request retries, partitioned by status code, verb, and host.",
                                               {{"code", text}, {"host", host}, {"verb", method}}))
                .first;
  }
  known->second.Add();
}

void ClientMetrics::Finished(const std::string& host, const std::string& method, double seconds, size_t bytes) {
  const std::lock_guard lock(mutex_);
  const OfVerb& of = Of(host, method);
  of.duration.Observe(seconds);
  if (bytes > 0) of.received.Observe(static_cast<double>(bytes));
}

}  // namespace berth::live
