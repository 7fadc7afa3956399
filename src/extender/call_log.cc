// SPDX-License-Identifier: Apache-2.0
// Calls as log lines.
#include "extender/call_log.h"

#include <array>
#include <cmath>
#include <vector>

#include "extender/logged_body.h"

namespace berth::extender {
namespace {

// Longer ones are a client's doing: Kubernetes' names have at most 253 bytes.
constexpr size_t kMaxName = 520, kMaxError = 2048;

// Values of a line that had to be cut.
class Cuts {
 public:
  std::string_view operator()(std::string_view value, size_t limit) {
    if (value.size() <= limit) return value;
    size_t end = limit;
    while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xc0) == 0x80) --end;  // not within a character
    std::string& text = texts_[used_++];
    text = std::string(value.substr(0, end)) + "... (" + std::to_string(value.size()) + " bytes)";
    return text;
  }

 private:
  std::array<std::string, 3> texts_;  // the most that one line has
  size_t used_ = 0;
};

void LogBody(const char* what, const Call& call, std::string_view body, util::Log& log) {
  const std::string shown = LoggedBody(body);
  const LogField fields[] = {{"route", call.path}, {"bytes", body.size()}, {"body", LogValue::Verbatim(shown)}};
  log.Add(LogSeverity::kInfo, util::log_level::kDebug, what, fields);
}

}  // namespace

void LogCall(const Call& call, util::Log& log) {
  const bool failed = call.failed();
  const LogSeverity severity = failed ? LogSeverity::kWarning : LogSeverity::kInfo;
  const bool bodies = log.enabled(LogSeverity::kInfo, util::log_level::kDebug);
  if (bodies) LogBody("Request", call, call.request, log);
  if (log.enabled(severity)) {
    Cuts cut;
    std::vector<LogField> fields = {
        {"route", call.path}, {"verb", ToString(call.verb)}, {"pod", cut(call.pod, kMaxName)}};
    if (!call.node.empty()) fields.push_back({"node", cut(call.node, kMaxName)});
    fields.push_back({"nodesIn", call.nodes_in});
    fields.push_back({"nodesOut", call.nodes_out});
    fields.push_back({"ms", std::round(static_cast<double>(call.nanoseconds) / 1e3) / 1e3});
    if (failed) {
      fields.push_back({"status", call.status});
      fields.push_back({"error", cut(call.error, kMaxError)});
    }
    log.Add(severity, 0, failed ? "Call failed" : "Served", fields);
  }
  if (bodies) LogBody("Reply", call, call.reply, log);
}

void LogStray(int status, const std::string& method, const std::string& path, util::Log& log) {
  if (!log.enabled(LogSeverity::kWarning)) return;
  Cuts cut;
  log.Warn(status == 404 ? "No such route" : "Wrong method",
           {{"method", cut(method, 32)}, {"path", cut(path, kMaxName)}, {"status", status}});
}

}  // namespace berth::extender
