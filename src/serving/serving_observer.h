// SPDX-License-Identifier: Apache-2.0
// ServingObserver: what there is to count on the port.
#pragma once

#include <cstddef>
#include <string_view>

namespace berth::serving {

// Called on threads of the server and of its clients; what it does must be quick. Thread safety: all methods.
class ServingObserver {
 public:
  virtual ~ServingObserver() = default;
  // A request was authenticated or not: success (and as whom), failure, error. What kube-scheduler shows as
  // authentication_attempts, authentication_duration_seconds and authenticated_user_requests.
  virtual void Authenticated(std::string_view /*result*/, std::string_view /*user*/, double /*seconds*/) {}
  // allowed, denied, no-opinion, error: authorization_attempts_total, authorization_duration_seconds.
  virtual void Authorized(std::string_view /*result*/, double /*seconds*/) {}
  // A review was answered: its status code, or <error>; apiserver_delegated_authn_request_* and …_authz_….
  virtual void TokenReviewed(std::string_view /*code*/, double /*seconds*/) {}
  virtual void AccessReviewed(std::string_view /*code*/, double /*seconds*/) {}
  // Whose a token is was answered, from memory or not: authentication_token_cache_request_total and …_duration_seconds.
  virtual void TokenLookedUp(bool /*hit*/, double /*seconds*/) {}
  // A review of a token that was not remembered ended: authentication_token_cache_fetch_total.
  virtual void TokenFetched(bool /*ok*/) {}
  // How many such reviews are under way, and how many requests wait for them:
  // authentication_token_cache_active_fetch_count.
  virtual void TokenFetches(size_t /*in_flight*/, size_t /*blocked*/) {}
  // A client showed a certificate that is valid for that much longer: apiserver_client_certificate_expiration_seconds.
  virtual void CertificateShown(double /*seconds_left*/) {}
};

}  // namespace berth::serving
