// SPDX-License-Identifier: Apache-2.0
// Finding who counts a pod, and counting it.
#include "plugins/common/pod_counts.h"

#include <algorithm>

#include "berth/vectorized.h"
#include "plugins/common/pod_signing.h"

namespace berth::plugins {
namespace {

// A list of so many rows is given up for a column. A column may then take 64 times the room the list would.
size_t FewRows(Row row) { return std::max<size_t>(64, row / 64); }

constexpr size_t kMaxKinds = 8192;  // more are forgotten, and asked for again

BERTH_VECTORIZED uint64_t SumWhere(const uint32_t* values, uint32_t value, const uint8_t* live, const uint32_t* counts,
                                   size_t n) {
  uint64_t sum = 0;
  for (size_t i = 0; i < n; ++i) {
    const auto has = static_cast<uint32_t>((values[i] == value) & (live[i] != 0));
    sum += counts[i] & (0 - has);
  }
  return sum;
}

}  // namespace

void RowCounts::Add(Row row, int64_t amount) {
  if (amount == 0) return;
  total_ += amount;
  if (!many_.empty()) {
    if (row >= many_.size()) many_.resize(size_t{row} + 1 + row / 8, 0);
    many_[row] = static_cast<uint32_t>(many_[row] + amount);
    return;
  }
  auto at = std::lower_bound(few_.begin(), few_.end(), row, [](const Entry& e, Row r) { return e.row < r; });
  if (at != few_.end() && at->row == row) {
    at->count = static_cast<uint32_t>(at->count + amount);
    if (at->count == 0) few_.erase(at);
    return;
  }
  few_.insert(at, {row, static_cast<uint32_t>(amount)});
  const Row last = few_.back().row;
  if (few_.size() <= FewRows(last)) return;
  many_.resize(size_t{last} + 1 + last / 8, 0);
  for (const Entry& entry : few_) many_[entry.row] = entry.count;
  few_ = {};
}

int64_t RowCounts::operator[](Row row) const {
  if (!many_.empty()) return row < many_.size() ? many_[row] : 0;
  const auto at = std::lower_bound(few_.begin(), few_.end(), row, [](const Entry& e, Row r) { return e.row < r; });
  return at != few_.end() && at->row == row ? at->count : 0;
}

std::span<const uint32_t> RowCounts::Column(size_t n, std::vector<uint32_t>& room) const {
  if (many_.size() >= n) return std::span(many_).first(n);
  room.assign(n, 0);
  ForEach([&](Row row, int64_t count) {
    if (row < n) room[row] = static_cast<uint32_t>(count);
  });
  return room;
}

uint64_t RowCounts::SumOf(uint32_t value, std::span<const uint32_t> values, std::span<const uint8_t> live) const {
  return SumWhere(values.data(), value, live.data(), many_.data(),
                  std::min({values.size(), live.size(), many_.size()}));
}

PodQuery::PodQuery(bool terminating) : terminating_(terminating) { key_.Add(int64_t{terminating}); }

void PodQuery::And(bool any_namespace, std::span<const std::string> namespaces,
                   const std::optional<LabelSelector>& selector) {
  clauses_.push_back({any_namespace, namespaces, &selector});
  key_.Add(int64_t{any_namespace});
  key_.Add(static_cast<int64_t>(namespaces.size()));
  for (const std::string& ns : namespaces) key_.Add(ns);
  SignSelector(selector, key_);
}

bool PodCounts::Tracker::Matches(const Labels& labels, const std::string& ns) const {
  return std::all_of(clauses.begin(), clauses.end(), [&](const Clause& clause) {
    if (!clause.any_namespace && !std::binary_search(clause.namespaces.begin(), clause.namespaces.end(), ns))
      return false;
    return berth::Matches(clause.selector, labels);
  });
}

size_t PodCounts::Bytes() const {
  size_t bytes = 0;
  for (const auto& [serial, tracker] : by_serial_) bytes += sizeof(Tracker) + tracker->counts.Bytes();
  return bytes;
}

void PodCounts::Drop(Tracker& tracker) {
  ++epoch_;  // nobody will notice changes from here on
  tracker.dropped = true;
  tracker.counts = {};
  const std::shared_ptr<Tracker> last = by_serial_.at(tracker.serial);
  by_serial_.erase(tracker.serial);
  by_key_.erase(tracker.key);
}

void PodCounts::Begin() {
  // Counts grow slowly: weighing all of them is for when there is a new one, and now and then.
  constexpr uint64_t kNowAndThen = 256;
  if (!std::exchange(grown_, false) && ++begins_ % kNowAndThen != 0) return;
  while (by_key_.size() > 1 && (by_key_.size() > limits_.queries || Bytes() > limits_.bytes)) {
    const auto oldest = std::min_element(by_serial_.begin(), by_serial_.end(),
                                         [](const auto& a, const auto& b) { return a.second->used < b.second->used; });
    Drop(*oldest->second);
  }
}

const RowCounts& PodCounts::Count(const Snapshot& snapshot, const PodQuery& query) {
  std::shared_ptr<Tracker>& slot = by_key_[query.key_.text()];
  if (slot) {
    slot->used = ++uses_;
    return slot->counts;
  }
  grown_ = true;
  auto tracker = std::make_shared<Tracker>();
  tracker->key = query.key_.text();
  for (const PodQuery::Clause& clause : query.clauses_)
    tracker->clauses.push_back(
        {clause.any_namespace, {clause.namespaces.begin(), clause.namespaces.end()}, *clause.selector});
  tracker->terminating = query.terminating_;
  tracker->serial = ++serial_;
  tracker->used = ++uses_;
  // Answers by labels and namespace while no pod comes or goes: neighbours are mostly of one kind.
  struct Known {
    const void* labels = nullptr;
    const std::string* ns = nullptr;
    bool answer = false;
  };
  std::vector<Known> known(256);
  for (Row row = 0; row < snapshot.rows(); ++row) {
    int64_t count = 0;
    for (const PodRecord* record : snapshot.pods(row)) {
      const Pod& pod = *record->pod;
      if (pod.terminating() && !tracker->terminating) continue;
      const void* const labels = pod.meta.labels.begin();
      Known& at = known[(reinterpret_cast<uintptr_t>(labels) >> 5) % known.size()];
      if (at.ns == nullptr || at.labels != labels || *at.ns != pod.namespace_())
        at = {labels, &pod.namespace_(), tracker->Matches(pod.meta.labels, pod.namespace_())};
      count += at.answer;
    }
    tracker->counts.Add(row, count);
  }
  by_serial_.emplace(tracker->serial, tracker);
  slot = std::move(tracker);
  return slot->counts;
}

void PodCounts::Add(const Pod& pod, Row row, int64_t amount) {
  if (by_serial_.empty()) return;
  probe_.labels = pod.meta.labels;
  probe_.ns = pod.namespace_();
  auto at = kinds_.find(probe_);
  if (at == kinds_.end()) {
    if (kinds_.size() >= kMaxKinds) kinds_.clear();
    at = kinds_.emplace(probe_, Matching()).first;
  }
  Matching& matching = at->second;
  if (matching.seen != serial_) {
    for (auto made = by_serial_.upper_bound(matching.seen); made != by_serial_.end(); ++made)
      if (made->second->Matches(probe_.labels, probe_.ns)) matching.trackers.push_back(made->second);
    matching.seen = serial_;
  }
  bool gone = false;
  for (const std::shared_ptr<Tracker>& tracker : matching.trackers) {
    gone = gone || tracker->dropped;
    if (tracker->dropped || (pod.terminating() && !tracker->terminating)) continue;
    tracker->counts.Add(row, amount);
    ++epoch_;
  }
  if (gone) std::erase_if(matching.trackers, [](const auto& tracker) { return tracker->dropped; });
}

void PodCountIndex::Visit(const Snapshot& snapshot) {
  home_ = snapshot.cluster();
  if (rows_ == snapshot.rows()) return;
  rows_ = snapshot.rows();
  ++rows_changed_;
}

void PodCountIndex::PodAdded(const Snapshot& snapshot, const PodRecord& pod) {
  Visit(snapshot);
  counts_.Add(*pod.pod, pod.row, 1);
}

void PodCountIndex::PodRemoved(const Snapshot& snapshot, const PodRecord& pod) {
  Visit(snapshot);
  counts_.Add(*pod.pod, pod.row, -1);
}

void PodCountIndex::NodeChanged(const Snapshot& snapshot, Row, const Node*, const Node*) { Visit(snapshot); }

void PodCountIndex::ObjectsChanged(const Snapshot& snapshot, const ObjectChange&) { Visit(snapshot); }

}  // namespace berth::plugins
