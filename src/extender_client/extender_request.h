// SPDX-License-Identifier: Apache-2.0
// What is sent to an extender: the JSON that kube-scheduler makes of k8s.io/kube-scheduler/extender/v1. Field names as
// they are, nothing left out, null where a list or map is absent.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "framework/extender.h"

namespace berth::extender_client {

// Pods and nodes come as their own JSON; without one (SourceOf), as far as we know them.
std::string JsonOf(const std::shared_ptr<const Pod>& pod);
std::string JsonOf(const std::shared_ptr<const Node>& node);

// Filter and prioritize. `names`: the extender has nodes of its own and is sent names alone (nodeCacheCapable).
std::string ExtenderArgsJson(std::string_view pod, const framework::Extender::Nodes& nodes, bool names);
// `uids`: of the victims nothing else is sent (nodeCacheCapable).
std::string PreemptionArgsJson(std::string_view pod, const std::vector<PreemptionCandidate>& candidates, bool uids);
std::string BindingArgsJson(const Pod& pod, std::string_view node);

}  // namespace berth::extender_client
