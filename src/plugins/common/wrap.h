// SPDX-License-Identifier: Apache-2.0
// int64 arithmetic that wraps around as Go's does. Amounts come from outside and may be absurd; scores then have to be
// as absurd as kube-scheduler's, and never undefined.
#pragma once

#include <cstdint>

namespace berth::plugins {

constexpr int64_t WrapAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
constexpr int64_t WrapSub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
constexpr int64_t WrapMul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
// REQUIRES: b != 0
constexpr int64_t WrapDiv(int64_t a, int64_t b) { return b == -1 ? WrapSub(0, a) : a / b; }
// a < b as 0 or 1, without a 64-bit comparison, which the oldest x86-64 cannot do on vectors: the sign of the
// difference, turned around when it overflowed.
constexpr uint64_t LessBit(int64_t a, int64_t b) {
  const uint64_t x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b), difference = x - y;
  return (difference ^ ((x ^ y) & (difference ^ x))) >> 63;
}
// A double cut to int64; out of range it is the smallest int64, which is what the conversion gives on amd64.
constexpr int64_t Truncate(double value) {
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  return value >= -kLimit && value < kLimit ? static_cast<int64_t>(value) : INT64_MIN;
}

}  // namespace berth::plugins
