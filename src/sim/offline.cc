// SPDX-License-Identifier: Apache-2.0
// From loaded files to a cluster state, and one pod's explanation.
#include "sim/offline.h"

#include "cluster/applier.h"

namespace berth::sim {
void Fill(cluster::ClusterState& state, const LoadedObjects& objects, const framework::Engine& engine,
          const Pod* except) {
  cluster::Applier applier(state, [&](const Pod& pod) {
    const framework::Profile* profile = engine.FindProfile(pod.scheduler_name);
    return profile && !framework::FindGate(*profile, pod);
  });
  objects.ForEach([&](const ClusterObject& object) {
    if (const auto* pod = std::get_if<Ptr<Pod>>(&object))
      if (pod->get() == except || (*pod)->phase == "Succeeded" || (*pod)->phase == "Failed") return;
    // Two pods of one name or uid were refused when the files were read, so this cannot fail.
    (void)applier.Add(object);
  });
}

framework::Explanation ExplainOffline(framework::Engine& engine, const framework::Profile& profile,
                                      const LoadedObjects& objects, const Pod& pod) {
  cluster::ClusterState state;
  Fill(state, objects, engine, &pod);
  Pod asked = pod;
  asked.node_name.clear();
  framework::JudgeOptions options;
  options.pre_enqueue = true;
  options.follow_nomination = false;
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
