// SPDX-License-Identifier: Apache-2.0
// What a conversion works on: where old fields stand, what has changed since, what is wrong, and the profile that
// becomes of it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/source_lines.h"
#include "berth/args.h"
#include "berth/value.h"
#include "config/types.h"
#include "legacy/table.h"
#include "legacy/version.h"

namespace berth::legacy {

// A document and where it comes from.
struct Source {
  std::string name;  // a file's, or how a person would find it; may be empty
  Value document;
  SourceLines lines;
};

// A place where today's configuration means something else, or nothing.
struct Change {
  Fate fate;           // changed or dropped
  std::string source;  // whose name
  uint32_t line = 0;
  std::string path;   // in the old document; empty: the whole of it
  std::string today;  // the path in v1 that it is about; empty: none
  std::string text;
  // "FILE:LINE: path: text"
  std::string ToString() const;
};

struct Problem {
  std::string source;
  uint32_t line = 0;  // 0: not known
  std::string path, text;
  bool ours = false;  // about a file of today: in our words, which are worth their place
  // "FILE:LINE: path: text"; what looks like a key or a token is shown as ***.
  std::string ToString() const;
};

// Collects what is said about one source or two.
class Draft {
 public:
  // REQUIRES: the source outlives the draft.
  Draft(const Source& source, Version version) : source_(&source), version_(version) {}

  Version version() const { return version_; }
  const Source& source() const { return *source_; }
  // What is said from now on is about another document: a Policy that this one names, or back again.
  void Turn(const Source& source, Version version);

  void Remark(Fate fate, std::string path, std::string today, std::string text);
  void Refuse(std::string path, std::string text);
  // `Invalid value: VALUE: text`
  void Invalid(std::string path, const std::string& value, const std::string& text);
  // What an ArgsReader complains about. Unknown fields are errors, or remarks where the version ignored them.
  void Take(std::vector<FieldError> errors);
  // The field `today` of v1 comes from `path` of the source.
  void ComesFrom(std::string today, std::string path);

  // What v1's own validation says of the document, as problems of the source.
  void TakeTodays(const std::vector<FieldError>& errors);
  // The same for one of them.
  Problem FromToday(const FieldError& error) const;

  std::vector<Change>& changes() { return changes_; }
  std::vector<Problem>& problems() { return problems_; }

 private:
  struct Origin {
    const Source* source;
    std::string path;
  };
  const Source* source_;
  Version version_;
  std::vector<Change> changes_;
  std::vector<Problem> problems_;
  std::map<std::string, Origin> origins_;  // by path in v1
};

// What to do about a field that another version has, for those who converted half of a file; empty: nothing is known.
// `path` ends in the field. Leading blank included.
std::string HintFor(Version version, std::string_view path);

// The arguments of a profile's plugins while they are being made.
class ArgsList {
 public:
  struct Entry {
    std::string name;
    Value args;
    std::string path;  // in the source
  };
  // The plugin's entry; made when there is none.
  Entry& Of(std::string_view name, const std::string& path);
  const Entry* Find(std::string_view name) const;
  void Add(Entry entry) { entries_.push_back(std::move(entry)); }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

// What becomes of a profile.
struct ProfileDraft {
  std::string path;   // of the profile in the source; empty where the document is one
  std::string today;  // in v1, e.g. "profiles[0]"
  config::Plugins plugins;
  ArgsList args;
};

// Whether there is something at `path`, written as ArgsReader writes it.
bool Exists(const Value& document, std::string_view path);
// The path as the document spells it, which may differ in case, and no longer than what it has there: a field that is
// missing stays at the end, what would be inside of it does not.
std::string AsWritten(const Value& document, std::string_view path);

// `object` with the member set, in its place if it is there. REQUIRES: an object or null.
Value With(const Value& object, std::string_view key, Value value);
Value Without(const Value& object, std::string_view key);
std::string Join(const std::string& path, std::string_view field);

}  // namespace berth::legacy
