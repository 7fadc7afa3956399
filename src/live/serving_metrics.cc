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

void ServingMetrics::TokenLookedUp(bool hit) {
  metrics_
      .counter("authentication_token_cache_request_total", "Tokens that were looked up among remembered answers.",
               {{"status", hit ? "hit" : "miss"}})
      .Add();
}

}  // namespace berth::live
