// SPDX-License-Identifier: Apache-2.0
// FilterReport for hosts that know nothing beforehand.
#include <vector>

#include "berth/plugin.h"

namespace berth {
inline namespace v1 {

Prospects FilterReport::LookAhead() const {
  Prospects out;
  const std::vector<Row> rows = Resolvable();
  out.resolvable = rows.size();
  out.open.reserve(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) out.open.push_back({i, rows[i]});
  return out;
}

}  // namespace v1
}  // namespace berth
