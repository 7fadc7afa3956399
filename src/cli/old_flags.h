// SPDX-License-Identifier: Apache-2.0
// Flags that kube-scheduler had until 1.14 … 1.27 and that command lines of that time still have. They are not in the
// help: a configuration file says all of it.
#pragma once

#include <string>
#include <vector>

#include "berth/error.h"
#include "berth/pod.h"
#include "berth/registry.h"
#include "cli/flag_set.h"
#include "legacy/load.h"

namespace berth::cli {

struct OldFlags {
  std::string policy_config_file, policy_configmap, policy_configmap_namespace = "kube-system";
  bool use_legacy_policy_config = false;
  std::string algorithm_provider, scheduler_name = kDefaultScheduler;
  int32_t hard_pod_affinity_symmetric_weight = 1;
  std::string lock_object_name, lock_object_namespace;
  std::string failure_domains, address;
  int32_t port = 10251;
  std::vector<std::string> given;  // names, as they are declared, of those on the command line
  bool Given(std::string_view name) const;
};

// REQUIRES: `out` outlives the set.
void AddOldFlags(FlagSet& set, OldFlags& out);

// What is wrong with them together, or beside the file of --config; all of it.
Error CheckOldFlags(const OldFlags& flags, const std::string& config, const std::string& resource_name,
                    const std::string& resource_namespace);
// A sentence for each that is given.
std::vector<std::string> WarningsOf(const OldFlags& flags);

// Whether they say anything about what a file of --config would say.
bool ConfigureSomething(const OldFlags& flags);
// The configuration that they make. REQUIRES: ConfigureSomething, and CheckOldFlags found nothing.
legacy::Loaded LoadOldFlags(const OldFlags& flags, const Registry& registry, const legacy::LoadOptions& options);

}  // namespace berth::cli
