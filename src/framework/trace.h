// SPDX-License-Identifier: Apache-2.0
// CycleTrace: the record of one decision. Always on and small; whoever wants the full table judges again.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "berth/clock.h"
#include "framework/judge.h"

namespace berth::framework {

// At most about 2 KB: texts are kept as ids of the profile's VerdictTable, nodes as rows of the snapshot of that time
// plus names for the few that are shown.
struct CycleTrace {
  struct ReasonCount {
    VerdictId verdict = kFitsId;
    uint16_t plugin = kNoPlugin;
    uint32_t nodes = 0;
    std::string example;  // one node that gave it
  };
  struct Candidate {
    std::string node;
    int64_t total = 0;
    std::vector<std::pair<uint16_t, uint8_t>> scores;  // plugin and its score, 0 to 100; the weight is the profile's
  };

  std::string pod;
  const Profile* profile = nullptr;  // whose plugins are meant below; set by Engine
  Time time;                         // when it was decided, on the engine's clock
  uint64_t position = 0;             // where in the run: how many decisions came before
  Judgement::Kind kind = Judgement::Kind::kFailed;
  uint32_t nodes = 0, evaluated = 0, feasible = 0;
  uint32_t ties = 0;                 // nodes that share the top total, the winner included
  std::vector<ReasonCount> reasons;  // most nodes first; at most kMaxReasons
  std::vector<Candidate> top;        // best first; at most kMaxCandidates
  std::string selected;              // preemption's node, empty without
  uint32_t preemption_candidates = 0, victims = 0;

  static constexpr size_t kMaxReasons = 12;
  static constexpr size_t kMaxCandidates = 5;
};

// What preemption came to, for the record.
void DescribePlan(const PostFilterOutcome& outcome, CycleTrace& trace);

// The order of reasons: most nodes first, then by plugin and by text. Ids would tell who spoke first, which is chance
// where threads judge side by side.
bool ReasonBefore(const CycleTrace::ReasonCount& a, const CycleTrace::ReasonCount& b, const VerdictTable& table);

// `table`: of the judgement's verdicts.
CycleTrace MakeTrace(const Pod& pod, const Snapshot& snapshot, const Judgement& judgement, const VerdictTable& table,
                     uint64_t position);

// The last so many traces, oldest first out.
// Thread safety: scheduling thread only.
class TraceRing {
 public:
  explicit TraceRing(size_t capacity) : ring_(capacity) {}
  void Add(CycleTrace trace) { Next() = std::move(trace); }
  // The slot of the next trace, with whatever an old one left in it.
  CycleTrace& Next() { return ring_[next_++ % ring_.size()]; }
  // The newest first. REQUIRES: age < size()
  const CycleTrace& at(size_t age) const { return ring_[(next_ - 1 - age) % ring_.size()]; }
  size_t capacity() const { return ring_.size(); }
  // The newest trace of a pod (`namespace/name`); null when it is not (or no longer) there.
  const CycleTrace* Find(const std::string& pod) const;
  // Takes back the last Next. REQUIRES: size() > 0
  void Drop() { --next_; }
  // REQUIRES: size() > 0
  const CycleTrace& last() const { return ring_[(next_ - 1) % ring_.size()]; }
  size_t size() const { return next_ < ring_.size() ? next_ : ring_.size(); }

 private:
  std::vector<CycleTrace> ring_;
  size_t next_ = 0;
};

}  // namespace berth::framework
