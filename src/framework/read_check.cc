// SPDX-License-Identifier: Apache-2.0
// What covers what, and the calls, each with a snapshot that notes what is read.
#include "framework/read_check.h"

#include <algorithm>
#include <optional>

#include "berth/value.h"
#include "framework/profile.h"

namespace berth::framework {
namespace {

constexpr RowFields kNodeObject = ReadSet::kNodeObject;
// What a Node object is the source of.
constexpr RowFields kOfNode = row_field::kName | row_field::kAllocatable | row_field::kLabels | row_field::kTaints |
                              row_field::kUnschedulable | row_field::kImages | row_field::kFeatures |
                              row_field::kAnnotations;

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
    {row_field::kAnnotations, "node annotations", epoch::kOwnIndex},
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
    {epoch::kBudgets, "disruption budgets", epoch::kBudgets},
    {epoch::kUnrememberable, "the clock or priority classes", epoch::kUnrememberable},
};

}  // namespace

std::vector<std::string> Undeclared(const ReadSet& reads, const Depends& depends, bool judges_rows) {
  std::vector<std::string> out;
  if ((depends.epochs & epoch::kAnything) == epoch::kAnything) return out;
  // Objects are to be named even so, or nobody watches them.
  const bool unrememberable = depends.epochs & epoch::kUnrememberable;
  const bool everywhere = unrememberable || depends.epochs & epoch::kOtherRows;
  RowFields row = judges_rows ? depends.row : 0;
  if (row & kOfNode) row |= kNodeObject;
  for (const Column& column : kColumns) {
    if (everywhere) break;
    const bool own = row & column.field, outside = depends.epochs & column.epochs;
    if (((reads.row | reads.meanings) & column.field) && !own && !outside) out.push_back(column.name);
    if ((reads.elsewhere & column.field) && !outside) out.push_back(std::string(column.name) + " of other nodes");
  }
  for (const Group& group : kGroups) {
    if (unrememberable && (group.read & epoch::kObjects) == 0) continue;
    if ((reads.epochs & group.read) && !(depends.epochs & group.covered_by)) out.push_back(group.name);
  }
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

void ReadCheck::Report(const PluginCall& call, const std::string& what) {
  const std::string text = "plugin " + call.name() + " read " + what + " in " + std::string(ToString(call.function)) +
                           ", which it does not declare";
  const std::lock_guard lock(mutex_);  // whoever is told need not care which thread found it
  if (said_.insert(text).second) report_(text);
}

void ReadCheck::Compare(const PluginCall& call, const AnnotationWatch& watch) {
  const auto compare = [&](const auto& asked, const std::vector<std::string>& declared, const char* kind) {
    for (const std::string& key : asked)
      if (std::find(declared.begin(), declared.end(), key) == declared.end())
        Report(call, std::string("the ") + kind + " annotation " + Value::String(key).ToJson());
  };
  const AnnotationKeys& declared = call.profile.plugins[call.plugin].annotations;
  compare(watch.pods(), declared.pods, "pod");
  compare(watch.nodes(), declared.nodes, "node");
}

namespace {

// The cycle as the plugin sees it.
class SeenCycle final : public Cycle {
 public:
  SeenCycle(const Cycle& cycle, const Snapshot& snapshot) : Cycle(cycle.pod(), snapshot, cycle.now()), cycle_(cycle) {}
  std::unique_ptr<WhatIf> Imagine(Row row) const override { return cycle_.Imagine(row); }

 private:
  const Cycle& cycle_;
};

}  // namespace

CallEnd ReadCheck::Around(const PluginCall& call, const CallView& view, const Next& next) {
  const AnnotationWatch watch;
  if (call.topic.depends == nullptr) {
    const CallEnd said = next(view);
    Compare(call, watch);
    return said;
  }
  const bool judges_rows = call.function != PluginFunction::kPreFilter && call.function != PluginFunction::kPreScore;
  Row begin = 0, end = 0;
  if (view.nodes != nullptr) {
    begin = view.nodes->begin();
    end = begin + static_cast<Row>(view.nodes->size());
  } else if (judges_rows) {  // Normalize: all feasible rows are judged at once
    end = static_cast<Row>(view.cycle->snapshot().rows());
  }
  ReadSet& reads = *Rent(begin, end);
  const Snapshot snapshot(view.cycle->snapshot(), reads);
  const SeenCycle cycle(*view.cycle, snapshot);
  std::optional<NodeBatch> nodes;
  if (view.nodes != nullptr) {
    if (view.nodes->overlay() != nullptr) {
      nodes.emplace(snapshot, *view.nodes->overlay());
    } else {
      nodes.emplace(snapshot, begin, view.nodes->active());
    }
  }
  const CallEnd said = next({&cycle, nodes ? &*nodes : nullptr});
  Depends depends = *call.topic.depends;
  if (said.holds_while) depends.epochs = *said.holds_while;
  Compare(call, watch);
  // A Node object shows them, too.
  if (!watch.nodes().empty() && !(reads.elsewhere & row_field::kAnnotations)) reads.row |= row_field::kAnnotations;
  for (const std::string& what : Undeclared(reads, depends, judges_rows)) Report(call, what);
  Return(&reads);
  return said;
}

}  // namespace berth::framework
