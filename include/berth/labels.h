// SPDX-License-Identifier: Apache-2.0
// Labels: an immutable, shared, sorted map of strings; and the selectors that match them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth {
inline namespace v1 {

// A sorted map of strings (labels, annotations, map selectors). Equal maps share one copy in the whole process, however
// they were made, so a template's thousand pods hold one set and equality is a comparison of addresses.
// Thread safety: immutable; may be made and dropped on any thread.
class Labels {
 public:
  using Entry = std::pair<std::string, std::string>;

  Labels() = default;
  // Entries in any order; of entries with equal keys the last one stays, as in a decoded JSON object.
  explicit Labels(std::vector<Entry> entries);
  Labels(std::initializer_list<Entry> entries) : Labels(std::vector<Entry>(entries)) {}

  // Null when the key is absent. The pointer lives as long as any copy of these Labels.
  const std::string* Find(std::string_view key) const;
  bool Has(std::string_view key) const { return Find(key) != nullptr; }
  bool empty() const { return data_ == nullptr || data_->entries.empty(); }
  size_t size() const { return data_ ? data_->entries.size() : 0; }
  const Entry* begin() const { return data_ ? data_->entries.data() : nullptr; }
  const Entry* end() const { return begin() + size(); }
  // A hash of the content.
  uint64_t hash() const { return data_ ? data_->hash : 0; }
  bool operator==(const Labels& other) const { return data_ == other.data_; }

 private:
  struct Data {
    std::vector<Entry> entries;
    uint64_t hash = 0;
    bool operator==(const Data&) const = default;
  };
  std::shared_ptr<const Data> data_;
};

enum class SelectorOp : uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt, kUnknown };
std::string_view ToString(SelectorOp op);

// One condition on one key. Gt and Lt compare decimal int64 values and exist for nodes only.
struct Requirement {
  std::string key;
  SelectorOp op = SelectorOp::kUnknown;
  std::vector<std::string> values;  // sorted and unique for In and NotIn

  // kUnknown never matches. NotIn and DoesNotExist match when the key is absent.
  bool Matches(const Labels& labels) const;
  // The same for a value that was looked up already; null: the key is absent.
  bool MatchesValue(const std::string* value) const;
  bool operator==(const Requirement&) const = default;
};

// All requirements must hold; without any it matches everything. matchLabels are folded in as In requirements and the
// requirements are sorted by key, so equal selectors compare equal. Where upstream has a *null* selector, which matches
// nothing, we have std::optional<LabelSelector> without a value.
struct LabelSelector {
  std::vector<Requirement> requirements;
  // Not empty: the selector cannot be parsed (unknown operator, missing values, malformed key): upstream's sentence.
  // It then matches nothing, and plugins that upstream lets fail on it report this text.
  std::string invalid;

  bool Matches(const Labels& labels) const;
  bool empty() const { return requirements.empty() && invalid.empty(); }
  bool operator==(const LabelSelector&) const = default;
};

// A selector of a map (Service.spec.selector): equality on every entry.
LabelSelector SelectorFromMap(const Labels& map);
// Null selectors match nothing.
inline bool Matches(const std::optional<LabelSelector>& selector, const Labels& labels) {
  return selector.has_value() && selector->Matches(labels);
}

}  // namespace v1
}  // namespace berth
