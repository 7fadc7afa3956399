// SPDX-License-Identifier: Apache-2.0
// Upstream: pkg/scheduler/framework/plugins/nodevolumelimits (v1.36.4).
#include "plugins/node_volume_limits.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "plugins/common/volumes.h"
#include "plugins/node_volume_limits_index.h"
#include "plugins/node_volume_limits_volumes.h"

namespace berth::plugins {
namespace {

// How many volumes of a driver a pod brings, and the room for them.
struct Need {
  std::string driver;
  int32_t volumes = 0;
  std::span<const int32_t> room;  // by row; of the index
};
// A row where pods have some of them already.
struct LesserNeed {
  Row row;
  std::vector<int32_t> volumes;  // as LimitsState::needs
};

struct LimitsState : StateOf<LimitsState> {
  NewVolumes volumes;
  std::map<std::string, std::vector<AttachableVolume>> attached;  // by node; without an index
  // With one:
  bool indexed = false;
  std::vector<Need> needs;
  std::vector<LesserNeed> lesser;  // sorted by row
};

bool AnyMayCount(const Pod& pod) { return std::any_of(pod.volumes.begin(), pod.volumes.end(), MayCount); }

std::map<std::string, std::vector<AttachableVolume>> AttachedByNode(const Snapshot& snapshot) {
  std::map<std::string, std::vector<AttachableVolume>> attached;
  snapshot.objects<VolumeAttachment>().ForEach([&](const VolumeAttachment& one) {
    auto volume = VolumeOfAttachment(snapshot, one.attacher, one.volume_name);
    if (volume) attached[one.node_name].push_back(std::move(*volume));
  });
  return attached;
}

// As upstream has it: everything counted anew from the pods of one node, which a what-if may have changed. `index` may
// be null.
Verdict JudgeNode(const Snapshot& snapshot, const LimitsState& state, const NodeVolumeLimitsIndex* index,
                  const std::string& node, std::span<const PodRecord* const> pods) {
  const NewVolumes& pod = state.volumes;
  const CsiNode* const csi_node = snapshot.objects<CsiNode>().Find(node);
  if (csi_node == nullptr) return pod.without;
  if (!pod.with_csi_node.fits() || pod.volumes.empty()) return pod.with_csi_node;
  const auto& limits = csi_node->driver_limits;
  if (std::none_of(limits.begin(), limits.end(), [](const auto& limit) { return limit.second.has_value(); })) {
    return kFits;
  }
  AttachableVolumes attached;
  for (const PodRecord* record : pods) {
    const Error error = AddVolumesOf(snapshot, *record->pod, attached);
    if (!error.ok()) return Verdict::Fail(error.text());
  }
  std::map<std::string_view, int64_t> counts, added;
  for (const auto& [name, driver] : pod.volumes)
    if (attached.count(name) == 0) ++added[driver];
  // A volume that is attached but that no pod here has counts twice, as upstream has it.
  if (index != nullptr) {
    for (const AttachableVolume* volume : index->AttachedTo(node)) attached.emplace(volume->name, volume->driver);
  } else if (const auto it = state.attached.find(node); it != state.attached.end()) {
    for (const AttachableVolume& volume : it->second) attached.emplace(volume.name, volume.driver);
  }
  for (const auto& [name, driver] : attached) ++counts[driver];
  for (const auto& [driver, volumes] : added) {
    const auto limit = limits.find(std::string(driver));
    if (limit != limits.end() && limit->second && counts[driver] + volumes > *limit->second)
      return NodeVolumeLimits::kTooMany;
  }
  return kFits;
}

// What the index knows of the pod's volumes; false: no node has a limit that could matter.
bool Prepare(const NodeVolumeLimitsIndex& index, LimitsState& state) {
  std::map<std::string_view, size_t> places;
  for (const auto& [name, driver] : state.volumes.volumes) {
    const auto [it, added] = places.try_emplace(driver, state.needs.size());
    if (added) state.needs.push_back({driver, 0, index.Room(driver)});
    ++state.needs[it->second].volumes;
  }
  bool matters = false;
  for (const Need& need : state.needs) matters = matters || index.LeastRoom(need.driver) < need.volumes;
  if (!matters) return false;
  std::map<Row, std::vector<int32_t>> lesser;
  for (const auto& [name, driver] : state.volumes.volumes) {
    for (const Row row : index.RowsWith(name)) {
      auto [it, added] = lesser.try_emplace(row);
      if (added)
        for (const Need& need : state.needs) it->second.push_back(need.volumes);
      --it->second[places.at(driver)];
    }
  }
  for (auto& [row, volumes] : lesser) state.lesser.push_back({row, std::move(volumes)});
  return true;
}

void JudgeRows(const NodeVolumeLimitsIndex& index, const LimitsState& state, const Snapshot& snapshot,
               const NodeBatch& nodes, Rejections& out) {
  const Row begin = nodes.begin(), end = begin + static_cast<Row>(nodes.size());
  if (!state.volumes.with_csi_node.fits()) {
    const VerdictId with = out.Intern(state.volumes.with_csi_node), without = out.Intern(state.volumes.without);
    for (Row row = begin; row < end; ++row) out.Reject(row - begin, index.HasCsiNode(row) ? with : without);
    return;
  }
  const VerdictId too_many = out.Intern(Verdict(NodeVolumeLimits::kTooMany));
  for (const Need& need : state.needs) {
    const size_t known = std::min<size_t>(end, need.room.size());
    for (size_t row = begin; row < known; ++row)
      if (need.room[row] < need.volumes) out.Reject(row - begin, too_many);
  }
  const auto by_row = [](const LesserNeed& lesser, Row row) { return lesser.row < row; };
  for (auto it = std::lower_bound(state.lesser.begin(), state.lesser.end(), begin, by_row);
       it != state.lesser.end() && it->row < end; ++it) {
    bool fits = true;
    for (size_t i = 0; i < state.needs.size(); ++i) {
      const auto& room = state.needs[i].room;
      // What is there already needs no room, on a node that has too many as well.
      fits = fits && (it->volumes[i] == 0 || it->row >= room.size() || room[it->row] >= it->volumes[i]);
    }
    out.Reject(it->row - begin, fits ? kFitsId : too_many);
  }
  // Who cannot be counted makes the node's answer an error: the words are found by looking at its pods.
  const std::set<Row>& broken = index.broken_rows();
  for (auto it = broken.lower_bound(begin); it != broken.end() && *it < end; ++it) {
    const size_t i = *it - begin;
    if (nodes.active()[i] == 0) continue;
    out.Reject(i, out.Intern(JudgeNode(snapshot, state, &index, nodes.view(i).name(), nodes.pods(i))));
  }
}

QueueingHint HintCsiNode(const Pod&, const EventObjects& objects) {
  const auto *before = objects.before<CsiNode>(), *after = objects.after<CsiNode>();
  if (before == nullptr || after == nullptr) return QueueingHint::kQueue;
  for (const auto& [driver, limit] : after->driver_limits) {
    const auto old = before->driver_limits.find(driver);
    const int32_t was = old == before->driver_limits.end() ? 0 : old->second.value_or(0);
    if (limit.value_or(0) > was) return QueueingHint::kQueue;
  }
  return QueueingHint::kSkip;
}

QueueingHint HintLimitsPodGone(const Pod&, const EventObjects& objects) {
  const Pod* gone = objects.pod_before;
  if (gone == nullptr) return QueueingHint::kQueue;
  if (gone->node_name.empty() && gone->nominated_node_name.empty()) return QueueingHint::kSkip;
  return AnyMayCount(*gone) ? QueueingHint::kQueue : QueueingHint::kSkip;
}

QueueingHint HintLimitsClaimAdded(const Pod& rejected, const EventObjects& objects) {
  const auto* added = objects.after<PersistentVolumeClaim>();
  if (added == nullptr) return QueueingHint::kQueue;
  return UsesClaim(rejected, *added, /*ephemeral=*/true) ? QueueingHint::kQueue : QueueingHint::kSkip;
}

// Upstream overlooks generic ephemeral volumes here.
QueueingHint HintDetached(const Pod& rejected, const EventObjects& objects) {
  const auto* gone = objects.before<VolumeAttachment>();
  if (gone == nullptr) return QueueingHint::kQueue;
  for (const PodVolume& volume : rejected.volumes) {
    if (volume.kind == VolumeKind::kClaim) return QueueingHint::kQueue;
    const InTreePlugin* plugin = FindInTreePlugin(volume.kind);
    if (plugin == nullptr) continue;
    if (plugin->driver == gone->attacher || !TranslateHandle(volume).ok()) return QueueingHint::kQueue;
  }
  return QueueingHint::kSkip;
}

}  // namespace

PreFilterOutcome NodeVolumeLimits::PreFilter(const Cycle& cycle) const {
  if (!AnyMayCount(cycle.pod())) return PreFilterOutcome::Skip().While(0);
  const Snapshot& snapshot = cycle.snapshot();
  const NodeVolumeLimitsIndex* index = IndexOf(snapshot);
  auto state = std::make_unique<LimitsState>();
  state->volumes = NewVolumesOf(snapshot, cycle.pod());
  state->indexed = index != nullptr;
  if (index == nullptr) state->attached = AttachedByNode(snapshot);
  if (index == nullptr || !state->volumes.with_csi_node.fits()) return PreFilterOutcome::Ok(std::move(state));
  // Where no node has a limit that could matter, Filter would pass all of them: it need not be asked. Pods that are
  // nominated could fill a node in a what-if.
  if (!index->any_limit() || state->volumes.volumes.empty()) return PreFilterOutcome::Skip();
  const bool matters = Prepare(*index, *state);
  if (!matters && index->broken_rows().empty() && !snapshot.any_nominated()) return PreFilterOutcome::Skip();
  return PreFilterOutcome::Ok(std::move(state));
}

Error NodeVolumeLimits::Filter(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes,
                               Rejections& out) const {
  // A profile may have Filter without PreFilter, which upstream does not need.
  PreFilterOutcome made_up;
  if (state == nullptr) {
    made_up = PreFilter(cycle);
    if (!made_up.state) return Error::Ok();  // there is nothing to count
    state = made_up.state.get();
  }
  const auto& own = *static_cast<const LimitsState*>(state);
  const NodeVolumeLimitsIndex* index = own.indexed ? index_ : nullptr;
  if (index != nullptr && nodes.overlay() == nullptr) {
    JudgeRows(*index, own, cycle.snapshot(), nodes, out);
    return Error::Ok();
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes.active()[i] == 0) continue;
    const Verdict verdict = JudgeNode(nodes.snapshot(), own, index, nodes.view(i).name(), nodes.pods(i));
    if (!verdict.fits()) out.Reject(i, out.Intern(verdict));
  }
  return Error::Ok();
}

Depends NodeVolumeLimits::DependsOn(Point) const {
  return {row_field::kPods | row_field::kName, epoch::kVolumes | epoch::kOwnIndex | epoch::kUnrememberable};
}

bool NodeVolumeLimits::Sign(const Pod& pod, Signature& out) const {
  out.Add(int64_t{AnyMayCount(pod)});
  return true;
}

std::unique_ptr<PluginIndex> NodeVolumeLimits::MakeIndex() {
  auto index = std::make_unique<NodeVolumeLimitsIndex>();
  index_ = index.get();
  return index;
}

const NodeVolumeLimitsIndex* NodeVolumeLimits::IndexOf(const Snapshot& snapshot) const {
  return index_ != nullptr && index_->Serves(snapshot) ? index_ : nullptr;
}

std::optional<std::vector<EventRegistration>> NodeVolumeLimits::EventsToRegister() const {
  return std::vector<EventRegistration>{{{EventResource::kCsiNode, action::kAdd}, nullptr},
                                        {{EventResource::kCsiNode, action::kUpdate}, HintCsiNode},
                                        {{EventResource::kPod, action::kDelete}, HintLimitsPodGone},
                                        {{EventResource::kPersistentVolumeClaim, action::kAdd}, HintLimitsClaimAdded},
                                        {{EventResource::kVolumeAttachment, action::kDelete}, HintDetached}};
}

}  // namespace berth::plugins
