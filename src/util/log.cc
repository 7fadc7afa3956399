// SPDX-License-Identifier: Apache-2.0
// Log lines.
#include "util/log.h"

#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <utility>

namespace berth::util {
namespace {

constexpr std::string_view kNames[] = {"DEBUG", "INFO", "WARN", "ERROR"};
constexpr char kLetters[] = {'D', 'I', 'W', 'E'};

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

void AppendEscaped(std::string& line, char c) {
  switch (c) {
    case '\n':
      line += "\\n";
      return;
    case '\r':
      line += "\\r";
      return;
    case '\t':
      line += "\\t";
      return;
    default:
      constexpr char kHex[] = "0123456789abcdef";
      line += "\\x";
      line += kHex[static_cast<unsigned char>(c) >> 4];
      line += kHex[static_cast<unsigned char>(c) & 15];
  }
}

}  // namespace

std::string_view ToString(LogLevel level) { return kNames[static_cast<size_t>(level)]; }

std::optional<LogLevel> ParseLogLevel(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  }
  if (upper == "WARNING") return LogLevel::kWarn;
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (upper == kNames[i]) return static_cast<LogLevel>(i);
  }
  return std::nullopt;
}

Log::Log(std::ostream& out, std::string who, LogLevel level, const Clock& clock)
    : who_(std::move(who)), level_(level), clock_(clock), out_(out) {}

void Log::Write(LogLevel level, std::string_view text) {
  if (!enabled(level)) return;
  const Time now = clock_.Now();
  const std::time_t seconds = now.ns / 1'000'000'000;
  std::tm local{};
  localtime_r(&seconds, &local);
  char head[64];
  const int size = std::snprintf(head, sizeof head, "%c%02d%02d %02d:%02d:%02d.%06d %7d ",
                                 kLetters[static_cast<size_t>(level)], local.tm_mon + 1, local.tm_mday, local.tm_hour,
                                 local.tm_min, local.tm_sec, static_cast<int>(now.ns / 1000 % 1'000'000), getpid());
  std::string line(head, static_cast<size_t>(size));
  line += who_;
  line += "] ";
  for (const char c : text) IsControl(c) ? AppendEscaped(line, c) : line.push_back(c);
  line += '\n';
  const std::lock_guard lock(mutex_);
  out_.write(line.data(), static_cast<std::streamsize>(line.size()));
  out_.flush();
}

void AppendPair(std::string& line, std::string_view key, std::string_view value) {
  line += ' ';
  line += key;
  line += "=\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') line += '\\';
    IsControl(c) ? AppendEscaped(line, c) : line.push_back(c);
  }
  line += '"';
}

}  // namespace berth::util
