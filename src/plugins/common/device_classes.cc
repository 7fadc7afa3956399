// SPDX-License-Identifier: Apache-2.0
// Look-up of device classes by resource name; see device_classes.h.
#include "plugins/common/device_classes.h"

#include <string_view>

namespace berth::plugins {

bool IsBackedByDeviceClass(const Snapshot& snapshot, ResourceId resource) {
  const auto& classes = snapshot.objects<DeviceClass>();
  if (classes.empty()) return false;
  constexpr std::string_view kImplicitPrefix = "deviceclass.resource.kubernetes.io/";
  const std::string_view name = ResourceName(resource);
  if (name.starts_with(kImplicitPrefix) && classes.Find(name.substr(kImplicitPrefix.size())) != nullptr) return true;
  bool found = false;
  classes.ForEach([&](const DeviceClass& c) { found = found || c.extended_resource_name == name; });
  return found;
}

}  // namespace berth::plugins
