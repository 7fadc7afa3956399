// SPDX-License-Identifier: Apache-2.0
#include "serving/token_authenticator.h"

#include <utility>

#include "api/json_scan.h"
#include "util/text.h"

namespace berth::serving {
namespace {

std::string BodyOf(std::string_view token) {
  std::string body = R"({"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","metadata":{},"spec":{"token":)";
  AppendJsonString(util::ValidUtf8(token), body);
  return body + R"(},"status":{"user":{}}})";
}

std::vector<std::string> TextsOf(const Value* list) {
  std::vector<std::string> texts;
  if (list == nullptr) return texts;
  for (const Value& item : list->items()) {
    if (item.kind() == Value::Kind::kString) texts.push_back(item.text());
  }
  return texts;
}

TokenAnswer TokenAnswerOf(const Result<Value>& review) {
  TokenAnswer answer;
  if (!review.ok()) {
    answer.problem = review.error().text();
    answer.busy = review.error().kind() == ErrorKind::kUnsent;
    return answer;
  }
  const Value* authenticated = review->Find("authenticated");
  if (authenticated == nullptr || !authenticated->bool_value()) {
    answer.problem = review->TextAt("error");
    return answer;
  }
  UserInfo user;
  if (const Value* said = review->Find("user"); said != nullptr) {
    user.name = said->TextAt("username");
    user.uid = said->TextAt("uid");
    user.groups = TextsOf(said->Find("groups"));
    if (const Value* extra = said->Find("extra"); extra != nullptr) {
      for (const auto& [key, values] : extra->members()) user.extra[key] = TextsOf(&values);
    }
  }
  answer.user = std::move(user);
  return answer;
}

// Of a string itself, besides what is in it.
constexpr size_t kStringSize = sizeof(std::string);

size_t SizeOf(const TokenAnswer& answer) {
  if (!answer.user) return 0;
  size_t size = answer.user->name.size() + answer.user->uid.size();
  for (const std::string& group : answer.user->groups) size += kStringSize + group.size();
  for (const auto& [key, values] : answer.user->extra) {
    size += kStringSize + key.size();
    for (const std::string& value : values) size += kStringSize + value.size();
  }
  return size;
}

}  // namespace

TokenAuthenticator::TokenAuthenticator(ReviewClient& reviews, Duration keep, const Clock& steady_clock,
                                       ServingObserver* observer)
    : reviews_(reviews), keep_(keep), clock_(steady_clock), observer_(observer) {}

void TokenAuthenticator::Authenticate(std::string_view token, const Done& done) {
  std::string key = digest_.Of(token);
  const Time began = clock_.Now();
  std::optional<TokenAnswer> known;
  {
    const std::lock_guard lock(mutex_);
    if (const TokenAnswer* kept = kept_.Find(key, began)) known = *kept;
    if (!known) {
      std::vector<Waiting>& waiting = waiting_[key];
      waiting.push_back({done, began});
      ++blocked_;
      if (waiting.size() > 1) key.clear();
      TellOfFetches();
    }
  }
  if (known) {
    if (observer_ != nullptr) observer_->TokenLookedUp(true, 0);
    return done(*known);
  }
  if (key.empty()) return;
  reviews_.Post(BodyOf(token), [this, key](const Result<Value>& review) { Finish(key, TokenAnswerOf(review)); });
}

void TokenAuthenticator::Finish(const std::string& key, const TokenAnswer& answer) {
  std::vector<Waiting> waiting;
  const Time now = clock_.Now();
  {
    const std::lock_guard lock(mutex_);
    if (answer.problem.empty() && SizeOf(answer) <= kLargestKept) kept_.Put(key, answer, now, keep_);
    const auto found = waiting_.find(key);
    if (found != waiting_.end()) {
      waiting = std::move(found->second);
      waiting_.erase(found);
      blocked_ -= waiting.size();
    }
    TellOfFetches();
  }
  if (observer_ != nullptr) observer_->TokenFetched(answer.problem.empty());
  for (const Waiting& one : waiting) {
    if (observer_ != nullptr) observer_->TokenLookedUp(false, (now - one.since).seconds());
    one.done(answer);
  }
}

void TokenAuthenticator::TellOfFetches() {
  if (observer_ != nullptr) observer_->TokenFetches(waiting_.size(), blocked_);
}

}  // namespace berth::serving
