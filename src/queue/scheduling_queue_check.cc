// SPDX-License-Identifier: Apache-2.0
// SchedulingQueue seen from outside: counts, listings, and the check that its parts agree.
#include <algorithm>

#include "queue/scheduling_queue.h"

namespace berth::queue {

SchedulingQueue::Counts SchedulingQueue::counts() const {
  return {active_.size(), backoff_.size(), error_backoff_.size(), waiting_.size() - gated_, gated_, out_.size()};
}

std::string SchedulingQueue::Summary() const {
  return "activeQ:" + std::to_string(active_.size()) +
         "; backoffQ:" + std::to_string(backoff_.size() + error_backoff_.size()) +
         "; unschedulablePods:" + std::to_string(waiting_.size());
}

Place SchedulingQueue::PlaceOf(const Pod& pod) const {
  if (LookupInFlight(pod) != nullptr) return Place::kInFlight;
  const Info* info = Lookup(FullName(pod));
  return info != nullptr && info->pod->uid() == pod.uid() ? info->place : Place::kNone;
}

const QueuedPodInfo* SchedulingQueue::Find(std::string_view full_name) const { return Lookup(full_name); }

std::vector<const QueuedPodInfo*> SchedulingQueue::Queued() const {
  std::vector<const Info*> infos;
  infos.reserve(queued_.size());
  for (const auto& [key, info] : queued_) infos.push_back(info.get());
  std::sort(infos.begin(), infos.end(), [](const Info* a, const Info* b) { return a->key < b->key; });
  return infos;
}

std::vector<std::string> SchedulingQueue::RejectorNames(const QueuedPodInfo& info) const {
  std::vector<std::string> names;
  for (const Rejector& rejector : info.rejectors) names.push_back(hints_.PluginName(rejector.plugin));
  std::sort(names.begin(), names.end());
  return names;
}

std::map<std::string, size_t> SchedulingQueue::RecordedEvents() const {
  std::map<std::string, size_t> by_label;
  for (const auto& [event, count] : in_flight_.counts()) by_label[EventLabel({event.first, event.second})] += count;
  return by_label;
}

std::vector<SchedulingQueue::RejectedBy> SchedulingQueue::Rejected() const {
  std::vector<RejectedBy> all;
  for (const auto& [who, pods] : rejected_)
    all.push_back({hints_.ProfileName(who.first), hints_.PluginName(who.second), pods});
  return all;
}

std::string SchedulingQueue::CheckInvariants() const {
  if (!active_.Ordered()) return "the active heap is out of order";
  if (!backoff_.Ordered()) return "the backoff heap is out of order";
  if (!error_backoff_.Ordered()) return "the error backoff heap is out of order";

  size_t gated = 0, index_slots = 0;
  std::map<std::pair<ProfileIndex, PluginId>, size_t> rejected;
  for (const auto& [key, info] : queued_) {
    const std::string name(key);
    if (key.data() != info->key.data() || FullName(*info->pod) != key) return name + ": filed under another name";
    if (out_.contains(std::string_view(info->id))) return name + ": queued and in flight";
    if (info->mark || info->newer || info->deleted) return name + ": queued, with marks of a flight";
    const bool waiting = info->place == Place::kUnschedulable || info->place == Place::kGated;
    if (active_.Has(*info) != (info->place == Place::kActive) ||
        backoff_.Has(*info) != (info->place == Place::kBackoff) ||
        error_backoff_.Has(*info) != (info->place == Place::kErrorBackoff))
      return name + ": not in the heap it says, " + std::string(ToString(info->place));
    if (waiting != (info->waiting_slot < waiting_.size() && waiting_[info->waiting_slot] == info.get()))
      return name + ": the list of waiting pods and its place disagree";
    if (info->place == Place::kNone || info->place == Place::kInFlight) return name + ": in no place";
    if (info->gated() != (info->place == Place::kGated)) return name + ": gated flag and place disagree";
    if (info->place == Place::kErrorBackoff && !info->rejectors.empty()) return name + ": an error with rejectors";
    if (info->place == Place::kBackoff && info->rejectors.empty()) return name + ": in backoff without rejectors";
    for (size_t i = 1; i < info->rejectors.size(); ++i)
      if (info->rejectors[i - 1].plugin >= info->rejectors[i].plugin) return name + ": rejectors out of order";
    if (info->profile != kNoProfile)
      for (const Rejector& rejector : info->rejectors) ++rejected[{info->profile, rejector.plugin}];
    if (info->gated()) {
      ++gated;
      if (std::none_of(info->rejectors.begin(), info->rejectors.end(),
                       [&, &gate = info->gating_plugin](const Rejector& r) { return r.plugin == gate; }))
        return name + ": its gate is not among its rejectors";
    }
    std::vector<PluginId> want, have;
    if (waiting) {
      for (const Rejector& rejector : info->rejectors) want.push_back(rejector.plugin);
      if (info->rejectors.empty() || info->profile == kNoProfile) want.push_back(kNoPlugin);
    }
    for (const Info::IndexSlot& at : info->index_slots) {
      if (at.plugin >= waiting_by_plugin_.size() || at.slot >= waiting_by_plugin_[at.plugin].size() ||
          waiting_by_plugin_[at.plugin][at.slot] != info.get())
        return name + ": its slot in the index by plugin is wrong";
      have.push_back(at.plugin);
    }
    if (want != have) return name + ": indexed under other plugins than its rejectors";
    index_slots += have.size();
  }
  if (active_.size() + backoff_.size() + error_backoff_.size() + waiting_.size() != queued_.size())
    return "the places hold other pods than the map by name";
  if (gated != gated_) return "the count of gated pods is wrong";
  for (const auto& [who, pods] : rejected_)
    if (pods != rejected[who]) return "the count of pods that " + hints_.PluginName(who.second) + " rejected is wrong";
  if (rejected.size() != rejected_.size()) return "pods are rejected by plugins for which none is counted";
  size_t indexed = 0;
  for (const auto& pods : waiting_by_plugin_) indexed += pods.size();
  if (indexed != index_slots) return "the index by plugin holds pods that do not wait";

  size_t marks = 0;
  for (const auto& [id, info] : out_) {
    if (id.data() != info->id.data()) return std::string(id) + ": in flight under another id";
    if (info->place != Place::kInFlight || info->heap_slot != kNoSlot || info->waiting_slot != kNoSlot ||
        !info->index_slots.empty() || info->gated())
      return std::string(id) + ": in flight, with marks of a queued pod";
    if (info->mark) ++marks;
  }
  if (marks != in_flight_.pods()) return "marks in the event log that belong to no pod in flight";
  if (!in_flight_.Pruned()) return "events are kept that no pod in flight needs";
  return "";
}

}  // namespace berth::queue
