// SPDX-License-Identifier: Apache-2.0
// ServingObserver: what there is to count on the port.
#pragma once

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
  // A token was looked up: whether its answer was there; authentication_token_cache_request_total.
  virtual void TokenLookedUp(bool /*hit*/) {}
};

}  // namespace berth::serving
