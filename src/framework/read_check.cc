// SPDX-License-Identifier: Apache-2.0
// What covers what, and the watchers: each stands in a profile for one plugin at one point and shows it a snapshot that
// notes what is read.
#include "framework/read_check.h"

#include <optional>
#include <span>
#include <type_traits>
#include <utility>

namespace berth::framework {
namespace {

constexpr RowFields kNodeObject = ReadSet::kNodeObject;
// What a Node object is the source of.
constexpr RowFields kOfNode = row_field::kName | row_field::kAllocatable | row_field::kLabels | row_field::kTaints |
                              row_field::kUnschedulable | row_field::kImages | row_field::kFeatures;

struct Column {
  RowFields field;
  const char* name;
  // Any of these covers the column of other rows, and what its ids mean. What has no counter of its own is left to the
  // plugin's index, which is told of all pods and nodes.
  Epochs epochs;
};
constexpr Column kColumns[] = {
    {row_field::kName, "node names", epoch::kNodeSet},
    {row_field::kAllocatable, "allocatable amounts", epoch::kOwnIndex},
    {row_field::kRequested, "requested amounts", epoch::kOwnIndex},
    {row_field::kPodCount, "pod counts", epoch::kOwnIndex},
    {row_field::kLabels, "node labels", epoch::kNodeLabels},
    {row_field::kTaints, "node taints", epoch::kSets},
    {row_field::kUnschedulable, "unschedulable marks", epoch::kOwnIndex},
    {row_field::kImages, "node images", epoch::kSets},
    {row_field::kFeatures, "declared features", epoch::kSets},
    {row_field::kPorts, "host ports", epoch::kOwnIndex},
    {row_field::kPods, "pods", epoch::kOwnIndex},
    {row_field::kNominated, "nominated pods", epoch::kOwnIndex},
    {kNodeObject, "Node objects", epoch::kOwnIndex | epoch::kNodeSet | epoch::kNodeLabels},
};

struct Group {
  Epochs read;
  const char* name;
  Epochs covered_by;
};
constexpr Group kGroups[] = {
    {epoch::kNodeSet, "the set of nodes", epoch::kNodeSet | epoch::kOtherRows},
    {epoch::kNodeLabels, "the order of nodes, which labels decide", epoch::kNodeLabels | epoch::kOtherRows},
    {epoch::kImageSpread, "the spread of images", epoch::kImageSpread | epoch::kOtherRows},
    {epoch::kAffinityPods, "pods with pod affinity", epoch::kAffinityPods | epoch::kOwnIndex | epoch::kOtherRows},
    {epoch::kOtherRows, "the change log", epoch::kOtherRows},
    {epoch::kNamespaces, "namespaces", epoch::kNamespaces},
    {epoch::kWorkloads, "services or controllers", epoch::kWorkloads},
    {epoch::kDevices, "resource claims, slices or device classes", epoch::kDevices},
    {epoch::kVolumes, "volumes, claims or storage objects", epoch::kVolumes},
    {epoch::kUnrememberable, "the clock, priority classes or disruption budgets", epoch::kUnrememberable},
};

}  // namespace

std::vector<std::string> Undeclared(const ReadSet& reads, const Depends& depends, bool judges_rows) {
  std::vector<std::string> out;
  if (depends.epochs & epoch::kUnrememberable) return out;
  const bool everywhere = depends.epochs & epoch::kOtherRows;
  RowFields row = judges_rows ? depends.row : 0;
  if (row & kOfNode) row |= kNodeObject;
  for (const Column& column : kColumns) {
    if (everywhere) break;
    const bool own = row & column.field, outside = depends.epochs & column.epochs;
    if (((reads.row | reads.meanings) & column.field) && !own && !outside) out.push_back(column.name);
    if ((reads.elsewhere & column.field) && !outside) out.push_back(std::string(column.name) + " of other nodes");
  }
  for (const Group& group : kGroups)
    if ((reads.epochs & group.read) && !(depends.epochs & group.covered_by)) out.push_back(group.name);
  return out;
}

ReadSet* ReadCheck::Rent(Row begin, Row end) {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) free_.push_back(&sets_.emplace_back());
  ReadSet* reads = free_.back();
  free_.pop_back();
  *reads = {};
  reads->begin = begin;
  reads->end = end;
  return reads;
}

void ReadCheck::Return(ReadSet* reads) {
  const std::lock_guard lock(mutex_);
  free_.push_back(reads);
}

void ReadCheck::Compare(const std::string& plugin, const std::string& point, const ReadSet& reads,
                        const Depends& depends, bool judges_rows) {
  for (const std::string& what : Undeclared(reads, depends, judges_rows)) {
    const std::string text = "plugin " + plugin + " read " + what + " in " + point + ", which it does not declare";
    const std::lock_guard lock(mutex_);  // whoever is told need not care which thread found it
    if (said_.insert(text).second) report_(text);
  }
}

// One call: the cycle and the batch as the plugin sees them. What it read is compared when Done says so.
class ReadCheck::Call {
 public:
  Call(ReadCheck& check, const Cycle& cycle, Row begin, Row end)
      : check_(check), reads_(check.Rent(begin, end)), snapshot_(cycle.snapshot(), *reads_), cycle_(cycle, snapshot_) {}
  ~Call() { check_.Return(reads_); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  const Cycle& cycle() const { return cycle_; }
  NodeBatch Batch(const NodeBatch& nodes) const {
    return nodes.overlay() ? NodeBatch(snapshot_, *nodes.overlay())
                           : NodeBatch(snapshot_, nodes.begin(), nodes.active());
  }
  void Done(const std::string& plugin, const char* point, const Depends& depends, bool judges_rows) {
    check_.Compare(plugin, point, *reads_, depends, judges_rows);
  }

 private:
  class SeenCycle final : public Cycle {
   public:
    SeenCycle(const Cycle& cycle, const Snapshot& snapshot)
        : Cycle(cycle.pod(), snapshot, cycle.now()), cycle_(cycle) {}
    std::unique_ptr<WhatIf> Imagine(Row row) const override { return cycle_.Imagine(row); }

   private:
    const Cycle& cycle_;
  };

  ReadCheck& check_;
  ReadSet* const reads_;
  const Snapshot snapshot_;
  const SeenCycle cycle_;
};

namespace {

// What all watchers share: everything but the judging is the plugin's own.
template <class Interface>
class Watcher : public Interface {
 public:
  Watcher(ReadCheck& check, const std::string& name, const Interface& plugin)
      : check_(check), name_(name), plugin_(plugin) {}
  Depends DependsOn(Point point) const override { return plugin_.DependsOn(point); }
  bool Sign(const Pod& pod, Signature& out) const override { return plugin_.Sign(pod, out); }
  std::optional<std::vector<EventRegistration>> EventsToRegister() const override { return plugin_.EventsToRegister(); }

 protected:
  ReadCheck& check_;
  const std::string name_;
  const Interface& plugin_;
};

class PreFilterWatcher final : public Watcher<PreFilterPlugin> {
 public:
  using Watcher::Watcher;
  PreFilterOutcome PreFilter(const Cycle& cycle) const override {
    ReadCheck::Call call(check_, cycle, 0, 0);
    PreFilterOutcome outcome = plugin_.PreFilter(call.cycle());
    const Epochs epochs = outcome.holds_while.value_or(plugin_.DependsOn(Point::kPreFilter).epochs);
    call.Done(name_, "PreFilter", {0, epochs}, false);
    return outcome;
  }
  bool TracksPods() const override { return plugin_.TracksPods(); }
  Error AddPod(const Cycle& cycle, PluginState* state, const PodRecord& pod, Row row) const override {
    return plugin_.AddPod(cycle, state, pod, row);
  }
  Error RemovePod(const Cycle& cycle, PluginState* state, const PodRecord& pod, Row row) const override {
    return plugin_.RemovePod(cycle, state, pod, row);
  }
};

Row EndOf(const NodeBatch& nodes) { return nodes.begin() + static_cast<Row>(nodes.size()); }

class FilterWatcher final : public Watcher<FilterPlugin> {
 public:
  using Watcher::Watcher;
  Error Filter(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes, Rejections& out) const override {
    ReadCheck::Call call(check_, cycle, nodes.begin(), EndOf(nodes));
    Error error = plugin_.Filter(call.cycle(), state, call.Batch(nodes), out);
    call.Done(name_, "Filter", plugin_.DependsOn(Point::kFilter), true);
    return error;
  }
};

class PreScoreWatcher final : public Watcher<PreScorePlugin> {
 public:
  using Watcher::Watcher;
  PreScoreOutcome PreScore(const Cycle& cycle, std::span<const Row> feasible) const override {
    ReadCheck::Call call(check_, cycle, 0, 0);
    PreScoreOutcome outcome = plugin_.PreScore(call.cycle(), feasible);
    const Epochs epochs = outcome.holds_while.value_or(plugin_.DependsOn(Point::kPreScore).epochs);
    call.Done(name_, "PreScore", {0, epochs}, false);
    return outcome;
  }
};

class ScoreWatcher final : public Watcher<ScorePlugin> {
 public:
  using Watcher::Watcher;
  Error Score(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes,
              std::span<int64_t> scores) const override {
    ReadCheck::Call call(check_, cycle, nodes.begin(), EndOf(nodes));
    Error error = plugin_.Score(call.cycle(), state, call.Batch(nodes), scores);
    call.Done(name_, "Score", plugin_.DependsOn(Point::kScore), true);
    return error;
  }
  Normalization normalization() const override { return plugin_.normalization(); }
  Error Normalize(const Cycle& cycle, const PluginState* state, std::span<const Row> rows,
                  std::span<int64_t> scores) const override {
    // All feasible rows are judged at once.
    ReadCheck::Call call(check_, cycle, 0, static_cast<Row>(cycle.snapshot().rows()));
    Error error = plugin_.Normalize(call.cycle(), state, rows, scores);
    call.Done(name_, "Normalize", plugin_.DependsOn(Point::kScore), true);
    return error;
  }
};

}  // namespace

void ReadCheck::Watch(Profile& profile) {
  const auto watch = [&]<class Made>(auto& entries, std::type_identity<Made>) {
    for (auto& entry : entries) {
      auto watcher = std::make_unique<Made>(*this, profile.name(entry.index), *entry.plugin);
      entry.plugin = watcher.get();
      watchers_.push_back(std::move(watcher));
    }
  };
  watch(profile.pre_filter, std::type_identity<PreFilterWatcher>());
  watch(profile.filter, std::type_identity<FilterWatcher>());
  watch(profile.pre_score, std::type_identity<PreScoreWatcher>());
  watch(profile.score, std::type_identity<ScoreWatcher>());
}

}  // namespace berth::framework
