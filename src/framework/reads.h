// SPDX-License-Identifier: Apache-2.0
// What a profile's plugins read of the cluster.
#pragma once

#include <span>

#include "berth/depends.h"
#include "framework/profile.h"

namespace berth::framework {

// All that the plugins at these points depend on, which KindsRead (berth/host/reach.h) turns into kinds of objects. Of
// PreFilter and PreScore, which judge no row, only the epochs count.
Depends DependsAt(const Profile& profile, std::span<const Point> points);

}  // namespace berth::framework
