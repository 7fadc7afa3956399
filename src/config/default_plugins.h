// SPDX-License-Identifier: Apache-2.0
// The plugins that are enabled without being asked for, and how a profile's wishes are merged into them.
#pragma once

#include <string_view>
#include <vector>

#include "config/types.h"

namespace berth::config {

// kube-scheduler's MultiPoint list with the feature gates at their defaults.
const std::vector<PluginRef>& DefaultMultiPoint();

// `custom` merged into `defaults`: defaults that are not disabled keep their place, those listed again take the custom
// weight; what is left of `custom` follows. The disabled list is carried on for MultiPoint expansion.
PluginSet MergePluginSet(const PluginSet& defaults, const PluginSet& custom);

// The whole `plugins` block of a profile with the defaults in it.
Plugins MergePlugins(const Plugins& custom);

// Whether `name` is one of the plugins whose arguments have a kind of their own in kubescheduler.config.k8s.io/v1.
bool HasArgsKind(std::string_view name);

}  // namespace berth::config
