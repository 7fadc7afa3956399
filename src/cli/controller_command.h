// SPDX-License-Identifier: Apache-2.0
// `berth controller`: binds the pods of one scheduler name by a placement.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "berth/registry.h"
#include "cli/load_scheduler.h"
#include "util/log.h"

namespace berth::cli {

struct LoadedController {
  LoadedScheduler process;
  std::optional<uint64_t> seed;  // no value: another one each time
};

// Runs the controller until it ends; returns the exit code. The registry has the placements, too.
using ControllerProcess = std::function<int(const LoadedController&, const Registry&, util::Log&)>;

// Until SIGTERM or SIGINT, or until the lease is lost.
int RunController(const LoadedController& loaded, const Registry& registry, util::Log& log);

// Flags, log, and then `process`. Returns 0, 1 when the process failed, 2 when the command line is wrong. The log goes
// to `log_fd`, which nobody has to read (see util::Log), or to `err` if that is negative.
int ControllerCommand(const std::vector<std::string>& args, const Registry& registry, std::ostream& out,
                      std::ostream& err, int log_fd, const ControllerProcess& process);

}  // namespace berth::cli
