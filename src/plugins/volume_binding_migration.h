// SPDX-License-Identifier: Apache-2.0
// Volumes whose in-tree plugin a node has migrated to CSI: where they can be reached from, in the driver's words.
#pragma once

#include <cstdint>
#include <optional>

#include "berth/error.h"
#include "berth/storage.h"

namespace berth::plugins {

// The node affinity of the CSI volume that a volume becomes. REQUIRES: PluginBit(volume.kind) != 0. An Error is
// upstream's.
Result<std::optional<NodeSelector>> TranslateAffinity(const PersistentVolume& volume);

// A bit for each in-tree plugin whose volumes are translated; 0 for other kinds.
uint8_t PluginBit(VolumeKind kind);
// Those that a node has migrated, by the annotation of its CSINode.
uint8_t MigratedPlugins(const CsiNode& node);

}  // namespace berth::plugins
