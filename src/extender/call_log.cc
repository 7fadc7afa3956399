// SPDX-License-Identifier: Apache-2.0
// Calls as log lines.
#include "extender/call_log.h"

#include <cstdio>

#include "extender/logged_body.h"

namespace berth::extender {
namespace {

// Longer ones are a client's doing: Kubernetes' names have at most 253 bytes.
constexpr size_t kMaxName = 520, kMaxReason = 2048;

void AppendShort(std::string& line, std::string_view key, std::string_view value, size_t limit) {
  if (value.size() <= limit) return util::AppendPair(line, key, value);
  size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xc0) == 0x80) --end;  // not within a character
  util::AppendPair(line, key, std::string(value.substr(0, end)) + "... (" + std::to_string(value.size()) + " bytes)");
}

void AppendNumber(std::string& line, std::string_view key, size_t number) {
  line += ' ';
  line += key;
  line += '=';
  line += std::to_string(number);
}

void LogBody(const char* what, const Call& call, std::string_view body, util::Log& log) {
  std::string line = what;
  util::AppendPair(line, "route", call.path);
  AppendNumber(line, "bytes", body.size());
  line += " body=" + LoggedBody(body);
  log.Debug(line);
}

}  // namespace

void LogCall(const Call& call, util::Log& log) {
  const bool failed = call.status != 200 || !call.error.empty();
  const util::LogLevel level = failed ? util::LogLevel::kWarn : util::LogLevel::kInfo;
  if (log.enabled(util::LogLevel::kDebug)) LogBody("\"Request\"", call, call.request, log);
  if (log.enabled(level)) {
    std::string line = failed ? "\"Call failed\"" : "\"Served\"";
    util::AppendPair(line, "route", call.path);
    util::AppendPair(line, "verb", ToString(call.verb));
    AppendShort(line, "pod", call.pod, kMaxName);
    if (!call.node.empty()) AppendShort(line, "node", call.node, kMaxName);
    AppendNumber(line, "nodesIn", call.nodes_in);
    AppendNumber(line, "nodesOut", call.nodes_out);
    char milliseconds[32];
    std::snprintf(milliseconds, sizeof milliseconds, " ms=%.3f", static_cast<double>(call.nanoseconds) / 1e6);
    line += milliseconds;
    if (failed) {
      AppendNumber(line, "status", static_cast<size_t>(call.status));
      AppendShort(line, "error", call.error, kMaxReason);
    }
    log.Write(level, line);
  }
  if (log.enabled(util::LogLevel::kDebug)) LogBody("\"Reply\"", call, call.reply, log);
}

void LogStray(int status, const std::string& method, const std::string& path, util::Log& log) {
  if (!log.enabled(util::LogLevel::kWarn)) return;
  std::string line = status == 404 ? "\"No such route\"" : "\"Wrong method\"";
  AppendShort(line, "method", method, 32);
  AppendShort(line, "path", path, kMaxName);
  AppendNumber(line, "status", static_cast<size_t>(status));
  log.Warn(line);
}

}  // namespace berth::extender
