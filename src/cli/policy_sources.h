// SPDX-License-Identifier: Apache-2.0
// Where commands get a Policy from that a configuration or a flag names: files, ConfigMaps in files of objects,
// ConfigMaps of a cluster. Errors are kube-scheduler's where it has them.
#pragma once

#include <string>
#include <vector>

#include "client/kubeconfig.h"
#include "legacy/convert.h"

namespace berth::cli {

// For commands without a cluster: files, and ConfigMaps among the objects in `files` and folders (- is not read again).
// `how` completes "give ... " for those who have not given them.
legacy::PolicyReader PolicyFromFiles(std::vector<std::string> files, std::string how);

// Files, and ConfigMaps that `find_server` leads to; asked once, when there is something to read.
legacy::PolicyReader PolicyFromCluster(std::function<Result<client::Kubeconfig>()> find_server);

}  // namespace berth::cli
