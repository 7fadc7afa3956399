// SPDX-License-Identifier: Apache-2.0
// Upstream, for what matches: component-helpers/storage/volume/pv_helpers.go, FindMatchingVolume (v1.36.4).
#include "plugins/volume_binding_volumes.h"

#include <algorithm>

#include "plugins/common/volumes.h"
#include "plugins/volume_binding_migration.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kFilesystem = "Filesystem";
constexpr std::string_view kAvailable = "Available";
// Sorts of claims of one class for which rows are kept; a class has few.
constexpr size_t kMaxWanted = 32;

std::string ModeOf(const std::string& volume_mode) {
  return volume_mode.empty() ? std::string(kFilesystem) : volume_mode;
}

std::vector<std::string> SortedModes(std::vector<std::string> modes) {
  std::sort(modes.begin(), modes.end());
  modes.erase(std::unique(modes.begin(), modes.end()), modes.end());
  return modes;
}

bool IsFree(const PersistentVolume& volume) {
  return !volume.claim_ref && volume.phase == kAvailable && !volume.meta.deletion_time;
}

NodeSelector SelectorOf(const LabelSelector& selector) {
  NodeSelectorTerm term;
  term.match_expressions = selector.requirements;
  term.invalid = selector.invalid;
  NodeSelector out;
  out.terms.Edit().push_back(std::move(term));
  return out;
}

void AddText(std::string_view part, std::string& out) {
  out.append(std::to_string(part.size())).append(":").append(part);
}

}  // namespace

ClaimNeeds::ClaimNeeds(const PersistentVolumeClaim& claim)
    : storage_class(ClassOf(claim)),
      request(claim.request.value_or(Quantity())),
      volume_mode(ModeOf(claim.volume_mode)),
      volume_attributes_class(claim.volume_attributes_class),
      access_modes(SortedModes(claim.access_modes)),
      selector(claim.selector) {}

std::string ClaimNeeds::Text() const {
  std::string text;
  AddText(request.ToString(), text);
  AddText(volume_mode, text);
  AddText(volume_attributes_class, text);
  for (const std::string& mode : access_modes) AddText(mode, text);
  text += selector ? "|" : "";
  if (!selector) return text;
  for (const Requirement& one : selector->requirements) {
    AddText(one.key, text);
    text += static_cast<char>('a' + static_cast<int>(one.op));
    for (const std::string& value : one.values) AddText(value, text);
    text += ';';
  }
  return text;
}

std::optional<int64_t> LimitOf(const CsiStorageCapacity& capacity) {
  const std::optional<Quantity>& limit =
      capacity.maximum_volume_size ? capacity.maximum_volume_size : capacity.capacity;
  if (!limit) return std::nullopt;
  return limit->Value();
}

bool IsFor(const PersistentVolume& volume, const PersistentVolumeClaim& claim) {
  if (!volume.claim_ref) return false;
  const ClaimReference& ref = *volume.claim_ref;
  return ref.name == claim.meta.name && ref.namespace_ == claim.meta.namespace_ &&
         (ref.uid.empty() || ref.uid == claim.meta.uid);
}

// Nodes.

void VolumeTable::PutNode(Row row, const std::string& name, const Labels& labels) {
  if (row >= node_names_.size()) {
    node_names_.resize(row + 1);
    migrated_.resize(row + 1, 0);
  }
  if (node_names_[row] != name) {
    if (!node_names_[row].empty()) node_rows_.erase(node_names_[row]);
    node_names_[row] = name;
    node_rows_[name] = row;
    const auto csi = csi_nodes_.find(name);
    migrated_[row] = csi == csi_nodes_.end() ? uint8_t{0} : csi->second;
  }
  if (rows_.PutNode(row, labels)) RefreshRow(row);
}

void VolumeTable::RemoveNode(Row row) {
  if (row >= node_names_.size()) return;
  node_rows_.erase(node_names_[row]);
  node_names_[row].clear();
  migrated_[row] = 0;
  if (rows_.RemoveNode(row)) RefreshRow(row);
}

void VolumeTable::PutCsiNode(const CsiNode& node) {
  const uint8_t bits = MigratedPlugins(node);
  csi_nodes_[node.meta.name] = bits;
  if (const auto row = node_rows_.find(node.meta.name); row != node_rows_.end()) migrated_[row->second] = bits;
}

void VolumeTable::RemoveCsiNode(const std::string& name) {
  csi_nodes_.erase(name);
  if (const auto row = node_rows_.find(name); row != node_rows_.end()) migrated_[row->second] = 0;
}

// Volumes.

VolumeTable::Reach VolumeTable::ReachOf(const PersistentVolume& volume) {
  Reach reach;
  if (volume.node_affinity) reach.rows = rows_.Acquire(*volume.node_affinity);
  reach.translated = reach.rows;
  reach.plugin = PluginBit(volume.kind);
  if (reach.plugin == 0) return reach;
  reach.translated = SelectedRows::kEveryRow;
  const Result<std::optional<NodeSelector>> translated = TranslateAffinity(volume);
  if (!translated.ok()) {
    reach.error = translated.error().text();
  } else if (*translated) {
    reach.translated = rows_.Acquire(**translated);
  }
  translates_ += !reach.error.empty();
  return reach;
}

void VolumeTable::Release(const Reach& reach) {
  rows_.Release(reach.rows);
  translates_ -= !reach.error.empty();
  if (reach.plugin != 0) rows_.Release(reach.translated);
}

VolumeTable::Group& VolumeTable::GroupFor(OfClass& of_class, SelectedRows::Id rows, const PersistentVolume& volume) {
  std::vector<Group>& groups = of_class.by_rows[rows];
  Group wanted{ModeOf(volume.volume_mode), volume.volume_attributes_class, SortedModes(volume.access_modes), {}};
  const auto it = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
    return group.volume_mode == wanted.volume_mode && group.volume_attributes_class == wanted.volume_attributes_class &&
           group.access_modes == wanted.access_modes;
  });
  return it != groups.end() ? *it : groups.emplace_back(std::move(wanted));
}

// Puts a volume where it is looked for, or takes it from there.
void VolumeTable::Arrange(const std::string& name, Volume& volume, bool add) {
  if (!volume.claim.empty()) {
    if (add) {
      made_for_[volume.claim].insert(name);
    } else if (const auto it = made_for_.find(volume.claim); it->second.erase(name), it->second.empty()) {
      made_for_.erase(it);
    }
  }
  if (!volume.free) return;
  OfClass& of_class = classes_[volume.storage_class];
  if (add) {
    GroupFor(of_class, volume.reach.rows, *volume.object).free.emplace(std::pair(volume.capacity, name), volume.object);
  } else {
    std::vector<Group>& groups = of_class.by_rows[volume.reach.rows];
    for (Group& group : groups) group.free.erase({volume.capacity, name});
    std::erase_if(groups, [](const Group& group) { return group.free.empty(); });
    if (groups.empty()) of_class.by_rows.erase(volume.reach.rows);
  }
  Refresh(of_class, volume.reach.rows);
  if (of_class.by_rows.empty() && of_class.wanted.empty()) classes_.erase(volume.storage_class);
}

void VolumeTable::PutVolume(const PersistentVolume& object) {
  Volume volume;
  volume.object = &object;
  volume.storage_class = ClassOf(object);
  volume.free = IsFree(object);
  volume.capacity = object.capacity;
  if (object.claim_ref) volume.claim = object.claim_ref->namespace_ + "/" + object.claim_ref->name;
  volume.reach = ReachOf(object);  // before the old one is released, so that a set that stays is not made anew
  const std::string& name = object.meta.name;
  RemoveVolume(name);
  Volume& slot = volumes_[name];
  slot = std::move(volume);
  Arrange(name, slot, true);
}

void VolumeTable::RemoveVolume(const std::string& name) {
  const auto it = volumes_.find(name);
  if (it == volumes_.end()) return;
  Arrange(name, it->second, false);
  Release(it->second.reach);
  volumes_.erase(it);
}

const VolumeTable::Reach* VolumeTable::FindReach(std::string_view volume) const {
  const auto it = volumes_.find(volume);
  return it == volumes_.end() ? nullptr : &it->second.reach;
}

bool VolumeTable::Reaches(const PersistentVolume& volume, Row row) const {
  const Reach* const reach = FindReach(volume.meta.name);
  return reach != nullptr && rows_.Contains(reach->rows, row);
}

// Matching.

bool VolumeTable::Suits(const Group& group, const ClaimNeeds& needs) {
  return group.volume_mode == needs.volume_mode && group.volume_attributes_class == needs.volume_attributes_class &&
         std::includes(group.access_modes.begin(), group.access_modes.end(), needs.access_modes.begin(),
                       needs.access_modes.end());
}

const PersistentVolume* VolumeTable::SmallestOf(const Group& group, const ClaimNeeds& needs,
                                                std::span<const std::string> taken) {
  if (!Suits(group, needs)) return nullptr;
  for (auto it = group.free.lower_bound({needs.request, ""}); it != group.free.end(); ++it) {
    const PersistentVolume* const volume = it->second;
    if (std::find(taken.begin(), taken.end(), volume->meta.name) != taken.end()) continue;
    if (!needs.selector || needs.selector->Matches(volume->meta.labels)) return volume;
  }
  return nullptr;
}

bool VolumeTable::AnyOf(const OfClass& of_class, SelectedRows::Id rows, const ClaimNeeds& needs) {
  const auto groups = of_class.by_rows.find(rows);
  return groups != of_class.by_rows.end() &&
         std::any_of(groups->second.begin(), groups->second.end(),
                     [&](const Group& group) { return SmallestOf(group, needs, {}) != nullptr; });
}

const PersistentVolume* VolumeTable::Smallest(const ClaimNeeds& needs, Row row,
                                              std::span<const std::string> taken) const {
  const auto of_class = classes_.find(needs.storage_class);
  if (of_class == classes_.end()) return nullptr;
  const PersistentVolume* best = nullptr;
  const auto consider = [&](SelectedRows::Id rows) {
    const auto groups = of_class->second.by_rows.find(rows);
    if (groups == of_class->second.by_rows.end()) return;
    for (const Group& group : groups->second) {
      const PersistentVolume* const one = SmallestOf(group, needs, taken);
      if (one == nullptr) continue;
      if (best == nullptr || one->capacity < best->capacity ||
          (one->capacity == best->capacity && one->meta.name < best->meta.name))
        best = one;
    }
  };
  consider(SelectedRows::kEveryRow);
  for (const SelectedRows::Id rows : rows_.sets(row)) consider(rows);
  return best;
}

std::vector<const PersistentVolume*> VolumeTable::MadeFor(const PersistentVolumeClaim& claim,
                                                          const ClaimNeeds& needs) const {
  std::vector<const PersistentVolume*> out;
  const auto names = made_for_.find(claim.meta.namespace_ + "/" + claim.meta.name);
  if (names == made_for_.end()) return out;
  for (const std::string& name : names->second) {
    const Volume& volume = volumes_.find(name)->second;
    const PersistentVolume& object = *volume.object;
    if (volume.storage_class == needs.storage_class && IsFor(object, claim) && object.capacity >= needs.request &&
        ModeOf(object.volume_mode) == needs.volume_mode &&
        object.volume_attributes_class == needs.volume_attributes_class && !object.meta.deletion_time)
      out.push_back(&object);
  }
  return out;
}

void VolumeTable::Refresh(RowsWithVolume& wanted, const OfClass& of_class, SelectedRows::Id rows) {
  const bool any = AnyOf(of_class, rows, wanted.needs_);
  if (rows == SelectedRows::kEveryRow) {
    wanted.everywhere_ = any;
    return;
  }
  const auto known = wanted.sets_.find(rows);
  if ((known != wanted.sets_.end()) == any) return;
  if (any) {
    wanted.sets_.emplace(rows, true);
  } else {
    wanted.sets_.erase(known);
  }
  for (const Row row : rows_.rows(rows)) {
    if (row >= wanted.counts_.size()) wanted.counts_.resize(row + 1, 0);
    wanted.counts_[row] += any ? 1u : ~0u;
  }
}

void VolumeTable::Refresh(OfClass& of_class, SelectedRows::Id rows) {
  for (auto& [text, wanted] : of_class.wanted) Refresh(*wanted, of_class, rows);
}

void VolumeTable::RefreshRow(Row row) {
  for (auto& [name, of_class] : classes_) {
    for (auto& [text, wanted] : of_class.wanted) {
      if (row >= wanted->counts_.size()) wanted->counts_.resize(row + 1, 0);
      uint32_t count = 0;
      for (const SelectedRows::Id rows : rows_.sets(row)) count += wanted->sets_.contains(rows);
      wanted->counts_[row] = count;
    }
  }
}

std::shared_ptr<const RowsWithVolume> VolumeTable::RowsWith(const ClaimNeeds& needs) {
  OfClass& of_class = classes_[needs.storage_class];
  const std::string text = needs.Text();
  if (const auto known = of_class.wanted.find(text); known != of_class.wanted.end()) return known->second;
  if (of_class.wanted.size() >= kMaxWanted) of_class.wanted.clear();
  const std::shared_ptr<RowsWithVolume> made(new RowsWithVolume(needs));
  for (const auto& [rows, groups] : of_class.by_rows) Refresh(*made, of_class, rows);
  of_class.wanted.emplace(text, made);
  return made;
}

// Provisioning.

void VolumeTable::PutClass(const StorageClass& storage_class) {
  SelectedRows::Id rows = SelectedRows::kEveryRow;
  if (!storage_class.allowed_topologies.empty()) {
    NodeSelector selector;
    selector.terms = storage_class.allowed_topologies;
    rows = rows_.Acquire(selector);
  }
  RemoveClass(storage_class.meta.name);
  if (rows != SelectedRows::kEveryRow) topologies_[storage_class.meta.name] = rows;
}

void VolumeTable::RemoveClass(const std::string& name) {
  const auto it = topologies_.find(name);
  if (it == topologies_.end()) return;
  rows_.Release(it->second);
  topologies_.erase(it);
}

SelectedRows::Id VolumeTable::TopologyOf(std::string_view storage_class) const {
  const auto it = topologies_.find(storage_class);
  return it == topologies_.end() ? SelectedRows::kEveryRow : it->second;
}

void VolumeTable::PutCapacity(const CsiStorageCapacity& object) {
  Capacity capacity;
  capacity.limit = LimitOf(object);
  capacity.nowhere = !object.node_topology || !object.node_topology->invalid.empty();
  if (!capacity.nowhere && !object.node_topology->empty())
    capacity.rows = rows_.Acquire(SelectorOf(*object.node_topology));
  RemoveCapacity(object);
  capacities_[object.storage_class][FullName(object.meta)] = capacity;
}

void VolumeTable::RemoveCapacity(const CsiStorageCapacity& object) {
  const auto of_class = capacities_.find(object.storage_class);
  if (of_class == capacities_.end()) return;
  const auto it = of_class->second.find(FullName(object.meta));
  if (it == of_class->second.end()) return;
  rows_.Release(it->second.rows);
  of_class->second.erase(it);
  if (of_class->second.empty()) capacities_.erase(of_class);
}

std::vector<uint8_t> VolumeTable::RowsWithRoom(std::string_view storage_class, int64_t bytes, size_t rows) const {
  std::vector<uint8_t> room(rows, 0);
  const auto of_class = capacities_.find(storage_class);
  if (of_class == capacities_.end()) return room;
  for (const auto& [name, capacity] : of_class->second) {
    if (capacity.nowhere || !capacity.limit || *capacity.limit < bytes) continue;
    if (capacity.rows == SelectedRows::kEveryRow) {
      std::fill(room.begin(), room.end(), uint8_t{1});
      return room;
    }
    for (const Row row : rows_.rows(capacity.rows))
      if (row < rows) room[row] = 1;
  }
  return room;
}

}  // namespace berth::plugins
