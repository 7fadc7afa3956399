// SPDX-License-Identifier: Apache-2.0
// `berth extender`: serves plugins to a kube-scheduler over its HTTP extender protocol.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "berth/registry.h"

namespace berth::cli {

// Returns when SIGTERM or SIGINT arrived and calls under way were answered, or with an exit code for bad input. Both
// signals are blocked meanwhile for the calling thread and those it starts, and SIGPIPE is ignored. The log goes to
// `log_fd`, which nobody has to read (see util::Log), or to `err` if that is negative.
int ExtenderCommand(const std::vector<std::string>& args, const Registry& registry, std::ostream& out,
                    std::ostream& err, int log_fd = -1);

}  // namespace berth::cli
