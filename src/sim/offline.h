// SPDX-License-Identifier: Apache-2.0
// Offline explain: one pod judged on a cluster that was read from files.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/load.h"
#include "cluster/cluster_state.h"
#include "framework/engine.h"
#include "framework/explanation.h"
#include "framework/extender_calls.h"

namespace berth::sim {

// Puts nodes, placed pods, nominations and objects into an empty state, as kube-scheduler's informers would deliver
// them. Left out: `except` (the pod that is asked about; may be null), pods that have finished, and nominations of pods
// that no profile of `engine` schedules or that are gated.
void Fill(cluster::ClusterState& state, const LoadedObjects& objects, const framework::Engine& engine,
          const Pod* except);

// Judges `pod` as if it were not bound. Its own nomination decides whether it may preempt; it does not narrow the
// nodes: all that fit are scored. REQUIRES: the pod is one of `objects.of<Pod>()`.
// `extenders`: are asked for real, about every node that fits, and waited for; none binds. `skipped` is told of those
// whose failure does not count; may be null.
framework::Explanation ExplainOffline(framework::Engine& engine, const framework::Profile& profile,
                                      const LoadedObjects& objects, const Pod& pod,
                                      const std::vector<std::shared_ptr<framework::Extender>>& extenders = {},
                                      const std::function<void(const framework::SkippedExtender&)>& skipped = nullptr);

// The pod `namespace/name`, or `name` in namespace default; null when it is not there.
std::shared_ptr<const Pod> FindPod(const LoadedObjects& objects, const std::string& name);

}  // namespace berth::sim
