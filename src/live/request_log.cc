// SPDX-License-Identifier: Apache-2.0
// Upstream: client-go/rest/request.go, tryThrottleWithInfo and throttledLogger (v0.36.4).
#include "live/request_log.h"

#include "berth/args.h"

namespace berth::live {
namespace {

constexpr double kLongSeconds = 0.05, kVeryLongSeconds = 1;
constexpr Duration kPauseAtTwo = Duration::Seconds(1), kPauseAtZero = Duration::Seconds(10);

}  // namespace

void RequestLog::Paced(const client::PacedRequest& request) {
  next_.Paced(request);
  if (request.seconds <= kLongSeconds) return;
  Say(3, request);
  if (request.seconds <= kVeryLongSeconds) return;
  if (const std::optional<int> verbosity = Due()) Say(*verbosity, request);
}

void RequestLog::Say(int verbosity, const client::PacedRequest& request) const {
  if (!log_.V(verbosity).enabled()) return;
  const std::string url = request.server + request.path;
  const std::string delay = FormatDuration({static_cast<int64_t>(request.seconds * 1e9)});
  log_.V(verbosity).Info("Waited before sending request",
                         {{"delay", delay},
                          {"reason", "client-side throttling, not priority and fairness"},
                          {"verb", request.method},
                          {"URL", url}});
}

std::optional<int> RequestLog::Due() {
  const int verbosity = log_.V(2).enabled() ? 2 : 0;
  const Time now = clock_.Now();
  const std::lock_guard lock(mutex_);
  std::optional<Time>& said = verbosity == 2 ? said_at_two_ : said_at_zero_;
  if (said && now - *said < (verbosity == 2 ? kPauseAtTwo : kPauseAtZero)) return std::nullopt;
  said = now;
  return verbosity;
}

}  // namespace berth::live
