// SPDX-License-Identifier: Apache-2.0
// Upstream: component-base logs/api/v1/options.go (v0.36.4).
#include "cli/log_setup.h"

#include <string>
#include <tuple>
#include <vector>

#include "berth/args.h"
#include "cli/error_list.h"
#include "util/text.h"

namespace berth::cli {

Error CheckLogs(const LogsFlags& flags, const config::FeatureGates& gates) {
  std::vector<std::string> errors;
  if (flags.flush_frequency.ns <= 0) {
    errors.push_back("flushFrequency: Invalid value: \"" + FormatDuration(flags.flush_frequency) +
                     "\": Must be greater than zero");
  }
  if (flags.format != "text" && flags.format != "json") {
    errors.push_back("format: Invalid value: " + util::Quoted(flags.format) + ": Unsupported log format");
  } else if (flags.format == "json" && !gates.enabled("LoggingBetaOptions")) {
    errors.push_back("format: Forbidden: Log format json is disabled, see LoggingBetaOptions feature");
  }
  if (!flags.vmodule.empty() && flags.format != "text") {
    errors.push_back("vmodule: Forbidden: Only supported for text log format");
  }
  const bool alpha = gates.enabled("LoggingAlphaOptions");
  for (const auto& [field, given] :
       {std::tuple{"options.text.splitStream", flags.text_split_stream},
        std::tuple{"options.text.infoBufferSize", flags.text_info_buffer_size.Value() != 0},
        std::tuple{"options.json.splitStream", flags.json_split_stream},
        std::tuple{"options.json.infoBufferSize", flags.json_info_buffer_size.Value() != 0}}) {
    if (!given) continue;
    errors.push_back(std::string(field) + (alpha ? ": Forbidden: Berth writes one stream, and every line at once"
                                                 : ": Forbidden: Feature LoggingAlphaOptions is disabled"));
  }
  return Together(errors);
}

util::LogOptions LogOptionsOf(const LogsFlags& flags) {
  util::LogOptions options;
  options.verbosity = static_cast<int>(flags.verbosity);
  options.format = flags.format == "json" ? util::LogFormat::kJson : util::LogFormat::kText;
  options.files = flags.vmodule;
  options.several_lines = true;
  return options;
}

}  // namespace berth::cli
