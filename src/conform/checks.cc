// SPDX-License-Identifier: Apache-2.0
// The table of checks.
#include "conform/checks.h"

namespace berth::conform {
namespace {

// Which questions a check is made for.
constexpr unsigned kF = 1, kP = 2, kE = 4, kB = 8;
constexpr unsigned kNodes = 1, kNames = 2, kBoth = 3;

struct Row {
  unsigned verbs, shapes;
  const char* ending;
  const char* about;
  void (*run)(Trial&);
};

constexpr Row kRows[] = {
    {kF | kP | kE | kB, kBoth, "answers", "answers 200 with what kube-scheduler can read", CheckAnswers},
    {kF, kBoth, "subset", "passes only nodes that it was asked about, each once", CheckSubset},
    {kF, kBoth, "kind", "answers with the kind of list that was sent", CheckKind},
    {kF, kBoth, "complete", "passes or fails every node, and says why it fails", CheckComplete},
    {kF, kNodes, "intact", "gives nodes back as they came", CheckIntact},
    {kP, kBoth, "hosts", "gives every node one score", CheckHosts},
    {kP, kBoth, "range", "scores from 0 to 10", CheckRange},
    {kE, kBoth, "candidates", "keeps only candidates that it was asked about", CheckCandidates},
    {kE, kBoth, "victims", "keeps known victims in their order, at least one per node", CheckVictims},
    {kF | kP | kE, kBoth, "determinism", "answers equal questions equally", CheckDeterminism},
    {kF, kBoth, "one-node", "answers about a single node", CheckOneNode},
    {kF | kP | kE, kBoth, "empty-list", "has nothing to say about no node", CheckEmptyList},
    {kF | kP | kE, kBoth, "nulls", "takes null for what is not there", CheckNulls},
    {kF | kP | kE, kBoth, "key-case", "reads keys in any case, as Go does", CheckKeyCase},
    {kF | kP | kE, kBoth, "unknown-fields", "passes over fields that it does not know", CheckUnknownFields},
    {kF | kP, kNames, "unknown-node", "goes on when it does not know a node", CheckUnknownNode},
    {kF | kP, kBoth, "big", "answers about all nodes of a large cluster in time", CheckBig},
    {kF | kP | kE, kBoth, "latency", "answers well within the timeout", CheckLatency},
};

struct ServerRow {
  const char* ending;
  const char* about;
  void (*run)(Trial&);
};

constexpr ServerRow kServerRows[] = {
    {"malformed-json", "answers malformed JSON with an error, and the next request as ever", CheckMalformedJson},
    {"wrong-method", "refuses methods other than POST", CheckWrongMethod},
    {"wrong-path", "refuses paths that are no verb", CheckWrongPath},
    {"content-type", "answers a body of another type, one way or the other", CheckContentType},
    {"keep-alive", "keeps connections open between requests", CheckKeepAlive},
    {"concurrency", "answers many at once, each its own question", CheckConcurrency},
    {"slow-client", "answers others while a client is slow", CheckSlowClient},
    {"vanishing-client", "answers others after a client has gone in mid-request", CheckVanishingClient},
};

std::vector<Check> MakeChecks() {
  std::vector<Check> checks;
  for (const auto& [verb, bit] :
       {std::pair{Verb::kFilter, kF}, {Verb::kPrioritize, kP}, {Verb::kPreempt, kE}, {Verb::kBind, kB}}) {
    for (const auto& [shape, form] : {std::pair{Shape::kNodes, kNodes}, {Shape::kNames, kNames}}) {
      if (verb == Verb::kBind && shape == Shape::kNames) continue;  // it has no shapes
      for (const Row& row : kRows) {
        if ((row.verbs & bit) == 0 || (row.shapes & form) == 0) continue;
        const Target target{verb, shape};
        checks.push_back({ToString(target) + "." + row.ending, row.about, false, target, row.run});
      }
    }
  }
  for (const ServerRow& row : kServerRows) {
    checks.push_back({std::string("server.") + row.ending, row.about, true, {}, row.run});
  }
  return checks;
}

}  // namespace

const std::vector<Check>& AllChecks() {
  static const std::vector<Check> checks = MakeChecks();
  return checks;
}

}  // namespace berth::conform
