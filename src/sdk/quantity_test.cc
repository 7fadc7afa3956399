// SPDX-License-Identifier: Apache-2.0
// Quantities against a table recorded from apimachinery v0.36.4, and what we do where its numbers overflow.
#include "berth/quantity.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace berth {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

// Text, the exact amount as a decimal number, Value() and MilliValue(), all as upstream gives them.
TEST(QuantityTest, ParsesWhatUpstreamParsesToTheSameAmounts) {
  const struct {
    const char* text;
    const char* exact;
    int64_t value, milli;
  } cases[] = {
      // clang-format off
      {"0", "0", 0, 0}, {"00", "0", 0, 0}, {"000", "0", 0, 0}, {"-0", "0", 0, 0}, {"+0", "0", 0, 0},
      {"0.0", "0", 0, 0}, {"0.", "0", 0, 0}, {".0", "0", 0, 0}, {".", "0", 0, 0}, {"+", "0", 0, 0}, {"-", "0", 0, 0},
      {"+.", "0", 0, 0}, {"-.", "0", 0, 0}, {"1", "1", 1, 1000}, {"+1", "1", 1, 1000}, {"-1", "-1", -1, -1000},
      {"01", "1", 1, 1000}, {"001", "1", 1, 1000}, {"1.", "1", 1, 1000}, {"1.0", "1", 1, 1000},
      {"1.50", "1.5", 2, 1500}, {".5", "0.5", 1, 500}, {"+.5", "0.5", 1, 500}, {"-.5", "-0.5", -1, -500},
      {"0.5", "0.5", 1, 500}, {"00.5", "0.5", 1, 500}, {"10", "10", 10, 10000}, {"100", "100", 100, 100000},
      {"1000", "1000", 1000, 1000000}, {"123", "123", 123, 123000},
      {"1234567890", "1234567890", 1234567890, 1234567890000}, {"1n", "0.000000001", 1, 1}, {"0n", "0", 0, 0},
      {"n", "0", 0, 0}, {"1.5n", "0.000000002", 1, 1}, {"1u", "0.000001", 1, 1}, {"0u", "0", 0, 0}, {"u", "0", 0, 0},
      {"1.5u", "0.0000015", 1, 1}, {"1m", "0.001", 1, 1}, {"0m", "0", 0, 0}, {"m", "0", 0, 0},
      {"1.5m", "0.0015", 1, 2}, {"1k", "1000", 1000, 1000000}, {"0k", "0", 0, 0}, {"k", "0", 0, 0},
      {"1.5k", "1500", 1500, 1500000}, {"1M", "1000000", 1000000, 1000000000}, {"0M", "0", 0, 0}, {"M", "0", 0, 0},
      {"1.5M", "1500000", 1500000, 1500000000}, {"1G", "1000000000", 1000000000, 1000000000000}, {"0G", "0", 0, 0},
      {"G", "0", 0, 0}, {"1.5G", "1500000000", 1500000000, 1500000000000},
      {"1T", "1000000000000", 1000000000000, 1000000000000000}, {"0T", "0", 0, 0}, {"T", "0", 0, 0},
      {"1.5T", "1500000000000", 1500000000000, 1500000000000000},
      {"1P", "1000000000000000", 1000000000000000, 1000000000000000000}, {"0P", "0", 0, 0}, {"P", "0", 0, 0},
      {"1.5P", "1500000000000000", 1500000000000000, 1500000000000000000}, {"0E", "0", 0, 0}, {"E", "0", 0, 0},
      {"1Ki", "1024", 1024, 1024000}, {"0Ki", "0", 0, 0}, {"Ki", "0", 0, 0}, {"1.5Ki", "1536", 1536, 1536000},
      {"1Mi", "1048576", 1048576, 1048576000}, {"0Mi", "0", 0, 0}, {"Mi", "0", 0, 0},
      {"1.5Mi", "1572864", 1572864, 1572864000}, {"1Gi", "1073741824", 1073741824, 1073741824000}, {"0Gi", "0", 0, 0},
      {"Gi", "0", 0, 0}, {"1.5Gi", "1610612736", 1610612736, 1610612736000},
      {"1Ti", "1099511627776", 1099511627776, 1099511627776000}, {"0Ti", "0", 0, 0}, {"Ti", "0", 0, 0},
      {"1.5Ti", "1649267441664", 1649267441664, 1649267441664000},
      {"1Pi", "1125899906842624", 1125899906842624, 1125899906842624000}, {"0Pi", "0", 0, 0},
      {"1.5Pi", "1688849860263936", 1688849860263936, 1688849860263936000}, {"0Ei", "0", 0, 0},
      {"3n", "0.000000003", 1, 1}, {"999n", "0.000000999", 1, 1}, {"1000n", "0.000001", 1, 1},
      {"1001n", "0.000001001", 1, 1}, {"500u", "0.0005", 1, 1}, {"0.5u", "0.0000005", 1, 1},
      {"0.5n", "0.000000001", 1, 1}, {"0.1n", "0.000000001", 1, 1}, {"0.0001n", "0.000000001", 1, 1},
      {"1.0000000001", "1.000000001", 2, 1001}, {"1.000000001", "1.000000001", 2, 1001},
      {"0.0000000001", "0.000000001", 1, 1}, {"0.000000001", "0.000000001", 1, 1},
      {"0.0000000010000000001", "0.000000002", 1, 1}, {"1.1m", "0.0011", 1, 2}, {"0.1m", "0.0001", 1, 1},
      {"100m", "0.1", 1, 100}, {"1500m", "1.5", 2, 1500}, {"999.999m", "0.999999", 1, 1000},
      {"2.0001", "2.0001", 3, 2001}, {"1e0", "1", 1, 1000}, {"1e3", "1000", 1000, 1000000},
      {"1E3", "1000", 1000, 1000000}, {"1e+3", "1000", 1000, 1000000}, {"1e-3", "0.001", 1, 1},
      {"1E-3", "0.001", 1, 1}, {"12e6", "12000000", 12000000, 12000000000}, {"1.5e3", "1500", 1500, 1500000},
      {"1e-9", "0.000000001", 1, 1}, {"1e-10", "0.000000001", 1, 1}, {"1e-20", "0.000000001", 1, 1},
      {"5e-10", "0.000000001", 1, 1}, {"1e-40", "0.000000001", 1, 1}, {"0e-20", "0", 0, 0}, {"0e100", "0", 0, 0},
      {"e5", "0", 0, 0}, {"E5", "0", 0, 0}, {"e-9", "0", 0, 0}, {"+e3", "0", 0, 0}, {"1e4294967296", "1", 1, 1000},
      {"1e-4294967296", "1", 1, 1000}, {"0.1Ki", "102.4", 103, 102400}, {"0.5Ki", "512", 512, 512000},
      {"1.1Ki", "1126.4", 1127, 1126400}, {"1.25Gi", "1342177280", 1342177280, 1342177280000},
      {"0.1Mi", "104857.6", 104858, 104857600},
      {"0.000001Ei", "1152921504606.846976", 1152921504607, 1152921504606847},
      {"1.000000000000000000000000001Ki", "1024.000000001", 1025, 1024001},
      {"000000000000000000000000000001", "1", 1, 1000}, {"0.000000000000000000000000000001", "0.000000001", 1, 1},
      {"1.00000000000000000000000000", "1", 1, 1000}, {"0.999999999999999999", "1", 1, 1000},
      {"0.9999999999", "1", 1, 1000}, {"1234567890.123456789", "1234567890.123456789", 1234567891, 1234567890124},
      {"1234567890.1234567891", "1234567890.12345679", 1234567891, 1234567890124},
      {"16Gi", "17179869184", 17179869184, 17179869184000}, {"64Gi", "68719476736", 68719476736, 68719476736000},
      {"128974848", "128974848", 128974848, 128974848000}, {"129e6", "129000000", 129000000, 129000000000},
      {"129M", "129000000", 129000000, 129000000000}, {"123Mi", "128974848", 128974848, 128974848000},
      {"3.2", "3.2", 4, 3200}, {"0.25", "0.25", 1, 250}, {"250m", "0.25", 1, 250}, {"2.5k", "2500", 2500, 2500000},
      {"4096Mi", "4294967296", 4294967296, 4294967296000}, {"-1500m", "-1.5", -2, -1500},
      {"-1Ki", "-1024", -1024, -1024000}, {"-0.1", "-0.1", -1, -100}, {"-100m", "-0.1", -1, -100},
      {"-1n", "-0.000000001", -1, -1}, {"-5", "-5", -5, -5000},
      {"-2.5Gi", "-2684354560", -2684354560, -2684354560000}, {"-1e3", "-1000", -1000, -1000000},
      {"1023Ti", "1124800395214848", 1124800395214848, 1124800395214848000},
      {"9007199254740993", "9007199254740993", 9007199254740993, 9007199254740993000},
      {"9007199254740993m", "9007199254740.993", 9007199254741, 9007199254740993},
      {"9223372036854775807m", "9223372036854775.807", 9223372036854776, 9223372036854775807},
      {"9223372036854775807n", "9223372036.854775807", 9223372037, 9223372036855},
      {"9223372036854775807u", "9223372036854.775807", 9223372036855, 9223372036854776},
      {"1.8446744073709551616", "1.844674408", 2, 1845}, {"0.0000000000000000009E", "0.9", 1, 900},
      {"0.0000000000000000000000000009E", "0.000000001", 1, 1}, {"E-9", "0", 0, 0}, {"e+9", "0", 0, 0},
      // clang-format on
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    const Result<Quantity> q = Quantity::Parse(c.text);
    ASSERT_TRUE(q.ok()) << q.error().text();
    EXPECT_EQ(q->ToString(), c.exact);
    EXPECT_EQ(q->Value(), c.value);
    EXPECT_EQ(q->MilliValue(), c.milli);
  }
}

TEST(QuantityTest, RefusesWhatUpstreamRefusesWithTheSameSentence) {
  const std::string kFormat =
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  const std::string kNumeric = "unable to parse numeric part of quantity";
  const std::string kSuffix = "unable to parse quantity's suffix";
  const struct {
    const char* text;
    const std::string& error;
  } cases[] = {
      // clang-format off
      {"Pi", kNumeric}, {"Ei", kNumeric}, {"e-10", kNumeric}, {".e-20", kNumeric}, {"", kFormat}, {" ", kFormat},
      {" 1", kFormat}, {"1 ", kFormat}, {"1 Gi", kFormat}, {"abc", kFormat}, {"x", kFormat}, {"1x", kFormat},
      {"1g", kFormat}, {"1t", kFormat}, {"1p", kFormat}, {"1K", kSuffix}, {"1KB", kFormat}, {"1kb", kFormat},
      {"1MB", kFormat}, {"1Gib", kFormat}, {"1gi", kFormat}, {"1ki", kSuffix}, {"1mi", kSuffix}, {"1i", kSuffix},
      {"1ii", kSuffix}, {"1Kii", kSuffix}, {"1Mn", kSuffix}, {"1mm", kSuffix}, {"1kk", kSuffix}, {"1EE", kSuffix},
      {"1Ee", kSuffix}, {"1e", kSuffix}, {"1e+", kSuffix}, {"1e-", kSuffix}, {"1E+", kSuffix}, {"1e1.5", kFormat},
      {"1e5k", kFormat}, {"1e5e5", kFormat}, {"1ke5", kSuffix}, {"1+", kSuffix}, {"1-", kSuffix}, {"1+5", kSuffix},
      {"1-5", kSuffix}, {"1--", kFormat}, {"--1", kSuffix}, {"++1", kSuffix}, {"+-1", kSuffix}, {"1..5", kFormat},
      {"1.5.3", kFormat}, {"..", kFormat}, {"1,5", kFormat}, {"1_000", kFormat}, {"0x10", kFormat}, {"0b1", kFormat},
      {"1e99999999999999999999", kSuffix}, {"1e9223372036854775808", kSuffix}, {"NaN", kFormat}, {"Inf", kFormat},
      {"infinity", kFormat}, {"nan", kFormat}, {"1\xc2""\xb5""", kFormat}, {"\xd9""\xa1""", kFormat},
      {"1Ki5", kSuffix}, {"1Ki+5", kSuffix}, {"5Yi", kFormat}, {"5Zi", kFormat}, {"5Z", kFormat}, {"$1", kFormat},
      {"1%", kFormat}, {"1e 5", kFormat}, {"1.2e", kSuffix}, {"1.2ee3", kSuffix}, {"12 3", kFormat},
      {"1\xc2""\xa0""", kFormat}, {"Kii", kSuffix}, {"ki", kSuffix}, {"K", kSuffix}, {"i", kSuffix}, {"e", kSuffix},
      {"in", kSuffix}, {"1n5", kSuffix}, {"1u-3", kSuffix}, {"m1", kSuffix}, {"Pi+", kSuffix}, {"E+", kSuffix},
      // clang-format on
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    const Result<Quantity> q = Quantity::Parse(c.text);
    ASSERT_FALSE(q.ok()) << q->ToString();
    EXPECT_EQ(q.error().text(), c.error);
  }
}

TEST(QuantityTest, ABinarySuffixCapsAtTheLargestInt64AsUpstreamDoes) {
  for (const char* text : {"8Ei", "9Ei", "9223372036854775807.1Ki", "123456789012345678901234567890Mi"}) {
    SCOPED_TRACE(text);
    const Result<Quantity> q = Quantity::Parse(text);
    ASSERT_TRUE(q.ok());
    EXPECT_EQ(q->ToString(), "9223372036854775807");
    EXPECT_EQ(q->Value(), kMax);
  }
}

// Upstream's answers out of range depend on the spelling: MilliValue of 9e18 is 0, of 9000000000000000000 it is
// -2011107970261188608. A request that large must not count as none, so ours stays at the end of the range.
TEST(QuantityTest, ValuesOutOfRangeSaturateWhateverTheSpelling) {
  const struct {
    const char* text;
    int64_t value, milli;
  } cases[] = {
      {"1E", 1000000000000000000, kMax},
      {"1e18", 1000000000000000000, kMax},
      {"9e18", 9000000000000000000, kMax},
      {"9000000000000000000", 9000000000000000000, kMax},
      {"9300T", 9300000000000000, kMax},
      {"9223372036854775807", kMax, kMax},
      {"7.9Ei", 9108079886394091111, kMax},
      {"3.99999999999999999999Ei", 4611686018427387904, kMax},
      {"0.3333333333333333333333333333Ei", 384307168202282326, kMax},
      {"9223372036854775808", kMax, kMax},
      {"10E", kMax, kMax},
      {"1e30", kMax, kMax},
      {"1e2147483647", kMax, kMax},
      {"-1e30", -kMax, kMin},
      {"-9300T", -9300000000000000, kMin},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    const Result<Quantity> q = Quantity::Parse(c.text);
    ASSERT_TRUE(q.ok());
    EXPECT_EQ(q->Value(), c.value);
    EXPECT_EQ(q->MilliValue(), c.milli);
  }
}

TEST(QuantityTest, HugeExponentsAndLongNumbersCostNoTime) {
  EXPECT_EQ(Quantity::Parse("1e-2147483648")->ToString(), "0.000000001");
  EXPECT_EQ(Quantity::Parse("0e2147483647")->ToString(), "0");
  EXPECT_EQ(Quantity::Parse("0." + std::string(100000, '0') + "1")->ToString(), "0.000000001");
  EXPECT_EQ(Quantity::Parse(std::string(100000, '9'))->Value(), kMax);
  EXPECT_EQ(Quantity::Parse(std::string(100000, '0') + "7Ki")->Value(), 7168);
}

TEST(QuantityTest, RoundingHappensOnlyAtTheEnd) {
  const Quantity half = *Quantity::Parse("500u");
  EXPECT_EQ(half.MilliValue(), 1);
  EXPECT_EQ((half + half).MilliValue(), 1);
  EXPECT_EQ((half + half + half).MilliValue(), 2);
}

TEST(QuantityTest, NegativeAmountsRoundAwayFromZero) {
  EXPECT_EQ(Quantity::Parse("-1500m")->Value(), -2);
  EXPECT_EQ(Quantity::Parse("-0.1m")->MilliValue(), -1);
  EXPECT_TRUE(Quantity::Parse("-1n")->IsNegative());
  EXPECT_FALSE(Quantity::Parse("-0")->IsNegative());
}

TEST(QuantityTest, EqualAmountsAreEqualWhateverTheSpelling) {
  EXPECT_EQ(*Quantity::Parse("1Gi"), *Quantity::Parse("1073741824"));
  EXPECT_EQ(*Quantity::Parse("0.1"), *Quantity::Parse("100m"));
  EXPECT_EQ(Quantity::FromMilli(1500), *Quantity::Parse("1.5"));
  EXPECT_EQ(Quantity::FromValue(-3), *Quantity::Parse("-3"));
  EXPECT_LT(*Quantity::Parse("999m"), *Quantity::Parse("1"));
  EXPECT_GT(*Quantity::Parse("1Ki"), *Quantity::Parse("1k"));
}

TEST(QuantityTest, PrintsEvenTheMostNegativeNumber) {
  const Quantity::Int128 least = static_cast<Quantity::Int128>(1) << 126;
  EXPECT_EQ(Quantity::FromNano(-least - least).ToString(), "-170141183460469231731687303715.884105728");
}

}  // namespace
}  // namespace berth
