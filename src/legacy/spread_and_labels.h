// SPDX-License-Identifier: Apache-2.0
// Arguments of today's plugins that do what plugins did which are gone: labels of nodes, spreading, resource ratios.
// Shared by Policies and KubeSchedulerConfigurations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "legacy/draft.h"

namespace berth::legacy {

// Labels that nodes must, must not, or should have or not have.
struct LabelWishes {
  std::vector<std::string> present, absent, preferred, not_preferred;
};

// Adds what is required to NodeAffinity's addedAffinity: to every term that is there, or as the only one.
Value RequireLabels(const Value& args, const LabelWishes& wishes);
// Adds what is preferred. `label_weight` of `label_weight + own_weight` is what all wishes together count.
Value PreferLabels(const Value& args, const LabelWishes& wishes, int64_t label_weight, int64_t own_weight);

// PodTopologySpread's arguments: `labels` as default constraints that do not keep pods from running; with `system` the
// built-in ones beside them.
Value SpreadOver(const Value& args, const std::vector<std::string>& labels, bool system);

// NodeResourcesFit's arguments with a scoringStrategy. `shape` for RequestedToCapacityRatio; null lists are left out.
Value ScoreResources(const Value& args, const std::string& type, const Value& resources, const Value& shape);

}  // namespace berth::legacy
