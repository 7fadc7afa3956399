// SPDX-License-Identifier: Apache-2.0
// Explanation: everything said about one pod, in the form that `berth explain -o json` prints and other tools build on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "berth/value.h"
#include "framework/judge.h"

namespace berth::framework {

struct Explanation {
  struct Refusal {
    std::string plugin;  // empty: no single plugin, e.g. a node left out by PreFilter
    Code code = Code::kSuccess;
    std::vector<std::string> reasons;
  };
  struct PluginScore {
    int64_t raw = 0, normalized = 0, weighted = 0;
  };
  struct NodeLine {
    std::string name;
    bool feasible = false;
    Refusal refusal;                            // when not feasible
    std::map<std::string, PluginScore> scores;  // empty with a single feasible node
    std::optional<int64_t> total;
  };
  struct Candidate {
    std::string node;
    std::vector<std::string> victims;  // namespace/name
    int64_t pdb_violations = 0;
  };
  struct Preemption {
    std::vector<Candidate> candidates;  // by node name
    std::string selected;
    std::vector<std::string> equals;  // nodes that upstream would pick among at random
  };
  // Why the winner won: the best of the rest, by how much, and the plugin whose score differs most in its favour.
  struct Margin {
    std::string runner_up;
    int64_t by = 0;
    std::string term;
    int64_t term_by = 0;
  };

  std::string pod, profile;
  std::optional<Refusal> pre_filter;
  std::vector<NodeLine> nodes;       // by name; empty after an outright rejection
  std::vector<std::string> winners;  // all feasible nodes with the top total, by name
  std::string message;
  std::optional<Preemption> preemption;
  std::vector<std::string> not_asked;  // extenders of the configuration that nobody asked: a sentence each

  // No value without a winner or a second candidate.
  // `winner`: the node that was picked among equals; empty: the first by name.
  std::optional<Margin> margin(const std::string& winner = "") const;
};

Explanation Explain(const Pod& pod, const Profile& profile, const VerdictTable& table, const Snapshot& snapshot,
                    const Judgement& judgement);

// The JSON document that explain prints, apiVersion and kind included.
Value ToValue(const Explanation& explanation);

}  // namespace berth::framework
