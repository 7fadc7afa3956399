// SPDX-License-Identifier: Apache-2.0
// What an API server makes of a scheduler's writes to volumes and claims, and a volume controller of a binding: the
// rules for doors that have no server behind them.
#pragma once

#include "client/cluster_api.h"

namespace berth::client {

// 404 when there is no such object (null), 409 when its version is another one.
ApiStatus CheckVersion(const VolumeClaimPatch& patch, const PersistentVolume* volume);
ApiStatus CheckVersion(const ClaimNodePatch& patch, const PersistentVolumeClaim* claim);
// False when it changes nothing: then the version stays.
bool Apply(const VolumeClaimPatch& patch, PersistentVolume& volume);
bool Apply(const ClaimNodePatch& patch, PersistentVolumeClaim& claim);

// What the volume controller writes to both sides of a binding. Upstream: pv_controller.go, bind (v1.36.4).
void BindTo(const PersistentVolumeClaim& claim, PersistentVolume& volume);
void BindTo(const PersistentVolume& volume, PersistentVolumeClaim& claim);

}  // namespace berth::client
