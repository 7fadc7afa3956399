// SPDX-License-Identifier: Apache-2.0
// ClientMetrics: what client-go tells of requests to an API server, told of ours.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>

#include "client/exec_plugin_tally.h"
#include "client/request_observer.h"
#include "util/metrics.h"

namespace berth::live {

// rest_client_requests_total, …_request_duration_seconds, …_rate_limiter_duration_seconds, …_request_size_bytes,
// …_response_size_bytes and …_request_retries_total, by host and verb; of exec plugins …_exec_plugin_call_total,
// …_exec_plugin_ttl_seconds and …_exec_plugin_certificate_rotation_age. Thread safety: all methods.
class ClientMetrics final : public client::RequestObserver {
 public:
  // REQUIRES: metrics and tally outlive it, and it the last scrape.
  explicit ClientMetrics(util::Metrics& metrics,
                         const client::ExecPluginTally& plugins = client::ExecPluginTally::OfProcess());
  void Paced(const client::PacedRequest& request) override;
  void Tried(const std::string& host, const std::string& method, int code, size_t bytes, bool repeated) override;
  void Finished(const std::string& host, const std::string& method, double seconds, size_t bytes) override;

 private:
  using Key = std::pair<std::string, std::string>;  // host and method
  struct OfVerb {
    util::Metrics::Histogram duration, limiter, sent, received;
  };
  OfVerb& Of(const std::string& host, const std::string& method);
  void LookAtPlugins();

  util::Metrics& metrics_;
  const client::ExecPluginTally& plugins_;
  const util::Metrics::Gauge plugin_ttl_;
  const util::Metrics::Histogram plugin_rotations_;
  // During a scrape: what has been shown.
  client::ExecPluginTally::Calls plugin_calls_seen_;
  uint64_t rotations_seen_ = 0;
  std::mutex mutex_;
  // Under mutex; each made when it is first needed.
  std::map<Key, OfVerb> of_verb_;
  std::map<std::tuple<std::string, std::string, int>, util::Metrics::Counter> requests_, retries_;
};

}  // namespace berth::live
