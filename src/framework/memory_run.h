// SPDX-License-Identifier: Apache-2.0
// MemoryRun: one decision from a class of pods. Made and used by Memory, on the scheduling thread.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "berth/host/prospects.h"
#include "framework/memory.h"

namespace berth::framework {

class MemoryRun {
 public:
  MemoryRun(Memory& memory, const Pod& pod, const Snapshot& snapshot, PodClass& pod_class);
  ~MemoryRun();

  std::optional<Decision> Decide(CycleTrace& trace);
  // Whether what was found out is worth keeping.
  bool keep() const { return keep_; }
  // Where preemption may help, for a pod that fits nowhere. REQUIRES: called by PostFilter.
  Prospects LookAhead();

 private:
  static constexpr uint8_t kOne = 1;  // the activity of a batch of one row

  // Each returns false when this decision has to be left to Judge.
  bool PreFilter();
  bool Mark();
  bool MarkAll();
  bool TakeVerdicts(Marks& marks, Row begin, std::span<const VerdictId> verdicts, std::span<const uint16_t> plugins);
  bool Repair(Row row, RowFields fields);
  // For a pod that only some nodes can hold: looks at those and at nothing else.
  std::optional<Decision> DecideNarrow(CycleTrace& trace);
  bool AskLive();
  bool AskNominated();
  bool Score();
  bool PreScore(size_t at, bool live, bool& skip);  // `at`: position in Profile::pre_score
  bool ScoreRemembered();
  bool ScoreFew(std::span<const Row> rows);
  bool ScoreAll();
  // Consecutive rows with the active ones among them as a list; the list is empty when all are.
  struct Scored {
    Row begin;
    std::span<const uint8_t> active;
    std::span<const Row> list;
  };
  bool ScoreBatch(size_t position, const Scored& rows, int64_t& highest);
  bool AddNormalized();
  bool AddLive();

  // What a filter says of one row: kFitsMark, a refusal's mark, or no value when it failed.
  std::optional<framework::Mark> Ask(size_t position, Row row);
  // The admissible form of what a plugin wrote for a row; no value when it failed.
  std::optional<framework::Mark> Named(Marks& marks, size_t position, VerdictId id);
  void Resize(size_t rows);
  // Rows change by row: nobody who is asked for this pod looks beyond one.
  bool RowsStandAlone() const;
  // Which rows of `beyond` are to be asked about again: into Memory::dirty_. False: all of them. Marks of rows that are
  // no more are gone afterwards, and until Settle is called nothing is known.
  bool Outdated(PodClass::Beyond& beyond, RowFields looked_at);
  void Settle(PodClass::Beyond& beyond) const;
  // What pods nominated to a row have against this pod there, by name in `marks`; no value when a filter failed.
  std::optional<framework::Mark> AgainstNominated(Row row, Marks& marks);
  // Brings the class's `nominated` up to date; false when this decision has to be left to Judge.
  bool RefreshNominated();
  // Brings the class's `cleared` up to date; false when it cannot be remembered.
  bool RefreshCleared();
  framework::Mark ClearedMark(Row row);
  void RefreshBlocks();
  void ListFeasible();
  void PickByBlocks();
  void PickByTotals();

  std::optional<Decision> Fits(CycleTrace& trace);  // no value: leave it to Judge
  Decision Rejects(CycleTrace& trace);
  // A record of this pod that says nothing else yet; of one that fits, `top` is still to be written.
  void Reset(CycleTrace& trace, Judgement::Kind kind) const;
  void Describe(CycleTrace& trace, Judgement::Kind kind) const;
  // What plugins want back from Reserve on; false when one cannot be copied.
  bool TakeLateStates(std::vector<StateSlot>& states) const;

  struct Candidate {
    int64_t total;
    Row row;
    size_t place;  // in feasible_, with totals
  };
  // The best few, better ones and lower rows first; there is always room for them.
  class Best {
   public:
    bool empty() const { return size_ == 0; }
    bool full() const { return size_ == list_.size(); }
    size_t size() const { return size_; }
    const Candidate& front() const { return list_.front(); }
    const Candidate& back() const { return list_[size_ - 1]; }
    const Candidate* begin() const { return list_.data(); }
    const Candidate* end() const { return list_.data() + size_; }
    void Offer(const Candidate& candidate);

   private:
    std::array<Candidate, CycleTrace::kMaxCandidates> list_;
    size_t size_ = 0;
  };

  Memory& memory_;
  const Profile& profile_;
  const Snapshot& snapshot_;
  PodClass& class_;
  CycleRun cycle_;
  const Marks* marks_ = nullptr;  // of this decision: the class's, or with what was asked on top
  Row own_ = kNoRow;              // where the pod itself is nominated to
  PreFilterRuling narrow_;        // which nodes PreFilter left
  bool keep_ = false;
  bool listed_ = false;            // feasible_ is filled
  int64_t constant_ = 0;           // what reversed columns without any score add to all rows
  std::vector<int64_t>& highest_;  // as Profile::score: of the feasible rows
  std::vector<uint8_t>& skipped_;  // as Profile::score
  Row winner_ = kNoRow;
  size_t ties_ = 0;
  Best top_;
  bool nominated_ = false;
};

}  // namespace berth::framework
