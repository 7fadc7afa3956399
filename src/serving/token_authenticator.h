// SPDX-License-Identifier: Apache-2.0
// TokenAuthenticator: whose a bearer token is, by TokenReview.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "berth/clock.h"
#include "net/digest.h"
#include "serving/expiring_cache.h"
#include "serving/review_client.h"
#include "serving/serving_observer.h"
#include "serving/user_info.h"
#include "util/secret_hash.h"

namespace berth::serving {

struct TokenAnswer {
  std::optional<UserInfo> user;  // none: the token is nobody's, or nobody knows
  std::string problem;           // why nobody knows, or what the API server says of the token; may be empty
  bool busy = false;             // nobody was asked: there is too much to do
};

// Answers are kept for a while, by a digest of the token: tokens themselves are not kept. What comes with a problem is
// not kept at all, so that a mishap does not last; kube-apiserver has one for every token that it does not know. Those
// who ask for the same token at the same time share one review.
//
// Thread safety: all methods.
class TokenAuthenticator {
 public:
  static constexpr size_t kMostKept = 4096;
  static constexpr size_t kLargestKept = size_t{64} << 10;  // a user of more bytes is asked about each time
  using Done = std::function<void(const TokenAnswer&)>;

  // REQUIRES: reviews (of kind TokenReview), clock and observer (may be null) outlive it, and the link of the reviews
  // is closed before it goes.
  TokenAuthenticator(ReviewClient& reviews, Duration keep, const Clock& steady_clock,
                     ServingObserver* observer = nullptr);

  // Calls `done` once, on any thread, maybe before it returns.
  void Authenticate(std::string_view token, const Done& done);

 private:
  struct Waiting {
    Done done;
    Time since;
  };
  void Finish(const std::string& key, const TokenAnswer& answer);
  // REQUIRES: mutex_ is held, so that the last word is the newest.
  void TellOfFetches();

  ReviewClient& reviews_;
  const Duration keep_;
  const Clock& clock_;
  ServingObserver* const observer_;
  const net::KeyedDigest digest_;
  std::mutex mutex_;
  // Under mutex, by digest.
  ExpiringCache<TokenAnswer> kept_{kMostKept};
  std::unordered_map<std::string, std::vector<Waiting>, SecretStringHash> waiting_;
  size_t blocked_ = 0;  // of all tokens
};

}  // namespace berth::serving
