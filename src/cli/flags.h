// SPDX-License-Identifier: Apache-2.0
// Flags: command lines parsed as Go's flag and pflag packages do: --name=value, --name value, -n value, -nvalue,
// -name=value.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "berth/error.h"

namespace berth::cli {

// One command's flags. Declared, then parsed once; unknown flags and bad values are errors that name them.
class Flags {
 public:
  // `names` like "f,filename"; one-letter names take one dash or two, as do long ones.
  void String(const std::string& names, std::string* out, const std::string& help);
  void Strings(const std::string& names, std::vector<std::string>* out, const std::string& help);  // may repeat
  void Bool(const std::string& names, bool* out, const std::string& help);
  void Int(const std::string& names, int64_t* out, const std::string& help);
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

}  // namespace berth::cli
