// SPDX-License-Identifier: Apache-2.0
#include "serving/authorizer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "api/json_scan.h"
#include "serving/replies.h"
#include "util/text.h"

namespace berth::serving {
namespace {

void AppendString(std::string_view text, std::string& out) { AppendJsonString(util::ValidUtf8(text), out); }

void AppendList(const std::vector<std::string>& texts, std::string& out) {
  out += '[';
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) out += ',';
    AppendString(texts[i], out);
  }
  out += ']';
}

std::string SpecOf(const UserInfo& user, std::string_view verb, std::string_view path) {
  std::string spec = R"({"nonResourceAttributes":{"path":)";
  AppendString(path, spec);
  spec += R"(,"verb":)";
  AppendString(verb, spec);
  spec += '}';
  if (!user.name.empty()) AppendString(user.name, spec += R"(,"user":)");
  if (!user.groups.empty()) AppendList(user.groups, spec += R"(,"groups":)");
  if (!user.extra.empty()) {
    spec += R"(,"extra":{)";
    bool first = true;
    for (const auto& [key, values] : user.extra) {
      if (!std::exchange(first, false)) spec += ',';
      AppendString(key, spec);
      spec += ':';
      AppendList(values, spec);
    }
    spec += '}';
  }
  if (!user.uid.empty()) AppendString(user.uid, spec += R"(,"uid":)");
  return spec + '}';
}

bool IsTrue(const Value& object, std::string_view key) {
  const Value* found = object.Find(key);
  return found != nullptr && found->bool_value();
}

AccessAnswer AnswerOf(const Result<Value>& review) {
  AccessAnswer answer;
  if (!review.ok()) {
    answer.busy = review.error().kind() == ErrorKind::kUnsent;
    answer.problem = review.error();
    return answer;
  }
  const bool allowed = IsTrue(*review, "allowed"), denied = IsTrue(*review, "denied");
  if (allowed && denied) answer.problem = Error("webhook subject access review returned both allow and deny response");
  answer.allowed = allowed && !denied;
  if (const Value* reason = review->Find("reason"); reason != nullptr) answer.reason = reason->text();
  return answer;
}

}  // namespace

Result<AllowedPaths> AllowedPaths::Parse(const std::vector<std::string>& paths) {
  AllowedPaths allowed;
  for (std::string_view path : paths) {
    if (path.starts_with('/')) path.remove_prefix(1);
    const size_t star = path.find('*');
    if (star == std::string_view::npos) {
      allowed.whole_.emplace(path);
    } else if (star + 1 == path.size()) {
      allowed.prefixes_.emplace_back(path.substr(0, star));
    } else {
      return Error("only trailing * allowed in " + GoQuoted(path));
    }
  }
  return allowed;
}

bool AllowedPaths::Covers(std::string_view path) const {
  if (path.starts_with('/')) path.remove_prefix(1);
  return whole_.contains(path) ||
         std::ranges::any_of(prefixes_, [&](const std::string& prefix) { return path.starts_with(prefix); });
}

Authorizer::Authorizer(AllowedPaths paths, ReviewClient* reviews, Duration keep_allowed, Duration keep_denied,
                       const Clock& steady_clock)
    : paths_(std::move(paths)),
      reviews_(reviews),
      keep_allowed_(keep_allowed),
      keep_denied_(keep_denied),
      clock_(steady_clock) {}

void Authorizer::Authorize(const UserInfo& user, std::string_view verb, std::string_view path, const Done& done) {
  AccessAnswer answer;
  answer.allowed = std::ranges::find(user.groups, kMastersGroup) != user.groups.end() || paths_.Covers(path);
  if (answer.allowed || reviews_ == nullptr) return done(answer);
  const std::string spec = SpecOf(user, verb, path);
  std::string key = digest_.Of(spec);
  const bool keep = verb.size() + path.size() < kLongQuestion;
  std::optional<AccessAnswer> known;
  {
    const std::lock_guard lock(mutex_);
    if (const AccessAnswer* kept = kept_.Find(key, clock_.Now())) known = *kept;
    if (!known) {
      std::vector<Done>& waiting = waiting_[key];
      waiting.push_back(done);
      if (waiting.size() > 1) key.clear();
    }
  }
  if (known) return done(*known);
  if (key.empty()) return;
  std::string body = R"({"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1","metadata":{},"spec":)" +
                     spec + R"(,"status":{"allowed":false}})";
  reviews_->Post(std::move(body), [this, key, keep](const Result<Value>& review) {
    Finish(key, keep && review.ok(), AnswerOf(review));
  });
}

void Authorizer::Finish(const std::string& key, bool keep, const AccessAnswer& answer) {
  std::vector<Done> waiting;
  {
    const std::lock_guard lock(mutex_);
    if (keep && answer.reason.size() < kLongReason)
      kept_.Put(key, answer, clock_.Now(), answer.allowed ? keep_allowed_ : keep_denied_);
    const auto found = waiting_.find(key);
    if (found != waiting_.end()) {
      waiting = std::move(found->second);
      waiting_.erase(found);
    }
  }
  for (const Done& done : waiting) done(answer);
}

}  // namespace berth::serving
