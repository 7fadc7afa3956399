// SPDX-License-Identifier: Apache-2.0
// The questions of berth/testing.h in the host that the test names.
#include "testing/hosts/hosts.h"

namespace berth {
inline namespace v1 {

std::string_view ToString(Host host) {
  switch (host) {
    case Host::kNative:
      return "native";
    case Host::kExtender:
      return "extender";
    case Host::kSimulator:
      return "simulator";
  }
  return "?";
}

std::map<std::string, Verdict> FilterAll(Host host, const Plugin& plugin, const Pod& pod, const TestCluster& cluster) {
  switch (host) {
    case Host::kNative:
      break;
    case Host::kExtender:
      return testing::FilterInExtender(plugin, pod, cluster);
    case Host::kSimulator:
      return testing::FilterInSimulator(plugin, pod, cluster);
  }
  return FilterAll(plugin, pod, cluster);
}

Verdict FilterOne(Host host, const Plugin& plugin, const Pod& pod, const Node& node) {
  TestCluster cluster;
  cluster.Add(node);
  return FilterAll(host, plugin, pod, cluster).begin()->second;
}

ScoreResult ScoreAll(Host host, const Plugin& plugin, const Pod& pod, const TestCluster& cluster) {
  switch (host) {
    case Host::kNative:
      break;
    case Host::kExtender:
      return testing::ScoreInExtender(plugin, pod, cluster);
    case Host::kSimulator:
      return testing::ScoreInSimulator(plugin, pod, cluster);
  }
  return ScoreAll(plugin, pod, cluster);
}

}  // namespace v1
}  // namespace berth
