// SPDX-License-Identifier: Apache-2.0
// One plugin in each host.
#pragma once

#include <map>
#include <string>

#include "berth/testing.h"

namespace berth::testing {

std::map<std::string, Verdict> FilterInExtender(const Plugin& plugin, const Pod& pod, const TestCluster& cluster);
ScoreResult ScoreInExtender(const Plugin& plugin, const Pod& pod, const TestCluster& cluster);

std::map<std::string, Verdict> FilterInSimulator(const Plugin& plugin, const Pod& pod, const TestCluster& cluster);
ScoreResult ScoreInSimulator(const Plugin& plugin, const Pod& pod, const TestCluster& cluster);

}  // namespace berth::testing
