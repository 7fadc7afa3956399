// SPDX-License-Identifier: Apache-2.0
// Documents out of YAML and JSON text. YAML becomes JSON the way kubectl's does (YAML 1.1 scalars, merge keys,
// aliases), so everything behind this line reads JSON only.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "berth/error.h"

namespace berth {

class SourceLines;

// Takes one document's JSON text; the first Error ends the walk and is returned.
using DocumentFn = std::function<Error(std::string json)>;

// Calls `fn` for every document of `text`, in order; memory is bounded by the largest document. Text whose first byte
// that is not white space is `{` or `[` is JSON, otherwise YAML. Every document handed over is
// valid JSON in valid UTF-8, at most kMaxJsonDepth levels deep. Documents without content are passed over. An Error (of
// the text, with its line, or of `fn`) ends the walk: documents in front of it have been delivered. `budget`: how large
// a document may grow through aliases, see ForEachYamlDocument.
inline constexpr size_t kAliasBudget = size_t{64} << 20;
Error ForEachDocument(std::string_view text, const DocumentFn& fn, size_t budget = kAliasBudget);

// The same for text known to be JSON: values that follow each other, with or without white space or `---` lines.
Error SplitJson(std::string_view text, const DocumentFn& fn);
// The same for YAML. Duplicate keys, unknown anchors, self-containing anchors and documents that grow beyond
// max(budget, 10 x the text) through aliases are errors.
// `lines`: gets the lines of a document's fields before `fn` is called with it; may be null.
Error ForEachYamlDocument(std::string_view text, const DocumentFn& fn, size_t budget = kAliasBudget,
                          SourceLines* lines = nullptr);

}  // namespace berth
