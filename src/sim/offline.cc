// SPDX-License-Identifier: Apache-2.0
// From loaded files to a cluster state, and one pod's explanation.
#include "sim/offline.h"

namespace berth::sim {
void Fill(cluster::ClusterState& state, const LoadedObjects& objects, const framework::Engine& engine,
          const Pod* except) {
  objects.ForEach([&](const ClusterObject& any) {
    std::visit(
        [&]<class T>(const std::shared_ptr<const T>& object) {
          if constexpr (std::is_same_v<T, Node>) {
            state.PutNode(object);
          } else if constexpr (!std::is_same_v<T, Pod>) {
            state.PutObject<T>(object);
          }
        },
        any);
  });
  for (const auto& pod : objects.of<Pod>()) {
    if (pod.get() == except || pod->phase == "Succeeded" || pod->phase == "Failed") continue;
    if (!pod->node_name.empty()) {
      // Two pods of one name or uid were refused when the files were read, so this cannot fail.
      (void)state.AddPod(pod);
    } else if (!pod->nominated_node_name.empty()) {
      const framework::Profile* profile = engine.FindProfile(pod->scheduler_name);
      if (profile && !framework::FindGate(*profile, *pod)) state.Nominate(pod, pod->nominated_node_name);
    }
  }
}

framework::Explanation ExplainOffline(framework::Engine& engine, const framework::Profile& profile,
                                      const LoadedObjects& objects, const Pod& pod) {
  cluster::ClusterState state;
  Fill(state, objects, engine, &pod);
  Pod asked = pod;
  asked.node_name.clear();
  asked.nominated_node_name.clear();
  framework::JudgeOptions options;
  options.pre_enqueue = true;
  const Snapshot snapshot = state.snapshot();
  const framework::Judgement judgement = engine.Judge(profile, asked, snapshot, options);
  return framework::Explain(asked, profile, engine.table(), snapshot, judgement);
}

std::shared_ptr<const Pod> FindPod(const LoadedObjects& objects, const std::string& name) {
  const std::string full = name.find('/') == std::string::npos ? "default/" + name : name;
  for (const auto& pod : objects.of<Pod>())
    if (FullName(*pod) == full) return pod;
  return nullptr;
}

}  // namespace berth::sim
