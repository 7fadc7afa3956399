// SPDX-License-Identifier: Apache-2.0
// The process of `berth scheduler`: what flags and configuration made is handed to it, and signals.
#pragma once

#include "berth/registry.h"
#include "cli/load_scheduler.h"
#include "live/scheduler_process.h"
#include "util/log.h"

namespace berth::cli {

// Until SIGTERM or SIGINT, or until the lease is lost; the exit code. A second of these signals ends it at once,
// with 1. SIGUSR2 writes what cache and queue hold to the log.
int RunScheduler(const LoadedScheduler& loaded, const Registry& registry, util::Log& log);

// The same in two steps, for those who want other options.
live::SchedulerProcessOptions ProcessOptionsOf(const LoadedScheduler& loaded, const Registry& registry);
int RunProcess(const config::SchedulerConfiguration& config, const Registry& registry,
               live::SchedulerProcessOptions options, util::Log& log);

}  // namespace berth::cli
