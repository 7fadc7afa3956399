// SPDX-License-Identifier: Apache-2.0
// Snapshot's out-of-line parts: label columns, host ports, node views.
#include "berth/snapshot.h"

#include <charconv>

namespace berth {
inline namespace v1 {

HostPort NormalizeHostPort(const ContainerPort& port) {
  return {port.host_ip.empty() ? "0.0.0.0" : port.host_ip, port.protocol.empty() ? "TCP" : port.protocol,
          port.host_port};
}

bool Conflicts(const HostPort& a, const HostPort& b) {
  if (a.port != b.port || a.protocol != b.protocol) return false;
  return a.ip == b.ip || a.ip == "0.0.0.0" || b.ip == "0.0.0.0";
}

std::vector<HostPort> HostPortsOf(const Pod& pod) {
  std::vector<HostPort> ports;
  auto collect = [&](const Container& container) {
    for (const ContainerPort& port : container.ports)
      if (port.host_port > 0) ports.push_back(NormalizeHostPort(port));
  };
  for (const Container& container : pod.init_containers)
    if (container.sidecar) collect(container);
  for (const Container& container : pod.containers) collect(container);
  return ports;
}

uint32_t LabelColumn::Find(std::string_view value) const {
  auto it = ids_.find(value);
  return it == ids_.end() ? kAbsent : it->second;
}

void LabelColumn::Assign(Row row, const std::string* value) {
  uint32_t& slot = values_[row];
  if (value && slot != kAbsent && texts_[slot] == *value) return;
  if (slot != kAbsent && --uses_[slot] == 0) {
    ids_.erase(texts_[slot]);
    texts_[slot].clear();
    free_.push_back(slot);
  }
  slot = kAbsent;
  if (!value) return;
  auto it = ids_.find(*value);
  if (it != ids_.end()) {
    slot = it->second;
  } else if (!free_.empty()) {
    slot = free_.back();
    free_.pop_back();
    texts_[slot] = *value;
    ids_.emplace(*value, slot);
  } else {
    slot = static_cast<uint32_t>(texts_.size());
    texts_.push_back(*value);
    uses_.push_back(0);
    ids_.emplace(*value, slot);
  }
  ++uses_[slot];
}

std::span<const PodRecord* const> Snapshot::nominated(Row row) const {
  Note(row, 1, row_field::kNominated);
  auto it = data_->nominated.find(row);
  if (it == data_->nominated.end()) return {};
  return it->second;
}

const LabelColumn* LabelReader::Add(std::string_view key) {
  known_[count_] = {std::string(key), &snapshot_.Unwatched().labels(key)};  // views note what they read
  return known_[count_++].column;
}

std::optional<int64_t> NodeView::IntLabel(std::string_view key) const {
  const std::string* text = Label(key);
  if (!text) return std::nullopt;
  int64_t number = 0;
  const char* end = text->data() + text->size();
  auto [stop, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

}  // namespace v1
}  // namespace berth
