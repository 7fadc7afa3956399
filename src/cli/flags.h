// SPDX-License-Identifier: Apache-2.0
// Flags: command lines parsed as Go's flag and pflag packages do: --name=value, --name value, -n value, -nvalue,
// -name=value.
#pragma once

#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "berth/error.h"

namespace berth::cli {

// Exit codes of the whole program.
inline constexpr int kDone = 0;
inline constexpr int kAnswerIsNo = 1;
inline constexpr int kBadInput = 2;

// One command's flags. Declared, then parsed once; unknown flags and bad values are errors that name them. A flag that
// is not given leaves `out` as it is: an optional one has a value if the flag was given, whatever the value.
class Flags {
 public:
  // `names` like "f,filename"; one-letter names take one dash or two, as do long ones.
  void String(const std::string& names, std::string* out, const std::string& help);
  void String(const std::string& names, std::optional<std::string>* out, const std::string& help);
  void Strings(const std::string& names, std::vector<std::string>* out, const std::string& help);  // may repeat
  void Bool(const std::string& names, bool* out, const std::string& help);
  void Int(const std::string& names, int64_t* out, const std::string& help);
  void Int(const std::string& names, std::optional<int64_t>* out, const std::string& help);
  // One of `allowed`.
  void Choice(const std::string& names, std::string* out, std::vector<std::string> allowed, const std::string& help);

  // What is left are positional arguments; after `--` everything is.
  Result<std::vector<std::string>> Parse(const std::vector<std::string>& args) const;
  // One line per flag.
  std::string Help() const;

 private:
  struct Flag {
    std::vector<std::string> names;
    bool is_bool = false;
    std::string help;
    std::function<Error(const std::string& value)> set;
  };
  void Add(const std::string& names, bool is_bool, const std::string& help,
           std::function<Error(const std::string&)> set);
  const Flag* Find(const std::string& name) const;
  std::vector<Flag> flags_;
};

// The frame that every command shares: its flags with --help, and complaints that end in the usage text.
class Command : public Flags {
 public:
  // REQUIRES: both streams outlive the command.
  Command(std::string name, std::string usage, std::ostream& out, std::ostream& err);
  // The exit code when there is nothing left to do: help was printed, or the arguments were wrong.
  std::optional<int> Read(const std::vector<std::string>& args);
  // Positional arguments, after Read.
  const std::vector<std::string>& rest() const { return rest_; }
  // Prints `berth NAME: complaint` and the usage; returns the exit code for bad input.
  int Complain(const std::string& complaint) const;

 private:
  std::string name_, usage_;
  std::ostream& out_;
  std::ostream& err_;
  bool help_ = false;
  std::vector<std::string> rest_;
};

}  // namespace berth::cli
