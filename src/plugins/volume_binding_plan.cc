// SPDX-License-Identifier: Apache-2.0
// Upstream: pkg/scheduler/framework/plugins/volumebinding/binder.go, GetPodVolumeClaims and FindPodVolumes (v1.36.4).
#include "plugins/volume_binding_plan.h"

#include <algorithm>
#include <set>

#include "plugins/common/volumes.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kLost = "Lost";

Verdict Hopeless(std::string text) { return {Code::kUnschedulableAndUnresolvable, std::move(text)}; }

// Why a pod with this claim waits; empty: it need not.
std::string Obstacle(const Pod& pod, const PodVolume& volume, const std::string& name,
                     const PersistentVolumeClaim* claim) {
  const bool ephemeral = volume.kind == VolumeKind::kEphemeral;
  if (claim == nullptr)
    return ephemeral ? "waiting for ephemeral volume controller to create the persistentvolumeclaim \"" + name + "\""
                     : ClaimNotFoundText(name);
  if (claim->phase == kLost)
    return "persistentvolumeclaim \"" + name + "\" bound to non-existent persistentvolume \"" + claim->volume_name +
           "\"";
  if (claim->meta.deletion_time) return "persistentvolumeclaim \"" + name + "\" is being deleted";
  if (ephemeral && !IsMadeFor(*claim, pod)) return NotMadeForText(*claim, pod);
  return "";
}

}  // namespace

std::string ClaimNameOf(const Pod& pod, const PodVolume& volume) {
  if (volume.kind == VolumeKind::kClaim) return volume.source;
  return volume.kind == VolumeKind::kEphemeral ? pod.name() + "-" + volume.name : "";
}

bool IsBound(const PersistentVolumeClaim& claim) {
  return !claim.volume_name.empty() && claim.meta.annotations.Has(kBindCompleted);
}

std::pair<Verdict, std::shared_ptr<const VolumePlan>> VolumePlan::Make(const Pod& pod, const Snapshot& snapshot,
                                                                       VolumeBindingIndex* index) {
  bool any = false;
  for (const PodVolume& volume : pod.volumes) {
    if (!HasClaim(volume)) continue;
    any = true;
    const std::string name = ClaimNameOf(pod, volume);
    const auto* const claim = snapshot.objects<PersistentVolumeClaim>().Find(pod.namespace_(), name);
    if (std::string why = Obstacle(pod, volume, name, claim); !why.empty()) return {Hopeless(std::move(why)), nullptr};
  }
  if (!any) return {Verdict::Skip(), nullptr};

  const auto plan = std::make_shared<VolumePlan>();
  std::vector<const PersistentVolumeClaim*> bound;
  bool immediate = false;
  for (const PodVolume& volume : pod.volumes) {
    if (!HasClaim(volume)) continue;
    const auto& claim = *snapshot.Believed<PersistentVolumeClaim>(pod.namespace_(), ClaimNameOf(pod, volume));
    if (IsBound(claim)) {
      bound.push_back(&claim);
      continue;
    }
    const std::string_view class_name = ClassOf(claim);
    const StorageClass* const of = class_name.empty() ? nullptr : snapshot.objects<StorageClass>().Find(class_name);
    if (of != nullptr && !of->volume_binding_mode) return {Verdict::Fail(NoBindingModeText(class_name)), nullptr};
    if (of != nullptr && *of->volume_binding_mode == kWaitForFirstConsumer && claim.volume_name.empty()) {
      Delayed& delayed = plan->delayed_.emplace_back(claim);
      delayed.provisions = !of->provisioner.empty() && of->provisioner != kNoProvisioner;
      if (const std::string* node = claim.meta.annotations.Find(kSelectedNode))
        delayed.selected = snapshot.FindRow(*node);
    } else {
      immediate = true;
    }
  }
  if (immediate) return {Hopeless(std::string(kUnboundImmediate)), nullptr};

  if (index != nullptr) {
    plan->table_ = &index->table();
  } else {
    std::set<std::string> classes, volumes;
    for (const Delayed& delayed : plan->delayed_) classes.insert(delayed.needs.storage_class);
    for (const PersistentVolumeClaim* claim : bound) volumes.insert(claim->volume_name);
    plan->own_ = MakeVolumeTable(snapshot, classes, volumes);
    plan->table_ = plan->own_.get();
  }
  VolumeTable& table = *plan->table_;
  for (const PersistentVolumeClaim* claim : bound) {
    const VolumeTable::Reach* const reach = table.FindReach(claim->volume_name);
    plan->bound_.push_back({reach});
    plan->bound_everywhere_ = plan->bound_everywhere_ && reach != nullptr && reach->everywhere();
  }
  std::set<std::string_view> classes;
  for (Delayed& delayed : plan->delayed_) {
    if (!delayed.selected) {
      delayed.made_for = table.MadeFor(*delayed.claim, delayed.needs);
      plan->simple_ = plan->simple_ && delayed.made_for.empty() && classes.insert(delayed.needs.storage_class).second;
      plan->by_size_.push_back(&delayed);
    }
    if (!delayed.provisions) continue;
    delayed.topology = table.TopologyOf(delayed.needs.storage_class);
    if (!delayed.claim->request) continue;
    const StorageClass& of = *snapshot.objects<StorageClass>().Find(delayed.needs.storage_class);
    const CsiDriver* const driver = snapshot.objects<CsiDriver>().Find(of.provisioner);
    if (driver != nullptr && driver->storage_capacity)
      delayed.room = table.RowsWithRoom(delayed.needs.storage_class, delayed.claim->request->Value(), snapshot.rows());
  }
  // Up to 12 Go keeps the order of equals, too; beyond that nobody can rely on its order.
  std::stable_sort(plan->by_size_.begin(), plan->by_size_.end(),
                   [](const Delayed* a, const Delayed* b) { return a->needs.request < b->needs.request; });
  if (plan->simple_)
    for (Delayed& delayed : plan->delayed_)
      if (!delayed.selected && !(delayed.needs.selector && !delayed.needs.selector->invalid.empty()))
        delayed.rows = table.RowsWith(delayed.needs);
  return {{}, plan};
}

uint8_t VolumePlan::JudgeBound(Row row) const {
  for (const Bound& one : bound_) {
    if (one.reach == nullptr) return kGone;
    SelectedRows::Id rows = one.reach->rows;
    if (one.reach->plugin != 0 && (table_->MigratedOn(row) & one.reach->plugin) != 0) {
      if (!one.reach->error.empty()) return kError;
      rows = one.reach->translated;
    }
    if (!table_->Contains(rows, row)) return kAffinity;
  }
  return kOk;
}

uint8_t VolumePlan::JudgeProvision(const VolumeTable& table, const Delayed& delayed, Row row) {
  if (!delayed.provisions || !table.Contains(delayed.topology, row)) return kNoVolume;
  return !delayed.room || (row < delayed.room->size() && (*delayed.room)[row]) ? kOk : kNoSpace;
}

std::vector<const VolumePlan::Delayed*> VolumePlan::Match(Row row, VolumeChoice* choice) const {
  std::vector<const Delayed*> left;
  std::vector<std::string> taken;
  for (const Delayed* delayed : by_size_) {
    const PersistentVolume* found = nullptr;
    const auto made_for =
        std::find_if(delayed->made_for.begin(), delayed->made_for.end(), [&](const PersistentVolume* volume) {
          return std::find(taken.begin(), taken.end(), volume->meta.name) == taken.end();
        });
    if (made_for != delayed->made_for.end()) {
      if (table_->Reaches(**made_for, row)) found = *made_for;
    } else {
      found = table_->Smallest(delayed->needs, row, taken);
    }
    if (found == nullptr) {
      left.push_back(delayed);
      continue;
    }
    taken.push_back(found->meta.name);
    if (choice != nullptr) choice->bindings.push_back({delayed->claim, found});
  }
  return left;
}

uint8_t VolumePlan::JudgeDelayed(Row row) const {
  for (const Delayed& delayed : delayed_)
    if (delayed.selected && *delayed.selected != row) return kNoVolume;
  for (const Delayed* delayed : by_size_)
    if (delayed->needs.selector && !delayed->needs.selector->invalid.empty()) return kError;
  uint8_t answer = kOk;
  const auto provision = [&](const Delayed& delayed) {
    answer = JudgeProvision(*table_, delayed, row);
    return answer == kOk;
  };
  for (const Delayed& delayed : delayed_)
    if (delayed.selected && !provision(delayed)) return answer;
  if (simple_) {
    for (const Delayed* delayed : by_size_)
      if (!(*delayed->rows)[row] && !provision(*delayed)) return answer;
    return kOk;
  }
  for (const Delayed* delayed : Match(row, nullptr))
    if (!provision(*delayed)) return answer;
  return kOk;
}

uint8_t VolumePlan::Judge(Row row) const {
  const uint8_t bound = bound_everywhere_ ? uint8_t{kOk} : JudgeBound(row);
  if (bound == kError || delayed_.empty()) return bound;
  const uint8_t delayed = JudgeDelayed(row);
  return delayed == kError ? delayed : static_cast<uint8_t>(bound | delayed);
}

std::string VolumePlan::Failure(Row row) const {
  if (JudgeBound(row) == kError) {
    for (const Bound& one : bound_)
      if (one.reach != nullptr && !one.reach->error.empty() && (table_->MigratedOn(row) & one.reach->plugin) != 0)
        return "could not translate pv: " + one.reach->error;
  }
  for (const Delayed* delayed : by_size_)
    if (delayed->needs.selector && !delayed->needs.selector->invalid.empty())
      return "error creating internal label selector for claim: " + FullName(delayed->claim->meta) + ": " +
             delayed->needs.selector->invalid;
  return "";
}

VolumeChoice VolumePlan::Choose(Row row) const {
  VolumeChoice choice;
  for (const Delayed& delayed : delayed_)
    if (delayed.selected) choice.provisions.push_back(delayed.claim);
  for (const Delayed* delayed : Match(row, &choice)) choice.provisions.push_back(delayed->claim);
  return choice;
}

}  // namespace berth::plugins
