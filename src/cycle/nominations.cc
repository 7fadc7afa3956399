// SPDX-License-Identifier: Apache-2.0
// Upstream: backend/queue/nominator.go (v1.36.4).
#include "cycle/nominations.h"

namespace berth::cycle {

void SetNomination(Core& core, const Ptr<Pod>& pod, const std::optional<std::string>& node) {
  core.state.ClearNomination(pod->uid());
  const std::string& wanted = node ? *node : pod->nominated_node_name;
  if (wanted.empty()) return;
  const Ptr<Pod> now = core.FindPod(pod->namespace_(), pod->name());
  if (!now || !now->node_name.empty()) return;
  core.state.Nominate(pod, wanted);
}

void UpdateNomination(Core& core, const Pod& before, const Ptr<Pod>& after) {
  std::optional<std::string> kept;
  if (before.nominated_node_name.empty() && after->nominated_node_name.empty())
    if (const std::string* node = core.state.NominationOf(before.uid())) kept = *node;
  core.state.ClearNomination(before.uid());
  SetNomination(core, after, kept);
}

}  // namespace berth::cycle
