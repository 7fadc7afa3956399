// SPDX-License-Identifier: Apache-2.0
// Presets: extenders that need no configuration, with the routes and numbers of well-known examples.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "berth/error.h"
#include "config/types.h"
#include "extender/extender_routes.h"
#include "extender/extender_service.h"

namespace berth::extender {

// Everything that a service and its routes are made of. The profile's plugins are those of RegisterPresetPlugins.
struct Preset {
  config::Profile profile;
  ServiceOptions options;
  std::vector<Route> routes;
};

// `demo`, `label-priority` or `demo-index`; `label` is the label that label-priority reads, empty for its default. The
// Error names the presets there are.
Result<Preset> MakePreset(std::string_view name, const std::string& label = "");

}  // namespace berth::extender
