// SPDX-License-Identifier: Apache-2.0
// Adding, popping and returning pods; moves by events are in scheduling_queue_events.cc.
#include "queue/scheduling_queue.h"

#include <algorithm>

#include "queue/event_derivation.h"

namespace berth::queue {
namespace {

constexpr std::string_view kScheduleAttemptFailure = "ScheduleAttemptFailure";
constexpr std::string_view kPopFromBackoffQ = "PopFromBackoffQ";
constexpr std::string_view kForceActivate = "ForceActivate";
constexpr std::string_view kPodAdd = "UnschedulablePodAdd";
constexpr std::string_view kPodUpdate = "UnschedulablePodUpdate";

// False: it was one before.
bool AddRejector(std::vector<Rejector>& rejectors, PluginId plugin, bool pending) {
  const auto it = std::lower_bound(rejectors.begin(), rejectors.end(), plugin,
                                   [](const Rejector& r, PluginId id) { return r.plugin < id; });
  if (it != rejectors.end() && it->plugin == plugin) {
    it->pending |= pending;
    return false;
  }
  rejectors.insert(it, {plugin, pending});
  return true;
}

// Both, because nothing here may depend on the API server's word that uids are unique.
// Valid until the next one on this thread.
std::string_view IdOf(const Pod& pod) {
  thread_local std::string id;
  id.assign(pod.uid()).push_back('/');
  if (!pod.namespace_().empty()) id.append(pod.namespace_()).push_back('/');
  return id.append(pod.name());
}
// Likewise; it is what the ids of all incarnations end with.
std::string_view FullNameOf(const Pod& pod) { return IdOf(pod).substr(pod.uid().size() + 1); }

bool SamePod(const Pod& a, const Pod& b) { return a.uid() == b.uid(); }

}  // namespace

std::string_view ToString(Place place) {
  switch (place) {
    case Place::kNone:
      return "none";
    case Place::kActive:
      return "active";
    case Place::kBackoff:
      return "backoff";
    case Place::kErrorBackoff:
      return "error backoff";
    case Place::kUnschedulable:
      return "unschedulable";
    case Place::kGated:
      return "gated";
    case Place::kInFlight:
      return "in flight";
  }
  return "";
}

// Orders. Each ends in the sequence number, so that no two pods are equal.

bool SchedulingQueue::ActiveLess::operator()(const Info& a, const Info& b) const {
  const QueuedPod left{a.pod.get(), a.timestamp}, right{b.pod.get(), b.timestamp};
  if (queue->options_.less(left, right)) return true;
  if (a.sequence >= b.sequence) return false;
  return !queue->options_.less(right, left);
}

bool SchedulingQueue::BackoffLess::operator()(const Info& a, const Info& b) const {
  if (a.expiry != b.expiry) return a.expiry < b.expiry;
  return ActiveLess{queue}(a, b);
}

bool SchedulingQueue::ErrorLess::operator()(const Info& a, const Info& b) const {
  return a.expiry != b.expiry ? a.expiry < b.expiry : a.sequence < b.sequence;
}

SchedulingQueue::SchedulingQueue(QueueOptions options, HintMap hints, const Clock& clock)
    : options_(std::move(options)),
      hints_(std::move(hints)),
      clock_(&clock),
      active_(ActiveLess{this}),
      backoff_(BackoffLess{this}),
      error_backoff_(ErrorLess{}),
      waiting_by_plugin_(1),
      next_flush_(clock.Now() + kFlushPeriod) {}

SchedulingQueue::~SchedulingQueue() { owner_.Leave(); }

// Entries.

QueuedPodInfo* SchedulingQueue::Lookup(std::string_view full_name) const {
  const auto it = queued_.find(full_name);
  return it == queued_.end() ? nullptr : it->second.get();
}

QueuedPodInfo* SchedulingQueue::LookupInFlight(const Pod& pod) const {
  if (out_.empty()) return nullptr;
  const auto it = out_.find(IdOf(pod));
  return it == out_.end() ? nullptr : it->second;
}

void SchedulingQueue::Stamp(Info& info) {
  info.timestamp = clock_->Now();
  info.sequence = ++sequence_;
}

void SchedulingQueue::SetPod(Info& info, std::shared_ptr<const Pod> pod) {
  if (!info.pod || info.pod->scheduler_name != pod->scheduler_name)
    info.profile = hints_.ProfileOf(pod->scheduler_name);
  info.pod = std::move(pod);
}

QueuedPodInfo* SchedulingQueue::Create(std::shared_ptr<const Pod> pod) {
  auto info = std::make_unique<Info>();
  info->id = IdOf(*pod);
  info->key = std::string_view(info->id).substr(pod->uid().size() + 1);
  SetPod(*info, std::move(pod));
  Stamp(*info);
  Info* raw = info.get();
  queued_.emplace(raw->key, std::move(info));
  return raw;
}

std::unique_ptr<QueuedPodInfo> SchedulingQueue::Forget(Info& info) {
  TakeOut(info);
  const auto it = queued_.find(info.key);
  std::unique_ptr<Info> owned = std::move(it->second);
  queued_.erase(it);
  CountRejectors(*owned, false);
  return owned;
}

// Moves.

void SchedulingQueue::TakeOut(Info& info) {
  switch (info.place) {
    case Place::kActive:
      active_.Remove(&info);
      break;
    case Place::kBackoff:
      backoff_.Remove(&info);
      break;
    case Place::kErrorBackoff:
      error_backoff_.Remove(&info);
      break;
    case Place::kGated:
      --gated_;
      [[fallthrough]];
    case Place::kUnschedulable: {
      waiting_[info.waiting_slot] = waiting_.back();
      waiting_[info.waiting_slot]->waiting_slot = info.waiting_slot;
      waiting_.pop_back();
      info.waiting_slot = kNoSlot;
      for (const Info::IndexSlot& at : info.index_slots) {
        std::vector<Info*>& pods = waiting_by_plugin_[at.plugin];
        Info* moved = pods.back();
        pods[at.slot] = moved;
        pods.pop_back();
        if (moved == &info) continue;
        for (Info::IndexSlot& other : moved->index_slots)
          if (other.plugin == at.plugin) other.slot = at.slot;
      }
      info.index_slots.clear();
      break;
    }
    case Place::kNone:
    case Place::kInFlight:
      break;
  }
  info.place = Place::kNone;
}

bool SchedulingQueue::AskPreEnqueue(Info& info) {
  std::optional<Gate> gate;
  if (options_.pre_enqueue) gate = options_.pre_enqueue(*info.pod);
  if (!gate) {
    info.gating_plugin = kNoPlugin;
    info.gate_verdict = {};
    return true;
  }
  info.gating_plugin = hints_.Intern(gate->plugin);
  info.gate_verdict = std::move(gate->verdict);
  if (AddRejector(info.rejectors, info.gating_plugin, false)) CountRejector(info, info.gating_plugin, true);
  info.was_flushed = false;  // there will be no attempt that the flush could be credited for
  return false;
}

void SchedulingQueue::CountRejectors(const Info& info, bool there) {
  for (const Rejector& rejector : info.rejectors) CountRejector(info, rejector.plugin, there);
}

void SchedulingQueue::CountRejector(const Info& info, PluginId plugin, bool there) {
  if (info.profile == kNoProfile) return;
  size_t& pods = rejected_[{info.profile, plugin}];
  if (there)
    ++pods;
  else
    --pods;
}

Place SchedulingQueue::ToActive(Info& info, std::string_view label, bool ask) {
  TakeOut(info);
  if (ask && !AskPreEnqueue(info)) return ToWaiting(info, label);
  if (!info.initial_attempt) info.initial_attempt = clock_->Now();
  info.place = Place::kActive;
  active_.Push(&info);
  Told(info, label);
  return info.place;
}

Place SchedulingQueue::ToBackoff(Info& info, std::string_view label) {
  TakeOut(info);
  if (!AskPreEnqueue(info)) return ToWaiting(info, label);
  if (info.rejectors.empty()) {
    info.place = Place::kErrorBackoff;
    error_backoff_.Push(&info);
  } else {
    info.place = Place::kBackoff;
    backoff_.Push(&info);
  }
  Told(info, label);
  return info.place;
}

Place SchedulingQueue::ToWaiting(Info& info, std::string_view label) {
  TakeOut(info);
  info.place = info.gated() ? Place::kGated : Place::kUnschedulable;
  if (info.gated()) ++gated_;
  info.waiting_slot = waiting_.size();
  waiting_.push_back(&info);
  const auto index = [&](PluginId plugin) {
    if (plugin >= waiting_by_plugin_.size()) waiting_by_plugin_.resize(hints_.plugin_count());
    info.index_slots.push_back({plugin, waiting_by_plugin_[plugin].size()});
    waiting_by_plugin_[plugin].push_back(&info);
  };
  for (const Rejector& rejector : info.rejectors) index(rejector.plugin);
  if (info.rejectors.empty() || info.profile == kNoProfile) index(kNoPlugin);
  Told(info, label);
  return info.place;
}

Place SchedulingQueue::Requeue(Info& info, Strategy strategy, std::string_view label) {
  if (strategy == Strategy::kSkip) return ToWaiting(info, label);
  // The backoff may have ended while the pod was waiting for an event.
  if (strategy == Strategy::kAfterBackoff && BackingOff(info)) return ToBackoff(info, label);
  return ToActive(info, label);
}

// Pods come, change and go.

Place SchedulingQueue::AddNew(std::shared_ptr<const Pod> pod, std::string_view label) {
  if (Info* old = Lookup(FullNameOf(*pod))) {
    // Upstream: a gated newcomer does not take the place of a pod that is on its way.
    const bool on_its_way = old->place != Place::kUnschedulable && old->place != Place::kGated;
    if (on_its_way && SamePod(*old->pod, *pod) && options_.pre_enqueue && options_.pre_enqueue(*pod)) return old->place;
    Forget(*old);
  }
  return ToActive(*Create(std::move(pod)), label);
}

Place SchedulingQueue::Add(std::shared_ptr<const Pod> pod) {
  if (Info* info = LookupInFlight(*pod)) {
    info->newer = std::move(pod);
    info->deleted = false;
    return Place::kInFlight;
  }
  return AddNew(std::move(pod), kPodAdd);
}

Place SchedulingQueue::Update(const std::shared_ptr<const Pod>& before, std::shared_ptr<const Pod> after) {
  if (!SamePod(*before, *after)) {
    Delete(*before);
    return Add(std::move(after));
  }
  if (Info* info = LookupInFlight(*after)) {
    // Other pods in flight see these events as well, as upstream has it.
    if (info->mark)
      for (const ClusterEvent& event : PodSchedulingPropertiesChange(*after, *before))
        in_flight_.Record(event, {before, after, nullptr, nullptr});
    info->newer = std::move(after);
    info->deleted = false;
    return Place::kInFlight;
  }
  Info* info = Lookup(FullNameOf(*after));
  if (info == nullptr || !SamePod(*info->pod, *after)) return AddNew(std::move(after), kPodUpdate);

  const ProfileIndex profile = info->profile;
  CountRejectors(*info, false);  // of the profile that it had
  SetPod(*info, after);
  CountRejectors(*info, true);
  switch (info->place) {
    case Place::kActive:
      active_.Update(info);
      return info->place;
    case Place::kBackoff:
      backoff_.Update(info);
      return info->place;
    case Place::kErrorBackoff:
      error_backoff_.Update(info);
      return info->place;
    default:
      break;
  }
  if (profile != info->profile) ToWaiting(*info, kPodUpdate);
  const EventObjects objects{before.get(), after.get(), nullptr, nullptr, {}};
  for (const ClusterEvent& event : PodSchedulingPropertiesChange(*after, *before)) {
    const Strategy strategy = Judge(*info, event, hints_.Match(event), objects);
    if (strategy == Strategy::kSkip) continue;
    const Place place = Requeue(*info, strategy, options_.on_move ? EventLabel(event) : std::string());
    if (place == Place::kActive || place == Place::kBackoff || place == Place::kErrorBackoff) break;
  }
  return info->place;
}

Place SchedulingQueue::Delete(const Pod& pod) {
  if (Info* info = LookupInFlight(pod)) {
    info->deleted = true;
    info->newer = nullptr;
    return Place::kInFlight;
  }
  Info* info = Lookup(FullNameOf(pod));
  if (info == nullptr || !SamePod(*info->pod, pod)) return Place::kNone;
  const Place place = info->place;
  Forget(*info);
  return place;
}

bool SchedulingQueue::Activate(const std::shared_ptr<const Pod>& pod) {
  Info* info = Lookup(FullNameOf(*pod));
  if (info != nullptr && info->place != Place::kActive) {
    const bool from_backoff = info->place == Place::kBackoff || info->place == Place::kErrorBackoff;
    if (ToActive(*info, kForceActivate, !from_backoff) == Place::kActive) return true;
  }
  if (const Info* flying = LookupInFlight(*pod); flying != nullptr && flying->mark)
    in_flight_.Record(kWildCardEvent, {nullptr, pod, nullptr, nullptr});
  return false;
}

// Attempts.

std::optional<PodTicket> SchedulingQueue::Pop() {
  Info* next = nullptr;
  if (!active_.empty()) {
    next = active_.top();
  } else if (!backoff_.empty()) {
    next = backoff_.top();
    if (options_.on_move) options_.on_move(*next, Place::kActive, kPopFromBackoffQ);
  } else {
    return std::nullopt;
  }
  std::unique_ptr<Info> info = Forget(*next);
  info->place = Place::kInFlight;
  info->deleted = false;
  info->newer = nullptr;
  info->mark = in_flight_.Begin();
  ++info->attempts;
  ++scheduling_cycle_;
  out_.emplace(std::string_view(info->id), info.get());
  return PodTicket(owner_.link(), std::move(info));
}

void SchedulingQueue::StopRecording(Info& info) {
  if (!info.mark) return;
  in_flight_.End(*info.mark);
  info.mark.reset();
}

void SchedulingQueue::Finish(std::unique_ptr<Info> info) {
  StopRecording(*info);
  out_.erase(std::string_view(info->id));
}

Place SchedulingQueue::TakeBack(std::unique_ptr<Info> owned, const Rejectors& rejectors) {
  Info& info = *owned;
  if (info.deleted || queued_.contains(info.key)) {
    Finish(std::move(owned));
    return Place::kNone;
  }
  out_.erase(std::string_view(info.id));
  if (info.newer) SetPod(info, std::move(info.newer));
  info.newer = nullptr;
  info.rejectors.clear();
  for (const std::string& plugin : rejectors.unschedulable) AddRejector(info.rejectors, hints_.Intern(plugin), false);
  for (const std::string& plugin : rejectors.pending) AddRejector(info.rejectors, hints_.Intern(plugin), true);
  if (info.rejectors.empty()) {
    ++info.consecutive_errors_count;
  } else {
    ++info.unschedulable_count;
    info.consecutive_errors_count = 0;
  }
  Stamp(info);
  info.expiry = options_.backoff.Expiry(
      info.timestamp, info.consecutive_errors_count > 0 ? info.consecutive_errors_count : info.unschedulable_count);
  info.was_flushed = false;
  info.flush_timestamp.reset();

  const Strategy strategy = Replay(info);
  StopRecording(info);
  info.place = Place::kNone;
  queued_.emplace(info.key, std::move(owned));
  CountRejectors(info, true);
  const Place place = Requeue(info, strategy, kScheduleAttemptFailure);
  if (options_.on_return) options_.on_return({info, place, static_cast<int>(strategy), scheduling_cycle_, hints_});
  return place;
}

}  // namespace berth::queue
