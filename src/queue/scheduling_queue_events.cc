// SPDX-License-Identifier: Apache-2.0
// What wakes pods: events that their rejectors take for helpful, and time.
#include <algorithm>

#include "queue/scheduling_queue.h"

namespace berth::queue {
namespace {

constexpr std::string_view kBackoffComplete = "BackoffComplete";
constexpr std::string_view kUnschedulableTimeout = "UnschedulableTimeout";

bool AnyPending(const std::vector<Rejector>& rejectors) {
  return std::any_of(rejectors.begin(), rejectors.end(), [](const Rejector& r) { return r.pending; });
}

}  // namespace

SchedulingQueue::Strategy SchedulingQueue::Judge(const Info& info, const ClusterEvent& event, const EventMatch& match,
                                                 const EventObjects& objects) const {
  if (info.rejectors.empty()) return Strategy::kAfterBackoff;
  if (IsWildCard(event)) {
    // With an object it is meant for that pod alone.
    if (objects.node_after != nullptr) return Strategy::kSkip;
    if (objects.pod_after != nullptr && objects.pod_after->uid() != info.pod->uid()) return Strategy::kSkip;
    return Strategy::kAfterBackoff;
  }
  if (info.profile == kNoProfile) return Strategy::kAfterBackoff;
  const auto& rejectors = info.rejectors;
  const bool any_pending = AnyPending(rejectors);
  Strategy strategy = Strategy::kSkip;
  auto rejector = rejectors.begin();
  for (const EventMatch::Hint& hint : match.profiles[info.profile]) {  // both ascend by plugin
    while (rejector != rejectors.end() && rejector->plugin < hint.plugin) ++rejector;
    if (rejector == rejectors.end()) break;
    if (rejector->plugin != hint.plugin) continue;
    if (*hint.fn && !AskHint(hint, *info.pod, event, objects)) continue;
    if (rejector->pending) return Strategy::kImmediately;
    strategy = Strategy::kAfterBackoff;
    if (!any_pending) break;
  }
  return strategy;
}

bool SchedulingQueue::AskHint(const EventMatch::Hint& hint, const Pod& pod, const ClusterEvent& event,
                              const EventObjects& objects) const {
  constexpr uint64_t kOneIn = 10;  // an event may ask thousands of hints, each faster than a look at the clock
  if (!options_.on_hint || hints_asked_++ % kOneIn != 0) return (*hint.fn)(pod, objects) != QueueingHint::kSkip;
  const Time before = clock_->Now();
  const QueueingHint said = (*hint.fn)(pod, objects);
  options_.on_hint(hints_.PluginName(hint.plugin), event, said, clock_->Now() - before);
  return said != QueueingHint::kSkip;
}

SchedulingQueue::Strategy SchedulingQueue::Replay(const Info& info) const {
  if (info.rejectors.empty() || !info.mark) return Strategy::kAfterBackoff;
  const bool any_pending = AnyPending(info.rejectors);
  Strategy strategy = Strategy::kSkip;
  for (auto it = in_flight_.Since(*info.mark); it != in_flight_.end(); ++it) {
    const Strategy now = Judge(info, it->event, hints_.Match(it->event), it->objects.view());
    if (now == Strategy::kImmediately) return now;
    if (now == Strategy::kSkip) continue;
    strategy = now;
    if (!any_pending) break;
  }
  return strategy;
}

size_t SchedulingQueue::MoveAll(const ClusterEvent& event, const SharedObjects& objects,
                                const std::function<bool(const Pod&)>& only) {
  const EventMatch& match = hints_.Match(event);
  if (!IsWildCard(event) && match.empty()) return 0;
  scratch_.clear();
  const auto take = [&](Info* info) {
    if (info->round == round_) return;  // rejected by two plugins that both asked for this event
    info->round = round_;
    if (!only || only(*info->pod)) scratch_.push_back(info);
  };
  ++round_;
  if (IsWildCard(event)) {
    for (Info* info : waiting_) take(info);
  } else {
    for (Info* info : waiting_by_plugin_[kNoPlugin]) take(info);
    for (PluginId plugin : match.plugins)
      if (plugin < waiting_by_plugin_.size())
        for (Info* info : waiting_by_plugin_[plugin]) take(info);
  }
  const bool tells = TellsNotWoken();
  const std::string label = options_.on_move || tells ? EventLabel(event) : std::string();
  if (tells) TellNotConcerned(event, match, only, label);
  return MovePods(scratch_, event, match, objects, label);
}

void SchedulingQueue::TellNotConcerned(const ClusterEvent& event, const EventMatch& match,
                                       const std::function<bool(const Pod&)>& only, std::string_view label) const {
  for (const Info* info : waiting_) {
    if (info->round == round_ || IsGateClosed(*info, event, match)) continue;
    if (!only || only(*info->pod)) options_.on_not_woken(*info, label);
  }
}

size_t SchedulingQueue::MovePods(const std::vector<Info*>& pods, const ClusterEvent& event, const EventMatch& match,
                                 const SharedObjects& objects, std::string_view label) {
  const EventObjects view = objects.view();
  const bool tells = TellsNotWoken();
  size_t moved = 0;
  for (Info* info : pods) {
    if (IsGateClosed(*info, event, match)) continue;
    const Strategy strategy = Judge(*info, event, match, view);
    if (strategy == Strategy::kSkip) {
      if (tells) options_.on_not_woken(*info, label);
      continue;
    }
    Requeue(*info, strategy, label);
    if (info->waiting_slot == kNoSlot) ++moved;
  }
  in_flight_.Record(event, objects);
  return moved;
}

// Time.

void SchedulingQueue::FlushUnschedulable(Time now) {
  scratch_.clear();
  for (Info* info : waiting_) {
    const Time since = info->flush_timestamp ? std::max(*info->flush_timestamp, info->timestamp) : info->timestamp;
    if (now - since <= options_.max_in_unschedulable) continue;
    info->was_flushed = true;
    info->flush_timestamp = now;
    scratch_.push_back(info);
  }
  if (!scratch_.empty()) MovePods(scratch_, kWildCardEvent, hints_.Match(kWildCardEvent), {}, kUnschedulableTimeout);
}

void SchedulingQueue::Tick() {
  const Time now = clock_->Now();
  while (!backoff_.empty() && !BackingOff(*backoff_.top())) ToActive(*backoff_.top(), kBackoffComplete, false);
  while (!error_backoff_.empty() && !BackingOff(*error_backoff_.top()))
    ToActive(*error_backoff_.top(), kBackoffComplete, false);
  if (now < next_flush_) return;
  FlushUnschedulable(now);
  next_flush_ = next_flush_ + Duration{((now - next_flush_).ns / kFlushPeriod.ns + 1) * kFlushPeriod.ns};
}

Time SchedulingQueue::NextWake() const {
  Time wake = waiting_.empty() ? kNever : next_flush_;
  if (!backoff_.empty()) wake = std::min(wake, ReleasedAt(backoff_.top()->expiry));
  if (!error_backoff_.empty()) wake = std::min(wake, ReleasedAt(error_backoff_.top()->expiry));
  return wake;
}

}  // namespace berth::queue
