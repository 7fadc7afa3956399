// SPDX-License-Identifier: Apache-2.0
// Upstream: cmd/kube-scheduler/app/server.go (v1.36.4).
#include "cli/run_scheduler.h"

#include <pthread.h>
#include <unistd.h>

#include <thread>
#include <utility>

#include "cli/signals.h"
#include "config/load.h"
#include "net/server_process.h"

namespace berth::cli {

live::SchedulerProcessOptions ProcessOptionsOf(const LoadedScheduler& loaded, const Registry& registry) {
  live::SchedulerProcessOptions options;
  options.version = loaded.flags.reported_version;
  options.api_server = loaded.api_server;
  options.max_in_unschedulable = loaded.pod_max_in_unschedulable_pods;
  options.gates = loaded.gates;
  options.serving = loaded.flags.serving;
  for (const FlagValue& flag : loaded.flags.values) options.flags[flag.name] = flag.value;
  options.configz = config::ToValue(config::WithoutKeys(loaded.config), registry).ToJson();
  options.metric_rules = loaded.metric_rules;
  options.extender_calls = loaded.flags.own.extender_calls;
  options.gather = loaded.flags.own.gather_pods;
  return options;
}

int RunScheduler(const LoadedScheduler& loaded, const Registry& registry, util::Log& log) {
  return RunProcess(loaded.config, registry, ProcessOptionsOf(loaded, registry), log);
}

int RunProcess(const config::SchedulerConfiguration& config, const Registry& registry,
               live::SchedulerProcessOptions options, util::Log& log) {
  const NoBrokenPipes no_broken_pipes;
  net::PrepareToServe();
  const Signals signals({SIGTERM, SIGINT, SIGUSR2});
  auto process = live::SchedulerProcess::Make(config, registry, std::move(options), log);
  if (!process.ok()) {
    log.Error("command failed", {{"err", process.error().text()}});
    return 1;
  }
  // Waits for signals until the end, which sends it one.
  std::thread listener([&] {
    bool asked = false;
    for (;;) {
      const int signal = signals.Wait();
      if (signal == SIGUSR2 && (*process)->ended()) return;
      if (signal == SIGUSR2) {
        (*process)->Dump();
      } else if (std::exchange(asked, true)) {
        ::_exit(1);
      } else {
        (*process)->Terminate();
      }
    }
  });
  const int code = (*process)->Run();
  pthread_kill(listener.native_handle(), SIGUSR2);
  listener.join();
  return code;
}

}  // namespace berth::cli
