// SPDX-License-Identifier: Apache-2.0
// What a profile's plugins read of the cluster, and what they keep of it themselves.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "berth/depends.h"
#include "framework/profile.h"

namespace berth::framework {

// All that the plugins at these points depend on, which KindsRead (berth/host/reach.h) turns into kinds of objects. Of
// PreFilter and PreScore, which judge no row, only the epochs count.
Depends DependsAt(const Profile& profile, std::span<const Point> points);

// The index of each plugin of the profile, in their order; null for one that has none, or fails to make one. They may
// live as long as the profile.
std::vector<std::unique_ptr<PluginIndex>> MakeIndexes(const Profile& profile);

}  // namespace berth::framework
