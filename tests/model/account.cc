// SPDX-License-Identifier: Apache-2.0
// Sums.
#include "account.h"

#include <algorithm>

namespace berth::model {
namespace {

// Cpu, memory and the number of pods: what stories are short of.
struct Sum {
  int64_t milli_cpu = 0, memory = 0, pods = 0;
  void Add(const Resources& held) {
    milli_cpu += held.milli_cpu;
    memory += held.memory;
    ++pods;
  }
  // What a pod with this request may not find on the node; empty when it has room. The pod is part of the sum.
  std::string Excess(const Resources& request, const Resources& allocatable) const {
    std::string text;
    const auto check = [&](const char* what, bool asked, int64_t used, int64_t room) {
      if (asked && used > room)
        text += std::string(" ") + what + " " + std::to_string(used) + " of " + std::to_string(room);
    };
    check("milli-cpu", request.milli_cpu > 0, milli_cpu, allocatable.milli_cpu);
    check("memory", request.memory > 0, memory, allocatable.memory);
    check("pods", true, pods, allocatable.pods);
    return text;
  }
};

void ShrinkAccount(Resources& least, const Resources& held) {
  least.milli_cpu = std::min(least.milli_cpu, held.milli_cpu);
  least.memory = std::min(least.memory, held.memory);
}

std::set<int32_t> HostPorts(const Pod& pod) {
  std::set<int32_t> ports;
  for (const Container& container : pod.containers)
    for (const ContainerPort& port : container.ports)
      if (port.host_port != 0) ports.insert(port.host_port);
  return ports;
}

}  // namespace

Ptr<Pod> Account::Shown(const std::string& ns, const std::string& name, const std::string& uid) const {
  const ClusterObject* object = simulation_.scheduler().reflector(Kind::kPod).Find(ns, name);
  if (!object || MetaOf(*object).uid != uid) return nullptr;
  return std::get<Ptr<Pod>>(*object);
}

Ptr<Pod> Account::Stored(const std::string& ns, const std::string& name, const std::string& uid) {
  const ClusterObject* object = simulation_.cluster().Find(Kind::kPod, ns, name);
  if (!object || MetaOf(*object).uid != uid) return nullptr;
  return std::get<Ptr<Pod>>(*object);
}

void Account::OnAttempt(const cycle::Attempt& attempt) {
  const Pod& pod = *attempt.pod;
  const Ptr<Pod> shown = Shown(pod.namespace_(), pod.name(), pod.uid());
  if (!shown) return fail_("attempt", FullName(pod) + " was tried, but the watch does not show it");
  if (!shown->node_name.empty()) return fail_("attempt", FullName(pod) + " was tried, but is on " + shown->node_name);
  if (shown->terminating()) return fail_("attempt", FullName(pod) + " was tried, but is terminating");
  if (!shown->scheduling_gates.empty()) return fail_("attempt", FullName(pod) + " was tried, but is gated");
  if (decisions_.contains(pod.uid()))
    return fail_("attempt", FullName(pod) + " was tried, but is on its way to " + decisions_.at(pod.uid()).node);
  if (attempt.node.empty()) {
    messages_[pod.uid()] = attempt.message;
    return;
  }
  Decide(pod, attempt.node);
}

void Account::Decide(const Pod& pod, const std::string& node) {
  Decision decision;
  decision.namespace_ = pod.namespace_();
  decision.name = pod.name();
  decision.node = node;
  decision.request = pod.resources.request;
  decision.ports = HostPorts(pod);
  const ClusterObject* found = simulation_.scheduler().reflector(Kind::kNode).Find("", node);
  if (!found) return fail_("unknown node", FullName(pod) + " was given to " + node + ", which the watch does not show");
  const Node& shown = *std::get<Ptr<Node>>(*found);
  decision.node_version = VersionNumber(shown.meta.resource_version);

  Sum sum;
  sum.Add(decision.request);
  const auto check_ports = [&](const std::set<int32_t>& taken, const std::string& by) {
    for (const int32_t port : decision.ports)
      if (taken.contains(port) && !spoiled_.contains({node, port}))
        fail_("port", FullName(pod) + " was given to " + node + ", where " + by + " has port " + std::to_string(port));
  };
  simulation_.scheduler().reflector(Kind::kPod).ForEach([&](const ClusterObject& object) {
    const Pod& other = *std::get<Ptr<Pod>>(object);
    if (other.node_name.empty()) return;
    decisions_.erase(other.uid());  // no secret any more
    if (other.node_name != node) return;
    decision.known[other.uid()] = other.resources.held;
    sum.Add(other.resources.held);
    check_ports(HostPorts(other), FullName(other));
  });
  for (auto it = decisions_.begin(); it != decisions_.end();) {
    const Decision& other = it->second;
    if (!Shown(other.namespace_, other.name, it->first)) {  // deleted: it will not come
      it = decisions_.erase(it);
      continue;
    }
    if (other.node == node) {
      sum.Add(other.request);
      check_ports(other.ports, other.name);
    }
    ++it;
  }
  if (const std::string excess = sum.Excess(decision.request, shown.allocatable); !excess.empty())
    fail_("overcommitted", FullName(pod) + " was given to " + node + ", as it is known:" + excess);
  decisions_[pod.uid()] = std::move(decision);
}

void Account::OnBound(const Pod& pod, const std::string& node) {
  const auto it = decisions_.find(pod.uid());
  if (it != decisions_.end()) it->second.answered = true;
  const Ptr<Pod> stored = Stored(pod.namespace_(), pod.name(), pod.uid());
  if (stored && stored->node_name != node)
    fail_("wrong binding", FullName(pod) + " is said to be on " + node + " but is on \"" + stored->node_name + "\"");
}

void Account::OnBindFailed(const Pod& pod, const std::string& node, const std::string& message) {
  messages_[pod.uid()] = message;
  const auto it = decisions_.find(pod.uid());
  if (it != decisions_.end() && it->second.answered)
    fail_("wrong binding", FullName(pod) + " failed after it was bound to " + node);
  decisions_.erase(pod.uid());
  const auto ours = bound_by_us_.find(pod.uid());
  if (ours != bound_by_us_.end() && Stored(pod.namespace_(), pod.name(), pod.uid()))
    fail_("wrong binding", FullName(pod) + " is said not to be bound to " + node + " (" + message +
                               ") but we bound it to " + ours->second);
}

void Account::OnStoreBind(const Pod& before, const std::string& node, bool outside) {
  const std::string name = FullName(before);
  if (!before.node_name.empty()) fail_("bound twice", name + " was on " + before.node_name + " when bound to " + node);
  if (!bound_.insert(before.uid()).second) fail_("bound twice", name + " was bound to " + node + " a second time");
  if (before.terminating() || before.finished()) fail_("bound late", name + " was terminating when bound to " + node);
  if (outside) return Spoil(before, node);
  bound_by_us_[before.uid()] = node;
  const auto it = decisions_.find(before.uid());
  if (it == decisions_.end()) return fail_("undecided", name + " was bound to " + node + " without a decision");
  const Decision& decision = it->second;
  if (decision.node != node)
    return fail_("undecided", name + " was bound to " + node + " but " + decision.node + " was chosen");

  Sum sum;
  const Resources request = Least(before.uid(), decision.request);
  sum.Add(request);
  simulation_.cluster().ForEach(Kind::kPod, [&](const ClusterObject& object) {
    const Pod& other = *std::get<Ptr<Pod>>(object);
    if (other.node_name != node || other.finished() || other.uid() == before.uid()) return;
    const bool known = decision.known.contains(other.uid());
    if (!known && !bound_by_us_.contains(other.uid())) return;  // behind our back
    sum.Add(Least(other.uid(), other.resources.held));
  });
  if (const std::string excess = sum.Excess(request, MostSince(node, decision.node_version)); !excess.empty())
    fail_("overcommitted", name + " was bound to " + node + ", as it really is:" + excess);
}

void Account::BeforeChange(const sim::Change& change) {
  if (change.kind != Kind::kPod) return;
  const ClusterObject* object = simulation_.cluster().Find(Kind::kPod, change.namespace_, change.name);
  if (!object) return;
  const Pod& pod = *std::get<Ptr<Pod>>(*object);
  if (change.before && change.after) least_.emplace(pod.uid(), pod.resources.held);
}

void Account::AfterChange(const sim::Change& change) {
  const ClusterObject* object = simulation_.cluster().Find(change.kind, change.namespace_, change.name);
  if (!object) return;
  if (const auto* node = std::get_if<Ptr<Node>>(object)) {
    node_sizes_[change.name].emplace_back(VersionNumber((*node)->meta.resource_version), (*node)->allocatable);
  } else if (const auto* pod = std::get_if<Ptr<Pod>>(object)) {
    const auto least = least_.find((*pod)->uid());
    const auto decision = decisions_.find((*pod)->uid());
    if (decision != decisions_.end() && (*pod)->resources.held != decision->second.request) resized_on_the_way_ = true;
    if (least != least_.end()) ShrinkAccount(least->second, (*pod)->resources.held);
    if (!(*pod)->node_name.empty()) Spoil(**pod, (*pod)->node_name);
  }
}

void Account::Spoil(const Pod& pod, const std::string& node) {
  for (const int32_t port : HostPorts(pod)) spoiled_.emplace(node, port);
}

Resources Account::Least(const std::string& uid, const Resources& held) const {
  Resources least = held;
  if (const auto it = least_.find(uid); it != least_.end()) ShrinkAccount(least, it->second);
  return least;
}

Resources Account::MostSince(const std::string& node, uint64_t version) const {
  Resources most;
  const auto sizes = node_sizes_.find(node);
  if (sizes == node_sizes_.end()) return most;
  for (const auto& [changed, allocatable] : sizes->second) {
    if (changed < version) continue;
    most.milli_cpu = std::max(most.milli_cpu, allocatable.milli_cpu);
    most.memory = std::max(most.memory, allocatable.memory);
    most.pods = std::max(most.pods, allocatable.pods);
  }
  return most;
}

std::string Account::LastMessage(const std::string& uid) const {
  const auto it = messages_.find(uid);
  return it == messages_.end() ? "" : it->second;
}

}  // namespace berth::model
