// SPDX-License-Identifier: Apache-2.0
// Log: lines for people and programs that watch a running program, in klog's two forms:
//
//   I1115 15:24:01.123456   12345 call_log.cc:59] "Served" route="/filter" pod="shop/web-1" nodesIn=5
//   {"ts":1794782124331.638,"caller":"extender/call_log.cc:59","msg":"Served","v":0,"route":"/filter",…}
//
// Text: the letter is the severity, then month and day, local time, process id, and where in the source the line comes
// from. JSON: `ts` in milliseconds, no `v` on errors. A plugin's name is the key `logger`.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "berth/clock.h"
#include "berth/log.h"

namespace berth::util {

enum class LogFormat : uint8_t { kText, kJson };

// LOG_LEVEL's names, as verbosities.
namespace log_level {
inline constexpr int kDebug = 4, kInfo = 0, kWarn = LogSink::kWarnings, kError = LogSink::kErrors;
}  // namespace log_level
// In any case; no value for anything else.
std::optional<int> ParseLogLevel(std::string_view text);
// The level whose lines a log of this verbosity has: "INFO" from 0 on, "DEBUG" from 4 on.
std::string_view LogLevelName(int verbosity);

struct LogOptions {
  int verbosity = 0;
  LogFormat format = LogFormat::kText;
};

// Thread safety: all methods.
class Log final : public LogSink {
 public:
  // REQUIRES: stream and clock outlive the log; nobody else writes to the stream meanwhile.
  Log(std::ostream& out, LogOptions options, const Clock& clock);

  // One line, whatever the texts hold: line breaks, other control characters and what is not UTF-8 are written as
  // escapes, so that nobody who has a say in a text can forge a line. The line is written at once, in one piece.
  void Write(const LogRecord& record) override;

  using Fields = std::initializer_list<LogField>;
  void Info(std::string_view message, Fields fields = {}, LogPlace place = LogPlace::Here()) const {
    logger_.Info(message, fields, place);
  }
  void Warn(std::string_view message, Fields fields = {}, LogPlace place = LogPlace::Here()) const {
    logger_.Warn(message, fields, place);
  }
  void Error(std::string_view message, Fields fields = {}, LogPlace place = LogPlace::Here()) const {
    logger_.Error(message, fields, place);
  }
  // A sentence that is different every time, without quotes or keys.
  void Say(LogSeverity severity, std::string_view sentence, LogPlace place = LogPlace::Here());
  // The same for fields that are put together at run time.
  void Add(LogSeverity severity, int verbosity, std::string_view message, std::span<const LogField> fields,
           LogPlace place = LogPlace::Here());

 private:
  const LogFormat format_;
  const Clock& clock_;
  const Logger logger_;
  std::mutex mutex_;
  std::ostream& out_;
};

}  // namespace berth::util
