// SPDX-License-Identifier: Apache-2.0
// PodClass: what is remembered of all pods that are equal in the eyes of a profile's plugins.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "berth/host/prospects.h"
#include "berth/plugin.h"
#include "framework/cycle_run.h"

namespace berth::framework {

// One way of being rejected, small enough to be named by 16 bits per row.
struct Refusal {
  VerdictId verdict = kFitsId;
  uint16_t plugin = kNoPlugin;  // index into Profile::plugins
  uint16_t position = 0;        // in Profile::filter
  Code code = Code::kSuccess;
  bool operator==(const Refusal& other) const {
    return verdict == other.verdict && plugin == other.plugin && position == other.position;
  }
};

// By row: 0 fits, kAbsent there is no node (or it was left out), otherwise 1 + an index into the refusals.
using Mark = uint16_t;
inline constexpr Mark kFitsMark = 0;
inline constexpr Mark kAbsentMark = 0xffff;

// Rows, refusals and how many rows each has. Counts hold for every mark but kAbsentMark.
struct Marks {
  std::vector<Mark> by_row;
  std::vector<Refusal> refusals;
  std::vector<uint32_t> counts{0};    // by mark
  std::vector<Row> examples{kNoRow};  // by mark: a row that had it; check before use

  // The mark of a refusal, kAbsentMark when there are too many to name.
  Mark Name(const Refusal& refusal);
  // The mark of what the plugin at `position` has said before; kAbsentMark when it has not.
  Mark Find(size_t position, VerdictId verdict) const;
  void Set(Row row, Mark mark) {
    Mark& slot = by_row[row];
    if (slot != kAbsentMark) --counts[slot];
    if (mark != kAbsentMark) {
      ++counts[mark];
      examples[mark] = row;
    }
    slot = mark;
  }
  // A row with this mark. REQUIRES: counts[mark] > 0
  Row Example(Mark mark) const;
  // In Profile::filter, the place of the plugin that rejected the row; past the end when it fits.
  size_t Position(Row row) const {
    const Mark mark = by_row[row];
    return mark == kFitsMark ? SIZE_MAX : refusals[mark - 1].position;
  }
  void Clear(size_t rows);
};

inline constexpr int32_t kUnscored = INT32_MIN;
// Rows per block of PodClass::blocks, as a power of two: a changed row costs a look at its block and at every other
// block's best, so both grow with the root of the cluster's size.
inline constexpr unsigned BlockShift(size_t rows) {
  unsigned shift = 6;
  while (shift < 16 && (rows >> shift) > (size_t{2} << shift)) ++shift;
  return shift;
}

struct PodClass {
  // A weighted sum of scores. Profiles whose weights could overflow it are not remembered.
  using Total = int32_t;
  // What a plugin said once, and while what it holds.
  struct Outcome {
    bool known = false;
    bool skip = false;
    Epochs epochs = epoch::kUnrememberable;
    uint64_t stamp = 0;
  };
  // A remembered score plugin.
  struct ScoreColumn {
    bool skip = false;         // its PreScore said so
    std::vector<uint8_t> raw;  // by row, without normalization
    std::vector<int64_t> big;  // by row, with normalization by the highest
    int64_t highest = 0;       // at least that of any row since the column was filled
  };

  std::string signature;
  std::vector<uint8_t> signed_by;  // by plugin
  // States may point into it. None: the class is this decision's only, and the pod at hand serves.
  std::optional<Pod> exemplar;
  bool identity_blind = false;  // the signature does not depend on name, uid and the like

  std::vector<Outcome> pre_filter;  // as Profile::pre_filter
  PluginStates states;

  bool marked = false;  // `marks` holds as of `position` for the remembered plugins
  uint64_t position = 0, filter_stamp = 0;
  uint64_t fills = 0;  // how often `marks` was made from nothing
  Marks marks;

  // What is known of rows beyond `marks`, for pods of one priority that are not nominated to the row themselves.
  struct Beyond {
    uint64_t fill = 0;  // PodClass::fills; 0: never made
    uint64_t position = 0;
    int32_t priority = 0;
    std::vector<Row> unsettled;  // asked about by a pod that was nominated there: to be asked again by the next
    Marks marks;
  };
  // `marks`, with the pods that are nominated to a row there.
  struct Nominated : Beyond {
    std::vector<uint8_t> rejects;  // by row: 1: because of them
    size_t rejecting = 0;          // rows with a 1
  };
  Nominated nominated;
  // What rejects the pod on a row with every pod of lower priority gone. Only rows that `nominated` (`marks`, where it
  // is not made) rejects and where taking pods away may help have a mark.
  struct Cleared : Beyond {
    std::vector<std::shared_ptr<const RowNote>> notes;  // by row; empty: nobody wrote one
    size_t noted = 0;                                   // how many there are, at the most
  };
  Cleared cleared;

  std::vector<Outcome> pre_score;  // as Profile::pre_score
  std::vector<StateSlot> score_states;
  bool scored = false;  // the columns below hold, except for rows in `unscored`
  uint64_t score_stamp = 0;
  std::vector<Row> unscored;  // rows to score again; may repeat, may not fit any more
  std::vector<Total> fixed;   // by row: weighted sum of columns without normalization; kUnscored if it does not fit
  std::vector<ScoreColumn> columns;  // as Profile::score; unused for those that are asked every time

  // Of every block of rows by `fixed`: the best, how many rows have it, and their lowest rank in node order.
  struct Blocks {
    std::vector<Total> best;
    std::vector<uint32_t> ties, rank;
    std::vector<uint8_t> valid;

    size_t size() const { return best.size(); }
    void Resize(size_t count) {
      best.resize(count);
      ties.resize(count);
      rank.resize(count);
      valid.assign(count, 0);
    }
  };
  Blocks blocks;
  unsigned block_shift = 0;  // rows per block: 1 << block_shift
  uint64_t block_stamp = 0;  // of the node order
  // None is valid after that.
  void ResizeBlocks(size_t rows) {
    block_shift = BlockShift(rows);
    blocks.Resize((rows >> block_shift) + 1);
  }
  void Spoil(Row row) { blocks.valid[row >> block_shift] = 0; }

  size_t weight = 0;                     // in bytes, when it was last weighed
  std::list<PodClass*>::iterator place;  // in the order of use
  size_t Bytes() const;
};

}  // namespace berth::framework
