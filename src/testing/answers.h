// SPDX-License-Identifier: Apache-2.0
// What a judgement says of every node, by name.
#pragma once

#include <map>
#include <string>

#include "berth/testing.h"
#include "framework/judge.h"

namespace berth::testing {

// The verdict of every live row; a rejection of the pod as a whole is every node's.
inline std::map<std::string, Verdict> VerdictsOf(const framework::Judgement& found, const Snapshot& snapshot,
                                                 const VerdictTable& table) {
  std::map<std::string, Verdict> verdicts;
  for (Row row = 0; row < snapshot.rows(); ++row) {
    if (!snapshot.live(row)) continue;
    Verdict verdict = found.absent;
    if (found.outright) {
      verdict = found.outright->verdict;
    } else if (row < found.verdicts.size() && found.verdicts[row] != kNotJudged) {
      verdict = table.Get(found.verdicts[row]);
    }
    verdicts[snapshot.node(row).name()] = verdict;
  }
  return verdicts;
}

// REQUIRES: of one score plugin.
inline ScoreResult ScoresOf(const framework::Judgement& found, const Snapshot& snapshot) {
  ScoreResult result;
  if (found.kind != framework::Judgement::Kind::kFits) result.error = found.message;
  for (const framework::PluginScores& scores : found.scores) {
    for (size_t i = 0; i < found.feasible.size(); ++i) {
      const std::string& name = snapshot.node(found.feasible[i]).name();
      result.raw[name] = scores.raw[i];
      result.normalized[name] = scores.normalized[i];
    }
  }
  return result;
}

}  // namespace berth::testing
