// SPDX-License-Identifier: Apache-2.0
// LogFlags: -v and --logging-format, and the environment variable LOG_LEVEL, which says the same in words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/flags.h"
#include "util/log.h"

namespace berth::cli {

class LogFlags {
 public:
  // REQUIRES: outlives the parsing.
  void Declare(Flags& flags);
  // What is wrong with the values; empty: nothing.
  std::string Objection() const;
  // -v where it is given, else LOG_LEVEL where it is a level, else `fallback`. REQUIRES: no objection.
  util::LogOptions Options(int fallback) const;
  // What there is to say of a LOG_LEVEL that counts but is not a level; empty: nothing.
  std::string Complaint(int fallback) const;

 private:
  std::optional<int64_t> verbosity_;
  std::string format_ = "text";
};

}  // namespace berth::cli
