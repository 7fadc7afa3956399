// SPDX-License-Identifier: Apache-2.0
// Zone bookkeeping and the round robin over zones.
#include "cluster/node_order.h"

#include <algorithm>

namespace berth::cluster {

// The beta labels win over today's, as upstream has it.
std::string ZoneKey(const Labels& labels) {
  auto first = [&](std::string_view beta, std::string_view stable) -> std::string {
    if (const std::string* value = labels.Find(beta)) return *value;
    if (const std::string* value = labels.Find(stable)) return *value;
    return "";
  };
  const std::string zone = first("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone");
  const std::string region = first("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region");
  if (zone.empty() && region.empty()) return "";
  return region + std::string(":\0:", 3) + zone;
}

void NodeOrder::Put(Row row, const Labels& labels) {
  std::string key = ZoneKey(labels);
  auto known = zone_of_.find(row);
  if (known != zone_of_.end()) {
    if (known->second == key) return;
    Remove(row);
  }
  auto zone = std::find_if(zones_.begin(), zones_.end(), [&](const Zone& z) { return z.key == key; });
  if (zone == zones_.end()) zone = zones_.insert(zones_.end(), Zone{key, {}});
  zone->rows.push_back(row);
  zone_of_[row] = std::move(key);
  stale_ = true;
}

void NodeOrder::Remove(Row row) {
  auto known = zone_of_.find(row);
  if (known == zone_of_.end()) return;
  auto zone = std::find_if(zones_.begin(), zones_.end(), [&](const Zone& z) { return z.key == known->second; });
  std::erase(zone->rows, row);
  if (zone->rows.empty()) zones_.erase(zone);
  zone_of_.erase(known);
  stale_ = true;
}

std::span<const Row> NodeOrder::List() const {
  if (!stale_) return list_;
  list_.clear();
  list_.reserve(zone_of_.size());
  for (size_t turn = 0; list_.size() < zone_of_.size(); ++turn)
    for (const Zone& zone : zones_)
      if (turn < zone.rows.size()) list_.push_back(zone.rows[turn]);
  ranks_.clear();
  for (uint32_t rank = 0; rank < list_.size(); ++rank) {
    if (list_[rank] >= ranks_.size()) ranks_.resize(list_[rank] + 1);
    ranks_[list_[rank]] = rank;
  }
  stale_ = false;
  return list_;
}

std::span<const uint32_t> NodeOrder::Ranks() const {
  (void)List();
  return ranks_;
}

}  // namespace berth::cluster
