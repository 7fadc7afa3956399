// SPDX-License-Identifier: Apache-2.0
#include "cycle/turns.h"

#include <algorithm>
#include <iterator>

namespace berth::cycle {

std::shared_ptr<const Turns::Held> Turns::Enter(const queue::QueuedPodInfo& info) {
  std::erase_if(places_, [](const Place& place) { return place.held.expired(); });
  for (const Place& place : places_)
    if (place.pod->uid() == info.pod->uid())
      if (auto held = place.held.lock()) return held;
  const QueuedPod comes{info.pod.get(), info.timestamp};
  auto at = places_.end();
  while (at != places_.begin()) {
    const Place& before = *std::prev(at);
    if (before.passed >= kMostPassed || !less_(comes, {before.pod.get(), before.timestamp})) break;
    --at;
  }
  std::for_each(at, places_.end(), [](Place& place) { ++place.passed; });
  std::shared_ptr<const Held> held(new Held);
  places_.insert(at, Place{held, info.pod, info.timestamp, 0});
  Renumber();
  return held;
}

void Turns::GoFirst(const Held& held) {
  const auto at = std::find_if(places_.begin(), places_.end(),
                               [&](const Place& place) { return place.held.lock().get() == &held; });
  if (at == places_.end()) return;
  at->passed = kMostPassed;
  std::rotate(places_.begin(), at, std::next(at));
  Renumber();
}

size_t Turns::size() const {
  return static_cast<size_t>(
      std::count_if(places_.begin(), places_.end(), [](const Place& place) { return !place.held.expired(); }));
}

void Turns::Renumber() {
  for (size_t i = 0; i < places_.size(); ++i)
    if (const auto held = places_[i].held.lock()) *held->number_ = i;
}

}  // namespace berth::cycle
