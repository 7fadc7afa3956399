// SPDX-License-Identifier: Apache-2.0
// `berth explain`: why a pod is pending, why this node.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "berth/registry.h"
#include "framework/explanation.h"

namespace berth::cli {

int ExplainCommand(const std::vector<std::string>& args, const Registry& registry, std::ostream& out,
                   std::ostream& err);

// The explanation for people: refusals grouped and counted, the scores of each candidate, who won, by how much and why.
std::string ExplanationText(const framework::Explanation& explanation);

}  // namespace berth::cli
