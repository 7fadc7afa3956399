// SPDX-License-Identifier: Apache-2.0
// Authenticator: who sends a request.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/http.h"
#include "serving/request_headers.h"
#include "serving/serving_observer.h"
#include "serving/token_authenticator.h"
#include "serving/trusted_authorities.h"
#include "serving/user_info.h"

namespace berth::serving {

struct AuthenticationAnswer {
  std::optional<UserInfo> user;       // none: 401, or too busy
  std::vector<std::string> problems;  // what was wrong with what the client showed; no secrets
  bool busy = false;
};

// What may be null, and is then not looked at.
struct AuthenticationSources {
  std::shared_ptr<RequestHeaderRules> request_headers;
  std::shared_ptr<TrustedAuthorities> client_authorities;
  TokenAuthenticator* tokens = nullptr;
  ServingObserver* observer = nullptr;
};

// In this order: a proxy in front, by its certificate and headers; the client's own certificate; a bearer token. The
// first that knows the client counts. If none does and something was wrong, nobody is let in, also not as nobody: a
// client that says who it is wants to be known or turned away. Without anything to look at it is system:anonymous.
//
// Thread safety: all methods.
class Authenticator {
 public:
  using Done = std::function<void(const AuthenticationAnswer&)>;

  explicit Authenticator(AuthenticationSources sources) : sources_(std::move(sources)) {}
  // Calls `done` once, on any thread, maybe before it returns.
  void Authenticate(const net::HttpRequest& request, Done done) const;
  // Whose certificates are welcome.
  std::vector<std::shared_ptr<const net::CertificatePool>> Authorities() const;

 private:
  AuthenticationSources sources_;
};

}  // namespace berth::serving
