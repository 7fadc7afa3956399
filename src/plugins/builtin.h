// SPDX-License-Identifier: Apache-2.0
// The plugins that come with Berth.
#pragma once

#include "berth/registry.h"

namespace berth::plugins {

void RegisterBuiltinPlugins(Registry& registry);

}  // namespace berth::plugins
