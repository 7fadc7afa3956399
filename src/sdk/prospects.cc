// SPDX-License-Identifier: Apache-2.0
// What is known beforehand about preemption.
#include "berth/host/prospects.h"

namespace berth {
inline namespace v1 {

Prospects LookAhead(const FilterReport& report) {
  if (const auto* known = dynamic_cast<const ProspectReport*>(&report)) return known->LookAhead();
  Prospects out;
  const std::vector<Row> rows = report.Resolvable();
  out.resolvable = rows.size();
  out.open.reserve(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) out.open.push_back({i, rows[i], nullptr});
  return out;
}

}  // namespace v1
}  // namespace berth
