// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "berth/error.h"

namespace berth::cli {

// Several complaints as one error, as kube-scheduler writes an aggregate: one as it is, more in brackets, none twice.
// Ok if there are none.
inline Error Together(const std::vector<std::string>& errors) {
  if (errors.empty()) return Error::Ok();
  std::vector<std::string> different;
  std::string text;
  for (const std::string& error : errors) {
    if (std::ranges::find(different, error) != different.end()) continue;
    different.push_back(error);
    text += (text.empty() ? "" : ", ") + error;
  }
  return Error(different.size() == 1 ? text : "[" + text + "]");
}

}  // namespace berth::cli
