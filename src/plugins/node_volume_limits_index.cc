// SPDX-License-Identifier: Apache-2.0
// Volumes by row, kept. Each change is taken to the volume, the row and the driver's room; nothing is counted anew.
#include "plugins/node_volume_limits_index.h"

#include <algorithm>
#include <utility>

namespace berth::plugins {
namespace {

std::string ClaimKeyOf(std::string_view ns, std::string_view name) {
  std::string key;
  key.reserve(ns.size() + name.size() + 1);
  return key.append(ns).append("/").append(name);
}

// Takes one pointer out of the list that a table has under a key, and the list when it was the last one.
template <class Table, class T>
void Unlink(Table& table, const std::string& key, T* item) {
  const auto it = table.find(key);
  if (it == table.end()) return;
  std::erase(it->second, item);
  if (it->second.empty()) table.erase(it);
}

}  // namespace

// Reading.

std::span<const int32_t> NodeVolumeLimitsIndex::Room(std::string_view driver) const {
  const auto it = driver_ids_.find(driver);
  if (it == driver_ids_.end()) return {};
  return drivers_[it->second].room;
}

int32_t NodeVolumeLimitsIndex::LeastRoom(std::string_view driver) const {
  const auto it = driver_ids_.find(driver);
  if (it == driver_ids_.end()) return kNoLimit;
  const auto& spread = drivers_[it->second].spread;
  return spread.empty() ? kNoLimit : spread.begin()->first;
}

std::span<const Row> NodeVolumeLimitsIndex::RowsWith(const std::string& volume) const {
  const auto it = volume_ids_.find(volume);
  if (it == volume_ids_.end()) return {};
  return volumes_[it->second].rows;
}

std::vector<const AttachableVolume*> NodeVolumeLimitsIndex::AttachedTo(const std::string& node) const {
  std::vector<const AttachableVolume*> volumes;
  const auto it = attachments_of_node_.find(node);
  if (it == attachments_of_node_.end()) return volumes;
  for (const Attachment* attachment : it->second)
    if (attachment->counted) volumes.push_back(&*attachment->counted);
  return volumes;
}

// Rows, drivers and volumes.

NodeVolumeLimitsIndex::RowState& NodeVolumeLimitsIndex::RowAt(Row row) {
  if (row >= rows_.size()) rows_.resize(row + 1);
  return rows_[row];
}

NodeVolumeLimitsIndex::DriverId NodeVolumeLimitsIndex::DriverOf(const std::string& name) {
  const auto [it, added] = driver_ids_.try_emplace(name, static_cast<DriverId>(drivers_.size()));
  if (added) drivers_.emplace_back();
  return it->second;
}

NodeVolumeLimitsIndex::VolumeId NodeVolumeLimitsIndex::VolumeOf(const AttachableVolume& volume) {
  if (const auto it = volume_ids_.find(volume.name); it != volume_ids_.end()) return it->second;
  VolumeId id = static_cast<VolumeId>(volumes_.size());
  if (free_volumes_.empty()) {
    volumes_.emplace_back();
  } else {
    id = free_volumes_.back();
    free_volumes_.pop_back();
  }
  volumes_[id] = {volume.name, DriverOf(volume.driver), 0, {}};
  volume_ids_.emplace(volume.name, id);
  return id;
}

void NodeVolumeLimitsIndex::AddRoom(DriverId id, Row row, int32_t amount) {
  Driver& driver = drivers_[id];
  if (row >= driver.room.size() || driver.room[row] == kNoLimit) return;
  const auto before = driver.spread.find(driver.room[row]);
  if (--before->second == 0) driver.spread.erase(before);
  ++driver.spread[driver.room[row] += amount];
}

void NodeVolumeLimitsIndex::Hold(Row row, const AttachableVolume& volume, int pods, int attachments) {
  const VolumeId id = VolumeOf(volume);
  Volume& known = volumes_[id];
  std::vector<Held>& held = RowAt(row).held;
  auto it = std::lower_bound(held.begin(), held.end(), id, [](const Held& a, VolumeId b) { return a.volume < b; });
  if (it == held.end() || it->volume != id) {
    it = held.insert(it, Held{id});
    ++known.uses;
    AddRoom(known.driver, row, -1);
  }
  const bool had = it->pods > 0;
  it->pods += static_cast<uint32_t>(pods);
  it->attachments += static_cast<uint32_t>(attachments);
  const auto place = std::lower_bound(known.rows.begin(), known.rows.end(), row);
  if (!had && it->pods > 0) known.rows.insert(place, row);
  if (had && it->pods == 0) known.rows.erase(place);
  if (it->pods != 0 || it->attachments != 0) return;
  held.erase(it);
  AddRoom(known.driver, row, 1);
  if (--known.uses > 0) return;
  volume_ids_.erase(known.name);
  known = {};
  free_volumes_.push_back(id);
}

size_t NodeVolumeLimitsIndex::CountHeld(const RowState& state, DriverId driver) const {
  return static_cast<size_t>(std::count_if(state.held.begin(), state.held.end(),
                                           [&](const Held& held) { return volumes_[held.volume].driver == driver; }));
}

void NodeVolumeLimitsIndex::SetLimits(Row row, const CsiNode* node) {
  RowState& state = RowAt(row);
  state.csi_node = node != nullptr;
  std::map<DriverId, int32_t> limits;
  if (node != nullptr) {
    for (const auto& [name, limit] : node->driver_limits)
      if (limit) limits.emplace(DriverOf(name), *limit);
  }
  if (limits == state.limits) return;
  for (const auto& [id, limit] : state.limits) {
    Driver& driver = drivers_[id];
    const auto room = driver.spread.find(driver.room[row]);
    if (--room->second == 0) driver.spread.erase(room);
    driver.room[row] = kNoLimit;
  }
  for (const auto& [id, limit] : limits) {
    Driver& driver = drivers_[id];
    if (row >= driver.room.size()) driver.room.resize(row + 1, kNoLimit);
    driver.room[row] = limit - static_cast<int32_t>(CountHeld(state, id));
    ++driver.spread[driver.room[row]];
  }
  limits_ += limits.size();
  limits_ -= state.limits.size();
  state.limits = std::move(limits);
  CheckBroken(row);
}

void NodeVolumeLimitsIndex::Break(Row row, int volumes) {
  RowAt(row).broken += static_cast<uint32_t>(volumes);
  CheckBroken(row);
}

void NodeVolumeLimitsIndex::CheckBroken(Row row) {
  const RowState& state = rows_[row];
  if (state.broken > 0 && !state.limits.empty()) {
    broken_rows_.insert(row);
  } else {
    broken_rows_.erase(row);
  }
}

// Pods.

void NodeVolumeLimitsIndex::PodAdded(const Snapshot& snapshot, const PodRecord& pod) {
  home_ = snapshot.cluster();
  if (!pod.pod->volumes.empty()) CountPod(snapshot, pod, true);
}

void NodeVolumeLimitsIndex::PodRemoved(const Snapshot& snapshot, const PodRecord& pod) {
  home_ = snapshot.cluster();
  if (!pod.pod->volumes.empty()) CountPod(snapshot, pod, false);
}

void NodeVolumeLimitsIndex::CountPod(const Snapshot& snapshot, const PodRecord& pod, bool comes) {
  const int amount = comes ? 1 : -1;
  for (const PodVolume& volume : pod.pod->volumes) {
    if (!MayCount(volume)) continue;
    ++epoch_;
    if (!HasClaim(volume)) {
      const Result<std::optional<AttachableVolume>> disk = VolumeOfDisk(volume);
      if (!disk.ok()) {
        Break(pod.row, amount);
      } else if (*disk) {
        Hold(pod.row, **disk, amount, 0);
      }
    } else if (volume.source.empty()) {
      Break(pod.row, amount);
    } else {
      CountUse(snapshot, pod, volume, comes);
    }
  }
}

void NodeVolumeLimitsIndex::Apply(const Claim& claim, const OwnUse& use, int volumes) {
  if (use.broken) {
    Break(use.row, volumes);
  } else if (claim.counted) {
    Hold(use.row, *claim.counted, volumes, 0);
  }
}

void NodeVolumeLimitsIndex::ApplyAll(const Claim& claim, int amount) {
  if (claim.counted)
    for (const Use& use : claim.uses) Hold(use.row, *claim.counted, static_cast<int>(use.volumes) * amount, 0);
  for (const OwnUse& use : claim.own_uses) Apply(claim, use, amount);
}

void NodeVolumeLimitsIndex::CountUse(const Snapshot& snapshot, const PodRecord& pod, const PodVolume& volume,
                                     bool comes) {
  const auto [it, added] = claims_.try_emplace(ClaimKeyOf(pod.pod->namespace_(), volume.source));
  Claim& claim = it->second;
  if (added) {
    claim.ns = pod.pod->namespace_();
    claim.name = volume.source;
    Refresh(snapshot, claim);
  }
  if (volume.kind == VolumeKind::kEphemeral) {
    CountOwnUse(snapshot, pod, claim, comes);
  } else {
    auto use = std::lower_bound(claim.uses.begin(), claim.uses.end(), pod.row,
                                [](const Use& one, Row row) { return one.row < row; });
    const bool known = use != claim.uses.end() && use->row == pod.row;
    if (comes && !known) use = claim.uses.insert(use, Use{pod.row, 0});
    if (comes || known) {
      use->volumes += comes ? 1 : -1;
      if (use->volumes == 0) claim.uses.erase(use);
      if (claim.counted) Hold(pod.row, *claim.counted, comes ? 1 : -1, 0);
    }
  }
  if (!claim.uses.empty() || !claim.own_uses.empty()) return;
  Follow(claim, "");
  claims_.erase(it);
}

void NodeVolumeLimitsIndex::CountOwnUse(const Snapshot& snapshot, const PodRecord& pod, Claim& claim, bool comes) {
  if (comes) {
    const auto* object = snapshot.objects<PersistentVolumeClaim>().Find(claim.ns, claim.name);
    claim.own_uses.push_back({pod.row, pod.pod->uid(), object != nullptr && !IsMadeFor(*object, *pod.pod)});
    return Apply(claim, claim.own_uses.back(), 1);
  }
  const auto use = std::find_if(claim.own_uses.begin(), claim.own_uses.end(),
                                [&](const OwnUse& one) { return one.row == pod.row && one.pod == pod.pod->uid(); });
  if (use == claim.own_uses.end()) return;
  Apply(claim, *use, -1);
  claim.own_uses.erase(use);
}

void NodeVolumeLimitsIndex::Follow(Claim& claim, const std::string& volume_name) {
  if (claim.volume_name == volume_name) return;
  if (!claim.volume_name.empty()) Unlink(claims_of_volume_, claim.volume_name, &claim);
  claim.volume_name = volume_name;
  if (!volume_name.empty()) claims_of_volume_[volume_name].push_back(&claim);
}

void NodeVolumeLimitsIndex::Refresh(const Snapshot& snapshot, Claim& claim) {
  const auto* object = snapshot.objects<PersistentVolumeClaim>().Find(claim.ns, claim.name);
  std::optional<AttachableVolume> counted;
  if (object != nullptr) counted = VolumeOfClaim(snapshot, *object);
  std::vector<OwnUse> own_uses = claim.own_uses;
  for (OwnUse& use : own_uses) use.broken = object != nullptr && !IsMadeFor(*object, use.pod);
  Follow(claim, object != nullptr ? object->volume_name : std::string());
  if (counted == claim.counted && own_uses == claim.own_uses) return;
  ++epoch_;
  ApplyAll(claim, -1);
  claim.counted = std::move(counted);
  claim.own_uses = std::move(own_uses);
  ApplyAll(claim, 1);
}

// Nodes and objects.

void NodeVolumeLimitsIndex::NodeChanged(const Snapshot& snapshot, Row row, const Node* before, const Node* after) {
  home_ = snapshot.cluster();
  if (before != nullptr && after != nullptr && before->name() == after->name()) return;
  ++epoch_;
  const auto place = [&](const std::string& node, Row where) {
    const auto it = attachments_of_node_.find(node);
    if (it == attachments_of_node_.end()) return;
    for (Attachment* attachment : it->second) Place(*attachment, where);
  };
  if (before != nullptr) {
    row_of_node_.erase(before->name());
    place(before->name(), kNoRow);
    SetLimits(row, nullptr);
  }
  if (after != nullptr) {
    row_of_node_[after->name()] = row;
    SetLimits(row, snapshot.objects<CsiNode>().Find(after->name()));
    place(after->name(), row);
  }
}

void NodeVolumeLimitsIndex::Place(Attachment& attachment, Row row) {
  if (attachment.row == row) return;
  if (attachment.row != kNoRow && attachment.counted) Hold(attachment.row, *attachment.counted, 0, -1);
  attachment.row = row;
  if (row != kNoRow && attachment.counted) Hold(row, *attachment.counted, 0, 1);
}

void NodeVolumeLimitsIndex::PutAttachment(const Snapshot& snapshot, const VolumeAttachment* before,
                                          const VolumeAttachment* after) {
  if (before != nullptr) {
    if (const auto it = attachments_.find(before->meta.name); it != attachments_.end()) {
      Attachment& attachment = it->second;
      Place(attachment, kNoRow);
      Unlink(attachments_of_node_, attachment.node, &attachment);
      Unlink(attachments_of_volume_, attachment.volume_name, &attachment);
      attachments_.erase(it);
    }
  }
  if (after == nullptr) return;
  const auto [it, added] = attachments_.try_emplace(after->meta.name);
  if (!added) return;
  Attachment& attachment = it->second;
  attachment.attacher = after->attacher;
  attachment.node = after->node_name;
  attachment.volume_name = after->volume_name;
  attachment.counted = VolumeOfAttachment(snapshot, attachment.attacher, attachment.volume_name);
  attachments_of_node_[attachment.node].push_back(&attachment);
  attachments_of_volume_[attachment.volume_name].push_back(&attachment);
  const auto node = row_of_node_.find(attachment.node);
  if (node != row_of_node_.end()) Place(attachment, node->second);
}

// A PersistentVolume came, changed or went.
void NodeVolumeLimitsIndex::RefreshVolume(const Snapshot& snapshot, const std::string& name) {
  if (const auto it = claims_of_volume_.find(name); it != claims_of_volume_.end()) {
    for (Claim* claim : std::vector<Claim*>(it->second)) Refresh(snapshot, *claim);
  }
  const auto it = attachments_of_volume_.find(name);
  if (it == attachments_of_volume_.end()) return;
  for (Attachment* attachment : it->second) {
    const Row row = attachment->row;
    Place(*attachment, kNoRow);
    attachment->counted = VolumeOfAttachment(snapshot, attachment->attacher, name);
    Place(*attachment, row);
  }
}

void NodeVolumeLimitsIndex::ObjectsChanged(const Snapshot& snapshot, const ObjectChange& change) {
  home_ = snapshot.cluster();
  const auto either = [&]<class T>() -> const T* { return change.after<T>() ? change.after<T>() : change.before<T>(); };
  if (change.empty()) {  // nodes and pods were told of, and looked the rest up
    ++epoch_;
    snapshot.objects<VolumeAttachment>().ForEach(
        [&](const VolumeAttachment& attachment) { PutAttachment(snapshot, nullptr, &attachment); });
  } else if (const auto* claim = either.operator()<PersistentVolumeClaim>()) {
    const auto it = claims_.find(ClaimKeyOf(claim->meta.namespace_, claim->meta.name));
    if (it != claims_.end()) Refresh(snapshot, it->second);
  } else if (const auto* volume = either.operator()<PersistentVolume>()) {
    ++epoch_;
    RefreshVolume(snapshot, volume->meta.name);
  } else if (change.Is<StorageClass>()) {
    const auto *before = change.before<StorageClass>(), *after = change.after<StorageClass>();
    if (before && after && before->provisioner == after->provisioner) return;
    for (auto& [key, one] : claims_) Refresh(snapshot, one);
  } else if (const auto* csi_node = either.operator()<CsiNode>()) {
    const auto it = row_of_node_.find(csi_node->meta.name);
    if (it == row_of_node_.end()) return;
    ++epoch_;
    SetLimits(it->second, change.after<CsiNode>());
  } else if (change.Is<VolumeAttachment>()) {
    ++epoch_;
    PutAttachment(snapshot, change.before<VolumeAttachment>(), change.after<VolumeAttachment>());
  }
}

}  // namespace berth::plugins
