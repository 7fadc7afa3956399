// SPDX-License-Identifier: Apache-2.0
#include "net/connection_table.h"

#include <algorithm>
#include <cassert>

namespace berth::net {
namespace {

// Kinds of objects are listed and watched over one connection each, bindings and events go over 16 more; then there are
// loops, files, logs, and connections that were evicted and are not gone yet.
constexpr size_t kReserve = 192;

}  // namespace

ConnectionLimits FitConnections(const ConnectionLimits& wanted, size_t descriptors) {
  const size_t places = descriptors - std::min(kReserve, descriptors / 2);
  ConnectionLimits fit{std::max<size_t>(wanted.served, 1), std::max<size_t>(wanted.unserved, 1)};
  if (fit.served + fit.unserved <= places) return fit;
  fit.unserved = std::clamp<size_t>(places / 4, 1, fit.unserved);
  fit.served = std::clamp<size_t>(places > fit.unserved ? places - fit.unserved : 1, 1, fit.served);
  return fit;
}

void ConnectionTable::List::Append(Place& place) {
  place.previous = last;
  place.next = nullptr;
  (last != nullptr ? last->next : first) = &place;
  last = &place;
  ++size;
}

void ConnectionTable::List::Take(Place& place) {
  (place.previous != nullptr ? place.previous->next : first) = place.next;
  (place.next != nullptr ? place.next->previous : last) = place.previous;
  place.previous = place.next = nullptr;
  --size;
}

// Null: a phase in which nobody is evicted.
ConnectionTable::List* ConnectionTable::ListOf(Phase phase) {
  switch (phase) {
    case Phase::kUnserved:
    case Phase::kGuest:
      return &unserved_;
    case Phase::kIdle:
      return &idle_;
    case Phase::kWaiting:
      return &waiting_;
    case Phase::kWorking:
      break;
  }
  return nullptr;
}

void ConnectionTable::Leave(Place& place) {
  if (List* list = ListOf(place.phase)) list->Take(place);
  if (place.phase != Phase::kUnserved && place.phase != Phase::kGuest) --served_;
}

void ConnectionTable::Enter(Place& place, Phase phase) {
  place.phase = phase;
  place.since = ++moves_;
  if (List* list = ListOf(phase)) list->Append(place);
  if (phase != Phase::kUnserved && phase != Phase::kGuest) ++served_;
}

void ConnectionTable::Evict(Place& place) {
  Leave(place);
  place.out = true;
  ++evicted_;
  place.evict();
}

void ConnectionTable::MakeRoom() {
  while (open_ - evicted_ - announced_ > limits_.served + limits_.unserved && unserved_.first != nullptr)
    Evict(*unserved_.first);
}

void ConnectionTable::Announce() {
  const std::lock_guard lock(mutex_);
  ++open_;
  ++announced_;
}

void ConnectionTable::Forget() {
  const std::lock_guard lock(mutex_);
  --open_;
  --announced_;
}

void ConnectionTable::Add(Place& place) {
  const std::lock_guard lock(mutex_);
  place.there = true;
  --announced_;
  Enter(place, Phase::kUnserved);
  MakeRoom();
}

void ConnectionTable::Remove(Place& place) {
  const std::lock_guard lock(mutex_);
  assert(place.there);
  place.there = false;
  if (place.out) {
    --evicted_;
  } else {
    Leave(place);
  }
  --open_;
}

ConnectionTable::Entry ConnectionTable::Admit(Place& place, First first) {
  const std::lock_guard lock(mutex_);
  if (place.out) return Entry::kEvicted;
  if (served_ >= limits_.served) {
    if (idle_.first != nullptr) {
      Evict(*idle_.first);
    } else if (waiting_.first != nullptr) {
      Evict(*waiting_.first);
    } else if (first != First::kWithoutBody) {
      return Entry::kRefused;
    } else {
      place.phase = Phase::kGuest;  // in the same list, where it was
      return Entry::kGuest;
    }
  }
  Leave(place);
  Enter(place, first == First::kBegun ? Phase::kWaiting : Phase::kWorking);
  return Entry::kServed;
}

bool ConnectionTable::Move(Place& place, Phase phase) {
  const std::lock_guard lock(mutex_);
  if (place.out) return false;
  if (place.phase == Phase::kGuest || place.phase == phase) return true;
  assert(place.phase != Phase::kUnserved);
  Leave(place);
  Enter(place, phase);
  return true;
}

void ConnectionTable::EvictOne() {
  const std::lock_guard lock(mutex_);
  Place* const idle = idle_.first;
  Place* const unserved = unserved_.first;
  if (idle != nullptr && (unserved == nullptr || idle->since < unserved->since)) return Evict(*idle);
  if (unserved != nullptr) return Evict(*unserved);
  if (waiting_.first != nullptr) Evict(*waiting_.first);
}

size_t ConnectionTable::open() const {
  const std::lock_guard lock(mutex_);
  return open_;
}

}  // namespace berth::net
