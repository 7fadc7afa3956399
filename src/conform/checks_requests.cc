// SPDX-License-Identifier: Apache-2.0
// The plain question in other bytes, which must be answered alike, and questions at the edge.
#include <algorithm>
#include <utility>

#include "conform/checks.h"

namespace berth::conform {
namespace {

constexpr char kNoSuchNode[] = "berth-conform-no-such-node";

// Asks the question, which means the same as the plain one. Complains about an answer of no use on the level `failure`,
// about another decision on the level `difference`.
void JudgeSame(Trial& trial, const Question& question, Level failure, Level difference, const std::string& why) {
  const Asked asked = trial.session.Ask(question);
  if (!asked.problem.empty()) return trial.Add(failure, asked.problem + why, &asked.exchange);
  // Who rolls dice is told so by the check of that name.
  if (trial.session.varies(trial.target)) return;
  const std::string what = Difference(Decision(trial.target, trial.base().reply), Decision(trial.target, asked.reply));
  if (!what.empty()) trial.Add(difference, "decides otherwise, " + what + why, &asked.exchange);
}

// The plain question with every object changed.
struct Changed {
  std::string pod;
  std::vector<SampleNode> nodes;
  Question question;
};

template <class ChangePod, class ChangeNode>
Changed Change(const Session& session, Target target, const ChangePod& change_pod, const ChangeNode& change_node) {
  Changed changed;
  changed.pod = change_pod(session.pod());
  for (const SampleNode& node : session.nodes(target.verb))
    changed.nodes.push_back({node.name, change_node(node.json)});
  changed.question = session.PlainQuestion(target);
  return changed;
}

}  // namespace

void CheckDeterminism(Trial& trial) {
  const std::string before = Decision(trial.target, trial.base().reply);
  for (int i = 0; i < 3; ++i) {
    const Asked asked = trial.session.Ask(trial.session.PlainQuestion(trial.target));
    if (!asked.problem.empty()) {
      trial.session.SetVaries(trial.target);
      return trial.Fail("asked again, it " + asked.problem, asked);
    }
    const std::string difference = Difference(before, Decision(trial.target, asked.reply));
    if (difference.empty()) continue;
    trial.session.SetVaries(trial.target);
    return trial.Warn("asked again, it decides otherwise: " + difference, &asked.exchange);
  }
}

void CheckOneNode(Trial& trial) {
  Question question = trial.session.PlainQuestion(trial.target);
  const std::vector<std::string> passed = PassedNodes(trial.target.shape, trial.base().reply);
  size_t which = 0;
  for (size_t i = 0; i < question.nodes.size(); ++i) {
    if (!passed.empty() && question.nodes[i].name == passed.front()) which = i;
  }
  question.nodes = question.nodes.subspan(which, 1);
  const Asked asked = trial.session.Ask(question);
  // Kube-scheduler asks so for the node that preemption made room on.
  if (!asked.problem.empty()) return trial.Fail("asked about one node alone, it " + asked.problem, asked);
  JudgeSubset(trial, asked, question.nodes);
}

void CheckEmptyList(Trial& trial) {
  Question question = trial.session.PlainQuestion(trial.target);
  question.nodes = {};
  const Asked asked = trial.session.Ask(question);
  if (!asked.problem.empty()) {
    return trial.Warn("asked about no node, it " + asked.problem + " (kube-scheduler does not ask that today)",
                      &asked.exchange);
  }
  const std::vector<std::string> named = NodesNamed(trial.target, asked.reply);
  if (!named.empty()) trial.Fail("asked about no node, it speaks of " + Some(named), &asked.exchange);
}

void CheckNulls(Trial& trial) {
  Changed written = Change(trial.session, trial.target, PodWithUnsetTime, NodeWithNamelessImage);
  written.question.pod = written.pod;
  written.question.nodes = written.nodes;
  written.question.unset_times = true;
  const bool nodes = trial.target.shape == Shape::kNodes && trial.target.verb != Verb::kPreempt;
  // Another decision may be meant so: the pod has a condition more.
  JudgeSame(
      trial, written.question, Level::kError, Level::kWarning,
      nodes
          ? " (with null for the lastProbeTime of a condition and the names of an image, as kube-scheduler writes them)"
          : " (with null for the lastProbeTime of a condition, as kube-scheduler writes it)");
  Changed filled = Change(trial.session, trial.target, PodWithNulls, NodeWithNulls);
  filled.question.pod = filled.pod;
  filled.question.nodes = filled.nodes;
  filled.question.list_nulls = true;
  JudgeSame(trial, filled.question, Level::kWarning, Level::kWarning,
            " (with null for fields that are not there; kube-scheduler leaves them out)");
}

void CheckKeyCase(Trial& trial) {
  Question question = trial.session.PlainQuestion(trial.target);
  question.lower_case = true;
  JudgeSame(trial, question, Level::kWarning, Level::kWarning,
            " (with nodeNames for NodeNames; kube-scheduler writes the latter)");
}

void CheckUnknownFields(Trial& trial) {
  Changed changed = Change(trial.session, trial.target, WithUnknownFields, WithUnknownFields);
  changed.question.pod = changed.pod;
  changed.question.nodes = changed.nodes;
  changed.question.unknown_fields = true;
  JudgeSame(trial, changed.question, Level::kError, Level::kError,
            " (with fields that it does not know, as a newer cluster sends them)");
}

void CheckUnknownNode(Trial& trial) {
  Question question = trial.session.PlainQuestion(trial.target);
  std::vector<SampleNode> nodes(question.nodes.begin(), question.nodes.end());
  nodes.push_back({kNoSuchNode, ""});  // it is a name that is sent
  question.nodes = nodes;
  const Asked asked = trial.session.Ask(question);
  if (!asked.problem.empty()) {
    return trial.Warn("one node that it does not know, and it " + asked.problem +
                          " (kube-scheduler may hear of a node before the extender does)",
                      &asked.exchange);
  }
  JudgeSubset(trial, asked, nodes);
  const std::vector<std::string> passed = PassedNodes(trial.target.shape, asked.reply);
  const std::vector<std::string> named = NodesNamed(trial.target, asked.reply);
  const bool there = std::ranges::find(named, kNoSuchNode) != named.end();
  const bool passes = std::ranges::find(passed, kNoSuchNode) != passed.end();
  trial.Say(std::string("a node that no cluster has: ") + (passes ? "passes it"
                                                           : trial.target.verb == Verb::kPrioritize
                                                               ? (there ? "scores it" : "leaves it out")
                                                               : (there ? "fails it" : "leaves it out")));
}

}  // namespace berth::conform
