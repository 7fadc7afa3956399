// SPDX-License-Identifier: Apache-2.0
// Lines of fields: YAML's parser knows them; JSON is walked once more after it has been checked.
#include "api/source_lines.h"

#include <algorithm>
#include <utility>

#include "api/json_scan.h"
#include "api/json_value.h"
#include "api/yaml.h"

namespace berth {
namespace {

constexpr size_t kMaxFieldDepth = 16, kMaxPath = 512, kMaxFields = 100'000;

// Walks JSON that is known to be valid.
class JsonLines {
 public:
  JsonLines(std::string_view text, uint32_t line, SourceLines& out) : text_(text), line_(line), out_(out) {}

  void Read(const std::string& path, size_t depth) {
    SkipSpace();
    if (at_ >= text_.size()) return;
    out_.Set(path, line_);
    if (text_[at_] == '{' || text_[at_] == '[') return ReadContainer(path, depth);
    if (text_[at_] == '"') {
      SkipString();
      return;
    }
    while (at_ < text_.size() && std::string_view(",]} \t\r\n").find(text_[at_]) == std::string_view::npos) ++at_;
  }

 private:
  void SkipSpace() {
    for (; at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos; ++at_)
      line_ += text_[at_] == '\n';
  }
  // The text between the quotes, escapes as they are.
  std::string_view SkipString() {
    const size_t from = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    const size_t to = std::min(at_, text_.size());
    at_ = to + 1;
    return text_.substr(from, to - from);
  }
  static std::string Unescaped(std::string_view raw) {
    if (raw.find('\\') == std::string_view::npos) return std::string(raw);
    std::vector<FieldError> ignored;
    return ParseJson('"' + std::string(raw) + '"', ignored).text();
  }
  void ReadContainer(const std::string& path, size_t depth) {
    const bool object = text_[at_] == '{';
    const char end = object ? '}' : ']';
    ++at_;
    const bool wanted = out_.Wants(depth + 1, path.size());
    for (size_t index = 0;; ++index) {
      SkipSpace();
      if (at_ < text_.size() && text_[at_] == ',') {
        ++at_;
        SkipSpace();
      }
      if (at_ >= text_.size() || text_[at_] == end) break;
      std::string part = path;
      if (object) {
        const uint32_t line = line_;
        const std::string_view key = SkipString();
        if (wanted) {
          part += (path.empty() ? "" : ".") + Unescaped(key);
          out_.Set(part, line);
        }
        SkipSpace();
        ++at_;  // the colon
      } else if (wanted) {
        part += "[" + std::to_string(index) + "]";
      }
      Read(part, depth + 1);
    }
    ++at_;
  }

  std::string_view text_;
  size_t at_ = 0;
  uint32_t line_;
  SourceLines& out_;
};

}  // namespace

uint32_t SourceLines::Of(std::string_view path) const {
  for (;;) {
    if (const auto it = lines_.find(path); it != lines_.end()) return it->second;
    const size_t end = path.find_last_of(".[");
    if (end == std::string_view::npos) break;
    path = path.substr(0, end);
  }
  const auto whole = lines_.find(std::string_view());
  return whole == lines_.end() ? 0 : whole->second;
}

void SourceLines::Set(std::string path, uint32_t line) { lines_.emplace(std::move(path), line); }

bool SourceLines::Wants(size_t depth, size_t path_size) const {
  return depth <= kMaxFieldDepth && path_size <= kMaxPath && lines_.size() < kMaxFields;
}

Error ReadSource(std::string_view text, size_t budget, size_t limit, std::vector<SourceDocument>& out) {
  constexpr std::string_view kSpace = " \t\r\n", kByteOrderMark = "\xEF\xBB\xBF";
  std::string_view body = text;
  if (body.substr(0, kByteOrderMark.size()) == kByteOrderMark) body.remove_prefix(kByteOrderMark.size());
  const size_t first = body.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return Error::Ok();
  bool enough = false;
  Error error = Error::Ok();
  if (body[first] != '{' && body[first] != '[') {
    SourceLines lines;
    error = ForEachYamlDocument(
        text,
        [&](std::string json) {
          out.push_back({std::move(json), std::exchange(lines, {})});
          return (enough = out.size() >= limit) ? Error("enough") : Error::Ok();
        },
        budget, &lines);
  } else {
    size_t seen = 0;
    uint32_t line = 1;
    error = SplitJson(body, [&](std::string json) {
      const size_t at = body.find(json, seen);
      line += static_cast<uint32_t>(
          std::count(body.begin() + static_cast<ptrdiff_t>(seen), body.begin() + static_cast<ptrdiff_t>(at), '\n'));
      SourceDocument document{std::move(json), {}};
      JsonLines(document.json, line, document.lines).Read("", 0);
      line += static_cast<uint32_t>(std::count(document.json.begin(), document.json.end(), '\n'));
      seen = at + document.json.size();
      out.push_back(std::move(document));
      return (enough = out.size() >= limit) ? Error("enough") : Error::Ok();
    });
  }
  return enough ? Error::Ok() : error;
}

}  // namespace berth
