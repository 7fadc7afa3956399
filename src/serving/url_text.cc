// SPDX-License-Identifier: Apache-2.0
#include "serving/url_text.h"

#include <algorithm>

namespace berth::serving {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> Decode(std::string_view raw, bool plus_is_blank) {
  std::string text;
  text.reserve(raw.size());
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] == '%') {
      if (raw.size() - i < 3) return std::nullopt;
      const int high = HexDigit(raw[i + 1]), low = HexDigit(raw[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      text += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      text += plus_is_blank && raw[i] == '+' ? ' ' : raw[i];
    }
  }
  return text;
}

}  // namespace

std::optional<std::string> DecodePath(std::string_view raw) { return Decode(raw, false); }

Query::Query(std::string_view raw) {
  while (!raw.empty()) {
    const size_t end = std::min(raw.find('&'), raw.size());
    const std::string_view pair = raw.substr(0, end);
    raw.remove_prefix(std::min(end + 1, raw.size()));
    if (pair.empty() || pair.find(';') != std::string_view::npos) continue;
    const size_t equals = std::min(pair.find('='), pair.size());
    std::optional<std::string> key = Decode(pair.substr(0, equals), true);
    std::optional<std::string> value = Decode(pair.substr(std::min(equals + 1, pair.size())), true);
    if (key && value) pairs_.emplace_back(std::move(*key), std::move(*value));
  }
}

bool Query::Has(std::string_view key) const {
  return std::ranges::any_of(pairs_, [&](const auto& pair) { return pair.first == key; });
}

std::string Query::Get(std::string_view key) const {
  const auto found = std::ranges::find_if(pairs_, [&](const auto& pair) { return pair.first == key; });
  return found == pairs_.end() ? "" : found->second;
}

std::vector<std::string> Query::All(std::string_view key) const {
  std::vector<std::string> values;
  for (const auto& [name, value] : pairs_) {
    if (name == key) values.push_back(value);
  }
  return values;
}

}  // namespace berth::serving
