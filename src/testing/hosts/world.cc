// SPDX-License-Identifier: Apache-2.0
// A TestCluster taken apart, and a profile of one plugin.
#include "testing/hosts/world.h"

#include <cxxabi.h>

#include <cstdlib>
#include <typeinfo>
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

namespace {

std::string ClassName(const Plugin& plugin) {
  const char* const mangled = typeid(plugin).name();
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable(abi::__cxa_demangle(mangled, nullptr, nullptr, &status),
                                                             &std::free);
  const std::string name = readable ? readable.get() : mangled;
  // The last part that is no argument of a template: in `shop::RackTemperature<int>` it is RackTemperature.
  const std::string plain = name.substr(0, name.find('<'));
  const size_t colons = plain.rfind("::");
  return colons == std::string::npos ? plain : plain.substr(colons + 2);
}

}  // namespace

OnePlugin::OnePlugin(const Plugin& plugin, std::initializer_list<Point> points) {
  const std::string name = ClassName(plugin);
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
