// SPDX-License-Identifier: Apache-2.0
// `berth sim`: the scheduler on a simulated cluster, in virtual time.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "berth/registry.h"

namespace berth::cli {

int SimCommand(const std::vector<std::string>& args, const Registry& registry, std::ostream& out, std::ostream& err);

}  // namespace berth::cli
