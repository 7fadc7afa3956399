// SPDX-License-Identifier: Apache-2.0
// ProgressBar: one line on a terminal that says how far a simulation is, and is gone when it is over.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

#include "berth/clock.h"

namespace berth::cli {

// True when `stream` is standard error and that is a terminal.
bool IsTerminal(const std::ostream& stream);

class ProgressBar {
 public:
  // Not `enabled`: does nothing. REQUIRES: stream and clock outlive the bar.
  ProgressBar(std::ostream& stream, const Clock& clock, bool enabled)
      : stream_(stream), clock_(clock), enabled_(enabled) {}
  ~ProgressBar() { Clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // `label` comes behind the bar. Drawn at most ten times a second.
  void Show(uint64_t done, uint64_t of, const std::string& label);
  void Clear();
  // "[#####.....]", `width` signs between the brackets.
  static std::string Bar(uint64_t done, uint64_t of, size_t width);

 private:
  std::ostream& stream_;
  const Clock& clock_;
  bool enabled_;
  bool shown_ = false;
  Time last_;
};

}  // namespace berth::cli
