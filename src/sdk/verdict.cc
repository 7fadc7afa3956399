// SPDX-License-Identifier: Apache-2.0
// Verdict texts and the table that interns them.
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

// Looked up by what they say: a key may point to a verdict outside the table.
struct VerdictTable::Impl {
  struct Hash {
    size_t operator()(const Verdict* verdict) const {
      auto hash = static_cast<uint64_t>(verdict->code());
      for (const std::string& reason : verdict->reasons()) hash = HashMix(hash, SecretHash64(reason));
      return static_cast<size_t>(hash);
    }
  };
  struct Same {
    bool operator()(const Verdict* a, const Verdict* b) const { return *a == *b; }
  };
  mutable std::shared_mutex mutex;
  std::deque<Verdict> verdicts;  // references stay valid as it grows
  std::unordered_map<const Verdict*, VerdictId, Hash, Same> ids;
};

VerdictTable::VerdictTable() : impl_(std::make_shared<Impl>()) {
  impl_->ids.emplace(&impl_->verdicts.emplace_back(), kFitsId);
}

VerdictId VerdictTable::Intern(const Verdict& verdict) {
  {
    std::shared_lock lock(impl_->mutex);
    const auto it = impl_->ids.find(&verdict);
    if (it != impl_->ids.end()) return it->second;
  }
  std::unique_lock lock(impl_->mutex);
  const auto it = impl_->ids.find(&verdict);
  if (it != impl_->ids.end()) return it->second;
  const auto id = static_cast<VerdictId>(impl_->verdicts.size());
  impl_->ids.emplace(&impl_->verdicts.emplace_back(verdict), id);
  return id;
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
