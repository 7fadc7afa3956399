// SPDX-License-Identifier: Apache-2.0
// Any bytes as a quantity: what parses prints as text that parses to the same, and rounds away from zero.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "berth/quantity.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto parsed = berth::Quantity::Parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!parsed.ok()) return 0;
  const auto again = berth::Quantity::Parse(parsed->ToString());
  if (!again.ok() || *again != *parsed) std::abort();
  // Rounding is away from zero, so whole units are never nearer to it than thousandths.
  const int64_t value = parsed->Value(), milli = parsed->MilliValue();
  if (milli > 0 ? value < milli / 1000 : value > milli / 1000) std::abort();
  return 0;
}
