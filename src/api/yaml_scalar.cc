// SPDX-License-Identifier: Apache-2.0
// What a plain YAML scalar means, by kubectl's YAML 1.1 rules.
#include "api/yaml_scalar.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <optional>

namespace berth {
namespace {

bool IsYamlDigit(char c) { return c >= '0' && c <= '9'; }

bool OneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// Digits of `base`, at least one, as an unsigned 64-bit number.
std::optional<uint64_t> ParseUnsigned(std::string_view digits, int base) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.empty()) return std::nullopt;
  return value;
}

struct Integer {
  bool negative = false;
  uint64_t magnitude = 0;
};

// Go's ParseInt and then ParseUint with base 0: 0x, 0o, 0b and 0 prefixes, int64 or uint64 range.
std::optional<Integer> ParseInteger(std::string_view text) {
  Integer result;
  bool sign = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    sign = true;
    result.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char letter = static_cast<char>(text[1] | 0x20);
    if (letter == 'x' || letter == 'o' || letter == 'b') {
      base = letter == 'x' ? 16 : letter == 'o' ? 8 : 2;
      text.remove_prefix(2);
    } else {
      base = 8;
      text.remove_prefix(1);
    }
  }
  const auto magnitude = ParseUnsigned(text, base);
  if (!magnitude) return std::nullopt;
  constexpr uint64_t kMaxInt = INT64_MAX;
  // Only a number without sign may use the unsigned range.
  if (*magnitude > kMaxInt && sign && !(result.negative && *magnitude == kMaxInt + 1)) return std::nullopt;
  result.magnitude = *magnitude;
  return result;
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool LooksLikeFloat(std::string_view text) {
  size_t i = 0;
  auto digits = [&] {
    const size_t start = i;
    while (i < text.size() && IsYamlDigit(text[i])) ++i;
    return i - start;
  };
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
  const size_t whole = digits();
  if (i < text.size() && text[i] == '.') {
    ++i;
    const size_t fraction = digits();
    if (whole == 0 && fraction == 0) return false;
  } else if (whole == 0) {
    return false;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
    if (digits() == 0) return false;
  }
  return i == text.size();
}

// No value when it overflows. REQUIRES: LooksLikeFloat(text)
std::optional<double> ParseFloat(std::string_view text) {
  if (text[0] == '+') text.remove_prefix(1);
  const std::string copy(text);
  const double value = std::strtod(copy.c_str(), nullptr);
  if (std::isinf(value)) return std::nullopt;
  return value;
}

// The shortest text that reads back as `value`; with an exponent when that is outside [lowest, highest).
template <class Float>
std::string FormatShortest(Float value, int lowest_exponent, int highest_exponent, bool pad_exponent) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  std::string_view text(buffer, static_cast<size_t>(end - buffer));
  const size_t e = text.find('e');
  int exponent = 0;
  const size_t digits_at = e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(text.data() + digits_at, text.data() + text.size(), exponent);
  if (exponent < lowest_exponent || exponent >= highest_exponent) {
    std::string out(text.substr(0, e));
    const int magnitude = exponent < 0 ? -exponent : exponent;
    out += exponent < 0 ? "e-" : "e+";
    if (pad_exponent && magnitude < 10) out += '0';
    return out + std::to_string(magnitude);
  }
  // The same digits without exponent, filled up with zeros (not with the digits a binary fraction would have there).
  std::string digits, out;
  for (char c : text.substr(0, e)) {
    if (IsYamlDigit(c)) digits += c;
  }
  if (text[0] == '-') out = "-";
  if (exponent < 0) return out + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  const auto whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() < whole) digits.append(whole - digits.size(), '0');
  out += digits.substr(0, whole);
  if (digits.size() > whole) out += "." + digits.substr(whole);
  return out;
}

// encoding/json's form of a float64.
std::string JsonFloat(double value) {
  if (value == 0) return std::signbit(value) ? "-0" : "0";
  return FormatShortest(value, -6, 21, false);
}

// strconv.FormatFloat(value, 'g', -1, 32): how a float key becomes a string.
std::string KeyFloat(double value) {
  const float narrow = static_cast<float>(value);
  if (std::isinf(narrow)) return narrow < 0 ? "-.inf" : ".inf";
  if (narrow == 0) return std::signbit(narrow) ? "-0" : "0";
  return FormatShortest(narrow, -4, 6, true);
}

Scalar Special(std::string_view key) {
  Scalar scalar;
  scalar.kind = ScalarKind::kFloat;
  scalar.key = key;
  return scalar;
}

Scalar FromFloat(double value) {
  Scalar scalar;
  scalar.kind = ScalarKind::kFloat;
  scalar.json = JsonFloat(value);
  scalar.key = KeyFloat(value);
  return scalar;
}

Scalar FromInteger(Integer value) {
  Scalar scalar;
  scalar.kind = ScalarKind::kInt;
  scalar.json = (value.negative && value.magnitude != 0 ? "-" : "") + std::to_string(value.magnitude);
  scalar.key = scalar.json;
  scalar.bad_key = !value.negative && value.magnitude > INT64_MAX;
  return scalar;
}

}  // namespace

Scalar ResolveScalar(std::string_view text) {
  Scalar scalar;
  if (OneOf(text, {"", "~", "null", "Null", "NULL"})) {
    scalar.kind = ScalarKind::kNull;
    scalar.json = "null";
    scalar.bad_key = true;
    return scalar;
  }
  const bool yes = OneOf(text, {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"});
  if (yes || OneOf(text, {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})) {
    scalar.kind = ScalarKind::kBool;
    scalar.json = scalar.key = yes ? "true" : "false";
    return scalar;
  }
  if (OneOf(text, {".nan", ".NaN", ".NAN"})) return Special(".nan");
  if (OneOf(text, {".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"})) return Special(".inf");
  if (OneOf(text, {"-.inf", "-.Inf", "-.INF"})) return Special("-.inf");

  const char first = text[0];
  if (first == '.') {
    if (LooksLikeFloat(text)) {
      if (const auto value = ParseFloat(text)) return FromFloat(*value);
    }
  } else if ((IsYamlDigit(first) || first == '+' || first == '-')) {
    // Dates fail here and stay strings, as kubectl leaves them.
    std::string plain(text);
    plain.erase(std::remove(plain.begin(), plain.end(), '_'), plain.end());
    if (const auto integer = ParseInteger(plain)) return FromInteger(*integer);
    if (LooksLikeFloat(plain)) {
      if (const auto value = ParseFloat(plain)) return FromFloat(*value);
    }
  }
  scalar.json = scalar.key = text;
  return scalar;
}

}  // namespace berth
