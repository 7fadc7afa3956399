// SPDX-License-Identifier: Apache-2.0
// `berth extender`: serves plugins to a kube-scheduler over its HTTP extender protocol.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "berth/registry.h"

namespace berth::cli {

// Returns when SIGTERM or SIGINT arrived and calls under way were answered, or with an exit code for bad input. Both
// signals are blocked meanwhile for the calling thread and those it starts; the log goes to `err`.
int ExtenderCommand(const std::vector<std::string>& args, const Registry& registry, std::ostream& out,
                    std::ostream& err);

}  // namespace berth::cli
