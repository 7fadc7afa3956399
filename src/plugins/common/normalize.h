// SPDX-License-Identifier: Apache-2.0
// The scaling of scores to [0, 100] that several plugins share (upstream: plugins/helper DefaultNormalizeScore).
#pragma once

#include <cstdint>
#include <span>

#include "berth/plugin.h"

namespace berth::plugins {

// The highest score becomes 100, the rest in proportion, truncated; `reverse` turns the scale around. All zero (or
// less) stays as it is, or becomes 100 when reversed.
void DefaultNormalize(std::span<int64_t> scores, bool reverse);

}  // namespace berth::plugins
