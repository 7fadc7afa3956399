// SPDX-License-Identifier: Apache-2.0
// What `berth controller` is told, as the scheduler's configuration that does it: one profile with one placement.
#pragma once

#include <string>
#include <vector>

#include "berth/error.h"
#include "berth/registry.h"
#include "config/types.h"

namespace berth::controller {

struct ControllerOptions {
  std::string scheduler_name;        // pods that name it are bound, others are left alone
  std::string placement = "random";  // or first, least-pods
  std::vector<std::string> plugins;  // NAME or NAME={"argument": …}: these decide instead, by Filter and Score
  bool ready_nodes_only = false;     // nodes that are not Ready, or cordoned, are left out
  config::LeaderElection leader_election;
  config::ClientConnection client_connection;
};

// Pods with scheduling gates wait, priorities go first and bindings are posted as by any scheduler; nothing else is
// asked about a node but what the options name. Errors name the flag. REQUIRES: RegisterPlacements(registry).
Result<config::SchedulerConfiguration> ControllerConfiguration(const ControllerOptions& options,
                                                               const Registry& registry);

}  // namespace berth::controller
