// SPDX-License-Identifier: Apache-2.0
// Which plugins filter and score: what an old release had, in today's names, and what a configuration has today.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "berth/plugin.h"
#include "berth/registry.h"
#include "legacy/load.h"

namespace berth::legacy {

struct Sets {
  std::set<std::string> filter;
  std::map<std::string, int64_t> score;  // names to weights
  bool operator==(const Sets&) const = default;
};
std::string ToString(const Sets& sets);

// Lists per point as an old release reports them, "Filter" to names, "Score" to NAME=WEIGHT.
using ReleasePoints = std::map<std::string, std::vector<std::string>>;
// "QueueSort: A; Filter: B C; Score: D=1"
ReleasePoints ParsePoints(const std::string& text);

// What must be there today after the changes that the table names.
struct Expected {
  Sets sets;
  bool refused = false;  // nothing today does the same
};
// `idle`: those of the release's plugins that arguments gave nothing to do, such as "Filter NodeLabel".
Expected ExpectedToday(const ReleasePoints& then, const std::set<std::string>& idle = {});
// What an old plugin is called that is there under another name.
std::string TodaysName(const std::string& plugin);

// Of the profile of that name, or of the only one; complains about nothing: the configuration must load.
Sets TodaysSets(const config::SchedulerConfiguration& config, const Registry& registry,
                const std::string& profile = "");

// Who serves which point, of the profile of that name.
using PointNames = std::map<Point, std::set<std::string>>;
PointNames TodaysPointNames(const config::SchedulerConfiguration& config, const Registry& registry,
                            const std::string& profile);

// Whether Berth reads what the release refused with that error, as the table says.
bool IsAcceptedToday(const std::string& error);

}  // namespace berth::legacy
