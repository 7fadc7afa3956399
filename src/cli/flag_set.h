// SPDX-License-Identifier: Apache-2.0
// FlagSet: a command line in sections, read as spf13/pflag reads kube-scheduler's: the same spellings, values, texts of
// errors and form of the help. The other commands have Flags, which say more when something is wrong.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "berth/clock.h"
#include "berth/error.h"

namespace berth::cli {

// How a flag is shown and set. Types of their own make one; the others have a method of FlagSet.
struct Flag {
  std::string name;       // with dashes; underscores mean the same on the command line
  std::string shorthand;  // one letter; may be empty
  std::string type;       // as the help shows it
  std::string help;       // may have several lines
  std::function<std::string(const std::string& value)> set;  // what is wrong with it; empty: nothing
  std::function<std::string()> text;                         // the value as it is now
  std::string bare = {};                                     // the value of a flag without one; empty: it needs one
  bool shows_default = true;                                 // in the help
  bool hidden = false;                                       // not in the help, nor listed unless it is given
};

// What a flag is, for those who list flags.
struct FlagValue {
  std::string name, value;
  bool given = false;
  bool hidden = false;
};

class FlagSet {
 public:
  // What is declared from now on is in it.
  void Section(std::string name);
  // All: what `out` is now is the default. REQUIRES: it outlives the set.
  void Bool(std::string name, bool* out, std::string help, std::string shorthand = "");
  void String(std::string name, std::string* out, std::string help);
  void Int(std::string name, int64_t* out, std::string help);
  void Int32(std::string name, int32_t* out, std::string help);
  void Float(std::string name, float* out, std::string help);
  void Time(std::string name, Duration* out, std::string help);
  // An address without a port, made normal.
  void Ip(std::string name, std::string* out, std::string help);
  // Lists and maps: the first use takes the place of the default, others add to it.
  void Strings(std::string name, std::vector<std::string>* out, std::string help);
  void Int32s(std::string name, std::vector<int32_t>* out, std::string help);
  void StringMap(std::string name, std::map<std::string, std::string>* out, std::string help);
  void Add(Flag flag);
  // The flags that are declared from now on are hidden, or not.
  void Hide(bool hidden) { hiding_ = hidden; }

  // What is left are positional arguments; after `--` everything is. Once.
  Result<std::vector<std::string>> Parse(const std::vector<std::string>& args);
  // Every section with its flags, by name.
  std::string Help() const;
  // By name.
  std::vector<FlagValue> Values() const;

 private:
  struct Entry {
    Flag flag;
    std::string section, default_text;
    bool given = false;
  };
  Entry* Find(std::string_view name);
  Entry* FindShort(char letter);
  // One argument, with the next one if it takes that.
  Error ParseLong(const std::vector<std::string>& args, size_t& at);
  Error ParseShort(const std::vector<std::string>& args, size_t& at);
  static Error Set(Entry& entry, const std::string& value);

  bool hiding_ = false;
  std::vector<std::string> sections_;
  std::vector<Entry> entries_;
};

}  // namespace berth::cli
