// SPDX-License-Identifier: Apache-2.0
// Log: lines for people who watch a running program, in klog's form:
//
//   I1115 15:24:01.123456   12345 extender] "Served" route="/filter" pod="shop/web-1"
//
// The letter is the level, then month and day, local time, process id and who speaks.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "berth/clock.h"

namespace berth::util {

enum class LogLevel : uint8_t { kDebug, kInfo, kWarn, kError };
std::string_view ToString(LogLevel level);  // "INFO"
// In any case; no value for anything else.
std::optional<LogLevel> ParseLogLevel(std::string_view text);

// Thread safety: all methods.
class Log {
 public:
  // Lines below `level` are not written. REQUIRES: stream and clock outlive the log; nobody else writes to the stream
  // meanwhile.
  Log(std::ostream& out, std::string who, LogLevel level, const Clock& clock);

  bool enabled(LogLevel level) const { return level >= level_; }
  LogLevel level() const { return level_; }
  // One line, whatever the text holds: line breaks and other control characters are written as escapes, so that nobody
  // who has a say in a text can forge a line.
  void Write(LogLevel level, std::string_view text);
  void Debug(std::string_view text) { Write(LogLevel::kDebug, text); }
  void Info(std::string_view text) { Write(LogLevel::kInfo, text); }
  void Warn(std::string_view text) { Write(LogLevel::kWarn, text); }
  void Error(std::string_view text) { Write(LogLevel::kError, text); }

 private:
  const std::string who_;
  const LogLevel level_;
  const Clock& clock_;
  std::mutex mutex_;
  std::ostream& out_;
};

// ` key="value"`, the value quoted and escaped as klog does it.
void AppendPair(std::string& line, std::string_view key, std::string_view value);

}  // namespace berth::util
