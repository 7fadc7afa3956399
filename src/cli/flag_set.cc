// SPDX-License-Identifier: Apache-2.0
// Upstream: github.com/spf13/pflag v1.0.9 and component-base cli/flag/sectioned.go (v0.36.4).
#include "cli/flag_set.h"

#include <arpa/inet.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "berth/args.h"
#include "util/go_values.h"
#include "util/text.h"

namespace berth::cli {
namespace {

std::string InBrackets(const std::string& text) { return "[" + text + "]"; }

// net.ParseIP and IP.String; empty: it is none.
std::string NormalIp(const std::string& text) {
  in_addr v4{};
  in6_addr v6{};
  char shown[INET6_ADDRSTRLEN];
  if (inet_pton(AF_INET, text.c_str(), &v4) == 1) return text;
  if (inet_pton(AF_INET6, text.c_str(), &v6) != 1) return "";
  if (IN6_IS_ADDR_V4MAPPED(&v6)) return inet_ntop(AF_INET, v6.s6_addr + 12, shown, sizeof shown);
  return inet_ntop(AF_INET6, &v6, shown, sizeof shown);
}

// Pairs of a map, either a single one, whose value may have commas, or a CSV record.
std::string ReadPairs(const std::string& value, std::map<std::string, std::string>& out) {
  const auto count = std::ranges::count(value, '=');
  if (count == 0) return value + " must be formatted as key=value";
  util::GoParsed<std::vector<std::string>> pairs;
  if (count == 1) {
    const size_t from = std::min(value.find_first_not_of('"'), value.size());
    pairs.value = {value.substr(from, value.find_last_not_of('"') + 1 - from)};
  } else {
    pairs = util::ReadGoCsv(value);
  }
  if (!pairs.ok()) return pairs.error;
  for (const std::string& pair : pairs.value) {
    const size_t equals = pair.find('=');
    if (equals == std::string::npos) return pair + " must be formatted as key=value";
    out[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  return "";
}

}  // namespace

void FlagSet::Section(std::string name) { sections_.push_back(std::move(name)); }

void FlagSet::Add(Flag flag) {
  flag.hidden |= hiding_;
  Entry entry{std::move(flag), sections_.back(), "", false};
  entry.default_text = entry.flag.text();
  entries_.push_back(std::move(entry));
}

void FlagSet::Bool(std::string name, bool* out, std::string help, std::string shorthand) {
  Add({.name = std::move(name),
       .shorthand = std::move(shorthand),
       .type = "",
       .help = std::move(help),
       .set =
           [out](const std::string& value) {
             const util::GoParsed<bool> parsed = util::ParseGoBool(value);
             if (parsed.ok()) *out = parsed.value;
             return parsed.error;
           },
       .text = [out] { return std::string(*out ? "true" : "false"); },
       .bare = "true",
       .shows_default = *out});
}

void FlagSet::String(std::string name, std::string* out, std::string help) {
  Add({.name = std::move(name),
       .shorthand = "",
       .type = "string",
       .help = std::move(help),
       .set = [out](const std::string& value) { return *out = value, std::string(); },
       .text = [out] { return *out; },
       .shows_default = !out->empty()});
}

void FlagSet::Int(std::string name, int64_t* out, std::string help) {
  Add({.name = std::move(name),
       .shorthand = "",
       .type = "int",
       .help = std::move(help),
       .set =
           [out](const std::string& value) {
             const util::GoParsed<int64_t> parsed = util::ParseGoInt(value, 0, 64);
             if (parsed.ok()) *out = parsed.value;
             return parsed.error;
           },
       .text = [out] { return std::to_string(*out); },
       .shows_default = *out != 0});
}

void FlagSet::Int32(std::string name, int32_t* out, std::string help) {
  Add({.name = std::move(name),
       .shorthand = "",
       .type = "int32",
       .help = std::move(help),
       .set =
           [out](const std::string& value) {
             const util::GoParsed<int64_t> parsed = util::ParseGoInt(value, 0, 32);
             if (parsed.ok()) *out = static_cast<int32_t>(parsed.value);
             return parsed.error;
           },
       .text = [out] { return std::to_string(*out); },
       .shows_default = *out != 0});
}

void FlagSet::Float(std::string name, float* out, std::string help) {
  Add({.name = std::move(name),
       .shorthand = "",
       .type = "float32",
       .help = std::move(help),
       .set =
           [out](const std::string& value) {
             const util::GoParsed<float> parsed = util::ParseGoFloat(value);
             if (parsed.ok()) *out = parsed.value;
             return parsed.error;
           },
       .text = [out] { return util::FormatGoFloat(*out); },
       .shows_default = *out != 0});
}

void FlagSet::Time(std::string name, Duration* out, std::string help) {
  Add({.name = std::move(name),
       .shorthand = "",
       .type = "duration",
       .help = std::move(help),
       .set =
           [out](const std::string& value) {
             const Result<Duration> parsed = ParseDuration(value);
             if (!parsed.ok()) return parsed.error().text();
             return *out = *parsed, std::string();
           },
       .text = [out] { return FormatDuration(*out); },
       .shows_default = out->ns != 0});
}

void FlagSet::Ip(std::string name, std::string* out, std::string help) {
  Add({.name = std::move(name),
       .shorthand = "",
       .type = "ip",
       .help = std::move(help),
       .set =
           [out](const std::string& value) {
             const std::string trimmed(util::Trimmed(value));
             if (trimmed.empty()) return std::string();
             const std::string ip = NormalIp(trimmed);
             if (ip.empty()) return "failed to parse IP: " + util::Quoted(trimmed);
             return *out = ip, std::string();
           },
       .text = [out] { return *out; }});
}

void FlagSet::Strings(std::string name, std::vector<std::string>* out, std::string help) {
  const auto changed = std::make_shared<bool>(false);
  Add({.name = std::move(name),
       .shorthand = "",
       .type = "strings",
       .help = std::move(help),
       .set =
           [out, changed](const std::string& value) {
             util::GoParsed<std::vector<std::string>> list;
             if (!value.empty()) list = util::ReadGoCsv(value);
             if (!list.ok()) return list.error;
             if (!std::exchange(*changed, true)) out->clear();
             out->insert(out->end(), list.value.begin(), list.value.end());
             return std::string();
           },
       .text = [out] { return InBrackets(util::WriteGoCsv(*out)); },
       .shows_default = !out->empty()});
}

void FlagSet::Int32s(std::string name, std::vector<int32_t>* out, std::string help) {
  const auto changed = std::make_shared<bool>(false);
  Add({.name = std::move(name),
       .shorthand = "",
       .type = "int32Slice",
       .help = std::move(help),
       .set =
           [out, changed](const std::string& value) {
             std::vector<int32_t> numbers;
             for (size_t from = 0; from <= value.size();) {
               const size_t to = std::min(value.find(',', from), value.size());
               const util::GoParsed<int64_t> parsed =
                   util::ParseGoInt(std::string_view(value).substr(from, to - from), 0, 32);
               if (!parsed.ok()) return parsed.error;
               numbers.push_back(static_cast<int32_t>(parsed.value));
               from = to + 1;
             }
             if (!std::exchange(*changed, true)) out->clear();
             out->insert(out->end(), numbers.begin(), numbers.end());
             return std::string();
           },
       .text =
           [out] {
             std::string text;
             for (const int32_t number : *out) text += (text.empty() ? "" : ",") + std::to_string(number);
             return InBrackets(text);
           }});
}

void FlagSet::StringMap(std::string name, std::map<std::string, std::string>* out, std::string help) {
  const auto changed = std::make_shared<bool>(false);
  Add({.name = std::move(name),
       .shorthand = "",
       .type = "stringToString",
       .help = std::move(help),
       .set =
           [out, changed](const std::string& value) {
             std::map<std::string, std::string> pairs;
             std::string error = ReadPairs(value, pairs);
             if (!error.empty()) return error;
             if (!std::exchange(*changed, true)) out->clear();
             for (auto& [key, text] : pairs) (*out)[key] = text;
             return error;
           },
       .text =
           [out] {
             std::vector<std::string> records;
             for (const auto& [key, text] : *out) records.push_back(key + "=" + text);
             return InBrackets(util::WriteGoCsv(records));
           }});
}

FlagSet::Entry* FlagSet::Find(std::string_view name) {
  std::string normal(name);
  std::ranges::replace(normal, '_', '-');
  const auto at = std::ranges::find(entries_, normal, [](const Entry& entry) { return entry.flag.name; });
  return at == entries_.end() ? nullptr : &*at;
}

FlagSet::Entry* FlagSet::FindShort(char letter) {
  const auto at = std::ranges::find(entries_, std::string(1, letter), [](const Entry& e) { return e.flag.shorthand; });
  return at == entries_.end() ? nullptr : &*at;
}

Error FlagSet::Set(Entry& entry, const std::string& value) {
  const std::string error = entry.flag.set(value);
  if (error.empty()) {
    entry.given = true;
    return Error::Ok();
  }
  const std::string& letter = entry.flag.shorthand;
  return Error("invalid argument " + util::Quoted(value) + " for \"" + (letter.empty() ? "" : "-" + letter + ", ") +
               "--" + entry.flag.name + "\" flag: " + error);
}

Error FlagSet::ParseLong(const std::vector<std::string>& args, size_t& at) {
  const std::string& arg = args[at];
  const std::string_view body = std::string_view(arg).substr(2);
  if (body.empty() || body[0] == '-' || body[0] == '=') return Error("bad flag syntax: " + arg);
  const size_t equals = body.find('=');
  const std::string name(body.substr(0, equals));
  Entry* entry = Find(name);
  if (entry == nullptr) return Error("unknown flag: --" + name);
  if (equals != std::string_view::npos) return Set(*entry, std::string(body.substr(equals + 1)));
  if (!entry->flag.bare.empty()) return Set(*entry, entry->flag.bare);
  if (at + 1 >= args.size()) return Error("flag needs an argument: --" + name);
  return Set(*entry, args[++at]);
}

Error FlagSet::ParseShort(const std::vector<std::string>& args, size_t& at) {
  std::string letters = args[at].substr(1);
  while (!letters.empty()) {
    Entry* entry = FindShort(letters[0]);
    const std::string shown = "'" + letters.substr(0, 1) + "' in -" + letters;
    if (entry == nullptr) return Error("unknown shorthand flag: " + shown);
    if (letters.size() > 2 && letters[1] == '=') return Set(*entry, letters.substr(2));
    if (entry->flag.bare.empty()) {
      if (letters.size() > 1) return Set(*entry, letters.substr(1));
      if (at + 1 >= args.size()) return Error("flag needs an argument: " + shown);
      return Set(*entry, args[++at]);
    }
    if (Error error = Set(*entry, entry->flag.bare); !error.ok()) return error;
    letters.erase(0, 1);
  }
  return Error::Ok();
}

Result<std::vector<std::string>> FlagSet::Parse(const std::vector<std::string>& args) {
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
    const Error error = arg[1] == '-' ? ParseLong(args, i) : ParseShort(args, i);
    if (!error.ok()) return error;
  }
  return rest;
}

std::string FlagSet::Help() const {
  std::string text;
  for (const std::string& section : sections_) {
    std::vector<const Entry*> entries;
    for (const Entry& entry : entries_)
      if (entry.section == section && !entry.flag.hidden) entries.push_back(&entry);
    std::ranges::sort(entries, {}, [](const Entry* entry) { return entry->flag.name; });
    std::vector<std::string> heads;
    size_t widest = 0;
    for (const Entry* entry : entries) {
      const Flag& flag = entry->flag;
      std::string head = flag.shorthand.empty() ? "      --" : "  -" + flag.shorthand + ", --";
      head += flag.name + (flag.type.empty() ? "" : " " + flag.type);
      widest = std::max(widest, head.size());
      heads.push_back(std::move(head));
    }
    text += "\n" + section + " flags:\n\n";
    for (size_t i = 0; i < entries.size(); ++i) {
      const std::string margin(widest + 3, ' ');
      std::string help = entries[i]->flag.help;
      for (size_t at = help.find('\n'); at != std::string::npos; at = help.find('\n', at + 1))
        help.insert(at + 1, margin);
      if (entries[i]->flag.shows_default) {
        const bool quoted = entries[i]->flag.type == "string";
        const std::string& value = entries[i]->default_text;
        help += " (default " + (quoted ? util::Quoted(value) : value) + ")";
      }
      text += heads[i] + margin.substr(heads[i].size()) + help + "\n";
    }
  }
  return text;
}

std::vector<FlagValue> FlagSet::Values() const {
  std::vector<FlagValue> values;
  values.reserve(entries_.size());
  for (const Entry& entry : entries_)
    if (!entry.flag.hidden || entry.given)
      values.push_back({entry.flag.name, entry.flag.text(), entry.given, entry.flag.hidden});
  std::ranges::sort(values, {}, &FlagValue::name);
  return values;
}

}  // namespace berth::cli
