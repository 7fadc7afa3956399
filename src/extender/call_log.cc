// SPDX-License-Identifier: Apache-2.0
// Calls as log lines.
#include "extender/call_log.h"

#include <cstdio>

#include "extender/logged_body.h"

namespace berth::extender {
namespace {

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
    util::AppendPair(line, "pod", call.pod);
    if (!call.node.empty()) util::AppendPair(line, "node", call.node);
    AppendNumber(line, "nodesIn", call.nodes_in);
    AppendNumber(line, "nodesOut", call.nodes_out);
    char milliseconds[32];
    std::snprintf(milliseconds, sizeof milliseconds, " ms=%.3f", static_cast<double>(call.nanoseconds) / 1e6);
    line += milliseconds;
    if (failed) {
      AppendNumber(line, "status", static_cast<size_t>(call.status));
      util::AppendPair(line, "error", call.error);
    }
    log.Write(level, line);
  }
  if (log.enabled(util::LogLevel::kDebug)) LogBody("\"Reply\"", call, call.reply, log);
}

}  // namespace berth::extender
