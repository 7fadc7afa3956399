// SPDX-License-Identifier: Apache-2.0
// ReviewClient: a question that an API server answers by sending it back with a status: TokenReview,
// SubjectAccessReview.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "berth/clock.h"
#include "berth/error.h"
#include "berth/value.h"
#include "serving/api_link.h"
#include "util/deadline.h"

namespace berth::serving {

// kube-scheduler's.
struct ReviewRetries {
  int tries = 5;
  Duration first_wait = Duration::Millis(500);
  double factor = 1.5, jitter = 0.2;
};

struct ReviewOptions {
  std::string kind;                          // "TokenReview"
  std::string path;                          // with the query
  Duration timeout = Duration::Seconds(10);  // of one try
  Duration patience;                         // of all of them and the waits between; zero: no limit
  ReviewRetries retries = {};
  // Under way or waiting for another try; whoever asks then is told so. Clients that nobody knows can make them.
  size_t most_under_way = 256;
  // Told of every answer: the status, or <error>, and how long it took.
  std::function<void(std::string_view code, double seconds)> on_answer = nullptr;
};

// Asks again, after a while, what is answered with 429, 500, 504 or a Retry-After; once, and at once, if the connection
// broke, as one that was kept does when the server went meanwhile.
//
// Thread safety: Post from any thread. REQUIRES: the link is closed before this goes.
class ReviewClient {
 public:
  // The review's status.
  using Done = std::function<void(Result<Value>)>;

  // REQUIRES: `link` outlives it.
  ReviewClient(ApiLink& link, ReviewOptions options);
  ReviewClient(const ReviewClient&) = delete;
  ReviewClient& operator=(const ReviewClient&) = delete;

  // Calls `done` once, on any thread, maybe before it returns. An Error of kind kUnsent: there are too many already,
  // or nothing is asked any more. Others have the server's words. REQUIRES: `body` is JSON.
  void Post(std::string body, Done done);
  size_t under_way() const { return under_way_; }

 private:
  struct Review;
  void Try(const std::shared_ptr<Review>& review);
  void OnReply(const std::shared_ptr<Review>& review, client::ApiReply& reply,
               std::chrono::steady_clock::time_point sent);

  ApiLink& link_;
  const ReviewOptions options_;
  std::atomic<size_t> under_way_{0};
};

}  // namespace berth::serving
