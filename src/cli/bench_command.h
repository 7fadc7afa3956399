// SPDX-License-Identifier: Apache-2.0
// `berth bench`: scheduler_perf's workload files, run and measured.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "berth/registry.h"

namespace berth::cli {

int BenchCommand(const std::vector<std::string>& args, const Registry& registry, std::ostream& out, std::ostream& err);

}  // namespace berth::cli
