// SPDX-License-Identifier: Apache-2.0
// NodePorts; see node_ports.h.
#include "plugins/node_ports.h"

#include <algorithm>

#include "plugins/common/signing.h"

namespace berth::plugins {
namespace {

struct PortState : StateOf<PortState> {
  std::vector<HostPort> wanted;
};

bool AnyConflict(std::span<const HostPort> wanted, std::span<const HostPort> used) {
  return std::any_of(wanted.begin(), wanted.end(), [&](const HostPort& w) {
    return std::any_of(used.begin(), used.end(), [&](const HostPort& u) { return Conflicts(w, u); });
  });
}

QueueingHint AfterPodDeleted(const Pod& rejected, const EventObjects& objects) {
  const Pod* gone = objects.pod_before;
  if (gone == nullptr || !HoldsNode(*gone)) return QueueingHint::kSkip;
  return AnyConflict(HostPortsOf(rejected), HostPortsOf(*gone)) ? QueueingHint::kQueue : QueueingHint::kSkip;
}

}  // namespace

PreFilterOutcome NodePorts::PreFilter(const Cycle& cycle) const {
  std::vector<HostPort> wanted = HostPortsOf(cycle.pod());
  if (wanted.empty()) return PreFilterOutcome::Skip();
  auto state = std::make_unique<PortState>();
  state->wanted = std::move(wanted);
  return PreFilterOutcome::Ok(std::move(state));
}

Error NodePorts::Filter(const Cycle&, const PluginState* state, const NodeBatch& nodes, Rejections& out) const {
  if (state == nullptr) return Error("reading \"PreFilterNodePorts\" from cycleState: not found");
  const std::vector<HostPort>& wanted = static_cast<const PortState*>(state)->wanted;
  const std::span<const uint8_t> active = nodes.active();
  VerdictId rejected = kFitsId;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!active[i]) continue;
    const std::span<const HostPort> used = nodes.ports(i);
    if (used.empty() || !AnyConflict(wanted, used)) continue;
    if (rejected == kFitsId) rejected = out.Intern(kPortsTaken);
    out.Reject(i, rejected);
  }
  return Error::Ok();
}

Depends NodePorts::DependsOn(Point point) const {
  return Depends::OnRow(point == Point::kFilter ? row_field::kPorts : 0);
}

bool NodePorts::Sign(const Pod& pod, Signature& out) const {
  const std::vector<HostPort> wanted = HostPortsOf(pod);
  out.Add(static_cast<int64_t>(wanted.size()));
  for (const HostPort& port : wanted) {
    out.Add(port.ip);
    out.Add(port.protocol);
    out.Add(port.port);
  }
  return true;
}

std::optional<std::vector<EventRegistration>> NodePorts::EventsToRegister() const {
  return std::vector<EventRegistration>{{{EventResource::kPod, action::kDelete}, AfterPodDeleted},
                                        {{EventResource::kNode, action::kAdd}, nullptr}};
}

}  // namespace berth::plugins
