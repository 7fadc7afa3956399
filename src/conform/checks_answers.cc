// SPDX-License-Identifier: Apache-2.0
// What the answer to the plain question must be like: filter, prioritize, bind.
#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

#include "api/json_value.h"
#include "conform/checks.h"
#include "util/secret_hash.h"

namespace berth::conform {
namespace {

constexpr int64_t kMinScore = 0, kMaxScore = 10;

std::set<std::string> NamesOf(std::span<const SampleNode> nodes) {
  std::set<std::string> names;
  for (const SampleNode& node : nodes) names.insert(node.name);
  return names;
}

void AnswersToBind(Trial& trial) {
  const Asked& asked = trial.base();
  const Exchange& exchange = asked.exchange;
  if (!asked.problem.empty()) {
    const bool spoke = exchange.status >= 400;
    return trial.Add(
        spoke ? Level::kWarning : Level::kError,
        "bind of a pod that does not exist: " + asked.problem + (spoke ? "; the place for it is Error" : ""),
        &exchange);
  }
  if (asked.reply.error.empty()) {
    return trial.Warn("says that it bound a pod that does not exist, and kube-scheduler would believe it", &exchange);
  }
  trial.Say("refuses a pod that does not exist: " + Excerpt(asked.reply.error, 120));
}

std::string AnswersSummary(Trial& trial) {
  const Reply& reply = trial.base().reply;
  std::string nodes = Count(trial.session.nodes(trial.target.verb).size(), "node");
  switch (trial.target.verb) {
    case Verb::kFilter: {
      const size_t passed = PassedNodes(trial.target.shape, reply).size();
      return nodes + ": " + std::to_string(passed) + " pass, " +
             std::to_string(reply.failed.size() + reply.unresolvable.size()) + " fail";
    }
    case Verb::kPrioritize: {
      const auto [least, most] = std::ranges::minmax(reply.priorities, {}, &HostPriority::score);
      return nodes + ": scores from " + std::to_string(least.score) + " to " + std::to_string(most.score);
    }
    case Verb::kPreempt:
      return nodes + ": " + Count(reply.victims.size(), "candidate") + " kept";
    case Verb::kBind:
      break;
  }
  return nodes;
}

// Whether everything in `sent` is in `got`, which may have more. `path` leads to the first that is not.
bool Contains(const Value& got, const Value& sent, std::string& path) {
  switch (sent.kind()) {
    case Value::Kind::kObject:
      for (const auto& [key, value] : sent.members()) {
        const Value* found = got.Find(key);
        // Go leaves out what is empty.
        const bool empty = value.is_null() || value == Value::String("") || value == Value::Object() ||
                           value == Value::Array() || value == Value::Int(0) || value == Value::Bool(false);
        if (found == nullptr && empty) continue;
        if (found == nullptr || !Contains(*found, value, path)) return path.insert(0, "." + key), false;
      }
      return got.kind() == Value::Kind::kObject;
    case Value::Kind::kArray:
      if (got.items().size() != sent.items().size()) return false;
      for (size_t i = 0; i < sent.items().size(); ++i) {
        if (!Contains(got.items()[i], sent.items()[i], path)) {
          return path.insert(0, "[" + std::to_string(i) + "]"), false;
        }
      }
      return true;
    default:
      return sent.is_null() || got == sent;
  }
}

}  // namespace

void CheckAnswers(Trial& trial) {
  const Asked& asked = trial.base();
  if (asked.problem.empty() && asked.reply.repaired) {
    trial.Warn("writes bad UTF-8 or half of a surrogate pair: kube-scheduler reads U+FFFD in its place",
               &asked.exchange);
  }
  if (trial.target.verb == Verb::kBind) return AnswersToBind(trial);
  if (asked.problem.empty()) return trial.Say(AnswersSummary(trial));
  const Target other{trial.target.verb, trial.target.shape == Shape::kNodes ? Shape::kNames : Shape::kNodes};
  if (trial.session.options().shapes == Shapes::kAuto && trial.session.served(other)) {
    const bool names = trial.target.shape == Shape::kNames;
    return trial.Warn(std::string("serves ") + (names ? "whole nodes" : "node names") +
                          " only (nodeCacheCapable: " + (names ? "false" : "true") + "); asked with " +
                          (names ? "names" : "nodes") + " it " + asked.problem,
                      &asked.exchange);
  }
  // It may be right about objects that nobody has.
  const bool hint = !asked.reply.error.empty() && trial.session.options().nodes.empty();
  trial.Fail(asked.problem + (hint ? "; --pod, --nodes-file and --node-label give it objects to its liking" : ""),
             asked);
}

void JudgeSubset(Trial& trial, const Asked& asked, std::span<const SampleNode> nodes) {
  const std::set<std::string> known = NamesOf(nodes);
  std::set<std::string> seen;
  std::vector<std::string> strange, twice;
  const bool names = trial.target.shape == Shape::kNames;
  for (const std::string& name : PassedNodes(trial.target.shape, asked.reply)) {
    if (!known.contains(name)) strange.push_back(name);
    if (!seen.insert(name).second) twice.push_back(name);
  }
  if (!strange.empty()) {
    trial.Fail("passes " + Some(strange) + ", which it was not asked about: kube-scheduler " +
                   (names && asked.reply.node_names ? "fails the attempt" : "does not notice and may choose it"),
               &asked.exchange);
  }
  if (!twice.empty()) trial.Warn("passes " + Some(twice) + " more than once", &asked.exchange);
}

void CheckSubset(Trial& trial) { JudgeSubset(trial, trial.base(), trial.session.nodes(trial.target.verb)); }

void CheckKind(Trial& trial) {
  const Asked& asked = trial.base();
  const Reply& reply = asked.reply;
  if (trial.target.shape == Shape::kNodes) {
    if (!reply.nodes && reply.node_names && !reply.node_names->empty()) {
      trial.Fail("answers Nodes with NodeNames, which kube-scheduler does not read then: no node passes",
                 &asked.exchange);
    }
  } else if (!reply.node_names && reply.nodes && !reply.nodes->empty()) {
    trial.Warn("answers NodeNames with Nodes: kube-scheduler goes on with nodes as if they were empty of pods",
               &asked.exchange);
  }
}

void JudgeComplete(Trial& trial, const Asked& asked, std::span<const SampleNode> nodes) {
  const Reply& reply = asked.reply;
  const std::vector<std::string> passing = PassedNodes(trial.target.shape, reply);
  const std::unordered_set<std::string, SecretStringHash> passed(passing.begin(), passing.end());
  std::vector<std::string> missing, both, silent, strange;
  for (const SampleNode& node : nodes) {
    const bool fails = reply.failed.contains(node.name) || reply.unresolvable.contains(node.name);
    if (!fails && !passed.contains(node.name)) missing.push_back(node.name);
    if (fails && passed.contains(node.name)) both.push_back(node.name);
  }
  const std::set<std::string> known = NamesOf(nodes);
  for (const auto* reasons : {&reply.failed, &reply.unresolvable}) {
    for (const auto& [name, reason] : *reasons) {
      if (reason.empty()) silent.push_back(name);
      if (!known.contains(name)) strange.push_back(name);
    }
  }
  if (!missing.empty()) {
    trial.Warn("neither passes nor fails " + Some(missing) +
                   ": kube-scheduler drops them without a reason, and preemption does not try them",
               &asked.exchange);
  }
  if (!both.empty()) {
    trial.Warn("passes and fails " + Some(both) + ": kube-scheduler lets them pass", &asked.exchange);
  }
  if (!silent.empty()) trial.Warn("fails " + Some(silent) + " without saying why", &asked.exchange);
  if (!strange.empty()) trial.Warn("fails " + Some(strange) + ", which it was not asked about", &asked.exchange);
}

void CheckComplete(Trial& trial) { JudgeComplete(trial, trial.base(), trial.session.nodes(trial.target.verb)); }

void CheckIntact(Trial& trial) {
  const Asked& asked = trial.base();
  if (!asked.reply.nodes || asked.reply.nodes->empty()) return trial.Say("no node passes, so none comes back");
  std::map<std::string, const SampleNode*> sent;
  for (const SampleNode& node : trial.session.nodes(trial.target.verb)) sent.emplace(node.name, &node);
  std::vector<std::string> changed;
  std::string where;
  for (const ReplyNode& node : *asked.reply.nodes) {
    const auto found = sent.find(node.name);
    if (found == sent.end()) continue;
    std::vector<FieldError> errors;
    const Value got = ParseJson(std::string(node.json), errors);
    std::string path;
    if (Contains(got, ParseJson(found->second->json, errors), path)) continue;
    changed.push_back(node.name);
    if (where.empty()) where = path.substr(0, 200);
  }
  if (changed.empty()) return;
  trial.Warn("changes " + Some(changed) + " (" + (where.empty() ? "all of it" : where.substr(1)) +
                 "): kube-scheduler scores the node that came back, not the one it sent",
             &asked.exchange);
}

void JudgeHosts(Trial& trial, const Asked& asked, std::span<const SampleNode> nodes) {
  std::map<std::string, size_t> entries;
  for (const HostPriority& one : asked.reply.priorities) ++entries[one.host];
  std::vector<std::string> missing, twice, strange;
  const std::set<std::string> known = NamesOf(nodes);
  for (const std::string& name : known) {
    if (!entries.contains(name)) missing.push_back(name);
  }
  for (const auto& [name, count] : entries) {
    if (!known.contains(name)) strange.push_back(name);
    if (known.contains(name) && count > 1) twice.push_back(name);
  }
  if (!missing.empty()) trial.Warn("gives " + Some(missing) + " no score: it counts as 0", &asked.exchange);
  if (!twice.empty()) {
    trial.Warn("scores " + Some(twice) + " more than once: kube-scheduler adds them up", &asked.exchange);
  }
  if (!strange.empty()) {
    trial.Warn("scores " + Some(strange) + ", which it was not asked about: kube-scheduler ignores it",
               &asked.exchange);
  }
}

void CheckHosts(Trial& trial) { JudgeHosts(trial, trial.base(), trial.session.nodes(trial.target.verb)); }

void CheckRange(Trial& trial) {
  const Asked& asked = trial.base();
  const HostPriority* worst = nullptr;
  size_t outside = 0;
  // Kube-scheduler multiplies by ten and by a weight.
  constexpr int64_t kFar = std::numeric_limits<int64_t>::max() / 1000;
  const auto distance = [](int64_t score) {
    return score > kMaxScore ? static_cast<uint64_t>(score) - kMaxScore : uint64_t{0} - static_cast<uint64_t>(score);
  };
  for (const HostPriority& one : asked.reply.priorities) {
    if (one.score >= kMinScore && one.score <= kMaxScore) continue;
    ++outside;
    if (worst == nullptr || distance(one.score) > distance(worst->score)) worst = &one;
  }
  if (worst == nullptr) return;
  const std::string what = Count(outside, "score") + " outside 0 to 10, for example " + std::to_string(worst->score) +
                           " for \"" + Excerpt(worst->host, 80) + "\": kube-scheduler ";
  if (worst->score > kFar || worst->score < -kFar) {
    return trial.Fail(what + "multiplies it by ten and the weight, beyond what 64 bits hold", &asked.exchange);
  }
  trial.Warn(what + "does not clamp, so it outweighs all else", &asked.exchange);
}

}  // namespace berth::conform
