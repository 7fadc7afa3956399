// SPDX-License-Identifier: Apache-2.0
// `berth scheduler`, which is also what `kube-scheduler` does when it is a link to Berth: kube-scheduler's command line
// up to the moment at which the process starts to work.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "berth/registry.h"
#include "cli/load_scheduler.h"
#include "util/log.h"

namespace berth::cli {

// Runs the scheduler until it ends; returns the exit code.
using SchedulerProcess = std::function<int(const LoadedScheduler&, const Registry&, util::Log&)>;

// Flags, gates, version, log, configuration, --write-config-to, in kube-scheduler's order, and then `process`. Returns
// 0, 1 when something is wrong, or what the process returns. `program` is how it was called.
// The log goes to `log_fd`, which nobody has to read (see util::Log), or to `err` if that is negative.
int SchedulerCommand(const std::vector<std::string>& args, std::string_view program, const Registry& registry,
                     std::ostream& out, std::ostream& err, int log_fd, const SchedulerProcess& process);

}  // namespace berth::cli
