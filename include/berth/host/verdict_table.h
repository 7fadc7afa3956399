// SPDX-License-Identifier: Apache-2.0
// VerdictTable: verdicts as small integers.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "berth/verdict.h"

namespace berth {
inline namespace v1 {

// Of a row that nobody asked about.
inline constexpr VerdictId kNotJudged = 0xffffffffu;

// Interns verdicts. Ids and references stay valid as long as the table.
// Thread safety: all methods; a pool may judge batches in parallel.
class VerdictTable {
 public:
  VerdictTable();
  VerdictId Intern(const Verdict& verdict);
  // Makes a verdict only of what the table does not have.
  VerdictId Intern(Code code, std::span<const std::string_view> reasons);
  const Verdict& Get(VerdictId id) const;
  size_t size() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace v1
}  // namespace berth
