// SPDX-License-Identifier: Apache-2.0
// Recordings: what kube-scheduler said, one JSON object a line, in .jsonl or .jsonl.gz files; reading them and the main
// function of programs that check them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "berth/clock.h"
#include "berth/error.h"
#include "berth/registry.h"
#include "berth/value.h"
#include "config/types.h"

namespace berth::recorded {

// What a checking program reads.
struct Form {
  std::string noun;                 // "case": what one recording is called, and the option that picks one
  std::string name;                 // the field that names it
  std::vector<std::string> fields;  // what it must have besides
};

// Goes through the files of a command line, [--NOUN NAME] FILE..., and asks `check` what is wrong with our side of each
// recording; nothing is good. What failed is saved under NOUN-mismatches/, as a file that the program reads again.
// Closes with "N passed, N failed". Returns the exit code: 1 when one failed or there was none, 2 when a file could not
// be read.
int Run(int argc, char** argv, const Form& form, const std::function<std::vector<std::string>(const Value&)>& check);

// Calls `each` with every recording of a file until it returns false. The error says what could not be read.
Error ForEach(const std::string& file, const Form& form,
              const std::function<bool(const Value& recording, const std::string& line)>& each);

// The configuration a recording was made with: its text in `config`, or the default one.
Result<config::SchedulerConfiguration> ConfigurationOf(const Value& recording, const Registry& registry);

// The strings of an array field; none when it is absent.
std::vector<std::string> Strings(const Value& object, const char* field);

// Recordings are judged at the moment they were made for: pods without a start time count as started now.
class CaseClock final : public Clock {
 public:
  Time Now() const override { return {1'798'761'600'000'000'000}; }
};

}  // namespace berth::recorded
