// SPDX-License-Identifier: Apache-2.0
// The questions of berth/testing.h in the host that the test names.
#include "testing/hosts/hosts.h"

#include "berth/host/annotations.h"

namespace berth {
inline namespace v1 {
namespace {

// Takes part nowhere.
class KeysOf final : public Plugin {
 public:
  explicit KeysOf(const Plugin& plugin) : plugin_(plugin) {}
  AnnotationKeys Annotations() const override { return plugin_.Annotations(); }

 private:
  const Plugin& plugin_;
};

// What the plugin is shown of the pod's annotations; and from now on the cluster has just those that it is shown, as
// whoever asks about a cluster leaves it.
Pod Show(const Plugin& plugin, const Pod& pod, const TestCluster& cluster) {
  (void)FilterAll(KeysOf(plugin), pod, cluster);
  Pod shown = pod;
  shown.meta.annotations = Kept(pod.meta.annotations, plugin.Annotations().pods);
  return shown;
}

}  // namespace

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
      return testing::FilterInExtender(plugin, Show(plugin, pod, cluster), cluster);
    case Host::kSimulator:
      return testing::FilterInSimulator(plugin, Show(plugin, pod, cluster), cluster);
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
      return testing::ScoreInExtender(plugin, Show(plugin, pod, cluster), cluster);
    case Host::kSimulator:
      return testing::ScoreInSimulator(plugin, Show(plugin, pod, cluster), cluster);
  }
  return ScoreAll(plugin, pod, cluster);
}

}  // namespace v1
}  // namespace berth
