// SPDX-License-Identifier: Apache-2.0
// What was found, and its three forms: text, JSON, JUnit XML.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "berth/value.h"

namespace berth::conform {

// What kube-scheduler makes of it decides: kError: it fails, crashes or decides wrongly; kWarning: it goes on with
// something that nobody wanted, or another client would be hurt.
enum class Level : uint8_t { kWarning, kError };

struct Finding {
  Level level;
  std::string sentence;
  std::string sent, received;  // empty where there is nothing to show
};

struct CheckResult {
  std::string name;     // "filter.nodes.subset"
  std::string verdict;  // one sentence: what was seen, or why it was skipped
  bool skipped = false;
  std::vector<Finding> findings;

  bool failed() const;
  bool warned() const { return !failed() && !findings.empty(); }
};

// Milliseconds of requests that were sent one after the other.
struct Latency {
  std::string name;  // "filter.nodes"
  size_t nodes = 0, requests = 0;
  double p50 = 0, p90 = 0, p99 = 0, max = 0;
};
// REQUIRES: not empty.
Latency MakeLatency(std::string name, size_t nodes, std::vector<double> milliseconds);

struct Report {
  std::string url;
  std::string unreachable;  // not empty: nothing could be tried, and this is why
  std::vector<CheckResult> checks;
  std::vector<Latency> latencies;
  std::string hint;  // why it may have failed though nothing is wrong; may be empty

  size_t passed() const;  // without findings
  size_t warned() const;
  size_t failed() const;
  size_t skipped() const;
  // Whether anything was tried at all.
  bool checked() const { return skipped() < checks.size(); }
  // Something was checked and nothing failed; with `strict` nothing was warned about either.
  bool ok(bool strict) const { return unreachable.empty() && checked() && failed() == 0 && (!strict || warned() == 0); }
};

// `colour`: with the escape sequences of terminals.
std::string ToText(const Report& report, bool colour, bool strict);
Value ToValue(const Report& report, bool strict);
// A testsuite per verb; findings are failures, warnings only if `strict`, otherwise they are in system-out.
std::string ToJunit(const Report& report, bool strict);

}  // namespace berth::conform
