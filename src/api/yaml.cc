// SPDX-License-Identifier: Apache-2.0
// Splitting text into documents, JSON or YAML.
#include "api/yaml.h"

#include <yaml.h>

#include <algorithm>

#include "api/json_scan.h"
#include "api/yaml_tree.h"

namespace berth {
namespace {

constexpr std::string_view kSpace = " \t\r\n";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Owns a libyaml parser.
class Parser {
 public:
  explicit Parser(std::string_view text) : ok_(yaml_parser_initialize(&parser_) != 0) {
    if (ok_) {
      yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
    }
  }
  ~Parser() {
    if (ok_) yaml_parser_delete(&parser_);
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
  bool ok() const { return ok_; }
  yaml_parser_t& get() { return parser_; }

 private:
  yaml_parser_t parser_;
  bool ok_;
};

}  // namespace

Error ForEachDocument(std::string_view text, const DocumentFn& fn, size_t budget) {
  std::string_view body = text;
  if (body.substr(0, kByteOrderMark.size()) == kByteOrderMark) body.remove_prefix(kByteOrderMark.size());
  const size_t first = body.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return Error::Ok();
  if (body[first] != '{' && body[first] != '[') return ForEachYamlDocument(text, fn, budget);
  return SplitJson(body, fn);
}

Error SplitJson(std::string_view text, const DocumentFn& fn) {
  size_t at = 0;
  while ((at = text.find_first_not_of(kSpace, at)) != std::string_view::npos) {
    if (text.substr(at, 3) == "---" && (at == 0 || text[at - 1] == '\n')) {
      at += 3;
      continue;
    }
    const Result<size_t> end = ScanJsonValue(text, at);
    if (!end.ok()) return end.error();
    const std::string_view document = text.substr(at, *end - at);
    if (Error error = CheckUtf8(document); !error.ok()) return CheckUtf8(text);
    if (Error error = fn(std::string(document)); !error.ok()) return error;
    at = *end;
  }
  return Error::Ok();
}

Error ForEachYamlDocument(std::string_view text, const DocumentFn& fn, size_t budget, SourceLines* lines) {
  Parser parser(text);
  if (!parser.ok()) return Error("out of memory for the YAML parser");
  budget = std::max(budget, text.size() * 10);
  for (;;) {
    // Stream and document borders carry nothing we need; YamlTree reads what is between them.
    yaml_event_t event;
    if (!yaml_parser_parse(&parser.get(), &event)) return YamlParserError(parser.get());
    const yaml_event_type_t type = event.type;
    yaml_event_delete(&event);
    if (type == YAML_STREAM_END_EVENT || type == YAML_NO_EVENT) return Error::Ok();
    if (type != YAML_DOCUMENT_START_EVENT) continue;
    YamlTree tree;
    if (Error error = tree.Read(parser.get()); !error.ok()) return error;
    if (tree.empty()) continue;
    std::string json;
    if (Error error = tree.ToJson(budget, json, lines); !error.ok()) return error;
    if (Error error = fn(std::move(json)); !error.ok()) return error;
  }
}

}  // namespace berth
