// SPDX-License-Identifier: Apache-2.0
#include "util/go_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::util {
namespace {

using ::testing::ElementsAre;

TEST(GoValuesTest, NumbersAreReadAsStrconvDoes) {
  const auto read = [](const char* text, int bits = 64) { return ParseGoInt(text, 0, bits); };
  EXPECT_EQ(read("0").value, 0);
  EXPECT_EQ(read("-12").value, -12);
  EXPECT_EQ(read("+0x1F").value, 31);
  EXPECT_EQ(read("0b101").value, 5);
  EXPECT_EQ(read("0o17").value, 15);
  EXPECT_EQ(read("017").value, 15);
  EXPECT_EQ(read("1_000").value, 1000);
  EXPECT_EQ(read("0x_1").value, 1);
  EXPECT_EQ(read("2147483647", 32).value, 2147483647);
  EXPECT_EQ(read("-2147483648", 32).value, -2147483648);
  EXPECT_EQ(read("-9223372036854775808").value, INT64_MIN);
  for (const char* text : {"", "-", "x", "08", "1__0", "_1", "1_", "0x", "1.5", " 1", "1 "})
    EXPECT_FALSE(read(text).ok()) << text;
  EXPECT_EQ(ParseGoInt("0x10", 10, 32).error, "strconv.ParseInt: parsing \"0x10\": invalid syntax");
  EXPECT_EQ(read("2147483648", 32).error, "strconv.ParseInt: parsing \"2147483648\": value out of range");
  EXPECT_EQ(read("99999999999999999999").error,
            "strconv.ParseInt: parsing \"99999999999999999999\": value out of range");
  EXPECT_EQ(ParseGoUint("2147483647", 10, 31).value, 2147483647u);
  EXPECT_EQ(ParseGoUint("2147483648", 10, 31).error, "strconv.ParseUint: parsing \"2147483648\": value out of range");
  EXPECT_EQ(ParseGoUint("-1", 10, 31).error, "strconv.ParseUint: parsing \"-1\": invalid syntax");
  EXPECT_EQ(ParseGoUint("18446744073709551615", 10, 64).value, UINT64_MAX);
  EXPECT_FALSE(ParseGoUint("18446744073709551616", 10, 64).ok());
}

TEST(GoValuesTest, TruthsAreReadAsStrconvDoes) {
  for (const char* text : {"1", "t", "T", "TRUE", "true", "True"}) EXPECT_TRUE(ParseGoBool(text).value) << text;
  for (const char* text : {"0", "f", "F", "FALSE", "false", "False"}) {
    EXPECT_TRUE(ParseGoBool(text).ok()) << text;
    EXPECT_FALSE(ParseGoBool(text).value) << text;
  }
  EXPECT_EQ(ParseGoBool("yes").error, "strconv.ParseBool: parsing \"yes\": invalid syntax");
}

TEST(GoValuesTest, FloatsAreReadAndWrittenAsStrconvDoes) {
  EXPECT_EQ(ParseGoFloat("1e3").value, 1000.0F);
  EXPECT_EQ(ParseGoFloat("-.5").value, -0.5F);
  EXPECT_EQ(ParseGoFloat("5.").value, 5.0F);
  EXPECT_EQ(ParseGoFloat("0x1p-2").value, 0.25F);
  EXPECT_EQ(ParseGoFloat("1e-60").value, 0.0F);
  EXPECT_GT(ParseGoFloat("+Inf").value, 1e38F);
  for (const char* text : {"", "x", "1_0", "0x1", "--1", "+-1", "1e", "nan(1)", "1 "})
    EXPECT_EQ(ParseGoFloat(text).error, "strconv.ParseFloat: parsing \"" + std::string(text) + "\": invalid syntax");
  EXPECT_EQ(ParseGoFloat("1e50").error, "strconv.ParseFloat: parsing \"1e50\": value out of range");
  EXPECT_EQ(ParseGoFloat("1e400").error, "strconv.ParseFloat: parsing \"1e400\": value out of range");
  EXPECT_EQ(FormatGoFloat(50), "50");
  EXPECT_EQ(FormatGoFloat(0.1F), "0.1");
  EXPECT_EQ(FormatGoFloat(5'000), "5000");
  EXPECT_EQ(FormatGoFloat(1'000'000), "1e+06");
  EXPECT_EQ(FormatGoFloat(0.00001F), "1e-05");
}

TEST(GoValuesTest, ListsAreCsv) {
  EXPECT_THAT(ReadGoCsv("a,b").value, ElementsAre("a", "b"));
  EXPECT_THAT(ReadGoCsv("\"a,b\",\"c\"\"d\",").value, ElementsAre("a,b", "c\"d", ""));
  EXPECT_THAT(ReadGoCsv("a\nb").value, ElementsAre("a"));
  EXPECT_THAT(ReadGoCsv("\"a\nb\",c\r\n").value, ElementsAre("a\nb", "c"));
  EXPECT_EQ(ReadGoCsv("\n").error, "EOF");
  EXPECT_EQ(ReadGoCsv("a\"b").error, "parse error on line 1, column 2: bare \" in non-quoted-field");
  EXPECT_EQ(ReadGoCsv("\"abc").error, "parse error on line 1, column 5: extraneous or missing \" in quoted-field");
  EXPECT_EQ(ReadGoCsv("\"abc\"d").error, "parse error on line 1, column 5: extraneous or missing \" in quoted-field");
  EXPECT_EQ(WriteGoCsv(std::vector<std::string>{"a", "b,c", "d\"", " e", ""}), "a,\"b,c\",\"d\"\"\",\" e\",");
}

}  // namespace
}  // namespace berth::util
