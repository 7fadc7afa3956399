// SPDX-License-Identifier: Apache-2.0
// Quantity: a Kubernetes resource quantity, exact.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "berth/error.h"

namespace berth {
inline namespace v1 {

// A number in units of 10^-9, which is the finest a Kubernetes quantity can say; parsing rounds finer values up (away
// from zero) and caps the magnitude at 2^63-1. Sums of quantities are exact; rounding happens only in Value() and
// MilliValue(). Never a double.
//
// Out of the range of int64 we differ from upstream, where the answer depends on how the quantity was spelled: it caps
// numbers with binary suffixes alone, and MilliValue() of 9e18 is 0 but that of 9000000000000000000 is negative. Ours
// saturates. Upstream also rounds some negative fractions up instead of away from zero, depending on their length.
class Quantity {
 public:
  __extension__ typedef __int128 Int128;

  constexpr Quantity() = default;
  static constexpr Quantity FromValue(int64_t value) { return Quantity(static_cast<Int128>(value) * 1'000'000'000); }
  static constexpr Quantity FromMilli(int64_t milli) { return Quantity(static_cast<Int128>(milli) * 1'000'000); }
  static constexpr Quantity FromNano(Int128 nano) { return Quantity(nano); }
  // Accepts exactly what resource.ParseQuantity accepts; the error is upstream's sentence. Space around the text is an
  // error here: upstream's JSON decoder trims it first.
  static Result<Quantity> Parse(std::string_view text);

  // The value in whole units, rounded away from zero, saturated to int64.
  int64_t Value() const;
  // The value in thousandths, rounded away from zero, saturated to int64.
  int64_t MilliValue() const;
  Int128 nano() const { return nano_; }
  bool IsZero() const { return nano_ == 0; }
  bool IsNegative() const { return nano_ < 0; }
  // A decimal number in whole units that parses back to an equal Quantity (sums beyond the cap aside).
  std::string ToString() const;

  Quantity& operator+=(Quantity other) { return nano_ += other.nano_, *this; }
  Quantity& operator-=(Quantity other) { return nano_ -= other.nano_, *this; }
  friend Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  auto operator<=>(const Quantity&) const = default;

 private:
  constexpr explicit Quantity(Int128 nano) : nano_(nano) {}
  Int128 nano_ = 0;
};

}  // namespace v1
}  // namespace berth
