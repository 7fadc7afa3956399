// SPDX-License-Identifier: Apache-2.0
// RequestHeaders: users that a proxy in front has authenticated, and names in headers.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "berth/error.h"
#include "serving/trusted_authorities.h"
#include "serving/user_info.h"

namespace berth::serving {

struct RequestHeaderNames {
  std::vector<std::string> user, uid, group;  // headers, in any case
  std::vector<std::string> extra_prefixes;
  std::vector<std::string> allowed_clients;  // common names of proxies; empty: any that the authorities vouch for

  bool operator==(const RequestHeaderNames&) const = default;
};

// Whom to believe, and which headers; both may change.
//
// Thread safety: all methods.
class RequestHeaderRules {
 public:
  RequestHeaderRules(std::shared_ptr<TrustedAuthorities> authorities, RequestHeaderNames names)
      : authorities_(std::move(authorities)), names_(std::make_shared<const RequestHeaderNames>(std::move(names))) {}

  TrustedAuthorities& authorities() { return *authorities_; }
  void SetNames(RequestHeaderNames names) {
    auto made = std::make_shared<const RequestHeaderNames>(std::move(names));
    const std::lock_guard lock(mutex_);
    names_ = std::move(made);
  }
  std::shared_ptr<const RequestHeaderNames> names() const {
    const std::lock_guard lock(mutex_);
    return names_;
  }

 private:
  const std::shared_ptr<TrustedAuthorities> authorities_;
  mutable std::mutex mutex_;
  std::shared_ptr<const RequestHeaderNames> names_;
};

}  // namespace berth::serving
