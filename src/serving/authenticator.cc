// SPDX-License-Identifier: Apache-2.0
#include "serving/authenticator.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "net/certificates.h"
#include "net/http_text.h"
#include "serving/url_text.h"
#include "util/text.h"

namespace berth::serving {
namespace {

constexpr char kCredentialId[] = "authentication.kubernetes.io/credential-id";

// The first header of the first name that has a value.
std::string FirstOf(const net::Headers& headers, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const std::string* value = headers.Find(name);
    if (value != nullptr && !value->empty()) return *value;
  }
  return "";
}

std::optional<UserInfo> UserInHeaders(const net::Headers& headers, const RequestHeaderNames& names) {
  UserInfo user;
  user.name = FirstOf(headers, names.user);
  if (user.name.empty()) return std::nullopt;
  user.uid = FirstOf(headers, names.uid);
  for (const std::string& group : names.group) {
    for (const auto& [name, value] : headers.list()) {
      if (net::EqualIgnoringCase(name, group) && !value.empty()) user.groups.push_back(value);
    }
  }
  for (const std::string& prefix : names.extra_prefixes) {
    for (const auto& [name, value] : headers.list()) {
      if (name.size() < prefix.size() ||
          !net::EqualIgnoringCase(std::string_view(name).substr(0, prefix.size()), prefix)) {
        continue;
      }
      const std::string key = util::Lower(std::string_view(name).substr(prefix.size()));
      user.extra[DecodePath(key).value_or(key)].push_back(value);
    }
  }
  return user;
}

// A user, nobody, or, in `problems`, what is wrong.
std::optional<UserInfo> ByProxy(const net::HttpRequest& request, RequestHeaderRules& rules,
                                std::vector<std::string>& problems) {
  const auto pool = rules.authorities().Current();
  if (!pool) return std::nullopt;
  if (Error error = pool->VerifyClient(*request.peer); !error.ok()) {
    problems.push_back(error.text());
    return std::nullopt;
  }
  const auto names = rules.names();
  const std::string& proxy = request.peer->common_name();
  if (!names->allowed_clients.empty() &&
      std::ranges::find(names->allowed_clients, proxy) == names->allowed_clients.end()) {
    problems.push_back("x509: subject with cn=" + proxy + " is not in the allowed list");
    return std::nullopt;
  }
  return UserInHeaders(request.headers, *names);
}

std::optional<UserInfo> ByCertificate(const net::HttpRequest& request, TrustedAuthorities& authorities,
                                      std::vector<std::string>& problems) {
  const auto pool = authorities.Current();
  if (!pool) return std::nullopt;
  const net::PeerCertificates& peer = *request.peer;
  if (Error error = pool->VerifyClient(peer); !error.ok()) {
    problems.push_back("verifying certificate " + peer.identifier() + " failed: " + error.text());
    return std::nullopt;
  }
  if (peer.common_name().empty()) return std::nullopt;
  if (peer.uids().size() > 1 || (peer.uids().size() == 1 && peer.uids()[0].empty())) {
    problems.push_back(peer.uids().size() > 1 ? "expected 1 UID, but found multiple" : "UID cannot be an empty string");
    return std::nullopt;
  }
  UserInfo user;
  user.name = peer.common_name();
  if (!peer.uids().empty()) user.uid = peer.uids()[0];
  user.groups = peer.organizations();
  user.extra[kCredentialId] = {"X509SHA256=" + peer.sha256()};
  return user;
}

// Empty: none.
std::string BearerToken(const net::HttpRequest& request) {
  const std::string* header = request.headers.Find("Authorization");
  if (header == nullptr) return "";
  const std::string_view text = util::Trimmed(*header);
  const size_t blank = text.find(' ');
  if (blank == std::string_view::npos || !net::EqualIgnoringCase(text.substr(0, blank), "bearer")) return "";
  const std::string_view rest = text.substr(blank + 1);
  return std::string(rest.substr(0, rest.find(' ')));
}

AuthenticationAnswer Known(UserInfo user) {
  const auto has = [&](std::string_view group) { return std::ranges::find(user.groups, group) != user.groups.end(); };
  if (user.name != kAnonymous && !has(kAuthenticatedGroup) && !has(kUnauthenticatedGroup))
    user.groups.emplace_back(kAuthenticatedGroup);
  AuthenticationAnswer answer;
  answer.user = std::move(user);
  return answer;
}

AuthenticationAnswer Unknown(std::vector<std::string> problems) {
  AuthenticationAnswer answer;
  answer.problems = std::move(problems);
  if (answer.problems.empty()) answer.user = UserInfo{kAnonymous, "", {kUnauthenticatedGroup}, {}};
  return answer;
}

}  // namespace

void Authenticator::Authenticate(const net::HttpRequest& request, Done done) const {
  std::vector<std::string> problems;
  if (request.peer) {
    std::optional<UserInfo> user;
    if (sources_.request_headers) user = ByProxy(request, *sources_.request_headers, problems);
    if (!user && sources_.client_authorities && sources_.observer != nullptr)
      sources_.observer->CertificateShown(request.peer->SecondsLeft());
    if (!user && sources_.client_authorities) user = ByCertificate(request, *sources_.client_authorities, problems);
    if (user) return done(Known(std::move(*user)));
  }
  const std::string token = sources_.tokens != nullptr ? BearerToken(request) : "";
  if (token.empty()) return done(Unknown(std::move(problems)));
  sources_.tokens->Authenticate(
      token, [problems = std::move(problems), done = std::move(done)](const TokenAnswer& answer) mutable {
        if (answer.user) return done(Known(*answer.user));
        problems.push_back(answer.problem.empty() ? "invalid bearer token" : answer.problem);
        AuthenticationAnswer unknown = Unknown(std::move(problems));
        unknown.busy = answer.busy;
        done(unknown);
      });
}

std::vector<std::shared_ptr<const net::CertificatePool>> Authenticator::Authorities() const {
  std::vector<std::shared_ptr<const net::CertificatePool>> pools;
  if (sources_.client_authorities) pools.push_back(sources_.client_authorities->Current());
  if (sources_.request_headers) pools.push_back(sources_.request_headers->authorities().Current());
  return pools;
}

}  // namespace berth::serving
