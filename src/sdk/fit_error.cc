// SPDX-License-Identifier: Apache-2.0
// Upstream: pkg/scheduler/framework/types.go, FitError.Error (v1.36.4).
#include "berth/host/fit_error.h"

#include <algorithm>

namespace berth {
inline namespace v1 {

std::string FitErrorText(const FitErrorParts& parts) {
  std::string text = "0/" + std::to_string(parts.nodes) + " nodes are available:";
  if (!parts.pre_filter.empty()) {
    text += " " + parts.pre_filter + ".";
  } else if (!parts.reasons.empty()) {
    std::vector<std::string> counted;
    for (const auto& [reason, count] : parts.reasons) counted.push_back(std::to_string(count) + " " + reason);
    std::sort(counted.begin(), counted.end());
    for (size_t i = 0; i < counted.size(); ++i) text += (i ? ", " : " ") + counted[i];
    text += ".";
  }
  if (!parts.post_filter.empty()) text += " " + parts.post_filter;
  return text;
}

}  // namespace v1
}  // namespace berth
