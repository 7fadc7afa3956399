// SPDX-License-Identifier: Apache-2.0
#include "extender_client/plain_reply.h"

#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "api/go_key.h"
#include "api/json_scan.h"

namespace berth::extender_client {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// By byte: it stands for itself within a string.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (size_t c = ' '; c < plain.size(); ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

}  // namespace

bool PlainReply::Take(char c) {
  if (at_ < text_.size() && text_[at_] == c) return ++at_, true;  // mostly there is no space
  while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  if (at_ >= text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

bool PlainReply::TakeNull() {
  if (!Take('n')) return false;
  if (!text_.substr(at_).starts_with("ull")) return false;
  at_ += 3;
  return true;
}

bool PlainReply::Text(std::string_view& text) {
  if (!Take('"')) return false;
  const char* const start = text_.data() + at_;
  const char* const end = text_.data() + text_.size();
  const char* p = start;
  while (p != end && kPlain[static_cast<unsigned char>(*p)]) ++p;
  text = std::string_view(start, static_cast<size_t>(p - start));
  at_ += text.size() + 1;
  return p != end && *p == '"';
}

bool PlainReply::Whole(int64_t& number) {
  while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  const size_t start = at_;
  if (at_ < text_.size() && text_[at_] == '-') ++at_;
  const size_t first = at_;
  while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
  if (at_ == first || (text_[first] == '0' && at_ > first + 1)) return false;
  if (at_ < text_.size() && (text_[at_] == '.' || text_[at_] == 'e' || text_[at_] == 'E')) return false;
  return std::from_chars(text_.data() + start, text_.data() + at_, number).ec == std::errc();
}

bool PlainReply::Pass(int depth) {
  while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  const Result<size_t> end = ScanJsonValue(text_, at_, depth);
  if (end.ok()) at_ = *end;
  return end.ok();
}

template <class Fn>
bool PlainReply::Members(Fn&& fn) {
  if (!Take('{')) return false;
  if (Take('}')) return true;
  do {
    std::string_view key;
    if (!Text(key) || !Take(':') || !fn(key)) return false;
  } while (Take(','));
  return Take('}');
}

template <class Fn>
bool PlainReply::Items(Fn&& fn) {
  if (!Take('[')) return false;
  if (Take(']')) return true;
  do {
    if (!fn()) return false;
  } while (Take(','));
  return Take(']');
}

bool PlainReply::Names(std::vector<std::string_view>& names) {
  return Items([&] {
    std::string_view name;
    if (!Text(name)) return false;
    names.push_back(name);
    return true;
  });
}

bool PlainReply::NodeName(std::string_view& name) {
  return Members([&](std::string_view key) {
    if (!KeyMatches(key, "metadata")) return Pass(4);
    return Members([&](std::string_view field) {
      if (!KeyMatches(field, "name")) return Pass(5);
      return Text(name);
    });
  });
}

bool PlainReply::NodeList(std::vector<std::string_view>& names) {
  return Members([&](std::string_view key) {
    if (!KeyMatches(key, "items")) return Pass(2);
    return names.empty() && Items([&] { return NodeName(names.emplace_back()); });
  });
}

bool PlainReply::ReasonMap(Reasons& reasons) {
  return Members([&](std::string_view node) {
    std::string_view reason;
    if (!Text(reason)) return false;
    reasons.insert_or_assign(std::string(node), ShortReason(reason));
    return true;
  });
}

bool PlainReply::ReadFilter(FilterReply& reply) {
  if (!CheckUtf8(text_).ok()) return false;
  bool nodes = false, names = false, failed = false, unresolvable = false, error = false;
  const auto first = [](bool& seen) { return !std::exchange(seen, true); };
  // null leaves all of these as they are; the place is kept for whoever reads the value if it is not null.
  const auto or_null = [this](auto&& read) {
    const size_t before = at_;
    if (TakeNull()) return true;
    at_ = before;
    return read();
  };
  return Members([&](std::string_view key) {
    if (KeyMatches(key, "Nodes")) return first(nodes) && or_null([&] { return NodeList(reply.nodes.emplace()); });
    if (KeyMatches(key, "NodeNames")) return first(names) && or_null([&] { return Names(reply.node_names.emplace()); });
    if (KeyMatches(key, "FailedNodes")) return first(failed) && or_null([&] { return ReasonMap(reply.failed); });
    if (KeyMatches(key, "FailedAndUnresolvableNodes"))
      return first(unresolvable) && or_null([&] { return ReasonMap(reply.unresolvable); });
    if (KeyMatches(key, "Error")) {
      std::string_view text;
      if (!first(error) || !Text(text)) return false;
      reply.error = text;
      return true;
    }
    return Pass(1);
  });
}

bool PlainReply::Score(ScoreReply& reply) {
  auto& scored_node = reply.scores.emplace_back();
  std::string_view& host = scored_node.first;
  int64_t& score = scored_node.second;
  bool named = false, scored = false;
  return Members([&](std::string_view key) {
    if (KeyMatches(key, "Host")) return !std::exchange(named, true) && Text(host);
    if (KeyMatches(key, "Score")) return !std::exchange(scored, true) && Whole(score);
    return Pass(2);
  });
}

bool PlainReply::ReadScores(ScoreReply& reply) {
  return CheckUtf8(text_).ok() && Items([&] { return Score(reply); });
}

}  // namespace berth::extender_client
