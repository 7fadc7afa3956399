// SPDX-License-Identifier: Apache-2.0
#include "util/text.h"

#include <algorithm>

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

std::string XmlText(std::string_view text) { return Xml(text, "\n"); }
std::string XmlAttribute(std::string_view text) { return Xml(text, "&#10;"); }

}  // namespace berth::util
