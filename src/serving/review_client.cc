// SPDX-License-Identifier: Apache-2.0
#include "serving/review_client.h"

#include <chrono>
#include <random>
#include <utility>
#include <vector>

#include "api/json_value.h"
#include "berth/args.h"
#include "util/answer_once.h"

namespace berth::serving {
namespace {

// From 0 up to 1. It spreads waits and decides nothing.
double Chance() {
  thread_local std::minstd_rand generator{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(generator);
}

// An Error: it is no answer to a review.
Result<Value> StatusOf(const std::string& body, const std::string& kind) {
  std::vector<FieldError> errors;
  const Value review = ParseJson(body, errors);
  const Value* got = review.Find("kind");
  const Value* status = review.Find("status");
  if (!errors.empty() || got == nullptr || got->text() != kind || status == nullptr ||
      status->kind() != Value::Kind::kObject) {
    return Error("the API server's answer is not a " + kind + " with a status");
  }
  return *status;
}

}  // namespace

struct ReviewClient::Review {
  Review(std::atomic<size_t>& count, std::string text, Done answer)
      : under_way(count), body(std::move(text)), done(std::move(answer), [](const Done& lost) {
          lost(Error("the server is being stopped", ErrorKind::kUnsent));
        }) {}
  ~Review() { --under_way; }
  Review(const Review&) = delete;
  Review& operator=(const Review&) = delete;

  std::atomic<size_t>& under_way;
  const std::string body;
  const util::AnswerOnce<Result<Value>> done;
  util::Deadline until = util::kNoDeadline;
  int tries = 0;
  bool broken_once = false;
  double wait = 0;  // the next one, in nanoseconds
};

ReviewClient::ReviewClient(ApiLink& link, ReviewOptions options) : link_(link), options_(std::move(options)) {}

void ReviewClient::Post(std::string body, Done done) {
  if (++under_way_ > options_.most_under_way) {
    --under_way_;
    return done(Error("too many reviews are under way", ErrorKind::kUnsent));
  }
  auto review = std::make_shared<Review>(under_way_, std::move(body), std::move(done));
  review->until = util::After(options_.patience);
  review->wait = static_cast<double>(options_.retries.first_wait.ns);
  Try(review);
}

void ReviewClient::Try(const std::shared_ptr<Review>& review) {
  client::ApiRequest request;
  request.method = "POST";
  request.path = options_.path;
  request.body = review->body;
  request.timeout = options_.timeout;
  request.send_by = request.answer_by = review->until;
  ++review->tries;
  const auto sent = std::chrono::steady_clock::now();
  link_.Send(std::move(request), [this, review, sent](client::ApiReply reply) { OnReply(review, reply, sent); });
}

void ReviewClient::OnReply(const std::shared_ptr<Review>& review, client::ApiReply& reply,
                           std::chrono::steady_clock::time_point sent) {
  const client::ApiStatus& status = reply.status;
  if (options_.on_answer) {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - sent;
    options_.on_answer(status.code == 0 ? "<error>" : std::to_string(status.code), took.count());
  }
  if (status.ok()) return review->done(StatusOf(reply.body, options_.kind));
  const bool broken = status.code == 0 && status.kind == ErrorKind::kOther;
  if (broken && !review->broken_once && !util::IsOver(review->until)) {
    review->broken_once = true;
    return Try(review);
  }
  const bool passing = status.code == 429 || status.code == 500 || status.code == 504;
  const double wait = review->wait * (1 + options_.retries.jitter * Chance());
  const std::chrono::nanoseconds pause(static_cast<int64_t>(wait));
  if (!passing || review->tries >= options_.retries.tries ||
      std::chrono::steady_clock::now() + pause >= review->until) {
    // Whoever asked does not take this for too many reviews.
    const ErrorKind kind = status.kind == ErrorKind::kUnsent ? ErrorKind::kOther : status.kind;
    return review->done(Error(client::TextOf(status), kind));
  }
  review->wait *= options_.retries.factor;
  link_.Later(pause, [this, review] { Try(review); });
}

}  // namespace berth::serving
