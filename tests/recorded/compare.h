// SPDX-License-Identifier: Apache-2.0
// Comparing an explanation with what kube-scheduler said of the same case.
#pragma once

#include <string>
#include <vector>

#include "berth/value.h"

namespace berth::recorded {

// One line per difference, empty when both say the same. Reasons are compared as sets and candidates by node; where
// upstream picks among equals, any of `selectedAnyOf` is right; fields named in `unstable` (and all below them) differ
// between two runs of upstream itself and are not compared.
std::vector<std::string> Differences(const Value& want, const Value& got, const std::vector<std::string>& unstable);

}  // namespace berth::recorded
