// SPDX-License-Identifier: Apache-2.0
// SourceLines: on which line of a YAML or JSON text a field stands, for complaints that people look up.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "berth/value.h"

namespace berth {

// The lines of one document's fields by their paths, written as ArgsReader writes them: `profiles[0].plugins`. Fields
// that are nested too deeply to be worth it, and those beyond a bound, have the line of what holds them.
class SourceLines {
 public:
  // Of the field, or of the nearest one around it that is known; the document's for "". 0 when nothing is known.
  uint32_t Of(std::string_view path) const;

  // For whoever reads a text. A path that has a line keeps it.
  void Set(std::string path, uint32_t line);
  // Whether Set would still keep a path of that many parts.
  bool Wants(size_t depth, size_t path_size) const;

 private:
  std::map<std::string, uint32_t, std::less<>> lines_;
};

// One document of a text.
struct SourceDocument {
  std::string json;
  SourceLines lines;
};

// The documents of a text, as ForEachDocument splits it, with the lines of their fields. Stops behind `limit`
// documents. The error is that of the first document that cannot be read; those in front of it are in `out`.
Error ReadSource(std::string_view text, size_t budget, size_t limit, std::vector<SourceDocument>& out);

}  // namespace berth
