// SPDX-License-Identifier: Apache-2.0
#include "cli/log_flags.h"

#include <cstdlib>
#include <limits>

namespace berth::cli {
namespace {

std::string Wanted() {
  const char* text = std::getenv("LOG_LEVEL");
  return text ? text : "";
}

}  // namespace

void LogFlags::Declare(Flags& flags) {
  flags.Int("v", &verbosity_, "number for the log level verbosity; without it LOG_LEVEL counts");
  flags.Choice("logging-format", &format_, {"text", "json"}, "of log lines: text (default) or json");
}

std::string LogFlags::Objection() const {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (!verbosity_ || (*verbosity_ >= 0 && *verbosity_ <= kMost)) return "";
  return "flag -v: must be 0 to " + std::to_string(kMost) + ", got " + std::to_string(*verbosity_);
}

util::LogOptions LogFlags::Options(int fallback) const {
  const int verbosity = verbosity_ ? static_cast<int>(*verbosity_) : util::ParseLogLevel(Wanted()).value_or(fallback);
  return {verbosity, format_ == "json" ? util::LogFormat::kJson : util::LogFormat::kText};
}

std::string LogFlags::Complaint(int fallback) const {
  const std::string wanted = Wanted();
  if (verbosity_ || util::ParseLogLevel(wanted)) return "";
  return "LOG_LEVEL=\"" + wanted.substr(0, 64) + "\" is empty or invalid, falling back to \"" +
         std::string(util::LogLevelName(fallback)) + "\".";
}

}  // namespace berth::cli
