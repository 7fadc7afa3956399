// SPDX-License-Identifier: Apache-2.0
// Filling, freeing and reusing rows.
#include "cluster/columns.h"

#include <algorithm>
#include <limits>

#include "berth/host/row_accounting.h"

namespace berth::cluster {
namespace {

// More label columns than this are dropped and built again when asked for: pods choose the keys, so pods could
// otherwise make us keep any number of columns.
constexpr size_t kMaxLabelColumns = 512;

constexpr int32_t kNoPriority = std::numeric_limits<int32_t>::max();

void InsertSorted(std::vector<Row>& rows, Row row) {
  auto it = std::lower_bound(rows.begin(), rows.end(), row);
  if (it == rows.end() || *it != row) rows.insert(it, row);
}
void EraseSorted(std::vector<Row>& rows, Row row) {
  auto it = std::lower_bound(rows.begin(), rows.end(), row);
  if (it != rows.end() && *it == row) rows.erase(it);
}
// Upstream's way of taking a pod out of a list: the last one fills the gap. Looked for from the end, because most pods
// that go are assumed ones being confirmed, and those came last.
void SwapErase(std::vector<const PodRecord*>& pods, const PodRecord* pod) {
  auto it = std::find(pods.rbegin(), pods.rend(), pod);
  if (it == pods.rend()) return;
  *it = pods.back();
  pods.pop_back();
}

// What taking a pod out and putting it back makes of its list. True: the order has changed.
bool MoveToEnd(std::vector<const PodRecord*>& pods, const PodRecord* pod) {
  if (pods.empty() || pods.back() == pod) return false;
  const auto it = std::find(pods.begin(), pods.end(), pod);
  if (it == pods.end()) return false;
  std::swap(*it, pods.back());
  return true;
}

template <class T>
void ResizeColumn(std::vector<T>& column, size_t rows) {
  column.resize(rows);
  if (column.capacity() > 2 * rows + 64) column.shrink_to_fit();
}

}  // namespace

size_t Columns::TaintHash::operator()(const Taint& t) const {
  const SecretStringHash hash;
  return hash(t.key) * 31 + hash(t.value) * 17 + static_cast<size_t>(t.effect);
}

Columns::Columns() {
  data_.allocatable.resize(4);
  data_.requested.resize(4);
}

void Columns::Resize(size_t rows) {
  ResizeColumn(data_.live, rows);
  ResizeColumn(data_.rows, rows);
  for (auto* columns : {&data_.allocatable, &data_.requested})
    for (size_t i = 0; i < columns->size(); ++i)
      if (i < 4 || !(*columns)[i].empty()) ResizeColumn((*columns)[i], rows);
  for (auto* column : {&data_.pod_count, &data_.nonzero_cpu, &data_.nonzero_memory, &data_.zeros})
    ResizeColumn(*column, rows);
  data_.lowest_priority.resize(rows, kNoPriority);
  ResizeColumn(data_.unschedulable, rows);
  for (auto* column : {&data_.taint_set, &data_.image_set, &data_.feature_set}) ResizeColumn(*column, rows);
  ResizeColumn(names_, rows);
  for (auto& [key, column] : label_columns_) LabelColumnWriter::Resize(*column, rows);
  LabelColumnWriter::Resize(absent_, rows);
}

void Columns::DropLabelColumns() {
  label_columns_.clear();
  ++data_.epochs.node_labels;
}

Row Columns::RowFor(const std::string& node_name) {
  if (auto it = by_name_.find(node_name); it != by_name_.end()) return it->second;
  if (label_columns_.size() > kMaxLabelColumns) DropLabelColumns();
  Row row;
  if (free_.empty()) {
    row = static_cast<Row>(names_.size());
    Resize(names_.size() + 1);
  } else {
    row = *free_.begin();
    free_.erase(free_.begin());
  }
  names_[row] = node_name;
  by_name_.emplace(node_name, row);
  return row;
}

Row Columns::FindAny(std::string_view node_name) const {
  auto it = by_name_.find(node_name);
  return it == by_name_.end() ? kNoRow : it->second;
}

Row Columns::FindRow(std::string_view node_name) const {
  const Row row = FindAny(node_name);
  return row != kNoRow && data_.live[row] ? row : kNoRow;
}

void Columns::FreeIfUnused(Row row) {
  if (data_.live[row] || !data_.rows[row].pods.empty()) return;
  by_name_.erase(names_[row]);
  names_[row].clear();
  data_.rows[row] = {};
  free_.insert(row);
  size_t rows = names_.size();
  while (rows > 0 && !free_.empty() && *free_.rbegin() == rows - 1) {
    free_.erase(std::prev(free_.end()));
    --rows;
  }
  if (rows < names_.size()) Resize(rows);
}

void Columns::Cell(std::vector<std::vector<int64_t>>& columns, ResourceId id, Row row, int64_t amount, int64_t sign) {
  if (amount == 0) return;
  const size_t i = Index(id);
  if (i >= columns.size()) columns.resize(i + 1);
  if (columns[i].empty()) columns[i].resize(names_.size());
  WrapAdd(columns[i][row], amount, sign);
}

void Columns::SetAllocatable(Row row, const Resources* resources) {
  for (auto& column : data_.allocatable)
    if (!column.empty()) column[row] = 0;
  if (!resources) return;
  Cell(data_.allocatable, ResourceId::kCpu, row, resources->milli_cpu, 1);
  Cell(data_.allocatable, ResourceId::kMemory, row, resources->memory, 1);
  Cell(data_.allocatable, ResourceId::kEphemeralStorage, row, resources->ephemeral_storage, 1);
  Cell(data_.allocatable, ResourceId::kPods, row, resources->pods, 1);
  for (const auto& [id, amount] : resources->scalars) Cell(data_.allocatable, id, row, amount, 1);
}

void Columns::SetLabels(Row row, const Labels* before, const Labels* after) {
  if (before && after && *before == *after) return;
  ++data_.epochs.node_labels;
  if (before)
    for (const auto& [key, value] : *before) {
      auto it = label_keys_.find(key);
      if (--it->second == 0) label_keys_.erase(it);
    }
  if (after)
    for (const auto& [key, value] : *after) ++label_keys_.try_emplace(key, 0).first->second;
  for (auto& [key, column] : label_columns_)
    LabelColumnWriter::Assign(*column, row, after ? after->Find(key) : nullptr);
}

std::vector<uint32_t> Columns::AcquireImages(const std::vector<NodeImage>& images) {
  std::vector<uint32_t> ids;
  for (const NodeImage& image : images) {
    for (const std::string& name : image.names) {
      auto it = image_ids_.find(name);
      if (it == image_ids_.end()) {
        uint32_t id;
        if (free_images_.empty()) {
          id = static_cast<uint32_t>(data_.images.size());
          data_.images.emplace_back();
          image_names_.emplace_back();
        } else {
          id = free_images_.back();
          free_images_.pop_back();
        }
        it = image_ids_.emplace(name, id).first;
        image_names_[id] = &it->first;
        data_.images[id] = {image.size_bytes, 0};
      }
      ids.push_back(it->second);
    }
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  for (const uint32_t id : ids) ++data_.images[id].nodes;
  return ids;
}

void Columns::ReleaseImages(const std::vector<uint32_t>& images) {
  for (const uint32_t id : images) {
    if (--data_.images[id].nodes > 0) continue;
    image_ids_.erase(image_ids_.find(*image_names_[id]));
    image_names_[id] = nullptr;
    free_images_.push_back(id);
  }
}

bool Columns::RefreshImageSizes(const std::vector<NodeImage>& images) {
  bool changed = false;
  std::set<uint32_t> seen;
  for (const NodeImage& image : images) {
    for (const std::string& name : image.names) {
      const uint32_t id = FindImage(name);
      ImageState& state = data_.images[id];
      if (state.nodes != 1 || !seen.insert(id).second || state.size_bytes == image.size_bytes) continue;
      state.size_bytes = image.size_bytes;
      changed = true;
    }
  }
  return changed;
}

void Columns::SetNode(Row row, std::shared_ptr<const Node> node) {
  if (label_columns_.size() > kMaxLabelColumns) DropLabelColumns();
  RowData& at = data_.rows[row];
  const std::shared_ptr<const Node> before = at.node;

  // Acquire before releasing, so that a set or image that stays is never freed in between.
  const std::vector<uint32_t> images = AcquireImages(node->images);
  const uint32_t taints = taint_sets_.Acquire(node->taints);
  const uint32_t image_set = image_sets_.Acquire(images);
  const uint32_t features = feature_sets_.Acquire(node->declared_features);
  RowFields changed = 0;
  auto replace = [&](uint32_t& slot, uint32_t id, RowFields field) {
    if (slot != id) changed |= field;
    slot = id;
  };
  const uint32_t old_taints = data_.taint_set[row], old_image_set = data_.image_set[row];
  const uint32_t old_features = data_.feature_set[row];
  replace(data_.taint_set[row], taints, row_field::kTaints);
  replace(data_.image_set[row], image_set, row_field::kImages);
  replace(data_.feature_set[row], features, row_field::kFeatures);
  if (before) {
    ReleaseImages(std::vector<uint32_t>(data_.image_sets[old_image_set]));
    taint_sets_.Release(old_taints);
    image_sets_.Release(old_image_set);
    feature_sets_.Release(old_features);
  }
  if (changed) ++data_.epochs.sets;
  if (RefreshImageSizes(node->images)) changed |= row_field::kImages;
  if (changed & row_field::kImages) ++data_.epochs.image_spread;

  if (!before || before->allocatable != node->allocatable) {
    SetAllocatable(row, &node->allocatable);
    changed |= row_field::kAllocatable;
  }
  if (data_.unschedulable[row] != uint8_t{node->unschedulable}) changed |= row_field::kUnschedulable;
  data_.unschedulable[row] = node->unschedulable;
  if (!before || before->meta.labels != node->meta.labels) changed |= row_field::kLabels;
  if (!before || before->meta.annotations != node->meta.annotations) changed |= row_field::kAnnotations;
  SetLabels(row, before ? &before->meta.labels : nullptr, &node->meta.labels);
  order_.Put(row, node->meta.labels);

  at.node = std::move(node);
  if (!before) {
    data_.live[row] = 1;
    ++data_.node_count;
    ++data_.epochs.node_set;
    changed = row_field::kAll;
  }
  if (changed) data_.changes.Record(row, changed);
}

void Columns::ClearNode(Row row) {
  RowData& at = data_.rows[row];
  if (!at.node) return;
  SetLabels(row, &at.node->meta.labels, nullptr);
  SetAllocatable(row, nullptr);
  ReleaseImages(std::vector<uint32_t>(data_.image_sets[data_.image_set[row]]));
  taint_sets_.Release(data_.taint_set[row]);
  image_sets_.Release(data_.image_set[row]);
  feature_sets_.Release(data_.feature_set[row]);
  data_.taint_set[row] = data_.image_set[row] = data_.feature_set[row] = 0;
  ++data_.epochs.sets;
  data_.unschedulable[row] = 0;
  order_.Remove(row);
  at.node = nullptr;
  data_.live[row] = 0;
  ForgetNominated(row);
  --data_.node_count;
  ++data_.epochs.node_set;
  ++data_.epochs.image_spread;
  data_.changes.Record(row, row_field::kAll);
  FreeIfUnused(row);
}

void Columns::AddPod(Row row, const PodRecord& pod) {
  RowData& at = data_.rows[row];
  at.pods.push_back(&pod);
  ForEachHeld(pod.pod->resources, [&](ResourceId id, int64_t amount) { Cell(data_.requested, id, row, amount, 1); });
  WrapAdd(data_.nonzero_cpu[row], pod.pod->resources.nonzero_cpu, 1);
  WrapAdd(data_.nonzero_memory[row], pod.pod->resources.nonzero_memory, 1);
  ++data_.pod_count[row];
  data_.lowest_priority[row] = std::min(data_.lowest_priority[row], pod.pod->priority);
  AddHostPorts(*pod.pod, at.ports);
  if (pod.pod->HasPodAffinity()) {
    ++data_.epochs.affinity_pods;
    at.affinity_pods.push_back(&pod);
    InsertSorted(data_.affinity_rows, row);
  }
  if (pod.pod->HasRequiredAntiAffinity()) {
    at.anti_affinity_pods.push_back(&pod);
    InsertSorted(data_.anti_affinity_rows, row);
  }
  data_.changes.Record(row, row_field::kRequested | row_field::kPodCount | row_field::kPods | row_field::kPorts);
}

void Columns::RemovePod(const PodRecord& pod) {
  const Row row = pod.row;
  RowData& at = data_.rows[row];
  SwapErase(at.pods, &pod);
  if (pod.pod->HasPodAffinity()) {
    ++data_.epochs.affinity_pods;
    SwapErase(at.affinity_pods, &pod);
    if (at.affinity_pods.empty()) EraseSorted(data_.affinity_rows, row);
  }
  if (pod.pod->HasRequiredAntiAffinity()) {
    SwapErase(at.anti_affinity_pods, &pod);
    if (at.anti_affinity_pods.empty()) EraseSorted(data_.anti_affinity_rows, row);
  }
  ForEachHeld(pod.pod->resources, [&](ResourceId id, int64_t amount) { Cell(data_.requested, id, row, amount, -1); });
  WrapAdd(data_.nonzero_cpu[row], pod.pod->resources.nonzero_cpu, -1);
  WrapAdd(data_.nonzero_memory[row], pod.pod->resources.nonzero_memory, -1);
  --data_.pod_count[row];
  if (int32_t& lowest = data_.lowest_priority[row]; pod.pod->priority == lowest) {
    // Another pod of the same priority ends the search: none is lower. Mostly it is the first.
    int32_t left = kNoPriority;
    for (size_t i = 0; i < at.pods.size() && left != lowest; ++i) left = std::min(left, at.pods[i]->pod->priority);
    lowest = left;
  }
  RemoveHostPorts(*pod.pod, at.ports);
  data_.changes.Record(row, row_field::kRequested | row_field::kPodCount | row_field::kPods | row_field::kPorts);
  FreeIfUnused(row);
}

void Columns::RefreshPod(const PodRecord& pod, bool differs) {
  RowData& at = data_.rows[pod.row];
  differs |= MoveToEnd(at.pods, &pod);
  differs |= MoveToEnd(at.affinity_pods, &pod);
  differs |= MoveToEnd(at.anti_affinity_pods, &pod);
  if (differs) data_.changes.Record(pod.row, row_field::kPods);
}

void Columns::ReplacePod(const PodRecord& before, const PodRecord& after) {
  RowData& at = data_.rows[before.row];
  const auto replace = [&](std::vector<const PodRecord*>& pods) {
    if (const auto it = std::find(pods.begin(), pods.end(), &before); it != pods.end()) {
      *it = pods.back();
      pods.back() = &after;
    }
  };
  replace(at.pods);
  replace(at.affinity_pods);
  replace(at.anti_affinity_pods);
  if (after.pod->HasPodAffinity()) ++data_.epochs.affinity_pods;
  data_.changes.Record(before.row, row_field::kPods);
}

void Columns::ForgetNominated(Row row) {
  const auto it = data_.nominated.find(row);
  if (it == data_.nominated.end()) return;
  for (const PodRecord* pod : it->second) nomination_rows_.erase(pod->pod->uid());
  data_.nominated.erase(it);
}

void Columns::SetNominated(Row row, std::vector<const PodRecord*> pods) {
  ForgetNominated(row);
  for (const PodRecord* pod : pods) nomination_rows_[pod->pod->uid()] = row;
  if (!pods.empty()) data_.nominated[row] = std::move(pods);
  data_.changes.Record(row, row_field::kNominated);
}

const LabelColumn& Columns::Column(std::string_view key) const {
  const std::lock_guard lock(label_columns_mutex_);
  if (auto it = label_columns_.find(key); it != label_columns_.end()) return *it->second;
  if (!label_keys_.contains(key)) return absent_;
  auto column = std::make_unique<LabelColumn>();
  LabelColumnWriter::Resize(*column, names_.size());
  for (Row row = 0; row < names_.size(); ++row)
    if (data_.live[row]) LabelColumnWriter::Assign(*column, row, data_.rows[row].node->meta.labels.Find(key));
  return *label_columns_.emplace(std::string(key), std::move(column)).first->second;
}

Row Columns::FindNomination(std::string_view uid) const {
  auto it = nomination_rows_.find(uid);
  return it == nomination_rows_.end() ? kNoRow : it->second;
}

uint32_t Columns::FindImage(std::string_view name) const {
  auto it = image_ids_.find(name);
  return it == image_ids_.end() ? kNoImage : it->second;
}

}  // namespace berth::cluster
