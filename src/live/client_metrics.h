// SPDX-License-Identifier: Apache-2.0
// ClientMetrics: what client-go tells of requests to an API server, told of ours.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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
  struct Histograms {
    util::Metrics::Histogram duration, limiter, sent, received;
  };
  using ByCode = std::vector<std::pair<int, util::Metrics::Counter>>;
  // What is counted of one method at one host. There are few of them, and every request asks for its own several times.
  struct Target {
    std::string host, method;
    std::optional<Histograms> histograms;
    ByCode requests, retries;
  };
  Target& Of(const std::string& host, const std::string& method);
  Histograms& HistogramsOf(Target& target);
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
  std::deque<Target> targets_;
};

}  // namespace berth::live
