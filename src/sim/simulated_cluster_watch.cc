// SPDX-License-Identifier: Apache-2.0
// Watches of the simulated cluster: the history that they resume over, and the way of an event to its watcher.
#include <algorithm>
#include <optional>
#include <utility>

#include "sim/simulated_cluster.h"
#include "sim/simulated_cluster_internal.h"

namespace berth::sim {

using client::ApiStatus;
using client::WatchEvent;

// Events of one time travel together, in one letter: that is what makes a storm of changes cheap.
struct SimulatedCluster::Batch {
  Time time;  // of arrival
  std::vector<WatchEvent> events;
  std::optional<ApiStatus> closed;  // after the events
  bool late_last = false;           // the last event is to come after its successor, if there is one
};

struct SimulatedCluster::Watcher : std::enable_shared_from_this<Watcher> {
  client::WatchCallbacks callbacks;
  std::shared_ptr<Batch> open;  // under way, and can take more
  bool closed = false;          // the server has ended it
  util::OwnerLink<client::Watch> client;

  void Deliver(const Batch& batch) const {
    for (const WatchEvent& event : batch.events) {
      if (!client) return;
      callbacks.event(event);
    }
    if (batch.closed && client) callbacks.closed(*batch.closed);
  }
};

class SimulatedCluster::WatchHandle final : public client::Watch {
 public:
  util::OwnerLink<client::Watch> link() const { return owner_.link(); }

 private:
  util::Owner<client::Watch> owner_{this};
};

std::unique_ptr<client::Watch> SimulatedCluster::StartWatch(Kind kind, const std::string& resource_version,
                                                            client::WatchCallbacks callbacks) {
  auto watcher = std::make_shared<Watcher>();
  watcher->callbacks = std::move(callbacks);
  auto handle = std::make_unique<WatchHandle>();
  watcher->client = handle->link();
  const bool too_old = Hit(options_.faults.too_old, "too old", ToString(kind));
  Later(options_.answer_latency, [this, kind, watcher, resource_version, too_old] {
    if (!watcher->client) return;
    if (too_old) return Close(*watcher, {410, "too old resource version: " + resource_version});
    OpenWatch(kind, watcher, resource_version);
  });
  return handle;
}

void SimulatedCluster::OpenWatch(Kind kind, const std::shared_ptr<Watcher>& watcher,
                                 const std::string& resource_version) {
  const uint64_t from = VersionNumber(resource_version);
  Shelf& all = shelf(kind);
  if (from == 0 && resource_version != "0") {
    return Close(*watcher, {400, "resource version \"" + resource_version + "\" is not a number"});
  }
  if (from < all.forgotten || from > version_) {
    return Close(*watcher,
                 {410, "too old resource version: " + resource_version + " (" + std::to_string(all.forgotten) + ")"});
  }
  auto change = std::upper_bound(all.history.begin(), all.history.end(), from,
                                 [](uint64_t version, const Change& other) { return version < other.version; });
  if (watcher->callbacks.opened) watcher->callbacks.opened();
  for (; change != all.history.end() && !watcher->closed; ++change) Send(*watcher, *change);
  if (!watcher->closed) all.watchers.push_back(watcher);
}

// One change of the store, at version_. Null: it was not there before, or is not any more.
void SimulatedCluster::Record(const ClusterObject* before, const ClusterObject* after) {
  const Kind kind = KindOf(before != nullptr ? *before : *after);
  if (options_.binds_volumes) volumes_->Changed(before, after);
  const bool was = before != nullptr && Visible(*before);
  const bool is = after != nullptr && Visible(*after);
  if (!was && !is) return;
  const WatchEvent::Type type = !was  ? WatchEvent::Type::kAdded
                                : !is ? WatchEvent::Type::kDeleted
                                      : WatchEvent::Type::kModified;
  Shelf& all = shelf(kind);
  all.history.push_back({version_, type, is ? *after : *before});
  std::erase_if(all.watchers, [](const auto& watcher) { return !watcher->client || watcher->closed; });
  for (const auto& watcher : all.watchers) Send(*watcher, all.history.back());
  while (all.history.size() > options_.history) {
    all.forgotten = all.history.front().version;
    all.history.pop_front();
  }
}

void SimulatedCluster::Send(Watcher& watcher, const Change& change) {
  const Faults& faults = options_.faults;
  const std::string_view name = faults.any() ? std::string_view(MetaOf(change.object).name) : std::string_view();
  if (Hit(faults.watch_cut, "watch cut", name)) return Close(watcher, {200, "watch cut"});
  Batch& batch = OpenBatch(watcher);
  WatchEvent event{change.type, change.object, std::to_string(change.version)};
  const int times = Hit(faults.duplicate, "duplicate", name) ? 2 : 1;
  for (int i = 0; i < times; ++i) {
    // Never further apart than this, and never with a cut between them: a watch that is resumed after the newer of two
    // swapped events could not get the older one back.
    batch.events.insert(batch.events.end() - (batch.late_last ? 1 : 0), event);
    batch.late_last = false;
  }
  batch.late_last = Hit(faults.reordered, "reordered", name);
}

SimulatedCluster::Batch& SimulatedCluster::OpenBatch(Watcher& watcher) {
  const Time time = clock_.Now() + options_.watch_latency;
  if (watcher.open != nullptr && watcher.open->time == time) return *watcher.open;
  watcher.open = std::make_shared<Batch>();
  watcher.open->time = time;
  Later(options_.watch_latency, [this, to = watcher.shared_from_this(), batch = watcher.open] {
    if (to->open == batch) to->open = nullptr;
    if (to->client) Reply([to, batch] { to->Deliver(*batch); });
  });
  return *watcher.open;
}

void SimulatedCluster::Close(Watcher& watcher, ApiStatus status) {
  watcher.closed = true;
  OpenBatch(watcher).closed = std::move(status);
}

}  // namespace berth::sim
