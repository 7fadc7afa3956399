// SPDX-License-Identifier: Apache-2.0
// Shrinking: the smallest story that still shows what a failing one shows.
#pragma once

#include <functional>

#include "story.h"

namespace berth::model {

// REQUIRES: fails(story). Drops faults, steps and fields as long as `fails` says true, until nothing can be dropped or
// `patience` calls were made.
Story Shrink(const Story& story, const std::function<bool(const Story&)>& fails, int patience = 3000);

}  // namespace berth::model
