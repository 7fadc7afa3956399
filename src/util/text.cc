// SPDX-License-Identifier: Apache-2.0
#include "util/text.h"

#include <algorithm>
#include <iterator>

namespace berth::util {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// How many bytes the UTF-8 character at the start of `text` has; 0: there is none. REQUIRES: text is not empty.
size_t CharacterSize(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < size) return 0;
  for (size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  // Too long, a surrogate, or beyond U+10FFFF.
  const bool wrong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F) ||
                     (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F);
  return wrong ? 0 : size;
}

// Calls take(character, valid) for one after another; of what is none byte by byte.
template <class Fn>
void ForEachCharacter(std::string_view text, Fn&& take) {
  while (!text.empty()) {
    const size_t size = CharacterSize(text);
    const std::string_view character = text.substr(0, std::max<size_t>(size, 1));
    take(character, size > 0);
    text.remove_prefix(character.size());
  }
}

// REQUIRES: one valid character.
uint32_t CodePoint(std::string_view character) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(character[i])); };
  switch (character.size()) {
    case 1:
      return byte(0);
    case 2:
      return (byte(0) & 0x1F) << 6 | (byte(1) & 0x3F);
    case 3:
      return (byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    default:
      return (byte(0) & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
  }
}

bool Invisible(uint32_t code) {
  struct Range {
    uint32_t first, last;
  };
  constexpr Range kRanges[] = {{0, 0x1F},        {0x7F, 0xA0},     {0xAD, 0xAD},     {0x200B, 0x200F},
                               {0x2028, 0x202F}, {0x205F, 0x206F}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}};
  return std::any_of(std::begin(kRanges), std::end(kRanges),
                     [code](const Range& range) { return code >= range.first && code <= range.last; });
}

void AppendHex(std::string& out, const char* mark, uint32_t number, int digits) {
  constexpr char kHex[] = "0123456789abcdef";
  out += mark;
  for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) out += kHex[number >> shift & 15];
}

void AppendInvisible(std::string& out, uint32_t code, bool json) {
  constexpr std::string_view kNamed = "\n\r\t\a\b\f\v", kNames = "nrtabfv";
  const size_t named = code < 0x20 ? kNamed.find(static_cast<char>(code)) : std::string_view::npos;
  if (named < (json ? 3 : kNamed.size())) {
    out += '\\';
    out += kNames[named];
  } else if (code < 0x80 && !json) {
    AppendHex(out, "\\x", code, 2);
  } else {
    AppendHex(out, "\\u", code, 4);
  }
}

std::string Xml(std::string_view text, std::string_view line_break) {
  std::string out;
  ForEachCharacter(text, [&](std::string_view character, bool valid) {
    // XML lacks U+FFFE and U+FFFF.
    if (!valid || character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF") {
      out += kReplacement;
    } else if (character == "&") {
      out += "&amp;";
    } else if (character == "<") {
      out += "&lt;";
    } else if (character == ">") {
      out += "&gt;";
    } else if (character == "\"") {
      out += "&quot;";
    } else if (character == "\n") {
      out += line_break;
    } else if (static_cast<unsigned char>(character[0]) < 0x20) {
      out += '?';
    } else {
      out += character;
    }
  });
  return out;
}

}  // namespace

std::string Shortened(std::string_view text, size_t max) {
  if (text.size() <= max) return std::string(text);
  size_t end = max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "…";
}

std::string ValidUtf8(std::string_view text) {
  std::string out;
  ForEachCharacter(text, [&](std::string_view character, bool valid) { out += valid ? character : kReplacement; });
  return out;
}

void AppendEscaped(std::string& out, std::string_view text, Escapes escapes) {
  const bool json = escapes == Escapes::kJson;
  // Most texts have nothing that needs a second look.
  while (!text.empty()) {
    const auto* end = std::find_if(text.begin(), text.end(), [&](unsigned char c) {
      return c < 0x20 || c >= 0x7F || ((c == '"' || c == '\\') && escapes != Escapes::kPlain);
    });
    out.append(text.begin(), end);
    text.remove_prefix(static_cast<size_t>(end - text.begin()));
    if (text.empty()) return;
    const size_t size = CharacterSize(text);
    const std::string_view character = text.substr(0, std::max<size_t>(size, 1));
    if (size == 0) {
      if (json) {
        out += "\\ufffd";
      } else {
        AppendHex(out, "\\x", static_cast<unsigned char>(text[0]), 2);
      }
    } else if (character == "\"" || character == "\\") {
      out += '\\';
      out += character;
    } else if (const uint32_t code = CodePoint(character); Invisible(code)) {
      AppendInvisible(out, code, json);
    } else {
      out += character;
    }
    text.remove_prefix(character.size());
  }
}

std::string XmlText(std::string_view text) { return Xml(text, "\n"); }
std::string XmlAttribute(std::string_view text) { return Xml(text, "&#10;"); }

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 32);
  }
  return lower;
}

}  // namespace berth::util
