// SPDX-License-Identifier: Apache-2.0
// Upstream: apiserver/pkg/endpoints/filters/metrics.go, authenticatorfactory and authorizerfactory/metrics.go, all
// v0.36.4.
#include "live/serving_metrics.h"

#include <vector>

namespace berth::live {
namespace {

using util::Metrics;

// Anybody may have any name.
std::string UserLabel(std::string_view user) {
  for (const std::string_view known :
       {"admin", "client", "kube_proxy", "kubelet", "system:serviceaccount:kube-system:default"})
    if (user == known) return std::string(user);
  return user.find('@') != std::string_view::npos ? "email_id" : "other";
}

}  // namespace

ServingMetrics::ServingMetrics(Metrics& metrics)
    : metrics_(metrics),
      seconds_left_(metrics.histogram(
          "apiserver_client_certificate_expiration_seconds",
          "Distribution of the remaining lifetime on the certificate used to authenticate a request.",
          {0, 1800, 3600, 7200, 21600, 43200, 86400, 172800, 345600, 604800, 2592000, 7776000, 15552000, 31104000})) {}

void ServingMetrics::Count(const Names& names, std::string_view value, double seconds) {
  static const std::vector<double> kReview = {0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10};
  const std::pair<std::string, std::string> key(names.count, value);
  const std::lock_guard lock(mutex_);
  auto known = both_.find(key);
  if (known == both_.end()) {
    const Metrics::Labels labels = {{names.label, key.second}};
    known = both_
                .emplace(key, std::pair(metrics_.counter(names.count, names.count_help, labels),
                                        metrics_.histogram(names.seconds, names.seconds_help,
                                                           names.review ? kReview : Metrics::Exponential(0.001, 2, 15),
                                                           labels)))
                .first;
  }
  known->second.first.Add();
  known->second.second.Observe(seconds);
}

void ServingMetrics::Authenticated(std::string_view result, std::string_view user, double seconds) {
  static constexpr Names kNames = {"authentication_attempts",
                                   "Counter of authenticated attempts.",
                                   "authentication_duration_seconds",
                                   "Authentication duration in seconds broken out by result.",
                                   "result",
                                   false};
  Count(kNames, result, seconds);
  if (result == "success") {
    metrics_
        .counter("authenticated_user_requests", "Counter of authenticated requests broken out by username.",
                 {{"username", UserLabel(user)}})
        .Add();
  }
}

void ServingMetrics::Authorized(std::string_view result, double seconds) {
  static constexpr Names kNames = {"authorization_attempts_total",
                                   "Counter of authorization attempts broken down by result. It can be either "
                                   "'allowed', 'denied', 'no-opinion' or 'error'.",
                                   "authorization_duration_seconds",
                                   "Authorization duration in seconds broken out by result.",
                                   "result",
                                   false};
  Count(kNames, result, seconds);
}

void ServingMetrics::TokenReviewed(std::string_view code, double seconds) {
  static constexpr Names kNames = {"apiserver_delegated_authn_request_total",
                                   "Number of HTTP requests partitioned by status code.",
                                   "apiserver_delegated_authn_request_duration_seconds",
                                   "Request latency in seconds. Broken down by status code.",
                                   "code",
                                   true};
  Count(kNames, code, seconds);
}

void ServingMetrics::AccessReviewed(std::string_view code, double seconds) {
  static constexpr Names kNames = {"apiserver_delegated_authz_request_total",
                                   "Number of HTTP requests partitioned by status code.",
                                   "apiserver_delegated_authz_request_duration_seconds",
                                   "Request latency in seconds. Broken down by status code.",
                                   "code",
                                   true};
  Count(kNames, code, seconds);
}

void ServingMetrics::TokenLookedUp(bool hit, double seconds) {
  static const std::vector<double> kBuckets = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
  const Metrics::Labels labels = {{"status", hit ? "hit" : "miss"}};
  metrics_
      .counter("authentication_token_cache_request_total", "Tokens that were looked up among remembered answers.",
               labels)
      .Add();
  metrics_
      .histogram("authentication_token_cache_request_duration_seconds",
                 "Time until it was known whose a token is, in seconds.", kBuckets, labels)
      .Observe(seconds);
}

void ServingMetrics::TokenFetched(bool ok) {
  metrics_
      .counter("authentication_token_cache_fetch_total", "Reviews of tokens whose answer was not remembered.",
               {{"status", ok ? "ok" : "error"}})
      .Add();
}

void ServingMetrics::TokenFetches(size_t in_flight, size_t blocked) {
  const auto set = [&](const char* status, size_t count) {
    metrics_
        .gauge("authentication_token_cache_active_fetch_count",
               "Reviews of tokens under way, and requests that wait for one.", {{"status", status}})
        .Set(static_cast<double>(count));
  };
  set("in_flight", in_flight);
  set("blocked", blocked);
}

void ServingMetrics::CertificateShown(double seconds_left) { seconds_left_.Observe(seconds_left); }

}  // namespace berth::live
