// SPDX-License-Identifier: Apache-2.0
// Verdict texts and the table that interns them.
#include "berth/verdict.h"

#include <deque>
#include <map>
#include <shared_mutex>
#include <utility>

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

struct VerdictTable::Impl {
  mutable std::shared_mutex mutex;
  std::map<std::pair<Code, std::vector<std::string>>, VerdictId> ids;
  std::deque<Verdict> verdicts;  // references stay valid as it grows
};

VerdictTable::VerdictTable() : impl_(std::make_shared<Impl>()) {
  impl_->verdicts.emplace_back();
  impl_->ids[{Code::kSuccess, {}}] = kFitsId;
}

VerdictId VerdictTable::Intern(const Verdict& verdict) {
  const std::pair<Code, std::vector<std::string>> key(verdict.code(), verdict.reasons());
  {
    std::shared_lock lock(impl_->mutex);
    auto it = impl_->ids.find(key);
    if (it != impl_->ids.end()) return it->second;
  }
  std::unique_lock lock(impl_->mutex);
  auto [it, added] = impl_->ids.emplace(key, static_cast<VerdictId>(impl_->verdicts.size()));
  if (added) impl_->verdicts.push_back(verdict);
  return it->second;
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
