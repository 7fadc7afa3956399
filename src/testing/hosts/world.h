// SPDX-License-Identifier: Apache-2.0
// What is in a TestCluster, object by object, and the configuration of a profile of one plugin: what hosts start from.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <vector>

#include "berth/host/object_stores.h"
#include "berth/testing.h"
#include "config/types.h"

namespace berth::testing {

// Nodes in the order in which they were added, pods in the order of their nodes.
std::vector<std::shared_ptr<const Node>> NodesOf(const Snapshot& snapshot);
std::vector<std::shared_ptr<const Pod>> PlacedPodsOf(const Snapshot& snapshot);
// Pending pods that are nominated to some node.
std::vector<std::shared_ptr<const Pod>> NominatedPodsOf(const Snapshot& snapshot);

// Calls fn(std::shared_ptr<const T>) for every object of every other kind.
template <class Fn>
void ForEachObject(const Snapshot& snapshot, Fn&& fn) {
  [&]<class... Kinds>(const std::tuple<ObjectStore<Kinds>...>*) {
    (snapshot.objects<Kinds>().ForEach([&](const Kinds& object) { fn(std::make_shared<const Kinds>(object)); }), ...);
  }(static_cast<const decltype(ObjectStores::all)*>(nullptr));
}

// A registry and a profile that have just this plugin, at those of `points` that it serves, named as its class is.
// REQUIRES: the plugin outlives both.
struct OnePlugin {
  Registry registry;
  config::Profile profile;
  OnePlugin(const Plugin& plugin, std::initializer_list<Point> points);
};

}  // namespace berth::testing
