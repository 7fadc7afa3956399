// SPDX-License-Identifier: Apache-2.0
// Out of the flags of `berth scheduler`, everything that the process needs: its configuration, its gates, its API
// server. Errors are kube-scheduler's where it has them.
#pragma once

#include <string>
#include <vector>

#include "berth/error.h"
#include "berth/registry.h"
#include "cli/scheduler_flags.h"
#include "client/kubeconfig.h"
#include "config/feature_gates.h"
#include "config/types.h"
#include "util/metrics.h"

namespace berth::cli {

struct LoadedScheduler {
  SchedulerFlags flags;  // of which serving, authentication and authorization are still to be obeyed
  config::FeatureGates gates;
  config::SchedulerConfiguration config;
  client::Kubeconfig api_server;
  util::MetricRules metric_rules;  // for whoever makes the Metrics
  Duration pod_max_in_unschedulable_pods;
};

// The gates, after the version that is to be emulated has been read.
Result<config::FeatureGates> LoadGates(const SchedulerFlags& flags);

// What kube-scheduler checks before it reads anything: all that is wrong with versions, port, headers and metrics.
// Adds to `warnings` what is to be said at start, a sentence each.
Error CheckSchedulerFlags(const SchedulerFlags& flags, const config::FeatureGates& gates,
                          std::vector<std::string>& warnings);

// The configuration: that of --config, in which the flags of leader election go before the file and the deprecated ones
// are ignored; or the default one with what is given of both. A file is validated, flags without one are not, as
// upstream; what must be right for a start is. Then where the API server is, and what of TLS and paths can be checked
// without serving. Adds to `warnings`, also when it fails. REQUIRES: CheckSchedulerFlags found nothing.
Result<LoadedScheduler> LoadScheduler(SchedulerFlags flags, config::FeatureGates gates, const Registry& registry,
                                      std::vector<std::string>& warnings,
                                      const client::InCluster& place = client::InClusterFromEnvironment());

// The same for a configuration that is complete and right already.
Result<LoadedScheduler> LoadProcess(config::SchedulerConfiguration config, SchedulerFlags flags,
                                    config::FeatureGates gates, std::vector<std::string>& warnings,
                                    const client::InCluster& place = client::InClusterFromEnvironment());

// What is wrong with the times of an election; kube-scheduler says so when it starts one.
Error CheckElection(const config::LeaderElection& election);

// The sentence about what this scheduler cannot place yet; empty when it places everything.
std::string NotBuiltYet();

}  // namespace berth::cli
