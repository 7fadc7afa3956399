// SPDX-License-Identifier: Apache-2.0
// Parts of a pod as parts of a Signature, for plugins that look at the same fields; and small questions hints ask.
#pragma once

#include <vector>

#include "berth/depends.h"
#include "berth/pod.h"

namespace berth::plugins {

void SignTolerations(const std::vector<Toleration>& tolerations, Signature& out);
void SignResources(const Resources& resources, Signature& out);
void SignRequirements(const std::vector<Requirement>& requirements, Signature& out);
void SignTerm(const NodeSelectorTerm& term, Signature& out);

// A pod whose leaving can make room somewhere: bound, or nominated to a node.
inline bool HoldsNode(const Pod& pod) { return !pod.node_name.empty() || !pod.nominated_node_name.empty(); }

}  // namespace berth::plugins
