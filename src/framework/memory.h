// SPDX-License-Identifier: Apache-2.0
// Memory: decides about pods from what was decided about equal ones, looking again only at rows that changed.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "framework/decision.h"
#include "framework/pod_class.h"
#include "framework/trace.h"
#include "util/secret_hash.h"
#include "util/worker_pool.h"

namespace berth::framework {

struct MemoryOptions {
  size_t max_bytes = size_t{64} << 20;  // of all classes; at least one is kept
  // How many threads may share a look at all rows of a large cluster. What is decided does not depend on it.
  size_t threads = 1;
  size_t split_rows = 16384;  // from here on it is worth their while
};

// Pods with one signature (what the plugins' Sign collected) form a class. For a class it keeps, by row, who rejects it
// and the scores, as far as plugins declare that these depend on columns of the row. What happened since is read from
// the change log: a row is judged again by the plugins that look at columns that changed. Plugins that do not declare
// it, or whose answers depend on other rows or on an index of theirs, are asked about all rows every time; where there
// is such a plugin, so are rows with relevant nominations.
//
// The answer is that of Judge, always: same kind, node, message, rejectors and record (Verifier checks it). What cannot
// be remembered (a rejection by PreFilter, a failing plugin, an explicit percentage, advice) is left to Judge.
//
// Thread safety: scheduling thread.
class Memory {
 public:
  // `indexes`: of the profile's plugins, by plugin; null where there is none. REQUIRES: all outlive the memory.
  Memory(const Profile& profile, VerdictTable& table, const Clock& clock, std::vector<const PluginIndex*> indexes,
         const MemoryOptions& options = {});
  ~Memory();

  // No value: ask Judge. `trace` is filled in otherwise, but for its position.
  std::optional<Decision> Decide(const Pod& pod, const Snapshot& snapshot, CycleTrace& trace);

  struct Stats {
    uint64_t decisions = 0;  // answered here
    uint64_t left = 0;       // left to Judge
    uint64_t hits = 0;       // of pods whose class was known
    uint64_t full_passes = 0;
    uint64_t by_blocks = 0;  // the winner was the best of some blocks of rows, not looked for row by row
    uint64_t repaired_rows = 0;
    uint64_t cleared_rows = 0;  // judged with all pods of lower priority gone
    size_t classes = 0, bytes = 0;
  };
  Stats stats() const;

 private:
  friend class MemoryRun;
  struct FilterPlan {
    Depends depends;
    bool remembered = false;
  };
  struct ScorePlan {
    Depends depends;
    bool remembered = false;
    size_t pre_score = SIZE_MAX;  // position in Profile::pre_score; SIZE_MAX: it has none
  };

  // False: the pod's answers cannot be shared. `signed_by`, unless null: by plugin, whether it took part.
  bool Sign(const Pod& pod, std::string& out, std::vector<uint8_t>* signed_by = nullptr) const;
  PodClass* ClassOf(const Pod& pod, std::unique_ptr<PodClass>& fresh);
  void Keep(std::unique_ptr<PodClass> fresh);
  // Lets the classes go that were not used for longest, until the rest fits.
  void Weigh(PodClass& used);
  // Whether a pod of this signature was here before, lately; from now on it was.
  bool SeenBefore(const std::string& signature);
  bool Splits(size_t rows) const { return pool_ && rows >= options_.split_rows; }
  uint64_t StampOf(const Snapshot& snapshot, Epochs epochs, uint16_t plugin) const;

  const Profile& profile_;
  VerdictTable& table_;
  const Clock& clock_;
  const std::vector<const PluginIndex*> indexes_;
  const MemoryOptions options_;
  std::vector<FilterPlan> filters_;     // as Profile::filter
  std::vector<ScorePlan> scores_;       // as Profile::score
  std::vector<uint16_t> signers_;       // plugins that take part in the signature
  std::vector<uint16_t> may_sign_;      // plugins with a PreFilter that is asked for every pod, unless they sign
  std::vector<uint8_t> signs_;          // the same, by plugin
  std::vector<uint8_t> late_;           // by plugin: from Reserve on, where it may want PreFilter's state
  std::vector<size_t> pre_score_only_;  // positions in Profile::pre_score of plugins that do not score
  std::vector<uint16_t> position_of_;   // by plugin: its place in Profile::filter
  std::vector<uint8_t> ask_;            // by that place: whether it is remembered
  std::vector<uint8_t> reacts_;         // by that place: 0: what it says of a row is the same with other pods there
  bool weights_fit_ = true;             // in PodClass::Total
  std::unique_ptr<util::WorkerPool> pool_;
  Epochs filter_epochs_ = 0, score_epochs_ = 0;
  RowFields filter_fields_ = 0, score_fields_ = 0;

  std::unordered_map<std::string, std::unique_ptr<PodClass>, SecretStringHash, std::equal_to<>> classes_;
  PodClass* last_ = nullptr;
  std::unique_ptr<PodClass> spare_;
  std::list<PodClass*> by_use_;  // the one not used for longest first
  // Hashes of signatures, each in its place. A class is kept from the second pod on: most templates have more than one
  // pod, but a flood of pods that are all different should neither push them out nor pay for being kept.
  std::vector<uint64_t> seen_;
  size_t bytes_ = 0;
  Stats stats_;

  // Room for one decision.
  Marks work_;
  std::vector<uint8_t> active_;
  std::vector<RowFields> dirty_fields_;
  std::vector<Row> dirty_;
  std::vector<Row> feasible_, fitting_;
  RowOverlay overlay_;
  std::vector<int64_t> totals_, scratch_;
  std::vector<int64_t> highest_;  // MemoryRun's, as the next
  std::vector<uint8_t> skipped_;
  std::vector<std::vector<int64_t>> live_scores_;  // as Profile::score: normalized, by place in feasible_
};

}  // namespace berth::framework
