// SPDX-License-Identifier: Apache-2.0
// Values of flags as Go's standard library reads and writes them, with its error texts. What kube-scheduler takes for
// a number is a number here, and nothing else is.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth::util {

template <class T>
struct GoParsed {
  T value = T();
  std::string error;  // empty: there is a value
  bool ok() const { return error.empty(); }
};

// strconv.ParseBool.
GoParsed<bool> ParseGoBool(std::string_view text);
// strconv.ParseInt and ParseUint. With base 0 the text has its own: 0x, 0b, 0o, a leading 0, and _ between digits.
GoParsed<int64_t> ParseGoInt(std::string_view text, int base, int bits);
GoParsed<uint64_t> ParseGoUint(std::string_view text, int base, int bits);
// strconv.ParseFloat(text, 32), and FormatFloat(value, 'g', -1, 32).
GoParsed<float> ParseGoFloat(std::string_view text);
std::string FormatGoFloat(float value);
// The same with 64 bits: 1, 0.5, 1.79478271349e+09, +Inf.
std::string FormatGoDouble(double value);

// The first record of encoding/csv.
GoParsed<std::vector<std::string>> ReadGoCsv(std::string_view text);
std::string WriteGoCsv(std::span<const std::string> fields);

}  // namespace berth::util
