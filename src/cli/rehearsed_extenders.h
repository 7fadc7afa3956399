// SPDX-License-Identifier: Apache-2.0
// Extenders in `berth explain` and `berth sim`: ignored, or asked for real. None of them ever binds.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "berth/error.h"
#include "cli/flags.h"
#include "config/types.h"
#include "framework/extender.h"

namespace berth::cli {

class RehearsedExtenders {
 public:
  void Declare(Command& command);
  bool call() const { return mode_ == "call"; }
  // What is wrong with the flags by themselves; empty: nothing.
  std::string Objection();
  // Points extenders of the configuration elsewhere, as --extender-url says. The error names the flag.
  Error Redirect(config::SchedulerConfiguration& config) const;
  // "extenders[0] (http://…) was not asked: --extenders=call asks it", one each; none where they are asked.
  std::vector<std::string> NotAsked(const config::SchedulerConfiguration& config) const;
  // For LoadOptions::source: what is sent on.
  void Keep(std::string_view kind, const std::string& full_name, std::string_view json);
  // Empty where they are not asked. Without their bind verbs. REQUIRES: this outlives them.
  Result<std::vector<std::shared_ptr<framework::Extender>>> Make(const config::SchedulerConfiguration& config) const;

 private:
  std::string mode_ = "ignore";
  std::vector<std::string> urls_;
  std::map<size_t, std::string> redirected_;
  std::map<std::string, std::string, std::less<>> sources_;  // "Pod default/p": its JSON
};

}  // namespace berth::cli
