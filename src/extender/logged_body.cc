// SPDX-License-Identifier: Apache-2.0
// One pass over the text that knows just enough of JSON to see which string is whose value.
#include "extender/logged_body.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/go_key.h"

namespace berth::extender {
namespace {

constexpr char kHidden[] = "\"***\"";
constexpr std::string_view kAppliedManifest = "kubectl.kubernetes.io/last-applied-configuration";

// Where the end of the string is that begins with the quote at `at`; the end of the text for one that does not end.
size_t EndOfString(std::string_view text, size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return text.size();
}

size_t EndOfScalar(std::string_view text, size_t at) {
  const size_t end = text.find_first_of(",:{}[]\" \t\r\n", at + 1);
  return end == std::string_view::npos ? text.size() : end;
}

class Redactor {
 public:
  Redactor(std::string_view text, size_t max) : text_(text), max_(max) {}

  std::string Run() {
    size_t at = 0;
    while (at < text_.size() && out_.size() < max_) {
      const char c = text_[at];
      if (c == '"') {
        at = Scalar(at, EndOfString(text_, at));
      } else if (c == '{' || c == '[') {
        levels_.push_back({c == '{', HasPairs() || IsKey("env") || IsKey("httpHeaders"), InGet() || IsKey("httpGet"),
                           Hides() || (InGet() && IsKey("path"))});
        Put(at++, 1);
        Next();
      } else if (c == '}' || c == ']') {
        if (!levels_.empty()) levels_.pop_back();
        Put(at++, 1);
        Next();
      } else if (c == ',') {
        Put(at++, 1);
        Next();
      } else if (c == ':') {
        after_colon_ = true;
        Put(at++, 1);
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        Put(at++, 1);
      } else {
        at = Scalar(at, EndOfScalar(text_, at));
      }
    }
    cut_ += text_.size() - at;
    if (cut_ > 0) out_ += "… (" + std::to_string(cut_) + " more bytes)";
    return std::move(out_);
  }

 private:
  struct Level {
    bool object;
    bool pairs;   // within the value of a member `env` or `httpHeaders`: names and values
    bool get;     // within the value of a member `httpGet`
    bool hidden;  // within a value that is not to be seen
  };
  bool HasPairs() const { return !levels_.empty() && levels_.back().pairs; }
  bool InGet() const { return !levels_.empty() && levels_.back().get; }
  // A key that is written with escapes may be any key.
  bool IsKey(std::string_view name) const {
    return after_colon_ && (KeyMatches(key_, name) || key_.find('\\') != std::string_view::npos);
  }
  // Whether the value that comes now is not to be seen.
  bool Hides() const {
    return (!levels_.empty() && levels_.back().hidden) || IsKey(kAppliedManifest) || IsKey("args") ||
           IsKey("command") || (HasPairs() && IsKey("value"));
  }
  // How much of the scalar may be seen: not a probe's query. One with escapes may have a question mark anywhere.
  size_t SeenOf(std::string_view scalar) const {
    if (!InGet() || !IsKey("path")) return scalar.size();
    return scalar.find('\\') != std::string_view::npos ? 0 : std::min(scalar.find('?'), scalar.size());
  }
  void Next() {
    key_ = {};
    after_colon_ = false;
  }
  size_t Scalar(size_t at, size_t end) {
    const size_t seen = SeenOf(text_.substr(at, end - at));
    if (Hides() || seen == 0) {
      out_ += kHidden;
    } else if (seen < end - at) {
      Put(at, seen);
      out_ += "?***\"";
    } else {
      Put(at, end - at);
      if (!after_colon_ && end - at >= 2 && !levels_.empty() && levels_.back().object) {
        key_ = text_.substr(at + 1, end - at - 2);
      }
    }
    return end;
  }
  void Put(size_t at, size_t size) {
    const size_t room = std::min(size, max_ - std::min(max_, out_.size()));
    out_ += text_.substr(at, room);
    cut_ += size - room;
  }

  const std::string_view text_;
  const size_t max_;
  std::string out_;
  size_t cut_ = 0;  // bytes that are not shown for their length
  std::vector<Level> levels_;
  std::string_view key_;      // of the member that is being read
  bool after_colon_ = false;  // its value comes next
};

}  // namespace

std::string LoggedBody(std::string_view json, size_t max) { return Redactor(json, max).Run(); }

}  // namespace berth::extender
