// SPDX-License-Identifier: Apache-2.0
// Rejections: where a Filter plugin writes its answers about a batch.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "berth/host/verdict_table.h"
#include "berth/verdict.h"

namespace berth {
inline namespace v1 {

// Where a Filter plugin writes: one slot per row of the batch, all "fits" at the start. Slots of rows that are not
// active are ignored, so a loop may write them without looking.
class Rejections {
 public:
  Rejections(std::span<VerdictId> slots, VerdictTable& table) : slots_(slots), table_(&table) {}
  void Reject(size_t i, VerdictId id) { slots_[i] = id; }
  VerdictId Intern(const Reason& reason) {
    return reason.text.empty() ? kFitsId : table_->Intern(reason.code(), {&reason.text, 1});
  }
  VerdictId Intern(Code code, std::span<const std::string_view> reasons) { return table_->Intern(code, reasons); }
  VerdictId Intern(const Verdict& verdict) { return table_->Intern(verdict); }
  std::span<VerdictId> slots() { return slots_; }

 private:
  std::span<VerdictId> slots_;
  VerdictTable* table_;
};

}  // namespace v1
}  // namespace berth
