// SPDX-License-Identifier: Apache-2.0
// ServingMetrics: who asked on the port, as kube-scheduler tells it.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "serving/serving_observer.h"
#include "util/metrics.h"

namespace berth::live {

// authentication_*, authenticated_user_requests, authorization_*, authentication_token_cache_*,
// apiserver_delegated_auth* and apiserver_client_certificate_expiration_seconds. Thread safety: all methods.
class ServingMetrics final : public serving::ServingObserver {
 public:
  // REQUIRES: metrics outlive it.
  explicit ServingMetrics(util::Metrics& metrics);
  void Authenticated(std::string_view result, std::string_view user, double seconds) override;
  void Authorized(std::string_view result, double seconds) override;
  void TokenReviewed(std::string_view code, double seconds) override;
  void AccessReviewed(std::string_view code, double seconds) override;
  void TokenLookedUp(bool hit, double seconds) override;
  void TokenFetched(bool ok) override;
  void TokenFetches(size_t in_flight, size_t blocked) override;
  void CertificateShown(double seconds_left) override;

 private:
  // `times` with one more, and how long it took. `label`: of both.
  struct Names {
    const char *count, *count_help, *seconds, *seconds_help, *label;
    bool review;  // which has buckets of its own
  };
  void Count(const Names& names, std::string_view value, double seconds);

  util::Metrics& metrics_;
  const util::Metrics::Histogram seconds_left_;
  std::mutex mutex_;
  // Under mutex, by name and value of the label.
  std::map<std::pair<std::string, std::string>, std::pair<util::Metrics::Counter, util::Metrics::Histogram>> both_;
};

}  // namespace berth::live
