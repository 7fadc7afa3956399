// SPDX-License-Identifier: Apache-2.0
// NodeName; see node_name.h.
#include "plugins/node_name.h"

namespace berth::plugins {

Error NodeName::Filter(const Cycle& cycle, const PluginState*, const NodeBatch& nodes, Rejections& out) const {
  const std::string& wanted = cycle.pod().node_name;
  if (wanted.empty()) return Error::Ok();
  const Row row = nodes.snapshot().FindRow(wanted);  // kNoRow equals no row of a batch
  const VerdictId rejected = out.Intern(kOtherNode);
  const std::span<VerdictId> slots = out.slots();
  const Row begin = nodes.begin();
  for (size_t i = 0; i < slots.size(); ++i) slots[i] = begin + i == row ? kFitsId : rejected;
  return Error::Ok();
}

bool NodeName::Sign(const Pod& pod, Signature& out) const {
  out.Add(pod.node_name);
  return true;
}

std::optional<std::vector<EventRegistration>> NodeName::EventsToRegister() const {
  return std::vector<EventRegistration>{{{EventResource::kNode, action::kAdd}, nullptr}};
}

}  // namespace berth::plugins
