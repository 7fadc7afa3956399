// SPDX-License-Identifier: Apache-2.0
// PreemptionReviewer: a preempting PostFilter plugin whose candidates others may look at before it chooses.
#pragma once

#include <vector>

#include "berth/error.h"
#include "berth/plugin.h"

namespace berth {
inline namespace v1 {

// Extenders get the candidates of a plan and may drop nodes or change the victims; the choice among what they leave is
// the plugin's. A PostFilter plugin with plans that does not implement it is not reviewed: its choice stands.
class PreemptionReviewer {
 public:
  virtual ~PreemptionReviewer() = default;
  // `left`: the candidates, each with at least one victim, the most important first; or why nobody could be asked. The
  // outcome is what PostFilter would have returned with these.
  virtual PostFilterOutcome Review(const Cycle& cycle, Result<std::vector<PreemptionCandidate>> left) const = 0;
};

}  // namespace v1
}  // namespace berth
