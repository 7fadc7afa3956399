// SPDX-License-Identifier: Apache-2.0
// EventWriter: brings events to a server, repeats as a count, with a bound on how many wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "berth/clock.h"
#include "berth/log.h"
#include "client/cluster_api.h"
#include "util/owner_link.h"
#include "util/secret_hash.h"

namespace berth::client {

struct EventWriterOptions {
  size_t max_waiting = 1000;      // events that the server has not taken; then has_room says no
  size_t max_under_way = 64;      // of them asked for at the same time
  size_t max_remembered = 50000;  // kinds of events whose repeats are counted; others are written anew each time
  // So long an event may wait for others that go with it, until there are as many, or for SendNow: a wake-up for each
  // costs more than what it is for. 0: none waits.
  Duration gather;
  size_t gather_most = 32;
  Duration patience = Duration::Seconds(30);  // with a server that takes none; then there is room at others' cost
  Duration retry = Duration::Seconds(10);     // up to a quarter more
  int tries = 12;
  std::function<uint64_t()> random;  // for the retries; null: without the quarter
  Logger log;
};

// As client-go's tools/events v0.36.4: events that differ in nothing but time and note are one. The first is written at
// once (but for `gather`), the second makes it a series (a patch with the count), further ones are counted. A tick
// every 30 minutes writes the counts of all series; one every 6 minutes those of the series that had no repeat for as
// long, and forgets them.
//
// What the server answers, however unkindly, is final: the event is written or dropped. Without an answer it is tried
// again. Beyond upstream: nothing is lost without being counted and logged, no more than max_waiting wait, and a
// repeat that comes before the first one was written goes with it. Repeats of `Scheduled`, which no pod has twice, are
// not looked for: who binds a thousand pods a second would remember half a million of them.
//
// REQUIRES: api and clock outlive it.
// Thread safety: scheduling thread.
class EventWriter {
 public:
  struct Counts {
    uint64_t written = 0;   // requests that the server has taken
    uint64_t rejected = 0;  // answered with a refusal
    uint64_t given_up = 0;  // never answered
    uint64_t dropped = 0;   // the oldest, when the server took none
    uint64_t lost() const { return rejected + given_up + dropped; }
  };

  // `clock` is for waiting; dates are in the events.
  EventWriter(ClusterApi& api, const Clock& clock, EventWriterOptions options);
  ~EventWriter();
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  void Record(EventRecord event);
  // Something else is on its way to the server: events that wait for company go with it.
  void SendNow();
  // Whether whoever makes events may go on. What is recorded all the same is taken, up to twice the bound.
  bool has_room() const;
  // Events on their way to the server, or waiting for it; counts that a tick will write are not among them.
  size_t unwritten() const { return ready_.size() + later_.size() + under_way_; }
  const Counts& counts() const { return counts_; }

  // When Tick has something to do, or has_room may change; TimerQueue::kNever: only an answer, or a new event, can.
  Time NextWake() const;
  // Does what is due; false: nothing was.
  bool Tick();

 private:
  // An event, and how often it was seen.
  struct Kept {
    EventRecord event;
    int32_t count = 1;
    Time last_date;        // of the latest repeat, as written
    Time seen;             // the latest, on our clock
    bool pending = false;  // a request for it waits or is under way
    bool behind = false;   // it was repeated since that was made
  };
  using KeptPtr = std::shared_ptr<Kept>;
  struct Job {
    KeptPtr kept;
    bool patch = false;
    int tries = 0;
    uint64_t number = 0;  // the smaller, the older
  };
  struct KeyHash {
    size_t operator()(const Hash128& key) const { return static_cast<size_t>(key.low); }
  };

  void Repeat(const KeptPtr& kept, const EventRecord& event);
  void Enqueue(const KeptPtr& kept, bool patch);
  void MakeRoom();
  // Pump, unless others may still come.
  void PumpSoon();
  void Pump();
  void Send(const std::shared_ptr<Job>& job);
  void OnAnswer(const std::shared_ptr<Job>& job, const ApiStatus& status);
  void TryLater(const std::shared_ptr<Job>& job, const ApiStatus& status);
  void End(const Job& job);
  bool stalled() const;
  // Of series, and of what is old: which the ticks say.
  void Refresh();
  void Finish(Time now);

  ClusterApi& api_;
  const Clock& clock_;
  const EventWriterOptions options_;
  std::unordered_map<Hash128, KeptPtr, KeyHash> remembered_;
  std::map<uint64_t, Job> ready_;                   // by number
  std::map<std::pair<Time, uint64_t>, Job> later_;  // by when
  std::deque<KeptPtr> due_;                         // series that a tick wants written, when nothing else is
  size_t under_way_ = 0;
  uint64_t next_ = 0;
  Time quiet_since_;  // of the server's last answer, or when something began to wait
  Time next_refresh_, next_finish_;
  std::optional<Time> gathered_;  // when those that are ready go; until then nothing does
  Counts counts_;
  util::Owner<EventWriter> owner_{this};  // of answers, which may come when this is gone
};

}  // namespace berth::client
