// SPDX-License-Identifier: Apache-2.0
// Log lines, as k8s.io/klog/v2 and k8s.io/component-base/logs/json of kube-scheduler v1.36.4 write them.
#include "util/log.h"

#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <utility>
#include <vector>

#include "util/text.h"

namespace berth::util {
namespace {

constexpr std::pair<std::string_view, int> kLevels[] = {{"DEBUG", log_level::kDebug},
                                                        {"INFO", log_level::kInfo},
                                                        {"WARN", log_level::kWarn},
                                                        {"WARNING", log_level::kWarn},
                                                        {"ERROR", log_level::kError}};
constexpr char kLetters[] = {'I', 'W', 'E'};
constexpr std::chrono::milliseconds kCloseWithin{1'000};
// What was left out is told after so long, and so often at most.
constexpr std::chrono::milliseconds kTellLeftOut{10'000};

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
    case LogValue::Kind::kJson:
      return false;
  }
  return false;
}

// A text of several lines, as klog has it. The tab makes sure that none of them looks like a line of the log.
void AppendLines(std::string& line, std::string_view text) {
  line += "<\n";
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    line += '\t';
    AppendEscaped(line, text.substr(0, end), Escapes::kPlain);
    line += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  line += " >";
}

void AppendTextValue(std::string& line, const LogValue& value, bool several_lines) {
  if (AppendScalar(line, value)) return;
  if (value.kind() == LogValue::Kind::kDouble) return AppendNumber(line, value.as_double());
  if (value.kind() == LogValue::Kind::kVerbatim || value.kind() == LogValue::Kind::kJson) {
    return AppendEscaped(line, value.text(), Escapes::kPlain);
  }
  if (several_lines && value.kind() == LogValue::Kind::kText && value.text().find('\n') != std::string_view::npos) {
    return AppendLines(line, value.text());
  }
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
  if (value.kind() == LogValue::Kind::kJson) {
    line += value.text();
    return;
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

int Highest(const std::vector<FileVerbosity>& files) {
  int highest = LogSink::kErrors - 1;
  for (const FileVerbosity& file : files) highest = std::max(highest, file.verbosity);
  return highest;
}

std::string TextLine(const LogRecord& record, bool several_lines) {
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
    AppendTextValue(line, field.value, several_lines);
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
    : LogSink(options.verbosity, Highest(options.files)),
      format_(options.format),
      several_lines_(options.several_lines),
      files_(std::move(options.files)),
      clock_(clock),
      logger_(*this, clock),
      out_(&out) {}

Log::Log(int fd, LogOptions options, const Clock& clock)
    : LogSink(options.verbosity, Highest(options.files)),
      format_(options.format),
      several_lines_(options.several_lines),
      files_(std::move(options.files)),
      clock_(clock),
      logger_(*this, clock) {
  LogWriter::Options writing;
  writing.max_bytes = options.max_waiting_bytes;
  writing.dropped_line = [this](uint64_t lines) { return DroppedLine(lines); };
  writing.reminder = [this] { return LeftOutLines(); };
  writer_ = std::make_unique<LogWriter>(fd, std::move(writing));
}

Log::~Log() { Close(kCloseWithin); }

void Log::Close(std::chrono::milliseconds patience) {
  if (writer_) writer_->Close(patience);
}

// Whoever asked `enabled` did not know the file.
bool Log::Wanted(const LogRecord& record) const {
  if (files_.empty() || record.severity != LogSeverity::kInfo || record.verbosity <= verbosity()) return true;
  std::string file(Tail(record.place.file, 1));
  file.resize(std::min(file.rfind('.'), file.size()));
  for (const FileVerbosity& one : files_)
    if (fnmatch(one.pattern.c_str(), file.c_str(), FNM_PATHNAME) == 0) return record.verbosity <= one.verbosity;
  return false;
}

std::string Log::Line(const LogRecord& record) const {
  std::string line = format_ == LogFormat::kJson ? JsonLine(record) : TextLine(record, several_lines_);
  line += '\n';
  return line;
}

void Log::Write(const LogRecord& record) {
  if (!Wanted(record)) return;
  if (writer_) {
    if (ration_.Admit(record, std::chrono::steady_clock::now())) {
      writer_->Add(Line(record));
    } else {
      writer_->Remind(kTellLeftOut);
    }
    return;
  }
  const std::string line = Line(record);
  const std::lock_guard lock(mutex_);
  out_->write(line.data(), static_cast<std::streamsize>(line.size()));
  out_->flush();
}

void Log::Print(std::string_view line) {
  const std::string text = std::string(line) + '\n';
  if (writer_) return writer_->Add(text);
  const std::lock_guard lock(mutex_);
  *out_ << text << std::flush;
}

// Both are written whatever the verbosity: those lines were wanted.
std::string Log::DroppedLine(uint64_t lines) const {
  const LogField fields[] = {{"lines", lines}};
  return Line({.time = clock_.Now(),
               .severity = LogSeverity::kWarning,
               .message = "Log lines were dropped: nobody read them in time",
               .fields = fields,
               .place = LogPlace::Here()});
}

std::string Log::LeftOutLines() {
  std::string text;
  for (const LogRation::LeftOut& kind : ration_.Take()) {
    std::string place;
    AppendPlace(place, kind.place, 1);
    std::vector<LogField> fields = {{"lines", kind.lines}, {"from", place}};
    if (!kind.message.empty()) fields.push_back({"saying", kind.message});
    text += Line({.time = clock_.Now(),
                  .severity = kind.severity,
                  .verbosity = kind.verbosity,
                  .logger = kind.logger,
                  .message = "Log lines were left out: too many of their kind",
                  .fields = fields,
                  .place = LogPlace::Here()});
  }
  return text;
}

void Log::Say(LogSeverity severity, int verbosity, std::string_view sentence, LogPlace place) {
  if (!enabled(severity, verbosity)) return;
  Write({.time = clock_.Now(),
         .severity = severity,
         .verbosity = verbosity,
         .message = sentence,
         .plain = true,
         .place = place});
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

GoParsed<std::string> ChangeVerbosity(LogSink& log, std::string_view text) {
  const GoParsed<uint64_t> level = ParseGoUint(text, 10, 31);
  if (!level.ok()) return {"", level.error};
  log.SetVerbosity(static_cast<int>(level.value));
  return {"successfully set klog.logging.verbosity to " + std::to_string(level.value), ""};
}

}  // namespace berth::util
