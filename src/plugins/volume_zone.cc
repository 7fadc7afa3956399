// SPDX-License-Identifier: Apache-2.0
// Upstream: pkg/scheduler/framework/plugins/volumezone (v1.36.4).
#include "plugins/volume_zone.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "plugins/common/volumes.h"

namespace berth::plugins {
namespace {

constexpr std::array<std::string_view, 4> kTopologyLabels = {kBetaZone, kBetaRegion, kZone, kRegion};
// By place in kTopologyLabels: which label of a node serves where it lacks this one.
constexpr std::array<size_t, 4> kFallback = {2, 3, 2, 3};

// The zones or regions that one label of a volume allows.
struct Topology {
  size_t label = 0;                 // in kTopologyLabels
  std::vector<std::string> values;  // sorted, unique
  bool operator==(const Topology&) const = default;
};

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

// The parts of `a__b`; none when one of them is empty, which makes the label void.
std::vector<std::string> SplitZones(std::string_view text) {
  std::vector<std::string> values;
  for (;;) {
    const size_t end = text.find("__");
    const std::string_view value = Trim(text.substr(0, end));
    if (value.empty()) return {};
    values.emplace_back(value);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 2);
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

void AddTopologies(const PersistentVolume& volume, std::vector<Topology>& out) {
  for (size_t label = 0; label < kTopologyLabels.size(); ++label) {
    const std::string* text = volume.meta.labels.Find(kTopologyLabels[label]);
    if (text == nullptr) continue;
    std::vector<std::string> values = SplitZones(*text);
    if (!values.empty()) out.push_back({label, std::move(values)});
  }
}

std::vector<Topology> TopologiesOf(const PersistentVolume& volume) {
  std::vector<Topology> topologies;
  AddTopologies(volume, topologies);
  return topologies;
}

struct ZoneState : StateOf<ZoneState> {
  std::vector<Topology> topologies;  // all of them have to agree
};

bool IsClaim(const PodVolume& volume) { return volume.kind == VolumeKind::kClaim; }

PreFilterOutcome RejectClaim(std::string text) {
  return PreFilterOutcome::Reject(Verdict(Code::kUnschedulableAndUnresolvable, std::move(text)));
}

QueueingHint HintClass(const Pod&, const EventObjects& objects) {
  const auto* added = objects.after<StorageClass>();
  if (added == nullptr) return QueueingHint::kQueue;
  return added->volume_binding_mode == kWaitForFirstConsumer ? QueueingHint::kQueue : QueueingHint::kSkip;
}

QueueingHint HintClaim(const Pod& rejected, const EventObjects& objects) {
  const auto* changed = objects.after<PersistentVolumeClaim>();
  if (changed == nullptr) return QueueingHint::kQueue;
  return UsesClaim(rejected, *changed, /*ephemeral=*/false) ? QueueingHint::kQueue : QueueingHint::kSkip;
}

QueueingHint HintVolume(const Pod&, const EventObjects& objects) {
  const auto* before = objects.before<PersistentVolume>();
  const auto* after = objects.after<PersistentVolume>();
  if (before == nullptr || after == nullptr) return QueueingHint::kQueue;
  if (before->meta.labels == after->meta.labels) return QueueingHint::kSkip;
  return TopologiesOf(*before) != TopologiesOf(*after) ? QueueingHint::kQueue : QueueingHint::kSkip;
}

}  // namespace

PreFilterOutcome VolumeZone::PreFilter(const Cycle& cycle) const {
  const Pod& pod = cycle.pod();
  if (std::none_of(pod.volumes.begin(), pod.volumes.end(), IsClaim)) return PreFilterOutcome::Skip().While(0);
  const auto& claims = cycle.snapshot().objects<PersistentVolumeClaim>();
  const auto& volumes = cycle.snapshot().objects<PersistentVolume>();
  auto state = std::make_unique<ZoneState>();
  for (const PodVolume& one : pod.volumes) {
    if (!IsClaim(one)) continue;
    if (one.source.empty()) return RejectClaim("PersistentVolumeClaim had no name");
    const PersistentVolumeClaim* claim = claims.Find(pod.namespace_(), one.source);
    if (claim == nullptr) return RejectClaim(ClaimNotFoundText(one.source));
    if (claim->volume_name.empty()) {
      const std::string_view name = ClassOf(*claim);
      if (name.empty()) return RejectClaim("PersistentVolumeClaim had no pv name and storageClass name");
      const StorageClass* storage_class = cycle.snapshot().objects<StorageClass>().Find(name);
      if (storage_class == nullptr) return RejectClaim(ClassNotFoundText(name));
      if (!storage_class->volume_binding_mode) return RejectClaim(NoBindingModeText(name));
      if (*storage_class->volume_binding_mode == kWaitForFirstConsumer) continue;  // bound when the pod is
      return RejectClaim("PersistentVolume had no name");
    }
    const PersistentVolume* volume = volumes.Find(claim->volume_name);
    if (volume == nullptr) return RejectClaim(VolumeNotFoundText(claim->volume_name));
    AddTopologies(*volume, state->topologies);
  }
  if (state->topologies.empty()) return PreFilterOutcome::Skip();
  return PreFilterOutcome::Ok(std::move(state));
}

Error VolumeZone::Filter(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes, Rejections& out) const {
  // A profile may have Filter without PreFilter: then it is made up for here, as upstream does.
  PreFilterOutcome made_up;
  if (state == nullptr) {
    made_up = PreFilter(cycle);
    if (made_up.verdict.code() == Code::kSkip) return Error::Ok();
    if (!made_up.state) {
      const VerdictId rejected = out.Intern(made_up.verdict);
      for (size_t i = 0; i < nodes.size(); ++i) {
        if (nodes.active()[i] != 0) out.Reject(i, rejected);
      }
      return Error::Ok();
    }
    state = made_up.state.get();
  }
  const auto& topologies = static_cast<const ZoneState*>(state)->topologies;
  std::array<const LabelColumn*, kTopologyLabels.size()> columns{};
  std::array<std::span<const uint32_t>, kTopologyLabels.size()> values;
  for (size_t label = 0; label < columns.size(); ++label) {
    columns[label] = &nodes.snapshot().labels(kTopologyLabels[label]);
    values[label] = nodes.labels(*columns[label]);
  }
  const VerdictId conflict = out.Intern(kConflict);
  std::vector<uint8_t> allowed, fallback;  // by the column's id
  for (const Topology& topology : topologies) {
    const auto fill = [&](const LabelColumn& column, std::vector<uint8_t>& ids) {
      ids.assign(column.distinct() + 1, 0);
      for (const std::string& value : topology.values) ids[column.Find(value)] = 1;
      ids[LabelColumn::kAbsent] = 0;
    };
    const size_t label = topology.label, other = kFallback[label];
    fill(*columns[label], allowed);
    fill(*columns[other], fallback);
    for (size_t i = 0; i < nodes.size(); ++i) {
      const uint32_t own = values[label][i];
      const bool fits = own != LabelColumn::kAbsent ? allowed[own] : fallback[values[other][i]];
      // A node that says nothing of zones is in a cluster without any.
      const bool says = (values[0][i] | values[1][i] | values[2][i] | values[3][i]) != LabelColumn::kAbsent;
      if (!fits && says) out.Reject(i, conflict);
    }
  }
  return Error::Ok();
}

Depends VolumeZone::DependsOn(Point) const { return {row_field::kLabels, epoch::kVolumes | epoch::kUnrememberable}; }

bool VolumeZone::Sign(const Pod& pod, Signature& out) const {
  out.Add(int64_t{std::any_of(pod.volumes.begin(), pod.volumes.end(), IsClaim)});
  return true;
}

std::optional<std::vector<EventRegistration>> VolumeZone::EventsToRegister() const {
  constexpr ActionType kAddOrUpdate = action::kAdd | action::kUpdate;
  return std::vector<EventRegistration>{{{EventResource::kStorageClass, action::kAdd}, HintClass},
                                        {{EventResource::kNode, action::kAdd | action::kUpdateNodeLabel}, nullptr},
                                        {{EventResource::kPersistentVolumeClaim, kAddOrUpdate}, HintClaim},
                                        {{EventResource::kPersistentVolume, kAddOrUpdate}, HintVolume}};
}

}  // namespace berth::plugins
