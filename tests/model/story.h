// SPDX-License-Identifier: Apache-2.0
// Story: a random scenario as a document, in pieces that can be dropped one by one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/error.h"
#include "berth/value.h"
#include "sim/simulated_cluster.h"

namespace berth::model {

// Pods of another scheduler have names that begin like this; all others are ours.
inline constexpr char kForeignPrefix[] = "foreign-";

struct Story {
  uint64_t seed = 0;
  sim::Faults faults;
  std::vector<Value> steps;  // as in a Scenario, each about one object, in order of time

  // The Scenario, as JSON for a run and as YAML for people. A mix of faults that is neither none nor the default one is
  // kept in `description`; `berth sim` then runs the default mix. `comment` may have several lines.
  std::string ToJson() const;
  std::string ToYaml(const std::string& comment) const;
};

// Nodes and pods of many kinds, created, changed, bound by others, deleted and created again within two minutes.
Story MakeStory(uint64_t seed);
// Without the steps that speak of an object that is not there, so that the rest is a valid scenario again.
Story Repaired(const Story& story);
// Reads what ToYaml wrote.
Result<Story> ReadStory(const std::string& text);

}  // namespace berth::model
