// SPDX-License-Identifier: Apache-2.0
// Logger: how a plugin speaks to the people who run the program; a line per call, in the program's own format:
//
//   explicit RackTemperature(berth::Handle& handle) : log_(handle.log()) {}
//   ...
//   log_.Info("Rack is hot", {{"node", node.name()}, {"celsius", celsius}});
//   log_.V(4).Info("Judged", {{"pod", pod}});
//
// The message is the same every time; what differs goes into keys. A line that nobody wants costs a comparison.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "berth/clock.h"

namespace berth {
inline namespace v1 {

// The value of a key: text, number, truth, or the name of a Kubernetes object. Text is not copied; it is read before
// the call returns.
class LogValue {
 public:
  enum class Kind : uint8_t { kText, kVerbatim, kObject, kInt, kUnsigned, kDouble, kBool, kJson };

  // NOLINTBEGIN(google-explicit-constructor): {"key", value} is to work for all of them
  LogValue(std::string_view text) : kind_(Kind::kText), text_(text) {}
  LogValue(const std::string& text) : LogValue(std::string_view(text)) {}
  LogValue(const char* text) : LogValue(std::string_view(text)) {}
  template <std::signed_integral T>
  LogValue(T number) : kind_(Kind::kInt), int_(number) {}
  template <std::unsigned_integral T>
  requires(!std::same_as<T, bool>) LogValue(T number) : kind_(Kind::kUnsigned), unsigned_(number) {}
  template <std::floating_point T>
  LogValue(T number) : kind_(Kind::kDouble), double_(number) {}
  template <std::same_as<bool> T>
  LogValue(T truth) : kind_(Kind::kBool), unsigned_(truth) {}
  // A Pod, a Node, or any other object with metadata: its namespace and name.
  template <class T>
  requires requires(const T& object) { object.meta.namespace_; }
  LogValue(const T& object) : LogValue(Object(object.meta.namespace_, object.meta.name)) {}
  // NOLINTEND(google-explicit-constructor)

  // `ns` is empty for what is in no namespace.
  static LogValue Object(std::string_view ns, std::string_view name) {
    LogValue value(name);
    value.kind_ = Kind::kObject;
    value.namespace_ = ns;
    return value;
  }
  // Text that is not quoted where the format can do without: JSON, say.
  static LogValue Verbatim(std::string_view text) {
    LogValue value(text);
    value.kind_ = Kind::kVerbatim;
    return value;
  }

  // A list or an object. REQUIRES: `json` is valid JSON without line breaks.
  static LogValue Json(std::string_view json) {
    LogValue value(json);
    value.kind_ = Kind::kJson;
    return value;
  }

  // The rest is for those who write lines.
  Kind kind() const { return kind_; }
  std::string_view text() const { return text_; }  // an object's name
  std::string_view ns() const { return namespace_; }
  int64_t as_int() const { return int_; }
  uint64_t as_unsigned() const { return unsigned_; }
  double as_double() const { return double_; }
  bool as_bool() const { return unsigned_ != 0; }

 private:
  Kind kind_;
  std::string_view text_, namespace_;
  union {
    int64_t int_ = 0;
    uint64_t unsigned_;
    double double_;
  };
};

struct LogField {
  std::string_view key;
  LogValue value;
};

enum class LogSeverity : uint8_t { kInfo, kWarning, kError };

// Where in the source a line comes from. As a default argument it is the caller's place.
struct LogPlace {
  const char* file = "";
  int line = 0;
  static constexpr LogPlace Here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

// A line before it is written.
struct LogRecord {
  Time time = {};
  LogSeverity severity = LogSeverity::kInfo;
  int verbosity = 0;              // of an info line
  std::string_view logger = {};   // who speaks: a plugin's name; empty: the program itself
  std::string_view message = {};  // the same for all lines of a kind, unless `plain`
  std::span<const LogField> fields = {};
  bool plain = false;  // a sentence for people: the message is not quoted, and there are no fields
  LogPlace place = {};
};

// Where lines go. Hosts implement it; plugins have a Logger. Thread safety: all methods.
class LogSink {
 public:
  // As verbosity: no info lines; nor warnings. Errors are always written.
  static constexpr int kWarnings = -1, kErrors = -2;

  explicit LogSink(int verbosity) : verbosity_(verbosity) {}
  virtual ~LogSink() = default;
  int verbosity() const { return verbosity_.load(std::memory_order_relaxed); }
  void SetVerbosity(int verbosity) { verbosity_.store(verbosity, std::memory_order_relaxed); }
  // `level`: of an info line. False: nobody wants it. True: Write decides, if some files have a verbosity of their own.
  bool enabled(LogSeverity severity, int level = 0) const {
    if (severity == LogSeverity::kError) return true;
    if (severity == LogSeverity::kWarning) return kWarnings <= verbosity();
    return level <= verbosity() || level <= file_verbosity_;
  }
  // REQUIRES: enabled, or the line is to be written all the same.
  virtual void Write(const LogRecord& record) = 0;

 protected:
  // As above, for a sink that has files with a verbosity of their own: the highest of these.
  LogSink(int verbosity, int file_verbosity) : verbosity_(verbosity), file_verbosity_(file_verbosity) {}

 private:
  std::atomic<int> verbosity_;
  const int file_verbosity_ = kErrors - 1;
};

// Cheap to copy. Thread safety: all methods, from any thread.
class Logger {
 public:
  Logger() = default;  // writes nothing
  // REQUIRES: sink, clock and name outlive it and its copies.
  Logger(LogSink& sink, const Clock& clock, std::string_view name = "") : sink_(&sink), clock_(&clock), name_(name) {}

  // The same, but info lines are only for those who run the program with -v=`level` or more: 2 is what matters to an
  // operator, 4 to a developer, 5 is everything.
  Logger V(int level) const {
    Logger copy = *this;
    copy.level_ += level;
    return copy;
  }
  // The same with a name that its lines bear. REQUIRES: the name outlives it.
  Logger Named(std::string_view name) const {
    Logger copy = *this;
    copy.name_ = name;
    return copy;
  }
  // Whether Info writes; for values that cost something to make.
  bool enabled() const { return Wanted(LogSeverity::kInfo); }

  using Fields = std::initializer_list<LogField>;
  void Info(std::string_view message, Fields fields = {}, LogPlace place = LogPlace::Here()) const {
    if (Wanted(LogSeverity::kInfo)) Write(LogSeverity::kInfo, message, fields, place);
  }
  // Something is not as it should be, but the work goes on.
  void Warn(std::string_view message, Fields fields = {}, LogPlace place = LogPlace::Here()) const {
    if (Wanted(LogSeverity::kWarning)) Write(LogSeverity::kWarning, message, fields, place);
  }
  // Written whatever -v says. By custom the cause is the first key, `err`.
  void Error(std::string_view message, Fields fields = {}, LogPlace place = LogPlace::Here()) const {
    if (Wanted(LogSeverity::kError)) Write(LogSeverity::kError, message, fields, place);
  }

 private:
  bool Wanted(LogSeverity severity) const { return sink_ && sink_->enabled(severity, level_); }
  void Write(LogSeverity severity, std::string_view message, Fields fields, LogPlace place) const {
    sink_->Write({.time = clock_->Now(),
                  .severity = severity,
                  .verbosity = level_,
                  .logger = name_,
                  .message = message,
                  .fields = {fields.begin(), fields.size()},
                  .place = place});
  }

  LogSink* sink_ = nullptr;
  const Clock* clock_ = nullptr;
  std::string_view name_;
  int level_ = 0;
};

}  // namespace v1
}  // namespace berth
