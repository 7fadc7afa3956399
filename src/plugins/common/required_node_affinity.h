// SPDX-License-Identifier: Apache-2.0
// RequiredNodeAffinity: a pod's nodeSelector and required node affinity, compiled against label columns, so that asking
// about a row is integer work.
#pragma once

#include <vector>

#include "berth/pod.h"
#include "berth/snapshot.h"
#include "plugins/common/node_terms.h"

namespace berth::plugins {

// What a pod itself demands of its node: nodeSelector and one of the required terms. A scheduler's addedAffinity is not
// part of it. Thread safety and lifetime as CompiledTerm's.
class RequiredNodeAffinity {
 public:
  RequiredNodeAffinity(const Pod& pod, const Snapshot& snapshot);
  // False: every node matches.
  bool constrains() const { return !selector_.empty() || has_terms_; }
  bool Matches(Row row) const;

 private:
  std::vector<CompiledTerm> selector_;  // none or one
  bool has_terms_ = false;
  std::vector<CompiledTerm> terms_;
};

}  // namespace berth::plugins
