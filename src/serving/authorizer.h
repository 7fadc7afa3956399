// SPDX-License-Identifier: Apache-2.0
// Authorizer: whether somebody may ask for a path.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "berth/clock.h"
#include "berth/error.h"
#include "net/digest.h"
#include "serving/expiring_cache.h"
#include "serving/review_client.h"
#include "serving/user_info.h"
#include "util/secret_hash.h"

namespace berth::serving {

// Paths that everybody may ask for: whole ones, or, with an asterisk at the end, what they begin with. The first slash
// need not be written.
class AllowedPaths {
 public:
  // The Error names a path with an asterisk elsewhere.
  static Result<AllowedPaths> Parse(const std::vector<std::string>& paths);
  bool Covers(std::string_view path) const;

 private:
  std::set<std::string, std::less<>> whole_;
  std::vector<std::string> prefixes_;
};

struct AccessAnswer {
  bool allowed = false;
  std::string reason;           // the API server's; may be empty
  Error problem = Error::Ok();  // nobody knows
  bool busy = false;            // nobody was asked: there is too much to do
};

// The group system:masters, then the allowed paths, then a SubjectAccessReview, whose answers are kept for a while by a
// digest of the question. Those who ask the same at the same time share one review.
//
// Thread safety: all methods.
class Authorizer {
 public:
  static constexpr size_t kMostKept = 8192;
  // kube-scheduler keeps no answer about longer ones: they are most likely an attack on its memory.
  static constexpr size_t kLongQuestion = 10'000;
  static constexpr size_t kLongReason = 10'000;  // the same for answers
  using Done = std::function<void(const AccessAnswer&)>;

  // `reviews` (of kind SubjectAccessReview) may be null: then everything else is denied. REQUIRES: reviews and clock
  // outlive it, and the link of the reviews is closed before it goes.
  Authorizer(AllowedPaths paths, ReviewClient* reviews, Duration keep_allowed, Duration keep_denied,
             const Clock& steady_clock);

  // Calls `done` once, on any thread, maybe before it returns.
  void Authorize(const UserInfo& user, std::string_view verb, std::string_view path, const Done& done);

 private:
  void Finish(const std::string& key, bool keep, const AccessAnswer& answer);

  const AllowedPaths paths_;
  ReviewClient* const reviews_;
  const Duration keep_allowed_, keep_denied_;
  const Clock& clock_;
  const net::KeyedDigest digest_;
  std::mutex mutex_;
  // Under mutex, by digest.
  ExpiringCache<AccessAnswer> kept_{kMostKept};
  std::unordered_map<std::string, std::vector<Done>, SecretStringHash> waiting_;
};

}  // namespace berth::serving
