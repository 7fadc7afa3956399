// SPDX-License-Identifier: Apache-2.0
// PreFilter, Filter, nominated pods and what-ifs.
#include "framework/cycle_run.h"

#include <algorithm>
#include <array>
#include <utility>

#include "berth/vectorized.h"
#include "framework/call_timer.h"
#include "framework/one_verdict.h"
#include "framework/plugin_call.h"

namespace berth::framework {
namespace {

std::string Quoted(const std::string& name) { return "\"" + name + "\""; }

// What a Filter plugin wrote, as the cycle takes it: anything that is neither success nor a rejection is a failure.
VerdictId Admissible(VerdictId id, VerdictTable& table) {
  const Verdict& verdict = table.Get(id);
  if (verdict.fits()) return kFitsId;
  return verdict.rejected() || verdict.code() == Code::kError ? id : table.Intern(Verdict::Fail(verdict.message()));
}

// Rejects the active rows with a slot, all for the same reason, without a branch per row. Returns how many.
BERTH_VECTORIZED size_t TakeOne(const VerdictId* __restrict slots, size_t n, uint8_t* __restrict active,
                                VerdictId verdict, uint16_t plugin, VerdictId* __restrict verdicts,
                                uint16_t* __restrict plugins) {
  uint32_t count = 0;
  for (size_t i = 0; i < n; ++i) {
    const auto taken = static_cast<uint8_t>(active[i] & (slots[i] != kFitsId));
    const VerdictId mask = VerdictId{0} - VerdictId{taken};
    const auto half = static_cast<uint16_t>(mask);
    verdicts[i] = (verdicts[i] & ~mask) | (verdict & mask);
    plugins[i] = static_cast<uint16_t>((plugins[i] & ~half) | (plugin & half));
    active[i] = static_cast<uint8_t>(active[i] ^ taken);
    count += taken;
  }
  return count;
}

}  // namespace

std::string Bracketed(const std::vector<std::string>& names) {
  std::string text = "[";
  for (const std::string& name : names) text += (text.size() > 1 ? " " : "") + name;
  return text + "]";
}

Result<PluginStates> PluginStates::Clone(const Profile& profile) const {
  PluginStates copy;
  copy.skip_filter = skip_filter;
  copy.slots.resize(slots.size());
  for (size_t i = 0; i < slots.size(); ++i) {
    if (!slots[i]) continue;
    Result<StateSlot> slot = CallClone(profile, static_cast<uint16_t>(i), slots[i]);
    if (!slot.ok()) return slot.error();
    copy.slots[i] = std::move(slot).value();
  }
  return copy;
}

CycleRun::CycleRun(const Profile& profile, VerdictTable& table, const Pod& pod, const Snapshot& snapshot, Time now)
    : Cycle(pod, snapshot, now), profile_(profile), table_(table) {
  states_.slots.resize(profile.plugins.size());
  states_.skip_filter.resize(profile.plugins.size());
}

bool PreFilterRuling::Narrow(const std::string& plugin, std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (node_names) {
    std::vector<std::string> both;
    std::set_intersection(names.begin(), names.end(), node_names->begin(), node_names->end(), std::back_inserter(both));
    names = std::move(both);
  }
  node_names = std::move(names);
  narrowed_by.insert(std::lower_bound(narrowed_by.begin(), narrowed_by.end(), plugin), plugin);
  if (!node_names->empty()) return true;
  const std::string text = narrowed_by.size() == 1
                               ? "node(s) didn't satisfy plugin " + plugin
                               : "node(s) didn't satisfy plugin(s) " + Bracketed(narrowed_by) + " simultaneously";
  ruling = {Verdict(Code::kUnschedulableAndUnresolvable, text), kNoPlugin};
  return false;
}

PreFilterRuling CycleRun::RunPreFilter() {
  PreFilterRuling result;
  for (const auto& entry : profile_.pre_filter) {
    const std::string& name = profile_.name(entry.index);
    PreFilterOutcome outcome = CallPreFilter(profile_, entry, *this);
    states_.slots[entry.index] = std::move(outcome.state);
    const Code code = outcome.verdict.code();
    if (code == Code::kSkip) {
      states_.skip_filter[entry.index] = 1;
      continue;
    }
    if (code == Code::kUnschedulableAndUnresolvable) {
      result.ruling = {std::move(outcome.verdict), entry.index};
      return result;
    }
    if (code == Code::kUnschedulable) {
      // The others still run: preemption needs their state. The last such verdict is the one reported.
      result.ruling = {std::move(outcome.verdict), entry.index};
      continue;
    }
    if (code != Code::kSuccess) {
      result.ruling = {Verdict::Fail("running PreFilter plugin " + Quoted(name) + ": " + outcome.verdict.message()),
                       entry.index};
      return result;
    }
    if (!outcome.node_names) continue;
    if (!result.Narrow(name, std::move(*outcome.node_names))) return result;
  }
  return result;
}

void CycleRun::FilterBatch(Row begin, std::span<uint8_t> active, std::span<VerdictId> verdicts,
                           std::span<uint16_t> plugins, std::span<const uint8_t> ask) const {
  std::array<VerdictId, kBatchRows> storage;
  const std::span<VerdictId> slots(storage.data(), active.size());
  size_t left = 0;
  for (const uint8_t a : active) left += a;
  bool clean = false;  // all slots say "fits"
  for (size_t position = 0; position < profile_.filter.size(); ++position) {
    const auto& entry = profile_.filter[position];
    if (left == 0) return;
    if (states_.skip_filter[entry.index] || (!ask.empty() && !ask[position])) continue;
    if (!clean) std::fill(slots.begin(), slots.end(), kFitsId);
    Rejections out(slots, table_);
    const NodeBatch batch(snapshot(), begin, active);
    CountCalls(profile_, entry.index, PluginFunction::kFilter, left);
    const Error error = CallFilter(profile_, entry, *this, states_.slots[entry.index].get(), batch, out);
    if (!error.ok()) std::fill(slots.begin(), slots.end(), table_.Intern(Verdict::Fail(error.text())));
    const VerdictId one = OneVerdict(slots);
    clean = one == kFitsId;
    if (clean) continue;
    if (one != kNotJudged) {
      const VerdictId admissible = Admissible(one, table_);
      if (admissible != kFitsId)
        left -= TakeOne(slots.data(), slots.size(), active.data(), admissible, entry.index, verdicts.data(),
                        plugins.data());
      continue;
    }
    VerdictId last = kFitsId, admissible = kFitsId;  // neighbours mostly share a verdict
    for (size_t i = 0; i < slots.size(); ++i) {
      if (slots[i] == kFitsId || !active[i]) continue;
      if (slots[i] != last) admissible = Admissible(last = slots[i], table_);
      if (admissible == kFitsId) continue;
      active[i] = 0;
      verdicts[i] = admissible;
      plugins[i] = entry.index;
      --left;
    }
  }
}

CycleRun::Answer CycleRun::AskOverlay(const RowOverlay& overlay, const PluginStates& states, bool settled) const {
  const NodeBatch batch(snapshot(), overlay);
  for (size_t position = 0; position < profile_.filter.size(); ++position) {
    const auto& entry = profile_.filter[position];
    if (states.skip_filter[entry.index]) continue;
    if (settled && !reacts_.empty() && !reacts_[position]) continue;
    VerdictId slot = kFitsId;
    Rejections out(std::span<VerdictId>(&slot, 1), table_);
    CountCalls(profile_, entry.index, PluginFunction::kFilter);
    Error error = CallFilter(profile_, entry, *this, states.slots[entry.index].get(), batch, out);
    if (!error.ok()) return {kFitsId, entry.index, std::move(error)};
    if (slot != kFitsId) slot = Admissible(slot, table_);
    if (slot != kFitsId) return {slot, entry.index, Error::Ok()};
  }
  return {};
}

Ruling CycleRun::FilterOverlay(const RowOverlay& overlay, const PluginStates& states) const {
  const Answer answer = AskOverlay(overlay, states, false);
  if (!answer.error.ok()) return {Verdict::Fail(answer.error.text()), answer.plugin};
  if (answer.verdict == kFitsId) return {};
  return {table_.Get(answer.verdict), answer.plugin};
}

bool CycleRun::FitsOverlay(const RowOverlay& overlay, const PluginStates& states, bool settled) const {
  return AskOverlay(overlay, states, settled).fits();
}

bool CycleRun::Relevant(const PodRecord& nominated) const {
  return nominated.pod->priority >= pod().priority && nominated.pod->uid() != pod().uid();
}

bool CycleRun::HasRelevantNominations(Row row) const {
  for (const PodRecord* nominated : snapshot().nominated(row))
    if (Relevant(*nominated)) return true;
  return false;
}

Ruling CycleRun::FilterWithNominated(const RowOverlay& base, const PluginStates& states) const {
  RowOverlay overlay = base;
  std::optional<PluginStates> with;
  if (TracksPods()) {
    Result<PluginStates> copy = states.Clone(profile_);
    if (!copy.ok()) return {Verdict::Fail(copy.error().text()), kNoPlugin};
    with = std::move(copy).value();
  }
  for (const PodRecord* nominated : snapshot().nominated(base.row())) {
    if (!Relevant(*nominated)) continue;
    overlay.AddPod(*nominated);
    if (!with) continue;
    const Error error = TellPodAdded(*with, *nominated, base.row());
    if (!error.ok()) return {Verdict::Fail(error.text()), kNoPlugin};
  }
  return FilterOverlay(overlay, with ? *with : states);
}

bool CycleRun::TracksPods() const {
  return std::any_of(profile_.pre_filter.begin(), profile_.pre_filter.end(),
                     [&](const auto& entry) { return !states_.skip_filter[entry.index] && entry.tracks_pods; });
}

Error CycleRun::TellPodAdded(PluginStates& states, const PodRecord& pod, Row row) const {
  for (const auto& entry : profile_.pre_filter) {
    if (states.skip_filter[entry.index] || !entry.tracks_pods) continue;
    const Error error = CallAddPod(profile_, entry, *this, states.slots[entry.index].get(), pod, row);
    if (!error.ok()) return error.Wrap("running AddPod on PreFilter plugin " + Quoted(profile_.name(entry.index)));
  }
  return Error::Ok();
}

Error CycleRun::TellPodRemoved(PluginStates& states, const PodRecord& pod, Row row) const {
  for (const auto& entry : profile_.pre_filter) {
    if (states.skip_filter[entry.index] || !entry.tracks_pods) continue;
    const Error error = CallRemovePod(profile_, entry, *this, states.slots[entry.index].get(), pod, row);
    if (!error.ok()) return error.Wrap("running RemovePod on PreFilter plugin " + Quoted(profile_.name(entry.index)));
  }
  return Error::Ok();
}

// A question about one node. States are cloned when the first pod is moved and somebody keeps track of that.
class WhatIfRun final : public WhatIf {
 public:
  WhatIfRun(const CycleRun& run, Row row) : run_(run), row_(row), tracks_(run.TracksPods()), overlay_(Take(run, row)) {}
  ~WhatIfRun() override { run_.spare_overlays_.push_back(std::move(overlay_)); }
  WhatIfRun(const WhatIfRun&) = delete;
  WhatIfRun& operator=(const WhatIfRun&) = delete;

  Error RemovePod(const PodRecord& pod) override {
    overlay_.RemovePod(pod);
    if (!tracks_) return Error::Ok();
    if (Error error = OwnStates(); !error.ok()) return error;
    return run_.TellPodRemoved(*own_, pod, row_);
  }
  Error AddPod(const PodRecord& pod) override {
    overlay_.AddPod(pod);
    if (!tracks_) return Error::Ok();
    if (Error error = OwnStates(); !error.ok()) return error;
    return run_.TellPodAdded(*own_, pod, row_);
  }
  Verdict Judge() override {
    if (run_.HasRelevantNominations(row_)) {
      Ruling with = run_.FilterWithNominated(overlay_, states());
      if (!with.verdict.fits()) return Worded(std::move(with));
    }
    Verdict verdict = Worded(run_.FilterOverlay(overlay_, states()));
    settled_ = settled_ || verdict.fits();
    return verdict;
  }
  bool Fits() override {
    if (run_.HasRelevantNominations(row_) && !run_.FilterWithNominated(overlay_, states()).verdict.fits()) return false;
    const bool fits = run_.FitsOverlay(overlay_, states(), settled_);
    settled_ = settled_ || fits;
    return fits;
  }

 private:
  static RowOverlay Take(const CycleRun& run, Row row) {
    if (run.spare_overlays_.empty()) return RowOverlay(run.snapshot(), row);
    RowOverlay overlay = std::move(run.spare_overlays_.back());
    run.spare_overlays_.pop_back();
    overlay.Reset(run.snapshot(), row);
    return overlay;
  }
  const PluginStates& states() const { return own_ ? *own_ : run_.states(); }
  // A failing plugin's words with upstream's in front, as RunFilterPlugins has them.
  Verdict Worded(Ruling ruling) const {
    const bool failed = !ruling.verdict.fits() && !ruling.verdict.rejected() && ruling.plugin != kNoPlugin;
    if (!failed) return std::move(ruling.verdict);
    return Verdict::Fail("running " + Quoted(run_.profile().name(ruling.plugin)) +
                         " filter plugin: " + ruling.verdict.message());
  }
  // Makes `own_`.
  Error OwnStates() {
    if (own_) return Error::Ok();
    Result<PluginStates> copy = run_.states().Clone(run_.profile());
    if (!copy.ok()) return copy.error();
    own_ = std::move(copy).value();
    return Error::Ok();
  }

  const CycleRun& run_;
  const Row row_;
  const bool tracks_;
  RowOverlay overlay_;
  bool settled_ = false;  // it fitted once
  std::optional<PluginStates> own_;
};

std::unique_ptr<WhatIf> CycleRun::Imagine(Row row) const { return std::make_unique<WhatIfRun>(*this, row); }

}  // namespace berth::framework
