// SPDX-License-Identifier: Apache-2.0
// Extended resources that a DeviceClass stands for (upstream: the device class resolver of the DRA manager).
#pragma once

#include "berth/resources.h"
#include "berth/snapshot.h"

namespace berth::plugins {

// True when a DeviceClass maps to the resource, by spec.extendedResourceName or by the implicit name
// `deviceclass.resource.kubernetes.io/<class>`. A node whose allocatable has the resource serves it by itself all the
// same.
bool IsBackedByDeviceClass(const Snapshot& snapshot, ResourceId resource);

}  // namespace berth::plugins
