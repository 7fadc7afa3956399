// SPDX-License-Identifier: Apache-2.0
// A TestCluster taken apart, and a profile of one plugin.
#include "testing/hosts/world.h"

#include <utility>

#include "berth/host/snapshot_access.h"
#include "testing/hosts/borrowed_plugin.h"

namespace berth::testing {

std::vector<std::shared_ptr<const Node>> NodesOf(const Snapshot& snapshot) {
  std::vector<std::shared_ptr<const Node>> nodes;
  for (Row row = 0; row < snapshot.rows(); ++row)
    if (snapshot.live(row)) nodes.push_back(std::make_shared<const Node>(snapshot.node(row)));
  return nodes;
}

std::vector<std::shared_ptr<const Pod>> PlacedPodsOf(const Snapshot& snapshot) {
  std::vector<std::shared_ptr<const Pod>> pods;
  for (Row row = 0; row < snapshot.rows(); ++row)
    for (const PodRecord* record : snapshot.pods(row)) pods.push_back(record->pod);
  return pods;
}

std::vector<std::shared_ptr<const Pod>> NominatedPodsOf(const Snapshot& snapshot) {
  std::vector<std::shared_ptr<const Pod>> pods;
  for (Row row = 0; row < snapshot.rows(); ++row)
    for (const PodRecord* record : snapshot.nominated(row)) pods.push_back(record->pod);
  return pods;
}

OnePlugin::OnePlugin(const Plugin& plugin, std::initializer_list<Point> points) {
  const std::string name(BorrowedPlugin::kName);
  PluginDescriptor descriptor;
  descriptor.name = name;
  descriptor.points = BorrowedPlugin(plugin).points();
  descriptor.complete_args = [](const Value*, const std::string&, std::vector<FieldError>&) { return Value(); };
  descriptor.make = [&plugin](const Value*, Handle&) -> Result<std::unique_ptr<Plugin>> {
    return std::unique_ptr<Plugin>(std::make_unique<BorrowedPlugin>(plugin));
  };
  for (const Point point : points)
    if (descriptor.points & Bit(point))
      profile.plugins[point].enabled.push_back({name, point == Point::kScore ? 1 : 0});
  registry.Add(std::move(descriptor));
}

}  // namespace berth::testing
