// SPDX-License-Identifier: Apache-2.0
// Finding where a JSON value ends and whether it is one: grammar, depth and UTF-8.
#include "api/json_scan.h"

#include <simdjson.h>

#include <algorithm>
#include <bitset>
#include <cstdint>

#include "util/text.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace berth {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
constexpr size_t kShortText = 64;
bool IsHex(char c) { return util::IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// Where the first byte from `at` on is that means something within a string: a quote, an escape or a control character.
size_t PlainEnd(std::string_view text, size_t at) {
#ifdef __SSE2__
  for (; at + 16 <= text.size(); at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    const __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    const __m128i escape = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
    const int found = _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, escape), control));
    if (found != 0) return at + static_cast<size_t>(__builtin_ctz(static_cast<unsigned>(found)));
  }
#endif
  const char *p = text.data() + at, *end = text.data() + text.size();
  while (p != end && *p != '"' && *p != '\\' && static_cast<unsigned char>(*p) >= 0x20) ++p;
  return static_cast<size_t>(p - text.data());
}

class Scanner {
 public:
  Scanner(std::string_view text, size_t start, int depth) : text_(text), at_(start), most_(kMaxJsonDepth - depth) {}

  Result<size_t> Run() {
    SkipSpace();
    // A loop with a bit per level (object or array) instead of recursion: depth costs no stack.
    for (;;) {
      if (!Value()) return Fail();
      // A value is complete (or a container was opened and awaits its first member).
      while (!opened_) {
        if (depth_ == 0) return at_;
        SkipSpace();
        if (at_ >= text_.size()) return Fail("unexpected end of JSON");
        const char c = text_[at_++];
        const bool object = in_object_[static_cast<size_t>(depth_)];
        if (c == ',') {
          SkipSpace();
          if (object && !Key()) return Fail();
          break;
        }
        if (c != (object ? '}' : ']')) {
          --at_;
          return Fail(object ? "expected ',' or '}'" : "expected ',' or ']'");
        }
        --depth_;
      }
      opened_ = false;
      SkipSpace();
    }
  }

 private:
  void SkipSpace() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  }
  bool Wrong(const char* what) {
    if (!wrong_) wrong_ = what;
    return false;
  }
  Error Fail(const char* what = nullptr) {
    if (!wrong_) wrong_ = what ? what : "malformed";
    return Error("malformed JSON at " + TextPosition(text_, at_) + ": " + wrong_);
  }

  bool Value() {
    if (at_ >= text_.size()) return Wrong("unexpected end of JSON");
    switch (text_[at_]) {
      case '{':
        return Open(true);
      case '[':
        return Open(false);
      case '"':
        return String();
      case 't':
        return Literal("true");
      case 'f':
        return Literal("false");
      case 'n':
        return Literal("null");
      default:
        return Number();
    }
  }

  // Enters a container; an empty one is left at once.
  bool Open(bool object) {
    if (depth_ >= most_) return Wrong("nested too deeply (limit 512 levels)");
    ++at_;
    SkipSpace();
    if (at_ < text_.size() && text_[at_] == (object ? '}' : ']')) {
      ++at_;
      return true;
    }
    ++depth_;
    in_object_[static_cast<size_t>(depth_)] = object;
    opened_ = true;
    return !object || Key();
  }

  bool Key() {
    if (at_ >= text_.size()) return Wrong("unexpected end of JSON");
    if (text_[at_] != '"') return Wrong("expected a string as object key");
    if (!String()) return false;
    SkipSpace();
    if (at_ >= text_.size()) return Wrong("unexpected end of JSON");
    if (text_[at_] != ':') return Wrong("expected ':' after object key");
    ++at_;
    return true;
  }

  bool String() {
    for (++at_; (at_ = PlainEnd(text_, at_)) < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return true;
      }
      if (static_cast<unsigned char>(c) < 0x20) return Wrong("control character in string");
      if (c != '\\') continue;
      if (++at_ >= text_.size()) break;
      if (text_[at_] == 'u') {
        uint32_t code = 0;
        if (!HexCode(code)) return false;
        if (code >= 0xDC00 && code <= 0xDFFF) return Wrong("lone surrogate in string");
        if (code >= 0xD800 && code <= 0xDBFF) {
          if (at_ + 2 >= text_.size() || text_[at_ + 1] != '\\' || text_[at_ + 2] != 'u') {
            return Wrong("lone surrogate in string");
          }
          at_ += 2;
          if (!HexCode(code)) return false;
          if (code < 0xDC00 || code > 0xDFFF) return Wrong("lone surrogate in string");
        }
      } else if (std::string_view("\"\\/bfnrt").find(text_[at_]) == std::string_view::npos) {
        return Wrong("unknown escape in string");
      }
    }
    return Wrong("unexpected end of JSON in a string");
  }

  // at_ is on the `u`; leaves it on the last hex digit.
  bool HexCode(uint32_t& code) {
    code = 0;
    for (int i = 0; i < 4; ++i) {
      if (++at_ >= text_.size()) return Wrong("unexpected end of JSON in a string");
      const char c = text_[at_];
      if (!IsHex(c)) return Wrong("bad \\u escape in string");
      code = code * 16 + static_cast<uint32_t>(util::IsDigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return true;
  }

  bool Literal(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return Wrong("not a JSON value");
    at_ += word.size();
    return true;
  }

  bool Digits() {
    if (at_ >= text_.size() || !util::IsDigit(text_[at_])) return false;
    while (at_ < text_.size() && util::IsDigit(text_[at_])) ++at_;
    return true;
  }

  bool Number() {
    const size_t start = at_;
    if (text_[at_] == '-') ++at_;
    const size_t whole = at_;
    if (!Digits()) {
      at_ = start;
      return Wrong("not a JSON value");
    }
    if (text_[whole] == '0' && at_ > whole + 1) return Wrong("number with a leading zero");
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      if (!Digits()) return Wrong("malformed number");
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      if (!Digits()) return Wrong("malformed number");
    }
    return true;
  }

  std::string_view text_;
  size_t at_;
  const int most_;
  int depth_ = 0;
  bool opened_ = false;
  const char* wrong_ = nullptr;
  std::bitset<kMaxJsonDepth + 1> in_object_;
};

}  // namespace

Result<size_t> ScanJsonValue(std::string_view text, size_t start, int depth) {
  return Scanner(text, start, depth).Run();
}

std::string TextPosition(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const size_t last = before.rfind('\n');
  const size_t column = last == std::string_view::npos ? before.size() : before.size() - last - 1;
  return "line " + std::to_string(lines + 1) + ", column " + std::to_string(column + 1);
}

namespace {

// How many bytes the character at text[i] has; 0: it is none.
size_t CharacterSize(std::string_view text, size_t i) {
  const auto byte = static_cast<unsigned char>(text[i]);
  if (byte < 0x80) return 1;
  int more = 0;
  uint32_t code = 0, least = 0;
  if ((byte & 0xE0) == 0xC0) {
    more = 1, code = byte & 0x1F, least = 0x80;
  } else if ((byte & 0xF0) == 0xE0) {
    more = 2, code = byte & 0x0F, least = 0x800;
  } else if ((byte & 0xF8) == 0xF0) {
    more = 3, code = byte & 0x07, least = 0x10000;
  }
  bool ok = more > 0 && i + static_cast<size_t>(more) < text.size();
  for (int k = 1; ok && k <= more; ++k) {
    const auto next = static_cast<unsigned char>(text[i + static_cast<size_t>(k)]);
    ok = (next & 0xC0) == 0x80;
    code = code << 6 | (next & 0x3F);
  }
  if (!ok || code < least || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return 0;
  return static_cast<size_t>(more) + 1;
}

}  // namespace

Error CheckUtf8(std::string_view text) {
  // Names and words, which most texts are, take less time than the way to simdjson.
  if (text.size() <= kShortText && IsAscii(text)) return Error::Ok();
  if (simdjson::validate_utf8(text.data(), text.size())) return Error::Ok();
  // Once more, slowly, for the place.
  size_t i = 0;
  while (i < text.size()) {
    const size_t size = CharacterSize(text, i);
    if (size == 0) return Error("invalid UTF-8 at " + TextPosition(text, i));
    i += size;
  }
  return Error("invalid UTF-8");
}

std::string RepairUtf8(std::string_view text) {
  if (simdjson::validate_utf8(text.data(), text.size())) return std::string(text);
  std::string repaired;
  for (size_t i = 0; i < text.size();) {
    const size_t size = CharacterSize(text, i);
    if (size == 0) {
      repaired += "\xEF\xBF\xBD";
      ++i;
    } else {
      repaired += text.substr(i, size);
      i += size;
    }
  }
  return repaired;
}

void AppendJsonString(std::string_view text, std::string& out) {
  if (PlainEnd(text, 0) == text.size()) {  // as nearly all are: then in one piece
    const size_t at = out.size();
    out.append(text.size() + 2, '"');
    text.copy(out.data() + at + 1, text.size());
    return;
  }
  constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  size_t start = 0;  // of what has not been appended yet
  for (size_t i = PlainEnd(text, 0); i < text.size(); i = PlainEnd(text, start)) {
    const char c = text[i];
    out += text.substr(start, i - start);
    start = i + 1;
    if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u00";
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[static_cast<unsigned char>(c) & 15];
    } else {
      out += '\\';
      out += c;
    }
  }
  out += text.substr(start);
  out += '"';
}

}  // namespace berth
