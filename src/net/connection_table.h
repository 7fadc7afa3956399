// SPDX-License-Identifier: Apache-2.0
// ConnectionTable: which of a server's connections stay when there are more than it has room for.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>

namespace berth::net {

// How many connections there may be.
struct ConnectionLimits {
  size_t served = 4096;  // that have sent a request
  size_t unserved = 64;  // beyond those: that have not sent one yet
};

// `wanted`, or less, so that of that many descriptors enough remain for everything else: our own clients, files and
// logs.
ConnectionLimits FitConnections(const ConnectionLimits& wanted, size_t descriptors);

// A connection that has not sent a request yet may take any place that is free; when there is none, the one that has
// been silent for longest goes, so that a new one is always accepted. One that sends its first request becomes one of
// those that are served. When there are as many as there may be, the one goes that has been idle for longest; where
// none is idle, the one for which we have waited longest, to send its body or to read its answer. Where all wait for
// us, a request without a body (a probe) is answered all the same and its connection then closed; another is refused.
//
// Thread safety: any thread. A Place is its connection's, which calls Remove before its end.
class ConnectionTable {
 public:
  // kWaiting: for the client, within a request or its answer. kWorking: the client waits for us. kGuest: served though
  // there is no place; counts as one that has not sent a request.
  enum class Phase { kUnserved, kIdle, kWaiting, kWorking, kGuest };
  struct Place {
    // Told, under the table's lock and on any thread, to end the connection soon. REQUIRES: does not wait, and does not
    // ask the table.
    std::function<void()> evict;
    bool evicted() const { return out.load(std::memory_order_relaxed); }

   private:
    friend class ConnectionTable;
    Phase phase = Phase::kUnserved;
    bool there = false;
    std::atomic<bool> out{false};
    uint64_t since = 0;                          // when it entered its phase: by number, which costs less than by time
    Place *previous = nullptr, *next = nullptr;  // in the list of its phase
  };
  enum class Entry { kServed, kGuest, kRefused, kEvicted };
  // What is there of a first request. kBegun: its body is yet to come, or the rest of it.
  enum class First { kWithoutBody, kWhole, kBegun };

  explicit ConnectionTable(const ConnectionLimits& limits) : limits_(limits) {}
  ConnectionTable(const ConnectionTable&) = delete;
  ConnectionTable& operator=(const ConnectionTable&) = delete;

  const ConnectionLimits& limits() const { return limits_; }
  // One more connection is there, which is yet to get its place, and nobody goes for it before; Forget if that fails.
  // Who comes later may get its place sooner, on another thread, and must not go for those that have none.
  void Announce();
  void Forget();
  void Add(Place& place);
  void Remove(Place& place);
  // Its first request has come. Becomes kWaiting if the request has only begun, kWorking if all of it is there: nobody
  // waits for that one, so another that is admitted at the same moment, on another thread, cannot push it out.
  Entry Admit(Place& place, First first);
  // False: it was evicted. A guest stays one. REQUIRES: admitted; not to kUnserved or kGuest.
  bool Move(Place& place, Phase phase);
  // Out of descriptors, whatever the limits say: the one that has been idle or silent for longest goes.
  void EvictOne();
  // With those that were evicted and are not gone yet.
  size_t open() const;

 private:
  // By time, the longest first.
  struct List {
    Place *first = nullptr, *last = nullptr;
    size_t size = 0;
    void Append(Place& place);
    void Take(Place& place);
  };
  List* ListOf(Phase phase);
  void Leave(Place& place);
  void Enter(Place& place, Phase phase);
  void Evict(Place& place);
  void MakeRoom();

  const ConnectionLimits limits_;
  mutable std::mutex mutex_;
  size_t open_ = 0;       // all that were announced and not removed
  size_t evicted_ = 0;    // of those
  size_t announced_ = 0;  // of those: without a place yet
  uint64_t moves_ = 0;
  size_t served_ = 0;  // places that are kIdle, kWaiting or kWorking
  List unserved_, idle_, waiting_;
};

}  // namespace berth::net
