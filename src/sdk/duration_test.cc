// SPDX-License-Identifier: Apache-2.0
// Durations in Go's form; the expectations are what Go's time package says.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "berth/args.h"

namespace berth {
namespace {

TEST(DurationTest, ReadsWhatGoReads) {
  const struct {
    const char* text;
    int64_t ns;
  } cases[] = {
      {"0", 0},
      {"-0", 0},
      {"5s", 5'000'000'000},
      {"1478s", 1'478'000'000'000},
      {"-5s", -5'000'000'000},
      {"+5s", 5'000'000'000},
      {"5.6s", 5'600'000'000},
      {"5.s", 5'000'000'000},
      {".5s", 500'000'000},
      {"1.004s", 1'004'000'000},
      {"10ns", 10},
      {"11us", 11'000},
      {"12\xc2\xb5s", 12'000},
      {"12\xce\xbcs", 12'000},
      {"13ms", 13'000'000},
      {"15m", 900'000'000'000},
      {"16h", 57'600'000'000'000},
      {"3h30m", 12'600'000'000'000},
      {"10.5s4m", 250'500'000'000},
      {"-2m3.4s", -123'400'000'000},
      {"0.100000000000000000000h", 360'000'000'000},
      {"0.830103483285477580700h", 2'988'372'539'827},
      {"9223372036854775807ns", 9'223'372'036'854'775'807},
      {"-9223372036854775808ns", INT64_MIN},
      {"9007199254.740993s", 9'007'199'254'740'993'000},
  };
  for (const auto& c : cases) {
    const Result<Duration> duration = ParseDuration(c.text);
    ASSERT_TRUE(duration.ok()) << c.text << ": " << duration.error().text();
    EXPECT_EQ(duration->ns, c.ns) << c.text;
  }
}

TEST(DurationTest, RefusesWhatGoRefuses) {
  const struct {
    const char* text;
    const char* error;
  } cases[] = {
      {"", "time: invalid duration \"\""},
      {"3", "time: missing unit in duration \"3\""},
      {"-", "time: invalid duration \"-\""},
      {"s", "time: invalid duration \"s\""},
      {".", "time: invalid duration \".\""},
      {".s", "time: invalid duration \".s\""},
      {"1h 2m", "time: unknown unit \"h \" in duration \"1h 2m\""},
      {"15x", "time: unknown unit \"x\" in duration \"15x\""},
      {"1d", "time: unknown unit \"d\" in duration \"1d\""},
      {"9223372036854775808ns", "time: invalid duration \"9223372036854775808ns\""},
      {"-9223372036854775809ns", "time: invalid duration \"-9223372036854775809ns\""},
      {"3000000h", "time: invalid duration \"3000000h\""},
      {"99999999999999999999s", "time: invalid duration \"99999999999999999999s\""},
  };
  for (const auto& c : cases) {
    const Result<Duration> duration = ParseDuration(c.text);
    ASSERT_FALSE(duration.ok()) << c.text;
    EXPECT_EQ(duration.error().text(), c.error);
  }
}

TEST(DurationTest, PrintsAsGoPrints) {
  const struct {
    int64_t ns;
    const char* text;
  } cases[] = {
      {0, "0s"},
      {1, "1ns"},
      {1'100, "1.1\xc2\xb5s"},
      {2'200'000, "2.2ms"},
      {3'300'000'000, "3.3s"},
      {300'000'000'000, "5m0s"},
      {300'001'000'000, "5m0.001s"},
      {18'306'001'000'000, "5h5m6.001s"},
      {600'000'000'000, "10m0s"},
      {3'600'000'000'000, "1h0m0s"},
      {-1'000'000'000, "-1s"},
      {INT64_MAX, "2562047h47m16.854775807s"},
      {INT64_MIN, "-2562047h47m16.854775808s"},
  };
  for (const auto& c : cases) EXPECT_EQ(FormatDuration({c.ns}), c.text);
}

TEST(DurationTest, WhatIsPrintedReadsBack) {
  EXPECT_TRUE(rc::check([](int64_t ns) { RC_ASSERT(ParseDuration(FormatDuration({ns})).value().ns == ns); }));
}

}  // namespace
}  // namespace berth
