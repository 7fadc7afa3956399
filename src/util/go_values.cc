// SPDX-License-Identifier: Apache-2.0
// Upstream: Go's strconv and encoding/csv.
#include "util/go_values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>

#include "util/text.h"

namespace berth::util {
namespace {

constexpr const char* kSyntax = "invalid syntax";
constexpr const char* kRange = "value out of range";

std::string ErrorOf(const char* function, std::string_view text, const char* what) {
  return std::string("strconv.") + function + ": parsing " + Quoted(text) + ": " + what;
}

char LowerChar(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

int DigitOf(char c) {
  c = LowerChar(c);
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'z' ? c - 'a' + 10 : 99;
}

// Underscores stand between digits, or between the prefix and a digit.
bool UnderscoresAreRight(std::string_view text) {
  char before = '^';
  size_t at = 0;
  bool hex = false;
  if (text.size() >= 2 && text[0] == '0' &&
      (LowerChar(text[1]) == 'x' || LowerChar(text[1]) == 'b' || LowerChar(text[1]) == 'o')) {
    hex = LowerChar(text[1]) == 'x';
    before = '0';
    at = 2;
  }
  for (; at < text.size(); ++at) {
    const int digit = DigitOf(text[at]);
    if (digit < 10 || (hex && digit < 16)) {
      before = '0';
    } else if (text[at] == '_') {
      if (before != '0') return false;
      before = '_';
    } else {
      if (before == '_') return false;
      before = '!';
    }
  }
  return before != '_';
}

// Digits without a sign. Null: `out` is the number; saturated with kRange.
const char* ReadDigits(std::string_view text, int base, uint64_t& out) {
  const std::string_view whole = text;
  if (text.empty()) return kSyntax;
  const bool own_base = base == 0;
  if (own_base) {
    base = 10;
    if (text[0] == '0') {
      const char mark = text.size() >= 3 ? LowerChar(text[1]) : '0';
      base = mark == 'b' ? 2 : mark == 'x' ? 16 : 8;
      text.remove_prefix(mark == 'b' || mark == 'x' || mark == 'o' ? 2 : 1);
    }
  }
  bool underscores = false, too_large = false;
  out = 0;
  for (const char c : text) {
    if (c == '_' && own_base) {
      underscores = true;
      continue;
    }
    const int digit = DigitOf(c);
    if (digit >= base) return kSyntax;
    if (out > (std::numeric_limits<uint64_t>::max() - static_cast<uint64_t>(digit)) / static_cast<uint64_t>(base)) {
      too_large = true;
    } else {
      out = out * static_cast<uint64_t>(base) + static_cast<uint64_t>(digit);
    }
  }
  if (underscores && !UnderscoresAreRight(whole)) return kSyntax;
  if (too_large) out = std::numeric_limits<uint64_t>::max();
  return too_large ? kRange : nullptr;
}

// One record of a CSV text, which ends at a line break outside of quotes.
class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : rest_(text) {}

  GoParsed<std::vector<std::string>> Read() {
    GoParsed<std::vector<std::string>> record;
    // Empty lines are passed over.
    while (!rest_.empty() && (rest_[0] == '\n' || rest_.starts_with("\r\n"))) Step(rest_[0] == '\n' ? 1 : 2);
    if (rest_.empty()) record.error = "EOF";
    for (bool more = record.ok(); more;) {
      record.value.emplace_back();
      more = !rest_.empty() && rest_[0] == '"' ? ReadQuoted(record) : ReadPlain(record);
    }
    return record;
  }

 private:
  // Both: whether another field follows.
  bool ReadPlain(GoParsed<std::vector<std::string>>& record) {
    const size_t end = std::min(rest_.find_first_of(",\n"), rest_.size());
    std::string_view field = rest_.substr(0, end);
    if (end < rest_.size() && rest_[end] == '\n' && field.ends_with('\r')) field.remove_suffix(1);
    const size_t quote = field.find('"');
    if (quote != std::string_view::npos) return Fail(record, column_ + quote, "bare \" in non-quoted-field");
    record.value.back() = field;
    const bool more = end < rest_.size() && rest_[end] == ',';
    Step(std::min(end + 1, rest_.size()));
    return more;
  }

  bool ReadQuoted(GoParsed<std::vector<std::string>>& record) {
    constexpr const char* kQuote = "extraneous or missing \" in quoted-field";
    std::string& field = record.value.back();
    for (Step(1);;) {
      const size_t quote = rest_.find('"');
      field += rest_.substr(0, quote);
      Step(std::min(quote, rest_.size()));
      if (rest_.empty()) return Fail(record, column_, kQuote);
      Step(1);
      if (rest_.empty() || rest_[0] == '\n' || rest_.starts_with("\r\n")) return false;
      const char next = rest_[0];
      if (next != '"' && next != ',') return Fail(record, column_ - 1, kQuote);
      Step(1);
      if (next == ',') return true;
      field += '"';
    }
  }

  bool Fail(GoParsed<std::vector<std::string>>& record, size_t column, const char* what) const {
    const std::string where = std::to_string(line_) + ", column " + std::to_string(column) + ": " + what;
    record.error = line_ == 1 ? "parse error on line " + where : "record on line 1; parse error on line " + where;
    return false;
  }

  void Step(size_t bytes) {
    for (const char c : rest_.substr(0, bytes)) {
      ++column_;
      if (c != '\n') continue;
      ++line_;
      column_ = 1;
    }
    rest_.remove_prefix(bytes);
  }

  std::string_view rest_;
  size_t line_ = 1, column_ = 1;
};

}  // namespace

GoParsed<bool> ParseGoBool(std::string_view text) {
  constexpr std::array<std::string_view, 6> kYes{"1", "t", "T", "TRUE", "true", "True"};
  constexpr std::array<std::string_view, 6> kNo{"0", "f", "F", "FALSE", "false", "False"};
  if (std::ranges::find(kYes, text) != kYes.end()) return {true, ""};
  if (std::ranges::find(kNo, text) != kNo.end()) return {false, ""};
  return {false, ErrorOf("ParseBool", text, kSyntax)};
}

GoParsed<int64_t> ParseGoInt(std::string_view text, int base, int bits) {
  std::string_view digits = text;
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) digits.remove_prefix(1);
  uint64_t size = 0;
  const char* error = ReadDigits(digits, base, size);
  const uint64_t limit = uint64_t{1} << (bits - 1);  // what a negative number may be
  if (error == nullptr && size > limit - (negative ? 0 : 1)) error = kRange;
  if (error != nullptr) return {0, ErrorOf("ParseInt", text, error)};
  return {negative ? -static_cast<int64_t>(size - 1) - 1 : static_cast<int64_t>(size), ""};
}

GoParsed<uint64_t> ParseGoUint(std::string_view text, int base, int bits) {
  uint64_t number = 0;
  const char* error = ReadDigits(text, base, number);
  if (error == nullptr && bits < 64 && number >> bits != 0) error = kRange;
  if (error != nullptr) return {0, ErrorOf("ParseUint", text, error)};
  return {number, ""};
}

GoParsed<float> ParseGoFloat(std::string_view text) {
  GoParsed<float> wrong{0, ErrorOf("ParseFloat", text, kSyntax)};
  std::string number;
  for (const char c : text) number += LowerChar(c);
  const bool negative = number.starts_with('-');
  if (negative || number.starts_with('+')) number.erase(0, 1);
  const bool hex = number.starts_with("0x");
  if (number.find('_') != std::string::npos) {
    if (!hex || !UnderscoresAreRight(number)) return wrong;
    std::erase(number, '_');
  }
  if (hex) number.erase(0, 2);
  if (number.empty() || number[0] == '-' || (hex && number.find('p') == std::string::npos)) return wrong;
  if (number.starts_with("nan") && number != "nan") return wrong;
  const std::chars_format format = hex ? std::chars_format::hex : std::chars_format::general;
  const char* end = number.data() + number.size();
  float value = 0;
  const auto [stop, error] = std::from_chars(number.data(), end, value, format);
  if (stop != end || error == std::errc::invalid_argument) return wrong;
  if (error == std::errc::result_out_of_range) {
    // Too large, or too small, which is 0.
    double wide = 0;
    const auto again = std::from_chars(number.data(), end, wide, format);
    const bool small = again.ec == std::errc() ? wide < 1 : number.find(hex ? "p-" : "e-") != std::string::npos;
    if (!small) return {0, ErrorOf("ParseFloat", text, kRange)};
    value = 0;
  }
  return {negative ? -value : value, ""};
}

std::string FormatGoFloat(float value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  char text[64];
  const char* end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
  std::string scientific(text, static_cast<size_t>(end - text));
  int exponent = 0;
  const size_t mark = scientific.find('e') + 1;
  const size_t from = mark + (scientific[mark] == '+' ? 1 : 0);
  std::from_chars(scientific.data() + from, scientific.data() + scientific.size(), exponent);
  if (exponent < -4 || exponent >= 6) return scientific;
  end = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed).ptr;
  return {text, static_cast<size_t>(end - text)};
}

GoParsed<std::vector<std::string>> ReadGoCsv(std::string_view text) { return CsvReader(text).Read(); }

std::string WriteGoCsv(std::span<const std::string> fields) {
  std::string out;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) out += ',';
    const std::string& field = fields[i];
    const bool quotes = field == "\\." || field.find_first_of(",\"\r\n") != std::string::npos ||
                        (!field.empty() && std::string_view(" \t\v\f").find(field[0]) != std::string_view::npos);
    if (!quotes) {
      out += field;
      continue;
    }
    out += '"';
    for (const char c : field) {
      if (c == '"') out += '"';
      out += c;
    }
    out += '"';
  }
  return out;
}

std::string FormatGoDouble(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific).ptr;
  const std::string_view text(buffer, static_cast<size_t>(end - buffer));
  const size_t mark = text.find('e');
  int exponent = 0;
  const char* digits = text.data() + mark + 1;
  std::from_chars(*digits == '+' ? digits + 1 : digits, text.data() + text.size(), exponent);
  if (exponent < -4 || exponent >= 6) return std::string(text);
  char fixed[400];
  const auto last = std::to_chars(fixed, fixed + sizeof(fixed), value, std::chars_format::fixed).ptr;
  return std::string(fixed, static_cast<size_t>(last - fixed));
}

}  // namespace berth::util
