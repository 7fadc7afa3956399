// SPDX-License-Identifier: Apache-2.0
// Every check there is, by name. Each looks at one thing; a fault is found by the check that is named after it.
#pragma once

#include <string>
#include <vector>

#include "conform/trial.h"

namespace berth::conform {

struct Check {
  std::string name;   // "filter.nodes.subset", "server.slow-client"
  std::string about;  // what an extender does that passes
  bool server = false;
  Target target{};  // unless `server`
  void (*run)(Trial& trial) = nullptr;
};

// In the order in which they are made.
const std::vector<Check>& AllChecks();

// checks_answers.cc: answers to the plain question.
void CheckAnswers(Trial& trial);
void CheckSubset(Trial& trial);
void CheckKind(Trial& trial);
void CheckComplete(Trial& trial);
void CheckIntact(Trial& trial);
void CheckHosts(Trial& trial);
void CheckRange(Trial& trial);
// checks_preempt.cc
void CheckCandidates(Trial& trial);
void CheckVictims(Trial& trial);
// checks_requests.cc: the same question in other bytes, and questions at the edge.
void CheckDeterminism(Trial& trial);
void CheckOneNode(Trial& trial);
void CheckEmptyList(Trial& trial);
void CheckNulls(Trial& trial);
void CheckKeyCase(Trial& trial);
void CheckUnknownFields(Trial& trial);
void CheckUnknownNode(Trial& trial);
// checks_load.cc
void CheckBig(Trial& trial);
void CheckLatency(Trial& trial);
void CheckConcurrency(Trial& trial);
void CheckSlowClient(Trial& trial);
void CheckVanishingClient(Trial& trial);
// checks_server.cc
void CheckMalformedJson(Trial& trial);
void CheckWrongMethod(Trial& trial);
void CheckWrongPath(Trial& trial);
void CheckContentType(Trial& trial);
void CheckKeepAlive(Trial& trial);

// The rules that hold for any question: which nodes passed, and what was said of them.
void JudgeSubset(Trial& trial, const Asked& asked, std::span<const SampleNode> nodes);
void JudgeComplete(Trial& trial, const Asked& asked, std::span<const SampleNode> nodes);
void JudgeHosts(Trial& trial, const Asked& asked, std::span<const SampleNode> nodes);

}  // namespace berth::conform
