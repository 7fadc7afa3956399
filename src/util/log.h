// SPDX-License-Identifier: Apache-2.0
// Log: lines for people and programs that watch a running program, in klog's two forms:
//
//   I1115 15:24:01.123456   12345 call_log.cc:59] "Served" route="/filter" pod="shop/web-1" nodesIn=5
//   {"ts":1794782124331.638,"caller":"extender/call_log.cc:59","msg":"Served","v":0,"route":"/filter",…}
//
// Text: the letter is the severity, then month and day, local time, process id, and where in the source the line comes
// from. JSON: `ts` in milliseconds, no `v` on errors. A plugin's name is the key `logger`.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "berth/clock.h"
#include "berth/log.h"
#include "util/go_values.h"
#include "util/log_ration.h"
#include "util/log_writer.h"

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

// The verbosity of some source files, as --vmodule has it: a shell pattern for the name of a file without folder and
// ending.
struct FileVerbosity {
  std::string pattern;
  int verbosity = 0;
};

struct LogOptions {
  int verbosity = 0;
  LogFormat format = LogFormat::kText;
  // The first that fits a file counts; one below `verbosity` changes nothing.
  std::vector<FileVerbosity> files = {};
  // In the text form a value of several lines follows as `key=<`, its lines after a tab each, and ` >`, as klog has it.
  // Otherwise its line breaks are written as escapes: a record is one line.
  bool several_lines = false;
  size_t max_waiting_bytes = size_t{4} << 20;  // of a server's log
};

// Thread safety: all methods.
class Log final : public LogSink {
 public:
  // The log of a command that ends by itself: every line is written at once, in one piece, before Write returns.
  // REQUIRES: stream and clock outlive the log; nobody else writes to the stream meanwhile.
  Log(std::ostream& out, LogOptions options, const Clock& clock);
  // The log of a server, which whoever reads it cannot stop: lines are handed to a LogWriter, which drops what nobody
  // reads, and each kind of line has a ration (LogRation). What is missing is counted and told in lines of its own.
  // REQUIRES: as LogWriter for the descriptor; the clock outlives the log.
  Log(int fd, LogOptions options, const Clock& clock);
  // Close, with a second of patience.
  ~Log() override;

  // One line, whatever the texts hold: line breaks, other control characters and what is not UTF-8 are written as
  // escapes, so that a text that comes from outside cannot forge a line. With `several_lines` it cannot either: those
  // lines start with a tab.
  void Write(const LogRecord& record) override;
  // A line of text as it is, without a head, and not rationed: what the program says before it ends, in order with the
  // log.
  void Print(std::string_view line);
  // A server's log: writes what waits, for at most about so long; later lines are lost.
  void Close(std::chrono::milliseconds patience);

  // Of a server's log: lines that nobody read in time, and lines beyond a ration, so far.
  uint64_t dropped() const { return writer_ ? writer_->dropped() : 0; }
  uint64_t left_out() const { return ration_.left_out(); }

  // For lines that only those want who run the program with -v=`level` or more.
  Logger V(int level) const { return logger_.V(level); }
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
  void Say(LogSeverity severity, std::string_view sentence, LogPlace place = LogPlace::Here()) {
    Say(severity, 0, sentence, place);
  }
  void Say(LogSeverity severity, int verbosity, std::string_view sentence, LogPlace place = LogPlace::Here());
  // The same for fields that are put together at run time.
  void Add(LogSeverity severity, int verbosity, std::string_view message, std::span<const LogField> fields,
           LogPlace place = LogPlace::Here());

 private:
  bool Wanted(const LogRecord& record) const;
  std::string Line(const LogRecord& record) const;
  std::string DroppedLine(uint64_t lines) const;
  std::string LeftOutLines();

  const LogFormat format_;
  const bool several_lines_;
  const std::vector<FileVerbosity> files_;
  const Clock& clock_;
  const Logger logger_;
  std::mutex mutex_;
  std::ostream* const out_ = nullptr;  // null: there is a writer
  LogRation ration_;
  std::unique_ptr<LogWriter> writer_;  // first to go: its thread calls this
};

// What a PUT of /debug/flags/v does: `text` is the new verbosity. The value is what to answer, the error what is wrong.
// May be called while others write.
GoParsed<std::string> ChangeVerbosity(LogSink& log, std::string_view text);

}  // namespace berth::util
