// SPDX-License-Identifier: Apache-2.0
// CycleRun: one pod's way through PreFilter and Filter: the plugins' states, who is skipped, and what-ifs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "berth/plugin.h"
#include "framework/profile.h"

namespace berth::framework {

inline constexpr uint16_t kNoPlugin = 0xffff;
// How many rows a plugin is asked about at once.
inline constexpr size_t kBatchRows = 1024;

// Go's rendering of a string slice: "[a b]".
std::string Bracketed(const std::vector<std::string>& names);

// A verdict and the plugin that gave it; kNoPlugin where none did.
struct Ruling {
  Verdict verdict;
  uint16_t plugin = kNoPlugin;
};

// What PreFilter as a whole said.
struct PreFilterRuling {
  Ruling ruling;                                       // Success, rejected, or Error
  std::optional<std::vector<std::string>> node_names;  // sorted; only these can fit
  std::vector<std::string> narrowed_by;                // names of the plugins that narrowed, sorted

  // Another plugin named the only nodes that can fit. False: none is left, and the ruling says so.
  bool Narrow(const std::string& plugin, std::vector<std::string> names);
};

// The states of one pod's plugins, by plugin index. Cloned for what-ifs.
struct PluginStates {
  std::vector<StateSlot> slots;
  std::vector<uint8_t> skip_filter;  // 1: PreFilter said Skip
  Result<PluginStates> Clone(const Profile& profile) const;
};

// Thread safety: scheduling thread; FilterBatch may run on several threads for different batches.
class CycleRun final : public Cycle {
 public:
  // REQUIRES: all outlive the run.
  CycleRun(const Profile& profile, VerdictTable& table, const Pod& pod, const Snapshot& snapshot, Time now);

  // Runs all PreFilter plugins, in order, as upstream's RunPreFilterPlugins does.
  PreFilterRuling RunPreFilter();

  // Asks the Filter plugins about rows [begin, begin + active.size()), at most kBatchRows. Rejected rows lose their
  // active byte; for them verdicts and plugins get an entry. `ask`: by position in Profile::filter, who is asked;
  // empty: all. REQUIRES: RunPreFilter succeeded.
  void FilterBatch(Row begin, std::span<uint8_t> active, std::span<VerdictId> verdicts, std::span<uint16_t> plugins,
                   std::span<const uint8_t> ask = {}) const;
  // One row through an overlay, with the given states.
  Ruling FilterOverlay(const RowOverlay& overlay, const PluginStates& states) const;
  // The same without the reasons. `settled`: the row passed before, with other pods there.
  bool FitsOverlay(const RowOverlay& overlay, const PluginStates& states, bool settled) const;
  // True when pods of at least this pod's priority, other than itself, are nominated to the row.
  bool HasRelevantNominations(Row row) const;
  // FilterOverlay with those pods there. REQUIRES: HasRelevantNominations(row).
  Ruling FilterWithNominated(const RowOverlay& base, const PluginStates& states) const;

  // Tells the tracking PreFilter plugins of a pod that a what-if adds (or takes).
  Error TellPodAdded(PluginStates& states, const PodRecord& pod, Row row) const;
  Error TellPodRemoved(PluginStates& states, const PodRecord& pod, Row row) const;
  // False: there is nobody to tell.
  bool TracksPods() const;

  // From now on filters are taken at their word: those with a 0 here, by place in Profile::filter, say the same of a
  // row whatever pods are on it. REQUIRES: `reacts` outlives the run.
  void Trust(std::span<const uint8_t> reacts) { reacts_ = reacts; }

  std::unique_ptr<WhatIf> Imagine(Row row) const override;

  const Profile& profile() const { return profile_; }
  VerdictTable& table() const { return table_; }
  PluginStates& states() { return states_; }
  const PluginStates& states() const { return states_; }

 private:
  friend class WhatIfRun;
  // What the first filter that is against the row says, in its own words.
  struct Answer {
    VerdictId verdict = kFitsId;
    uint16_t plugin = kNoPlugin;
    Error error = Error::Ok();
    bool fits() const { return verdict == kFitsId && error.ok(); }
  };
  Answer AskOverlay(const RowOverlay& overlay, const PluginStates& states, bool settled) const;
  bool Relevant(const PodRecord& nominated) const;

  const Profile& profile_;
  VerdictTable& table_;
  PluginStates states_;
  std::span<const uint8_t> reacts_;                 // empty: nobody is taken at his word
  mutable std::vector<RowOverlay> spare_overlays_;  // of what-ifs that are over
};

}  // namespace berth::framework
