// SPDX-License-Identifier: Apache-2.0
// `berth conform`: checks anybody's extender against the protocol.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace berth::cli {

int ConformCommand(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);

}  // namespace berth::cli
