// SPDX-License-Identifier: Apache-2.0
// /healthz, /livez and /readyz: named checks, and what became of them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "berth/clock.h"
#include "berth/error.h"
#include "net/http.h"

namespace berth::serving {

struct HealthCheck {
  std::string name;
  // Ok, or why not; whoever may see details is shown the text. Called on a thread of the server: it must be quick, and
  // wait for nobody.
  std::function<Error()> check;
};

// How often which check of which endpoint has passed and failed: /metrics/slis.
//
// Thread safety: all methods.
class HealthRecord {
 public:
  // `process_start`: of process_start_time_seconds.
  explicit HealthRecord(Time process_start) : process_start_(process_start) {}
  void Note(const std::string& check, const std::string& endpoint, bool passed);
  void Reset();
  // For Prometheus.
  std::string Text() const;

 private:
  const Time process_start_;
  mutable std::mutex mutex_;
  // Under mutex_.
  std::map<std::pair<std::string, std::string>, bool> last_;                      // check, endpoint
  std::map<std::tuple<std::string, std::string, std::string>, uint64_t> counts_;  // check, result, endpoint
};

// One of the three, and its checks one by one below it.
//
// Thread safety: all methods.
class HealthEndpoint {
 public:
  // `name` without the slash. Without checks there is one, ping, that passes. `on_failure` is told the reasons, which
  // the answer withholds; may be null. `notes`: lines that a verbose answer has besides, which change nothing; may be
  // null, and is called as a check is.
  HealthEndpoint(std::string name, std::vector<HealthCheck> checks, HealthRecord& record,
                 std::function<void(const std::string& checks, const std::string& reasons)> on_failure = nullptr,
                 std::function<std::string()> notes = nullptr);

  // No value: the path is somebody else's.
  std::optional<net::HttpResponse> Handle(std::string_view path, std::string_view query) const;
  std::vector<std::string> Paths() const;

 private:
  net::HttpResponse All(std::string_view query) const;

  const std::string name_;
  std::vector<HealthCheck> checks_;
  HealthRecord& record_;
  const std::function<void(const std::string&, const std::string&)> on_failure_;
  const std::function<std::string()> notes_;
};

// A number as Go's strconv writes it with the fewest digits: 1, 0.5, 1.79478271349e+09.
std::string GoFloat(double value);

}  // namespace berth::serving
