// SPDX-License-Identifier: Apache-2.0
// RowOverlay: the arithmetic of "as if these pods were gone or there" on one row.
#include "berth/node_batch.h"

#include <algorithm>

#include "berth/host/row_accounting.h"

namespace berth {
inline namespace v1 {

RowOverlay::RowOverlay(const Snapshot& snapshot, Row row) { Reset(snapshot, row); }

void RowOverlay::Reset(const Snapshot& watched, Row row) {
  watched.Note(row, 1, row_field::kRequested | row_field::kPodCount | row_field::kPods | row_field::kPorts);
  const Snapshot snapshot = watched.Unwatched();
  row_ = row;
  pod_count_ = snapshot.pod_count()[row];
  nonzero_cpu_ = snapshot.nonzero_cpu()[row];
  nonzero_memory_ = snapshot.nonzero_memory()[row];
  const std::span<const PodRecord* const> pods = snapshot.pods(row);
  pods_.assign(pods.begin(), pods.end());
  const std::span<const HostPort> ports = snapshot.ports(row);
  ports_.assign(ports.begin(), ports.end());
  requested_.resize(snapshot.resource_count());
  for (size_t i = 0; i < requested_.size(); ++i) requested_[i] = snapshot.requested(static_cast<ResourceId>(i))[row];
}

void RowOverlay::AddPod(const PodRecord& pod) {
  Count(pod, 1);
  pods_.push_back(&pod);
  AddHostPorts(*pod.pod, ports_);
}

void RowOverlay::RemovePod(const PodRecord& pod) {
  auto it = std::find(pods_.begin(), pods_.end(), &pod);
  if (it == pods_.end()) {
    it = std::find_if(pods_.begin(), pods_.end(), [&](const PodRecord* p) { return p->pod->uid() == pod.pod->uid(); });
  }
  if (it == pods_.end()) return;
  *it = pods_.back();
  pods_.pop_back();
  Count(pod, -1);
  if (!ports_.empty()) RemoveHostPorts(*pod.pod, ports_);  // spares a look at the containers
}

std::span<const int64_t> RowOverlay::requested(ResourceId id) const {
  static constexpr int64_t kZero = 0;
  return {Index(id) < requested_.size() ? &requested_[Index(id)] : &kZero, 1};
}

void RowOverlay::Count(const PodRecord& pod, int64_t sign) {
  ForEachHeld(pod.pod->resources, [&](ResourceId id, int64_t amount) {
    if (Index(id) >= requested_.size()) requested_.resize(Index(id) + 1);
    WrapAdd(requested_[Index(id)], amount, sign);
  });
  WrapAdd(nonzero_cpu_, pod.pod->resources.nonzero_cpu, sign);
  WrapAdd(nonzero_memory_, pod.pod->resources.nonzero_memory, sign);
  pod_count_ += sign;
}

}  // namespace v1
}  // namespace berth
