// SPDX-License-Identifier: Apache-2.0
// The end of a run on an API server: everything that it made goes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/live_loop.h"
#include "bench/live_objects.h"

namespace berth::bench {

struct CleanUpTimes {
  Duration patience = Duration::Seconds(60);     // without anything going
  Duration nobody_works = Duration::Seconds(5);  // on namespaces, after which they are released
};

// Deletes pods, then everything else, then namespaces, and waits until these are gone. A namespace goes by the work of
// a controller; where none is seen to work on any of them, they are released, with their events.
//
// Ends when everything is gone, when nothing has gone for too long, or when `give_up` says so; it is asked all the
// time. Returns what may be left, each a name and, where it is known, the reason.
//
// REQUIRES: the loop is not turned any more after that: answers to what was given up are for nobody.
std::vector<std::string> CleanUp(LiveObjects& objects, LiveLoop& loop, const std::function<bool()>& give_up,
                                 const CleanUpTimes& times = {});

}  // namespace berth::bench
