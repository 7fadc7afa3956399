// SPDX-License-Identifier: Apache-2.0
// Upstream: client-go, tools/events/event_broadcaster.go (v0.36.4).
#include "client/event_writer.h"

#include <algorithm>
#include <string>

#include "client/request_body.h"
#include "util/timer_queue.h"

namespace berth::client {
namespace {

constexpr Duration kFinishTime = Duration::Seconds(6 * 60);
constexpr Duration kRefreshTime = Duration::Seconds(30 * 60);

// What makes two events one; the note is not part of it.
Hash128 SeriesKey(const EventRecord& event) {
  std::string key;
  for (const std::string_view part :
       {event.type, event.action, event.reason, std::string_view(event.reporting_controller),
        std::string_view(event.kind), std::string_view(event.api_version), std::string_view(event.regarding.namespace_),
        std::string_view(event.regarding.name), std::string_view(event.regarding.uid),
        std::string_view(event.resource_version)}) {
    key += part;
    key += '\0';
  }
  if (event.legacy) key += event.note;  // the older recorder tells by it
  return SecretHash128(key);
}

LogValue NameFor(const EventRecord& event) { return LogValue::Object(event.regarding.namespace_, event.name); }

}  // namespace

EventWriter::EventWriter(ClusterApi& api, const Clock& clock, EventWriterOptions options)
    : api_(api),
      clock_(clock),
      options_(std::move(options)),
      quiet_since_(clock.Now()),
      next_refresh_(quiet_since_ + kRefreshTime),
      next_finish_(quiet_since_ + kFinishTime) {}

EventWriter::~EventWriter() { owner_.Leave(); }

void EventWriter::Record(EventRecord event) {
  const bool repeats = event.reason != "Scheduled";
  if (event.name.empty()) event.name = EventName(event);
  Hash128 key;
  if (repeats) {
    key = SeriesKey(event);
    if (const auto it = remembered_.find(key); it != remembered_.end()) return Repeat(it->second, event);
  }
  auto kept = std::make_shared<Kept>();
  kept->event = std::move(event);
  kept->seen = clock_.Now();
  if (repeats && remembered_.size() < options_.max_remembered) remembered_.emplace(key, kept);
  Enqueue(kept, false);
  PumpSoon();
}

void EventWriter::Repeat(const KeptPtr& kept, const EventRecord& event) {
  const bool first = kept->count == 1;
  if (kept->count < INT32_MAX) ++kept->count;
  kept->last_date = event.time;
  kept->seen = clock_.Now();
  if (!first) return;  // a tick will write it
  if (kept->pending) {
    kept->behind = true;
    return;
  }
  Enqueue(kept, true);
  PumpSoon();
}

void EventWriter::Enqueue(const KeptPtr& kept, bool patch) {
  MakeRoom();
  if (unwritten() == 0) quiet_since_ = clock_.Now();
  kept->pending = true;
  const uint64_t number = next_++;
  ready_.emplace(number, Job{kept, patch, 0, number});
}

bool EventWriter::stalled() const { return unwritten() > 0 && clock_.Now() - quiet_since_ >= options_.patience; }

bool EventWriter::has_room() const { return unwritten() < options_.max_waiting || stalled(); }

// The oldest go when the server takes none, or when nobody minds the bound.
void EventWriter::MakeRoom() {
  const size_t bound = stalled() ? options_.max_waiting : 2 * options_.max_waiting;
  while (unwritten() >= bound && unwritten() > under_way_) {
    Job oldest;
    if (!later_.empty()) {  // they have been tried before
      oldest = std::move(later_.begin()->second);
      later_.erase(later_.begin());
    } else {
      oldest = std::move(ready_.begin()->second);
      ready_.erase(ready_.begin());
    }
    ++counts_.dropped;
    options_.log.Error("Event was dropped: too many wait for the API server",
                       {{"event", NameFor(oldest.kept->event)}, {"reason", oldest.kept->event.reason}});
    oldest.kept->pending = oldest.kept->behind = false;
  }
}

void EventWriter::PumpSoon() {
  if (options_.gather.ns > 0 && !gathered_) gathered_ = clock_.Now() + options_.gather;
  Pump();
}

void EventWriter::SendNow() {
  if (!gathered_) return;
  gathered_.reset();
  Pump();
}

void EventWriter::Pump() {
  if (gathered_ && ready_.size() < options_.gather_most && clock_.Now() < *gathered_) return;
  gathered_.reset();
  while (under_way_ < options_.max_under_way) {
    if (ready_.empty()) {
      if (due_.empty()) return;
      const KeptPtr kept = std::move(due_.front());
      due_.pop_front();
      if (kept->pending) {
        kept->behind = true;
      } else {
        Enqueue(kept, true);
      }
      continue;
    }
    auto job = std::make_shared<Job>(std::move(ready_.begin()->second));
    ready_.erase(ready_.begin());
    ++under_way_;
    Send(job);
  }
}

void EventWriter::Send(const std::shared_ptr<Job>& job) {
  Kept& kept = *job->kept;
  if (kept.count > 1) {
    kept.event.series = EventSeries{kept.count, kept.last_date};
    kept.behind = false;
  }
  auto done = owner_.link().Guard([this, job](const ApiStatus& status) { OnAnswer(job, status); });
  if (job->patch) {
    api_.PatchEvent(kept.event, std::move(done));
  } else {
    api_.PostEvent(kept.event, std::move(done));
  }
}

void EventWriter::OnAnswer(const std::shared_ptr<Job>& job, const ApiStatus& status) {
  const EventRecord& event = job->kept->event;
  if (status.code != 0) quiet_since_ = clock_.Now();
  if (job->patch && status.not_found()) {
    // Events do not live long; or the first one never arrived.
    job->patch = false;
    return Send(job);
  }
  --under_way_;
  // An earlier try may have brought it there, and only its answer was lost.
  const bool there = status.conflict() && !job->patch && !event.series && job->tries > 0;
  if (status.ok() || there) {
    ++counts_.written;
    End(*job);
  } else if (status.code == 0) {
    options_.log.Error("Unable to write event (may retry after sleeping)",
                       {{"err", TextOf(status)}, {"event", NameFor(event)}});
    TryLater(job, status);
  } else if (status.conflict() && !job->patch && event.series) {
    // It is there by now, so it can be patched.
    job->patch = true;
    TryLater(job, status);
  } else {
    ++counts_.rejected;
    if (status.conflict() && !job->patch) {
      options_.log.V(5).Info("Server rejected event (will not retry!)",
                             {{"event", NameFor(event)}, {"reason", event.reason}, {"err", TextOf(status)}});
    } else {
      options_.log.Error("Server rejected event (will not retry!)",
                         {{"err", TextOf(status)}, {"event", NameFor(event)}, {"reason", event.reason}});
    }
    End(*job);
  }
  Pump();
}

void EventWriter::TryLater(const std::shared_ptr<Job>& job, const ApiStatus& status) {
  if (++job->tries >= options_.tries) {
    ++counts_.given_up;
    options_.log.Error("Unable to write event (retry limit exceeded!)",
                       {{"err", TextOf(status)}, {"event", NameFor(job->kept->event)}});
    return End(*job);
  }
  const double share = options_.random ? static_cast<double>(options_.random() >> 11) * 0x1p-53 : 0;
  const Duration pause{static_cast<int64_t>(static_cast<double>(options_.retry.ns) * (1 + 0.25 * share))};
  later_.emplace(std::pair(clock_.Now() + pause, job->number), *job);
}

// The request is over, one way or another.
void EventWriter::End(const Job& job) {
  Kept& kept = *job.kept;
  kept.pending = false;
  if (!kept.behind) return;
  kept.behind = false;
  Enqueue(job.kept, true);
}

Time EventWriter::NextWake() const {
  Time wake = util::TimerQueue::kNever;
  if (!later_.empty()) wake = std::min(wake, later_.begin()->first.first);
  if (gathered_) wake = std::min(wake, *gathered_);
  if (!has_room()) wake = std::min(wake, quiet_since_ + options_.patience);
  if (!remembered_.empty()) wake = std::min({wake, next_refresh_, next_finish_});
  return wake;
}

bool EventWriter::Tick() {
  const Time now = clock_.Now();
  bool worked = gathered_ && *gathered_ <= now;
  while (!later_.empty() && later_.begin()->first.first <= now) {
    Job job = std::move(later_.begin()->second);
    later_.erase(later_.begin());
    ready_.emplace(job.number, std::move(job));
    worked = true;
  }
  const auto due = [now](Time& next, Duration period) {
    if (next > now) return false;
    next = next + Duration{((now - next).ns / period.ns + 1) * period.ns};
    return true;
  };
  if (due(next_refresh_, kRefreshTime)) {
    worked |= !remembered_.empty();
    Refresh();
  }
  if (due(next_finish_, kFinishTime)) {
    worked |= !remembered_.empty();
    Finish(now);
  }
  if (worked) Pump();
  return worked;
}

void EventWriter::Refresh() {
  for (const auto& [key, kept] : remembered_)
    if (kept->count > 1) due_.push_back(kept);
}

void EventWriter::Finish(Time now) {
  std::erase_if(remembered_, [&](const auto& entry) {
    const KeptPtr& kept = entry.second;
    if (now - kept->seen <= kFinishTime) return false;
    if (kept->count > 1) due_.push_back(kept);
    return true;
  });
}

}  // namespace berth::client
