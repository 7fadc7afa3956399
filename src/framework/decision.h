// SPDX-License-Identifier: Apache-2.0
// Decision: what a scheduling cycle needs to know of a judgement, without a table of all nodes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/plugin.h"
#include "framework/judge.h"

namespace berth::framework {

struct Decision {
  Judgement::Kind kind = Judgement::Kind::kFailed;
  Row row = kNoRow;      // where to, with kFits
  size_t feasible = 0;   // nodes that fit
  size_t evaluated = 0;  // nodes that were asked about
  bool nominated = false;
  bool advised_against = false;
  std::string message;  // the FitError text, or what failed
  // Unless it fits: plugins that rejected some node or the pod as a whole, each once, in no particular order.
  struct Rejector {
    uint16_t plugin;
    bool pending;
    bool operator==(const Rejector&) const = default;
  };
  std::vector<Rejector> rejectors;
  std::vector<std::string> narrowed_by;  // names of plugins that named the only possible nodes
  PostFilterOutcome post_filter;
  uint16_t post_filter_plugin = kNoPlugin;
  std::vector<StateSlot> states;  // for Reserve and what follows; only with kFits
};

// The decision that a full judgement amounts to. Takes the states out of it.
Decision DecisionOf(Judgement& judgement, const Snapshot& snapshot, const VerdictTable& table, size_t start);

}  // namespace berth::framework
