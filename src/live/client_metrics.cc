// SPDX-License-Identifier: Apache-2.0
// Upstream: component-base/metrics/prometheus/restclient/metrics.go, client-go/rest/request.go (v0.36.4).
#include "live/client_metrics.h"

#include <algorithm>
#include <limits>

#include "util/system_clock.h"

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

const std::vector<double>& AgeBuckets() {
  static const std::vector<double> kBuckets = {600,     1800,    3600,     14400,    86400,    604800,
                                               2592000, 7776000, 15552000, 31104000, 124416000};
  return kBuckets;
}

}  // namespace

ClientMetrics::ClientMetrics(Metrics& metrics, const client::ExecPluginTally& plugins)
    : metrics_(metrics),
      plugins_(plugins),
      plugin_ttl_(metrics.gauge("rest_client_exec_plugin_ttl_seconds",
                                "Gauge of the shortest TTL (time-to-live) of the client certificate(s) managed by the "
                                "auth exec plugin. The value is in seconds until certificate expiry (negative if "
                                "already expired). If auth exec plugins are unused or manage no TLS certificates, the "
                                "value will be +INF.")),
      plugin_rotations_(metrics.histogram(
          "rest_client_exec_plugin_certificate_rotation_age",
          "Histogram of the number of seconds the last auth exec plugin client certificate lived before being rotated. "
          "If auth exec plugin client certificates are unused, histogram will contain no data.",
          AgeBuckets())) {
  metrics.BeforeText([this] { LookAtPlugins(); });
}

void ClientMetrics::LookAtPlugins() {
  const std::optional<Time> ends = plugins_.FirstExpiry();
  plugin_ttl_.Set(ends ? (*ends - util::SystemClock().Now()).seconds() : std::numeric_limits<double>::infinity());
  for (const double age : plugins_.RotationsSince(rotations_seen_)) plugin_rotations_.Observe(age);
  for (const auto& [call, count] : plugins_.calls()) {
    uint64_t& seen = plugin_calls_seen_[call];
    if (seen == count) continue;
    metrics_
        .counter(
            "rest_client_exec_plugin_call_total",
            "Number of calls to an exec plugin, partitioned by the type of event encountered (no_error, "
            "plugin_execution_error, plugin_not_found_error, client_internal_error) and an optional exit code. The "
            "exit code will be set to 0 if and only if the plugin call was successful.",
            {{"call_status", call.second}, {"code", std::to_string(call.first)}})
        .Add(static_cast<double>(count - seen));
    seen = count;
  }
}

ClientMetrics::Target& ClientMetrics::Of(const std::string& host, const std::string& method) {
  const auto known = std::ranges::find_if(
      targets_, [&](const Target& target) { return target.method == method && target.host == host; });
  return known != targets_.end() ? *known : targets_.emplace_back(Target{host, method, {}, {}, {}});
}

ClientMetrics::Histograms& ClientMetrics::HistogramsOf(Target& target) {
  if (target.histograms) return *target.histograms;
  const Metrics::Labels labels = {{"host", target.host}, {"verb", target.method}};
  return target.histograms.emplace(Histograms{
      metrics_.histogram("rest_client_request_duration_seconds",
                         "Request latency in seconds. Broken down by verb, and host.", SecondsBuckets(), labels),
      metrics_.histogram("rest_client_rate_limiter_duration_seconds",
                         "Client side rate limiter latency in seconds. Broken down by verb, and "
                         "host.",
                         SecondsBuckets(), labels),
      metrics_.histogram("rest_client_request_size_bytes", "Request size in bytes. Broken down by verb and host.",
                         BytesBuckets(), labels),
      metrics_.histogram("rest_client_response_size_bytes", "Response size in bytes. Broken down by verb and host.",
                         BytesBuckets(), labels)});
}

void ClientMetrics::Paced(const client::PacedRequest& request) {
  const std::lock_guard lock(mutex_);
  HistogramsOf(Of(request.host, request.method)).limiter.Observe(request.seconds);
}

void ClientMetrics::Tried(const std::string& host, const std::string& method, int code, size_t bytes, bool repeated) {
  const std::lock_guard lock(mutex_);
  Target& target = Of(host, method);
  const auto count = [&](ByCode& counters, const char* name, const char* help, const char* method_label) {
    const auto known = std::ranges::find(counters, code, &ByCode::value_type::first);
    if (known != counters.end()) return known->second.Add();
    const std::string text = code == 0 ? "<error>" : std::to_string(code);
    counters.emplace_back(code, metrics_.counter(name, help, {{"code", text}, {"host", host}, {method_label, method}}));
    counters.back().second.Add();
  };
  count(target.requests, "rest_client_requests_total",
        "Number of HTTP requests, partitioned by status code, method, and host.", "method");
  if (bytes > 0) HistogramsOf(target).sent.Observe(static_cast<double>(bytes));
  if (!repeated) return;
  count(target.retries, "rest_client_request_retries_total",
        "Number of request retries, partitioned by status code, verb, and host.", "verb");
}

void ClientMetrics::Finished(const std::string& host, const std::string& method, double seconds, size_t bytes) {
  const std::lock_guard lock(mutex_);
  const Histograms& of = HistogramsOf(Of(host, method));
  of.duration.Observe(seconds);
  if (bytes > 0) of.received.Observe(static_cast<double>(bytes));
}

}  // namespace berth::live
