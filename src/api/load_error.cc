// SPDX-License-Identifier: Apache-2.0
// One line per error, and quoting as Go does it.
#include "api/load_error.h"

#include "util/secret_text.h"

namespace berth {

std::string LoadError::Text() const {
  std::string text;
  auto add = [&text](const std::string& part) {
    if (part.empty()) return;
    if (!text.empty()) text += ": ";
    text += part;
  };
  add(file);
  if (!kind.empty() && !name.empty()) {
    add(kind + " " + Quoted(name));
  } else {
    add(kind);
  }
  add(path);
  add(message);
  return util::WithoutSecrets(text);
}

std::string Quoted(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          out += "\\x";
          out += kHex[static_cast<unsigned char>(c) >> 4];
          out += kHex[static_cast<unsigned char>(c) & 15];
        } else {
          out += c;
        }
    }
  }
  out += '"';
  return out;
}

}  // namespace berth
