// SPDX-License-Identifier: Apache-2.0
// What the answer to a preempt request must be like.
#include <algorithm>
#include <set>

#include "conform/checks.h"

namespace berth::conform {
namespace {

bool IsAmong(std::span<const SampleNode> nodes, const std::string& name) {
  return std::ranges::any_of(nodes, [&](const SampleNode& node) { return node.name == name; });
}

// The places in `order` go up.
bool KeepsOrder(const std::vector<std::string>& uids, const std::vector<Victim>& order) {
  size_t from = 0;
  for (const std::string& uid : uids) {
    while (from < order.size() && order[from].uid != uid) ++from;
    if (from == order.size()) return false;
  }
  return true;
}

void JudgeVictims(Trial& trial, const std::string& node, const MetaVictims& victims) {
  const Exchange& exchange = trial.base().exchange;
  const std::string at = " on \"" + Excerpt(node, 80) + "\"";
  const std::vector<Victim> sent = VictimsOn(node);
  std::vector<std::string> known, strange;
  std::set<std::string> seen;
  bool null = false, twice = false;
  for (const std::optional<std::string>& uid : victims.uids) {
    if (!uid) {
      null = true;
      continue;
    }
    const bool there = std::ranges::any_of(sent, [&](const Victim& victim) { return victim.uid == *uid; });
    if (!there) strange.push_back(*uid);
    if (!seen.insert(*uid).second) twice = true;
    if (there) known.push_back(*uid);
  }
  if (null) trial.Fail("has a null among the victims" + at + ", which crashes kube-scheduler", &exchange);
  if (victims.uids.empty()) {
    trial.Fail("keeps \"" + Excerpt(node, 80) +
                   "\" without victims: kube-scheduler fails with \"expected at least one victim pod\"",
               &exchange);
  }
  if (!strange.empty()) {
    trial.Fail(
        "names the victim " + Some(strange) + at + ", which was not sent: kube-scheduler fails if it is not there",
        &exchange);
  }
  if (twice) {
    trial.Fail("names a victim twice" + at, &exchange);
  } else if (!KeepsOrder(known, sent)) {
    trial.Fail("reorders the victims" + at + ": kube-scheduler takes the first for the most important", &exchange);
  }
  // Once is enough: the next node would have the same.
  if (victims.pdb_violations != kPdbViolations && known.size() == sent.size() && !trial.result.warned()) {
    trial.Warn("makes " + std::to_string(kPdbViolations) + " violated disruption budget of the victims" + at + " " +
                   std::to_string(victims.pdb_violations) + ": kube-scheduler prefers nodes with fewer",
               &exchange);
  }
}

}  // namespace

void CheckCandidates(Trial& trial) {
  const Asked& asked = trial.base();
  const std::span<const SampleNode> nodes = trial.session.nodes(trial.target.verb);
  std::vector<std::string> strange, null;
  for (const auto& [name, victims] : asked.reply.victims) {
    if (!IsAmong(nodes, name)) strange.push_back(name);
    if (!victims) null.push_back(name);
  }
  if (!strange.empty()) {
    trial.Fail("keeps " + Some(strange) + ", which was no candidate: kube-scheduler fails when it does not know it",
               &asked.exchange);
  }
  if (!null.empty()) trial.Fail("maps " + Some(null) + " to null, which crashes kube-scheduler", &asked.exchange);
  if (asked.reply.other_map && asked.reply.victims.empty()) {
    trial.Fail("answers NodeNameToVictims; kube-scheduler reads NodeNameToMetaVictims alone: no candidate is left",
               &asked.exchange);
  }
}

void CheckVictims(Trial& trial) {
  const Reply& reply = trial.base().reply;
  if (reply.victims.empty()) return trial.Say("no candidate is kept, so there are no victims to look at");
  const std::span<const SampleNode> nodes = trial.session.nodes(trial.target.verb);
  for (const auto& [name, victims] : reply.victims) {
    if (IsAmong(nodes, name) && victims) JudgeVictims(trial, name, *victims);
    // A warning must not hide the error of a later node.
    if (trial.result.failed()) return;
  }
}

}  // namespace berth::conform
