// SPDX-License-Identifier: Apache-2.0
// Log lines, as k8s.io/klog/v2 and k8s.io/component-base/logs/json of kube-scheduler v1.36.4 write them.
#include "util/log.h"

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <ctime>
#include <utility>

#include "util/text.h"

namespace berth::util {
namespace {

constexpr std::pair<std::string_view, int> kLevels[] = {{"DEBUG", log_level::kDebug},
                                                        {"INFO", log_level::kInfo},
                                                        {"WARN", log_level::kWarn},
                                                        {"WARNING", log_level::kWarn},
                                                        {"ERROR", log_level::kError}};
constexpr char kLetters[] = {'I', 'W', 'E'};

template <class T>
void AppendNumber(std::string& line, T number) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, number).ptr;
  line.append(text, static_cast<size_t>(end - text));
}

void AppendQuoted(std::string& line, std::string_view text) {
  line += '"';
  AppendEscaped(line, text, Escapes::kQuoted);
  line += '"';
}

void AppendJson(std::string& line, std::string_view text) {
  line += '"';
  AppendEscaped(line, text, Escapes::kJson);
  line += '"';
}

void AppendMember(std::string& line, std::string_view key) {
  line += line.size() > 1 ? ",\"" : "\"";
  AppendEscaped(line, key, Escapes::kJson);
  line += "\":";
}

// What reads the same in both formats; false: it is one that does not.
bool AppendScalar(std::string& line, const LogValue& value) {
  switch (value.kind()) {
    case LogValue::Kind::kInt:
      AppendNumber(line, value.as_int());
      return true;
    case LogValue::Kind::kUnsigned:
      AppendNumber(line, value.as_unsigned());
      return true;
    case LogValue::Kind::kBool:
      line += value.as_bool() ? "true" : "false";
      return true;
    case LogValue::Kind::kText:
    case LogValue::Kind::kVerbatim:
    case LogValue::Kind::kObject:
    case LogValue::Kind::kDouble:
      return false;
  }
  return false;
}

void AppendTextValue(std::string& line, const LogValue& value) {
  if (AppendScalar(line, value)) return;
  if (value.kind() == LogValue::Kind::kDouble) return AppendNumber(line, value.as_double());
  if (value.kind() == LogValue::Kind::kVerbatim) return AppendEscaped(line, value.text(), Escapes::kPlain);
  line += '"';
  if (value.kind() == LogValue::Kind::kObject && !value.ns().empty()) {
    AppendEscaped(line, value.ns(), Escapes::kQuoted);
    line += '/';
  }
  AppendEscaped(line, value.text(), Escapes::kQuoted);
  line += '"';
}

void AppendJsonValue(std::string& line, const LogValue& value) {
  if (AppendScalar(line, value)) return;
  if (value.kind() == LogValue::Kind::kDouble) {
    const double number = value.as_double();
    if (number - number == 0) return AppendNumber(line, number);
    return AppendJson(line, number > 0 ? "+Inf" : number < 0 ? "-Inf" : "NaN");
  }
  if (value.kind() != LogValue::Kind::kObject) return AppendJson(line, value.text());
  line += "{\"name\":";
  AppendJson(line, value.text());
  if (!value.ns().empty()) {
    line += ",\"namespace\":";
    AppendJson(line, value.ns());
  }
  line += '}';
}

// The last `parts` parts of a path.
std::string_view Tail(std::string_view path, int parts) {
  size_t from = path.size();
  for (; parts > 0 && from != std::string_view::npos && from > 0; --parts) from = path.rfind('/', from - 1);
  return from == std::string_view::npos || path[from] != '/' ? path : path.substr(from + 1);
}

void AppendPlace(std::string& line, const LogPlace& place, int parts) {
  AppendEscaped(line, Tail(place.file, parts), Escapes::kPlain);
  line += ':';
  AppendNumber(line, place.line);
}

std::string TextLine(const LogRecord& record) {
  const std::time_t seconds = record.time.ns / 1'000'000'000;
  std::tm local{};
  localtime_r(&seconds, &local);
  char head[64];
  const int size = std::snprintf(head, sizeof head, "%c%02d%02d %02d:%02d:%02d.%06d %7d ",
                                 kLetters[static_cast<size_t>(record.severity)], local.tm_mon + 1, local.tm_mday,
                                 local.tm_hour, local.tm_min, local.tm_sec,
                                 static_cast<int>(record.time.ns / 1000 % 1'000'000), static_cast<int>(getpid()));
  std::string line(head, static_cast<size_t>(size));
  AppendPlace(line, record.place, 1);
  line += "] ";
  if (record.plain) {
    AppendEscaped(line, record.message, Escapes::kPlain);
    return line;
  }
  AppendQuoted(line, record.message);
  if (!record.logger.empty()) {
    line += " logger=";
    AppendQuoted(line, record.logger);
  }
  for (const LogField& field : record.fields) {
    line += ' ';
    AppendEscaped(line, field.key, Escapes::kPlain);
    line += '=';
    AppendTextValue(line, field.value);
  }
  return line;
}

std::string JsonLine(const LogRecord& record) {
  std::string line = "{";
  AppendMember(line, "ts");
  char ts[32];
  const auto end =
      std::to_chars(ts, ts + sizeof ts, static_cast<double>(record.time.ns) / 1e6, std::chars_format::fixed).ptr;
  line.append(ts, static_cast<size_t>(end - ts));
  if (!record.logger.empty()) {
    AppendMember(line, "logger");
    AppendJson(line, record.logger);
  }
  AppendMember(line, "caller");
  std::string place;
  AppendPlace(place, record.place, 2);
  AppendJson(line, place);
  AppendMember(line, "msg");
  AppendJson(line, record.message);
  if (record.severity != LogSeverity::kError) {
    AppendMember(line, "v");
    AppendNumber(line, record.severity == LogSeverity::kInfo ? record.verbosity : 0);
  }
  for (const LogField& field : record.fields) {
    AppendMember(line, field.key);
    AppendJsonValue(line, field.value);
  }
  line += '}';
  return line;
}

}  // namespace

std::optional<int> ParseLogLevel(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  }
  for (const auto& [name, level] : kLevels)
    if (upper == name) return level;
  return std::nullopt;
}

std::string_view LogLevelName(int verbosity) {
  for (const auto& [name, level] : kLevels)
    if (verbosity >= level) return name;
  return "ERROR";
}

Log::Log(std::ostream& out, LogOptions options, const Clock& clock)
    : LogSink(options.verbosity), format_(options.format), clock_(clock), logger_(*this, clock), out_(out) {}

void Log::Write(const LogRecord& record) {
  std::string line = format_ == LogFormat::kJson ? JsonLine(record) : TextLine(record);
  line += '\n';
  const std::lock_guard lock(mutex_);
  out_.write(line.data(), static_cast<std::streamsize>(line.size()));
  out_.flush();
}

void Log::Say(LogSeverity severity, std::string_view sentence, LogPlace place) {
  if (!enabled(severity)) return;
  Write({.time = clock_.Now(), .severity = severity, .message = sentence, .plain = true, .place = place});
}

void Log::Add(LogSeverity severity, int verbosity, std::string_view message, std::span<const LogField> fields,
              LogPlace place) {
  if (!enabled(severity, verbosity)) return;
  Write({.time = clock_.Now(),
         .severity = severity,
         .verbosity = verbosity,
         .message = message,
         .fields = fields,
         .place = place});
}

}  // namespace berth::util
