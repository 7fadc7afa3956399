// SPDX-License-Identifier: Apache-2.0
// Upstream: csi-translation-lib/plugins/in_tree_volume.go, translateTopologyFromInTreeToCSI (v1.36.4).
#include "plugins/volume_binding_migration.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/common/volumes.h"

namespace berth::plugins {
namespace {

constexpr VolumeKind kTranslated[] = {VolumeKind::kAwsEbs, VolumeKind::kGcePd, VolumeKind::kAzureDisk,
                                      VolumeKind::kCinder, VolumeKind::kPortworx};
constexpr std::string_view kMigratedPlugins = "storage.alpha.kubernetes.io/migrated-plugins";

bool Mentions(const std::optional<NodeSelector>& affinity, std::string_view key) {
  if (!affinity) return false;
  for (const NodeSelectorTerm& term : affinity->terms)
    for (const Requirement& one : term.match_expressions)
      if (one.key == key) return true;
  return false;
}

bool HasValues(const std::optional<NodeSelector>& affinity, std::string_view key) {
  if (!affinity) return false;
  for (const NodeSelectorTerm& term : affinity->terms)
    for (const Requirement& one : term.match_expressions)
      if (one.key == key && !one.values.empty()) return true;
  return false;
}

void Rename(std::optional<NodeSelector>& affinity, std::string_view from, std::string_view to) {
  for (NodeSelectorTerm& term : affinity->terms.Edit())
    for (Requirement& one : term.match_expressions)
      if (one.key == from) one.key = to;
}

// The zones of a label: parts without space around them, each once, none of them empty.
std::vector<std::string> ZonesOf(std::string_view label) {
  std::vector<std::string> zones;
  for (bool more = true; more;) {
    const size_t end = label.find("__");
    std::string_view zone = label.substr(0, end);
    more = end != std::string_view::npos;
    if (more) label.remove_prefix(end + 2);
    constexpr std::string_view kSpace = " \t\n\v\f\r";
    const size_t first = zone.find_first_not_of(kSpace);
    if (first == std::string_view::npos) continue;
    zones.emplace_back(zone.substr(first, zone.find_last_not_of(kSpace) - first + 1));
  }
  std::sort(zones.begin(), zones.end());
  zones.erase(std::unique(zones.begin(), zones.end()), zones.end());
  return zones;
}

void Demand(std::optional<NodeSelector>& affinity, std::string_view key, const std::vector<std::string>& values) {
  if (!affinity) affinity.emplace();
  std::vector<NodeSelectorTerm>& terms = affinity->terms.Edit();
  if (terms.empty()) terms.emplace_back();
  for (NodeSelectorTerm& term : terms) term.match_expressions.push_back({std::string(key), SelectorOp::kIn, values});
}

}  // namespace

uint8_t PluginBit(VolumeKind kind) {
  const auto* const it = std::find(std::begin(kTranslated), std::end(kTranslated), kind);
  return it == std::end(kTranslated) ? uint8_t{0} : static_cast<uint8_t>(1 << (it - std::begin(kTranslated)));
}

uint8_t MigratedPlugins(const CsiNode& node) {
  const std::string* const list = node.meta.annotations.Find(kMigratedPlugins);
  if (list == nullptr) return 0;
  uint8_t bits = 0;
  std::string_view rest = *list;
  for (;;) {
    const size_t end = rest.find(',');
    const InTreePlugin* const plugin = FindInTreePlugin(rest.substr(0, end));
    if (plugin != nullptr) bits = static_cast<uint8_t>(bits | PluginBit(plugin->kind));
    if (end == std::string_view::npos) return bits;
    rest.remove_prefix(end + 1);
  }
}

Result<std::optional<NodeSelector>> TranslateAffinity(const PersistentVolume& volume) {
  if (const Result<std::string> handle = TranslateHandle(volume); !handle.ok()) return handle.error();
  std::optional<NodeSelector> affinity = volume.node_affinity;
  const std::string_view csi_zone = FindInTreePlugin(volume.kind)->zone_key;
  if (csi_zone.empty()) return affinity;
  const bool beta =
      !Mentions(affinity, kZone) &&
      (Mentions(affinity, kBetaZone) || (!volume.meta.labels.Has(kZone) && volume.meta.labels.Has(kBetaZone)));
  const std::string_view zone = beta ? kBetaZone : kZone;
  if (HasValues(affinity, zone)) {
    Rename(affinity, zone, csi_zone);
  } else if (const std::string* label = volume.meta.labels.Find(zone)) {
    const std::vector<std::string> zones = ZonesOf(*label);
    if (!zones.empty()) Demand(affinity, csi_zone, zones);
  }
  if (beta && HasValues(affinity, kBetaRegion)) Rename(affinity, kBetaRegion, kRegion);
  return affinity;
}

}  // namespace berth::plugins
