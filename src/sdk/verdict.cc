// SPDX-License-Identifier: Apache-2.0
// Verdict texts and the table that interns them.
#include <algorithm>
#include <deque>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "berth/host/verdict_table.h"
#include "util/hash.h"
#include "util/secret_hash.h"

namespace berth {
inline namespace v1 {

std::string_view ToString(Code code) {
  switch (code) {
    case Code::kSuccess:
      return "Success";
    case Code::kError:
      return "Error";
    case Code::kUnschedulable:
      return "Unschedulable";
    case Code::kUnschedulableAndUnresolvable:
      return "UnschedulableAndUnresolvable";
    case Code::kWait:
      return "Wait";
    case Code::kSkip:
      return "Skip";
    case Code::kPending:
      return "Pending";
  }
  return "Unknown";
}

std::string Verdict::message() const {
  std::string text;
  for (const std::string& reason : reasons_) {
    if (!text.empty()) text += ", ";
    text += reason;
  }
  return text;
}

// Looked up by what they say, so that nobody makes a verdict to ask for it.
struct VerdictTable::Impl {
  struct Words {
    Code code;
    std::span<const std::string_view> reasons;
  };
  struct Hash {
    using is_transparent = void;
    template <class Reasons>
    static size_t Of(Code code, const Reasons& reasons) {
      auto hash = static_cast<uint64_t>(code);
      for (const auto& reason : reasons) hash = HashMix(hash, SecretHash64(reason));
      return static_cast<size_t>(hash);
    }
    size_t operator()(const Verdict* verdict) const { return Of(verdict->code(), verdict->reasons()); }
    size_t operator()(const Words& words) const { return Of(words.code, words.reasons); }
  };
  struct Same {
    using is_transparent = void;
    bool operator()(const Verdict* a, const Verdict* b) const { return *a == *b; }
    bool operator()(const Words& a, const Verdict* b) const {
      return a.code == b->code() &&
             std::equal(a.reasons.begin(), a.reasons.end(), b->reasons().begin(), b->reasons().end());
    }
    bool operator()(const Verdict* a, const Words& b) const { return (*this)(b, a); }
  };
  // `key` says what `make` gives.
  template <class Key, class Make>
  VerdictId Intern(const Key& key, const Make& make) {
    {
      std::shared_lock lock(mutex);
      if (const auto it = ids.find(key); it != ids.end()) return it->second;
    }
    std::unique_lock lock(mutex);
    if (const auto it = ids.find(key); it != ids.end()) return it->second;
    const auto id = static_cast<VerdictId>(verdicts.size());
    ids.emplace(&verdicts.emplace_back(make()), id);
    return id;
  }
  mutable std::shared_mutex mutex;
  std::deque<Verdict> verdicts;  // references stay valid as it grows
  std::unordered_map<const Verdict*, VerdictId, Hash, Same> ids;
};

VerdictTable::VerdictTable() : impl_(std::make_shared<Impl>()) {
  impl_->ids.emplace(&impl_->verdicts.emplace_back(), kFitsId);
}

VerdictId VerdictTable::Intern(const Verdict& verdict) {
  return impl_->Intern(&verdict, [&]() -> const Verdict& { return verdict; });
}

VerdictId VerdictTable::Intern(Code code, std::span<const std::string_view> reasons) {
  return impl_->Intern(Impl::Words{code, reasons},
                       [&] { return Verdict(code, std::vector<std::string>(reasons.begin(), reasons.end())); });
}

const Verdict& VerdictTable::Get(VerdictId id) const {
  std::shared_lock lock(impl_->mutex);
  return impl_->verdicts[id];
}

size_t VerdictTable::size() const {
  std::shared_lock lock(impl_->mutex);
  return impl_->verdicts.size();
}

}  // namespace v1
}  // namespace berth
