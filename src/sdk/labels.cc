// SPDX-License-Identifier: Apache-2.0
// Labels and the conditions on them; semantics of apimachinery's pkg/labels.
#include "berth/labels.h"

#include <algorithm>
#include <charconv>

#include "util/hash.h"
#include "util/secret_hash.h"
#include "util/share_pool.h"

namespace berth {
inline namespace v1 {
namespace {

// What Go's strconv.ParseInt(text, 10, 64) accepts: an optional sign and decimal digits that fit.
std::optional<int64_t> ParseInt64(std::string_view text) {
  if (!text.empty() && text[0] == '+') {
    text.remove_prefix(1);
    if (!text.empty() && text[0] == '-') return std::nullopt;
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool Contains(const std::vector<std::string>& sorted, const std::string& value) {
  constexpr size_t kScanUpTo = 8;
  if (sorted.size() <= kScanUpTo) return std::find(sorted.begin(), sorted.end(), value) != sorted.end();
  return std::binary_search(sorted.begin(), sorted.end(), value);
}

}  // namespace

Labels::Labels(std::vector<Entry> entries) {
  if (entries.empty()) return;
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.first < b.first; });
  size_t kept = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i + 1 < entries.size() && entries[i].first == entries[i + 1].first) continue;  // a later one stays
    if (kept != i) entries[kept] = std::move(entries[i]);
    ++kept;
  }
  entries.resize(kept);
  entries.shrink_to_fit();
  uint64_t hash = entries.size();
  for (const Entry& entry : entries) {
    hash = HashMix(hash, SecretHash64(entry.first));
    hash = HashMix(hash, SecretHash64(entry.second));
  }
  static auto* pool = new SharePool<Data>();  // never destroyed: labels may outlive every static
  data_ = pool->Share(Data{std::move(entries), hash}, hash);
}

const std::string* Labels::Find(std::string_view key) const {
  const auto it = std::lower_bound(begin(), end(), key, [](const Entry& e, std::string_view k) { return e.first < k; });
  return it != end() && it->first == key ? &it->second : nullptr;
}

std::string_view ToString(SelectorOp op) {
  switch (op) {
    case SelectorOp::kIn:
      return "In";
    case SelectorOp::kNotIn:
      return "NotIn";
    case SelectorOp::kExists:
      return "Exists";
    case SelectorOp::kDoesNotExist:
      return "DoesNotExist";
    case SelectorOp::kGt:
      return "Gt";
    case SelectorOp::kLt:
      return "Lt";
    case SelectorOp::kUnknown:
      break;
  }
  return "Unknown";
}

bool Requirement::Matches(const Labels& labels) const { return MatchesValue(labels.Find(key)); }

bool Requirement::MatchesValue(const std::string* value) const {
  switch (op) {
    case SelectorOp::kIn:
      return value != nullptr && Contains(values, *value);
    case SelectorOp::kNotIn:
      return value == nullptr || !Contains(values, *value);
    case SelectorOp::kExists:
      return value != nullptr;
    case SelectorOp::kDoesNotExist:
      return value == nullptr;
    case SelectorOp::kGt:
    case SelectorOp::kLt: {
      if (value == nullptr || values.size() != 1) return false;
      const std::optional<int64_t> have = ParseInt64(*value);
      const std::optional<int64_t> limit = ParseInt64(values[0]);
      if (!have || !limit) return false;
      return op == SelectorOp::kGt ? *have > *limit : *have < *limit;
    }
    case SelectorOp::kUnknown:
      break;
  }
  return false;
}

bool LabelSelector::Matches(const Labels& labels) const {
  if (!invalid.empty()) return false;
  return std::all_of(requirements.begin(), requirements.end(), [&](const Requirement& r) { return r.Matches(labels); });
}

LabelSelector SelectorFromMap(const Labels& map) {
  LabelSelector selector;
  selector.requirements.reserve(map.size());
  for (const auto& [key, value] : map) selector.requirements.push_back({key, SelectorOp::kIn, {value}});
  return selector;
}

}  // namespace v1
}  // namespace berth
