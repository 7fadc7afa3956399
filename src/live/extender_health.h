// SPDX-License-Identifier: Apache-2.0
// ExtenderHealth: how the extenders are doing, for metrics, log and /readyz.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "client/wire.h"
#include "config/types.h"
#include "extender_client/http_extender.h"
#include "util/log.h"
#include "util/metrics.h"
#include "util/seldom.h"

namespace berth::live {

// Of which objects the JSON has to be kept for these extenders: pods that may be asked about; nodes, and the pods on
// them, for those who keep none of their own.
client::SourceKinds SourcesFor(const std::vector<config::Extender>& extenders);

// An extender that fails is a line in the log, once a minute, a metric and a line of /readyz?verbose, until a call of
// it succeeds. Nothing else depends on it.
//
// Thread safety: all methods.
class ExtenderHealth {
 public:
  // REQUIRES: metrics and log outlive it.
  ExtenderHealth(util::Metrics& metrics, util::Log& log) : metrics_(metrics), log_(log) {}

  void OnCall(size_t index, const extender_client::CallReport& report);
  // For /readyz?verbose: a line for every extender whose last call failed. Why is in the log; here, where anybody may
  // ask, it is withheld.
  std::string Notes() const;

 private:
  struct Series {
    util::Metrics::Counter calls;
    util::Metrics::Histogram took;
  };
  Series SeriesOf(size_t index, const extender_client::CallReport& report);

  util::Metrics& metrics_;
  util::Log& log_;
  util::Seldom said_;
  mutable std::mutex mutex_;
  std::map<size_t, bool> failing_;  // by position; under mutex_
  // By position, verb and whether the call failed; under mutex_.
  std::map<std::tuple<size_t, std::string_view, bool>, Series> series_;
};

}  // namespace berth::live
