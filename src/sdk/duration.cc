// SPDX-License-Identifier: Apache-2.0
// Durations as Kubernetes writes them: Go's form, "1h30m0s", "1.5s", "300ms".
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "berth/args.h"
#include "util/text.h"

namespace berth {
inline namespace v1 {
namespace {

struct Unit {
  std::string_view name;
  int64_t ns;
};
// Longest names first, so that "ms" is not read as "m" and "s".
constexpr std::array<Unit, 8> kUnits = {{{"ns", 1},
                                         {"us", 1'000},
                                         {"\xc2\xb5s", 1'000},  // U+00B5, micro sign
                                         {"\xce\xbcs", 1'000},  // U+03BC, Greek mu
                                         {"ms", 1'000'000},
                                         {"s", 1'000'000'000},
                                         {"m", 60'000'000'000},
                                         {"h", 3'600'000'000'000}}};
// The magnitude of the smallest int64: one more than the largest, so that it can be read back.
constexpr uint64_t kLimit = uint64_t{1} << 63;

Error Bad(std::string_view text, const char* why) {
  return Error("time: " + std::string(why) + "duration " + Quote(text));
}

}  // namespace

Result<Duration> ParseDuration(std::string_view text) {
  std::string_view rest = text;
  bool negative = false;
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) {
    negative = rest[0] == '-';
    rest.remove_prefix(1);
  }
  if (rest == "0") return Duration{};
  if (rest.empty()) return Bad(text, "invalid ");
  uint64_t total = 0;
  while (!rest.empty()) {
    if (rest[0] != '.' && !util::IsDigit(rest[0])) return Bad(text, "invalid ");
    uint64_t whole = 0;
    size_t digits = 0;
    for (; !rest.empty() && util::IsDigit(rest[0]); rest.remove_prefix(1), ++digits) {
      if (whole > kLimit / 10) return Bad(text, "invalid ");
      whole = whole * 10 + static_cast<uint64_t>(rest[0] - '0');
      if (whole > kLimit) return Bad(text, "invalid ");
    }
    uint64_t fraction = 0;
    double scale = 1;
    if (!rest.empty() && rest[0] == '.') {
      rest.remove_prefix(1);
      bool full = false;  // further digits are below a nanosecond
      for (; !rest.empty() && util::IsDigit(rest[0]); rest.remove_prefix(1), ++digits) {
        if (full || fraction > (kLimit - 1) / 10) {
          full = true;
          continue;
        }
        const uint64_t next = fraction * 10 + static_cast<uint64_t>(rest[0] - '0');
        if (next > kLimit) {
          full = true;
          continue;
        }
        fraction = next;
        scale *= 10;
      }
    }
    if (digits == 0) return Bad(text, "invalid ");
    size_t length = 0;
    while (length < rest.size() && rest[length] != '.' && !util::IsDigit(rest[length])) ++length;
    if (length == 0) return Bad(text, "missing unit in ");
    const std::string_view name = rest.substr(0, length);
    const Unit* unit = nullptr;
    for (const Unit& known : kUnits) {
      if (known.name == name) unit = &known;
    }
    if (unit == nullptr) {
      return Bad(text, ("unknown unit " + Value::String(std::string(name)).ToJson() + " in ").c_str());
    }
    rest.remove_prefix(length);
    const auto size = static_cast<uint64_t>(unit->ns);
    if (whole > kLimit / size) return Bad(text, "invalid ");
    uint64_t part = whole * size;
    if (fraction > 0) {
      part += static_cast<uint64_t>(static_cast<double>(fraction) * (static_cast<double>(size) / scale));
      if (part > kLimit) return Bad(text, "invalid ");
    }
    total += part;
    if (total > kLimit) return Bad(text, "invalid ");
  }
  if (negative) return Duration{static_cast<int64_t>(-total)};
  if (total > kLimit - 1) return Bad(text, "invalid ");
  return Duration{static_cast<int64_t>(total)};
}

std::string FormatDuration(Duration duration) {
  if (duration.ns == 0) return "0s";
  const bool negative = duration.ns < 0;
  uint64_t ns = negative ? -static_cast<uint64_t>(duration.ns) : static_cast<uint64_t>(duration.ns);
  // `ns` in units of `unit`, without trailing zeros: 1500000 in ms is 1.5.
  const auto decimal = [](uint64_t value, uint64_t unit) {
    std::string text = std::to_string(value / unit);
    const uint64_t rest = value % unit;
    if (rest == 0) return text;
    std::string digits = std::to_string(unit + rest).substr(1);
    digits.erase(digits.find_last_not_of('0') + 1);
    return text + "." + digits;
  };
  std::string out = negative ? "-" : "";
  if (ns < 1'000) return out + std::to_string(ns) + "ns";
  if (ns < 1'000'000) return out + decimal(ns, 1'000) + "\xc2\xb5s";
  if (ns < 1'000'000'000) return out + decimal(ns, 1'000'000) + "ms";
  const uint64_t kMinute = 60'000'000'000;
  const uint64_t minutes = ns / kMinute;
  if (minutes >= 60) out += std::to_string(minutes / 60) + "h";
  if (minutes > 0) out += std::to_string(minutes % 60) + "m";
  return out + decimal(ns % kMinute, 1'000'000'000) + "s";
}

}  // namespace v1
}  // namespace berth
