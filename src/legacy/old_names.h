// SPDX-License-Identifier: Apache-2.0
// Plugins that have another name today, or none.
#pragma once

#include <string>
#include <string_view>

#include "legacy/draft.h"
#include "legacy/old_plugins.h"
#include "legacy/version.h"

namespace berth::legacy {

// Limits of volumes that NodeVolumeLimits counts today.
bool IsCloudLimit(std::string_view name);
// Whether one of those that were on by default is left on by a v1beta3 profile.
bool CloudLimitIsOn(const OldPlugins& old, const ProfileContext& context);
// A limit that is turned off by itself, which cannot be done any more. `today` is the path in v1.
void KeepLimit(const Listed& one, const std::string& today, Draft& draft);

bool IsSelectorSpread(std::string_view name);
// The scoringStrategy of NodeResourcesFit that a plugin has become; empty: none.
std::string StrategyOf(std::string_view name);

// Names that v1beta2 and v1beta3 refuse.
bool WasRemoved(std::string_view name);
bool IsRemoved(Version version, std::string_view name);
void RefuseRemoved(const std::string& path, std::string_view name, Draft& draft);

}  // namespace berth::legacy
