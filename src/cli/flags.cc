// SPDX-License-Identifier: Apache-2.0
// Parsing of command lines.
#include "cli/flags.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace berth::cli {
namespace {

Result<int64_t> ParseInt(const std::string& text) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return Error("must be a whole number, got \"" + text + "\"");
  return number;
}

}  // namespace

void Flags::Add(const std::string& names, bool is_bool, const std::string& help,
                std::function<Error(const std::string&)> set) {
  Flag flag;
  for (size_t from = 0; from <= names.size();) {
    const size_t comma = std::min(names.find(',', from), names.size());
    flag.names.push_back(names.substr(from, comma - from));
    from = comma + 1;
  }
  flag.is_bool = is_bool;
  flag.help = help;
  flag.set = std::move(set);
  flags_.push_back(std::move(flag));
}

void Flags::String(const std::string& names, std::string* out, const std::string& help) {
  Add(names, false, help, [out](const std::string& value) { return *out = value, Error::Ok(); });
}

void Flags::String(const std::string& names, std::optional<std::string>* out, const std::string& help) {
  Add(names, false, help, [out](const std::string& value) { return *out = value, Error::Ok(); });
}

void Flags::Strings(const std::string& names, std::vector<std::string>* out, const std::string& help) {
  Add(names, false, help, [out](const std::string& value) { return out->push_back(value), Error::Ok(); });
}

void Flags::Bool(const std::string& names, bool* out, const std::string& help) {
  Add(names, true, help, [out](const std::string& value) {
    // Go's strconv.ParseBool.
    for (const char* yes : {"1", "t", "T", "true", "TRUE", "True"})
      if (value == yes) return *out = true, Error::Ok();
    for (const char* no : {"0", "f", "F", "false", "FALSE", "False"})
      if (value == no) return *out = false, Error::Ok();
    return Error("must be true or false, got \"" + value + "\"");
  });
}

void Flags::Int(const std::string& names, int64_t* out, const std::string& help) {
  Add(names, false, help, [out](const std::string& value) {
    const Result<int64_t> number = ParseInt(value);
    if (!number.ok()) return number.error();
    return *out = *number, Error::Ok();
  });
}

void Flags::Int(const std::string& names, std::optional<int64_t>* out, const std::string& help) {
  Add(names, false, help, [out](const std::string& value) {
    const Result<int64_t> number = ParseInt(value);
    if (!number.ok()) return number.error();
    return *out = *number, Error::Ok();
  });
}

void Flags::Choice(const std::string& names, std::string* out, std::vector<std::string> allowed,
                   const std::string& help) {
  Add(names, false, help, [out, allowed = std::move(allowed)](const std::string& value) {
    if (std::find(allowed.begin(), allowed.end(), value) == allowed.end()) {
      std::string list;
      for (const std::string& one : allowed) list += (list.empty() ? "" : ", ") + one;
      return Error("must be one of " + list + ", got \"" + value + "\"");
    }
    return *out = value, Error::Ok();
  });
}

const Flags::Flag* Flags::Find(const std::string& name) const {
  for (const Flag& flag : flags_)
    if (std::find(flag.names.begin(), flag.names.end(), name) != flag.names.end()) return &flag;
  return nullptr;
}

Result<std::vector<std::string>> Flags::Parse(const std::vector<std::string>& args) const {
  std::vector<std::string> rest;
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string& arg = args[i];
    if (arg == "--") {
      rest.insert(rest.end(), args.begin() + static_cast<ptrdiff_t>(i) + 1, args.end());
      break;
    }
    if (arg.size() < 2 || arg[0] != '-') {
      rest.push_back(arg);
      continue;
    }
    std::string name = arg.substr(arg[1] == '-' ? 2 : 1);
    std::string value;
    const size_t equals = name.find('=');
    bool has_value = equals != std::string::npos;
    if (has_value) {
      value = name.substr(equals + 1);
      name.resize(equals);
    }
    const Flag* flag = Find(name);
    if (!flag && arg[1] != '-') {
      // A one-letter flag with its value behind it: -ojson.
      flag = Find(arg.substr(1, 1));
      if (flag && flag->is_bool) flag = nullptr;
      name = arg.substr(1, 1);
      value = arg.substr(2);
      has_value = true;
    }
    if (!flag) return Error("unknown flag: " + arg.substr(0, arg.find('=')));
    if (!has_value) {
      if (flag->is_bool) {
        value = "true";
      } else if (++i < args.size()) {
        value = args[i];
      } else {
        return Error("flag needs an argument: " + arg);
      }
    }
    if (const Error error = flag->set(value); !error.ok()) {
      return error.Wrap((name.size() == 1 && arg[1] != '-' ? "flag -" : "flag --") + name);
    }
  }
  return rest;
}

std::string Flags::Help() const {
  std::string text;
  for (const Flag& flag : flags_) {
    std::string left = " ";
    for (const std::string& name : flag.names) left += (name.size() == 1 ? " -" : " --") + name;
    left.resize(std::max<size_t>(left.size() + 2, 26), ' ');
    text += left + flag.help + "\n";
  }
  return text;
}

Command::Command(std::string name, std::string usage, std::ostream& out, std::ostream& err)
    : name_(std::move(name)), usage_(std::move(usage)), out_(out), err_(err) {}

std::optional<int> Command::Read(const std::vector<std::string>& args) {
  Bool("h,help", &help_, "this text");
  Result<std::vector<std::string>> rest = Parse(args);
  if (!rest.ok()) return Complain(rest.error().text());
  rest_ = std::move(rest).value();
  if (!help_) return std::nullopt;
  out_ << usage_ << Help();
  return kDone;
}

int Command::Complain(const std::string& complaint) const {
  err_ << "berth " << name_ << ": " << complaint << "\n\n" << usage_ << Help();
  return kBadInput;
}

}  // namespace berth::cli
