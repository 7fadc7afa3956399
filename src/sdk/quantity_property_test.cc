// SPDX-License-Identifier: Apache-2.0
// Properties of quantities: exact sums, order, printing, against a plain model in whole nano units.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "berth/quantity.h"

namespace berth {
namespace {

using Int128 = Quantity::Int128;

Int128 Nano(int64_t whole, uint32_t fraction) {
  const Int128 magnitude =
      static_cast<Int128>(whole < 0 ? -(whole + 1) : whole) * 1'000'000'000 + fraction % 1'000'000'000;
  return whole < 0 ? -magnitude : magnitude;
}

Int128 CeilAway(Int128 nano, Int128 unit) {
  const Int128 magnitude = nano < 0 ? -nano : nano;
  const Int128 rounded = (magnitude + unit - 1) / unit;
  return nano < 0 ? -rounded : rounded;
}

RC_GTEST_PROP(QuantityPropertyTest, PrintedQuantitiesParseBackEqual, (int64_t whole, uint32_t fraction)) {
  const Quantity q = Quantity::FromNano(Nano(whole, fraction));
  const Result<Quantity> back = Quantity::Parse(q.ToString());
  RC_ASSERT(back.ok());
  RC_ASSERT(*back == q);
}

RC_GTEST_PROP(QuantityPropertyTest, SumsAreExactInAnyOrder, (std::vector<std::pair<int32_t, uint32_t>> parts)) {
  std::vector<Quantity> quantities;
  Int128 want = 0;
  for (const auto& [whole, fraction] : parts) {
    quantities.push_back(Quantity::FromNano(Nano(whole, fraction)));
    want += Nano(whole, fraction);
  }
  const Quantity forward = std::accumulate(quantities.begin(), quantities.end(), Quantity());
  const Quantity backward = std::accumulate(quantities.rbegin(), quantities.rend(), Quantity());
  RC_ASSERT(forward == backward);
  RC_ASSERT(forward.nano() == want);
  for (const Quantity& q : quantities) want -= q.nano();
  RC_ASSERT(want == 0);
}

RC_GTEST_PROP(QuantityPropertyTest, ComparesAsItsNanoUnitsDo, (int64_t a, uint32_t fa, int64_t b, uint32_t fb)) {
  const Int128 na = Nano(a, fa), nb = Nano(b, fb);
  RC_ASSERT((Quantity::FromNano(na) < Quantity::FromNano(nb)) == (na < nb));
  RC_ASSERT((Quantity::FromNano(na) == Quantity::FromNano(nb)) == (na == nb));
}

RC_GTEST_PROP(QuantityPropertyTest, ValuesRoundAwayFromZero, (int32_t whole, uint32_t fraction)) {
  const Int128 nano = Nano(whole, fraction);
  const Quantity q = Quantity::FromNano(nano);
  RC_ASSERT(q.Value() == static_cast<int64_t>(CeilAway(nano, 1'000'000'000)));
  RC_ASSERT(q.MilliValue() == static_cast<int64_t>(CeilAway(nano, 1'000'000)));
}

RC_GTEST_PROP(QuantityPropertyTest, ASuffixIsAFactor, ()) {
  const int64_t number = *rc::gen::inRange<int64_t>(0, 9'000'000);
  const auto [suffix, factor] = *rc::gen::element<std::pair<std::string, Int128>>(
      std::pair{"n", Int128{1}}, std::pair{"u", Int128{1000}}, std::pair{"m", Int128{1'000'000}},
      std::pair{"", Int128{1'000'000'000}}, std::pair{"k", Int128{1'000'000'000'000}},
      std::pair{"e6", Int128{1'000'000'000'000'000}}, std::pair{"Ki", Int128{1024} * 1'000'000'000},
      std::pair{"Mi", (Int128{1} << 20) * 1'000'000'000}, std::pair{"Ti", (Int128{1} << 40) * 1'000'000'000});
  const Result<Quantity> q = Quantity::Parse(std::to_string(number) + suffix);
  RC_ASSERT(q.ok());
  const Int128 cap = static_cast<Int128>(INT64_MAX) * 1'000'000'000;
  RC_ASSERT(q->nano() == std::min<Int128>(number * factor, cap));
}

// The path for long numbers gives what the short one gives.
RC_GTEST_PROP(QuantityPropertyTest, LeadingAndTrailingZerosChangeNothing, (uint32_t whole, uint32_t fraction)) {
  const std::string suffix = *rc::gen::element<std::string>("", "m", "Ki", "Gi", "e3", "e-12");
  const std::string number = std::to_string(whole) + "." + std::to_string(fraction);
  const Result<Quantity> plain = Quantity::Parse(number + suffix);
  const Result<Quantity> padded = Quantity::Parse("+000" + number + std::string(30, '0') + suffix);
  RC_ASSERT(plain.ok() && padded.ok());
  RC_ASSERT(*plain == *padded);
}

// Texts over the letters of the grammar; what parses also prints and parses back.
RC_GTEST_PROP(QuantityPropertyTest, AnyTextParsesOrIsRefusedWithASentence, ()) {
  const std::string text =
      *rc::gen::container<std::string>(rc::gen::elementOf(std::string("0123456789.+-eEinumkKMGTP x")));
  const Result<Quantity> q = Quantity::Parse(text);
  if (!q.ok()) {
    RC_ASSERT(!q.error().text().empty());
    return;
  }
  RC_ASSERT(*Quantity::Parse(q->ToString()) == *q);
}

RC_GTEST_PROP(QuantityPropertyTest, BytesThatAreNoTextAreRefused, (std::string text)) {
  RC_ASSERT(!Quantity::Parse(text + '\x80').ok());
}

}  // namespace
}  // namespace berth
