// SPDX-License-Identifier: Apache-2.0
// /debug/decisions: what was decided about a pod lately, and why, as one JSON document.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "berth/clock.h"
#include "berth/error.h"
#include "framework/trace.h"
#include "net/http.h"

namespace berth::live {

// At most so many decisions of a pod are shown: one that fits nowhere may have all that are remembered.
inline constexpr size_t kDecisionsShown = 20;

// The pod that a query asks about, `namespace/name`. The Error names the parameter and what is wrong with it.
Result<std::string> PodAskedFor(std::string_view query);

// What is remembered of the decisions about `pod`, the newest first; 404 and a document without any where that is
// nothing. It says how many decisions are remembered, of all pods, and since when. `table`: the verdicts of the traces;
// `now` and `date`: the same moment on the engine's clock and on the wall.
// Thread safety: that of the traces.
net::HttpResponse DecisionsReply(const framework::TraceRing& traces, const VerdictTable& table, const std::string& pod,
                                 Time now, Time date);

}  // namespace berth::live
