// SPDX-License-Identifier: Apache-2.0
// Parsing, rounding and printing of quantities. The grammar is the one of apimachinery's pkg/api/resource (v0.36), with
// its leniencies: a sign or a suffix without any digit is zero, `1.` and `.5` are numbers.
#include "berth/quantity.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <vector>

#include "util/text.h"

namespace berth {
inline namespace v1 {
namespace {

using Int128 = Quantity::Int128;

constexpr Int128 kNanoPerUnit = 1'000'000'000;
constexpr Int128 kNanoPerMilli = 1'000'000;
constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();
constexpr int64_t kMinInt64 = std::numeric_limits<int64_t>::min();
constexpr Int128 kCapNano = Int128{kMaxInt64} * kNanoPerUnit;

constexpr const char* kFormatWrong =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
constexpr const char* kNumericWrong = "unable to parse numeric part of quantity";
constexpr const char* kSuffixWrong = "unable to parse quantity's suffix";

bool IsSuffixLetter(char c) { return std::string_view("eEinumkKMGTP").find(c) != std::string_view::npos; }

struct Suffix {
  int64_t exponent10 = 0;
  int shift = 0;  // a factor of 2^shift; not 0: a binary suffix
};

std::optional<Suffix> ParseSuffix(std::string_view text) {
  if (text.empty()) return Suffix{};
  if (text.size() == 1) {
    switch (text[0]) {
      case 'n':
        return Suffix{-9, 0};
      case 'u':
        return Suffix{-6, 0};
      case 'm':
        return Suffix{-3, 0};
      case 'k':
        return Suffix{3, 0};
      case 'M':
        return Suffix{6, 0};
      case 'G':
        return Suffix{9, 0};
      case 'T':
        return Suffix{12, 0};
      case 'P':
        return Suffix{15, 0};
      case 'E':
        return Suffix{18, 0};
      default:
        return std::nullopt;
    }
  }
  if (text.size() == 2 && text[1] == 'i') {
    if (const size_t step = std::string_view("KMGTPE").find(text[0]); step != std::string_view::npos) {
      return Suffix{0, 10 * (static_cast<int>(step) + 1)};
    }
    return std::nullopt;
  }
  if (text[0] != 'e' && text[0] != 'E') return std::nullopt;
  std::string_view digits = text.substr(1);
  if (digits[0] == '+') {
    digits.remove_prefix(1);
    if (digits.empty() || digits[0] == '-') return std::nullopt;
  }
  int64_t exponent = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  // Upstream narrows to 32 bits, so 1e4294967296 is 1.
  return Suffix{static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint64_t>(exponent))), 0};
}

// ceil(value * 10^power), at most kCapNano. REQUIRES: value >= 0.
Int128 ScaleCapped(Int128 value, int64_t power) {
  if (value == 0) return 0;
  if (power >= 0) {
    for (; power > 0 && value < kCapNano; --power) value *= 10;  // below the cap (2^93) a factor of 10 cannot overflow
    return std::min(value, kCapNano);
  }
  if (power < -38) return 1;  // value < 2^127 < 10^39
  Int128 divisor = 1;
  for (; power < 0; ++power) divisor *= 10;
  return std::min(value / divisor + (value % divisor != 0 ? 1 : 0), kCapNano);
}

// The same for a number of any length: decimal long multiplication, then the digits below 10^0 only round up.
Int128 ScaleLong(const std::string& digits, int shift, int64_t power) {
  std::vector<uint8_t> product;  // least significant digit first
  product.reserve(digits.size() + 20);
  Int128 carry = 0;
  for (size_t i = digits.size(); i-- > 0;) {
    carry += (static_cast<Int128>(digits[i] - '0')) << shift;
    product.push_back(static_cast<uint8_t>(carry % 10));
    carry /= 10;
  }
  for (; carry != 0; carry /= 10) product.push_back(static_cast<uint8_t>(carry % 10));
  while (!product.empty() && product.back() == 0) product.pop_back();
  if (product.empty()) return 0;

  const auto length = static_cast<int64_t>(product.size());
  const int64_t dropped = power < 0 ? std::min(-power, length) : 0;
  bool rest = false;
  for (int64_t i = 0; i < dropped; ++i) rest = rest || product[static_cast<size_t>(i)] != 0;
  Int128 value = 0;
  for (int64_t i = length; i-- > dropped;) {
    value = value * 10 + product[static_cast<size_t>(i)];
    if (value >= kCapNano) return kCapNano;
  }
  if (rest) ++value;
  return ScaleCapped(value, std::max<int64_t>(power, 0));
}

// ceil away from zero of nano / unit, saturated.
int64_t RoundAway(Int128 nano, Int128 unit) {
  Int128 result = nano / unit;
  const Int128 rest = nano % unit;
  if (rest > 0) ++result;
  if (rest < 0) --result;
  if (result > kMaxInt64) return kMaxInt64;
  if (result < kMinInt64) return kMinInt64;
  return static_cast<int64_t>(result);
}

}  // namespace

Result<Quantity> Quantity::Parse(std::string_view text) {
  if (text.empty()) return Error(kFormatWrong);
  size_t pos = 0;
  const bool negative = text[0] == '-';
  if (negative || text[0] == '+') ++pos;

  const size_t whole = pos;
  while (pos < text.size() && util::IsDigit(text[pos])) ++pos;
  std::string_view number = text.substr(whole, pos - whole);
  std::string_view fraction;
  if (pos < text.size() && text[pos] == '.') {
    const size_t start = ++pos;
    while (pos < text.size() && util::IsDigit(text[pos])) ++pos;
    fraction = text.substr(start, pos - start);
  }
  const bool has_digits = !number.empty() || !fraction.empty();

  const size_t suffix_start = pos;
  while (pos < text.size() && IsSuffixLetter(text[pos])) ++pos;
  if (pos < text.size() && (text[pos] == '-' || text[pos] == '+')) ++pos;
  while (pos < text.size() && util::IsDigit(text[pos])) ++pos;
  if (pos < text.size()) return Error(kFormatWrong);
  const std::optional<Suffix> suffix = ParseSuffix(text.substr(suffix_start));
  if (!suffix) return Error(kSuffixWrong);
  if (!has_digits) {
    // Upstream's fast path takes "no digits" for 0; its exact path, used below nano and from Pi up, does not.
    if (suffix->exponent10 < -9 || suffix->shift >= 50) return Error(kNumericWrong);
    return Quantity();
  }

  while (!number.empty() && number[0] == '0') number.remove_prefix(1);
  const int64_t power = suffix->exponent10 - static_cast<int64_t>(fraction.size()) + 9;
  Int128 nano = 0;
  if (number.size() + fraction.size() <= 18) {
    int64_t value = 0;
    for (const char c : number) value = value * 10 + (c - '0');
    for (const char c : fraction) value = value * 10 + (c - '0');
    nano = ScaleCapped(static_cast<Int128>(value) << suffix->shift, power);
  } else {
    std::string digits(number);
    digits += fraction;
    nano = ScaleLong(digits, suffix->shift, power);
  }
  return Quantity(negative ? -nano : nano);
}

int64_t Quantity::Value() const { return RoundAway(nano_, kNanoPerUnit); }

int64_t Quantity::MilliValue() const { return RoundAway(nano_, kNanoPerMilli); }

std::string Quantity::ToString() const {
  if (nano_ == 0) return "0";
  // Unsigned, so that the most negative number has a magnitude too.
  __extension__ typedef unsigned __int128 UInt128;
  UInt128 magnitude = nano_ < 0 ? UInt128{0} - static_cast<UInt128>(nano_) : static_cast<UInt128>(nano_);
  std::string reversed;
  int digits = 0;
  for (; magnitude != 0 || digits <= 9; ++digits, magnitude /= 10) {
    const char digit = static_cast<char>('0' + static_cast<int>(magnitude % 10));
    if (digits == 9 && !reversed.empty()) reversed += '.';
    if (digits < 9 && reversed.empty() && digit == '0') continue;  // trailing zeros of the fraction
    reversed += digit;
  }
  if (nano_ < 0) reversed += '-';
  return std::string(reversed.rbegin(), reversed.rend());
}

}  // namespace v1
}  // namespace berth
