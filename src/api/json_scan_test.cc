// SPDX-License-Identifier: Apache-2.0
#include "api/json_scan.h"

#include <gtest/gtest.h>

#include <string>

#include "api/lone_surrogates.h"

namespace berth {
namespace {

TEST(JsonScanTest, ValidValuesEndWhereTheyEnd) {
  const struct {
    const char* text;
    size_t end;
  } cases[] = {
      {"{}", 2},
      {"[] ", 2},
      {" {\"a\" : [1, -2.5e+3, true, null]}x", 33},
      {"\"a\\u00e9\\\\\"", 11},
      {"0.5", 3},
      {"-0", 2},
      {"{\"a\":{\"b\":[{}]}}", 16},
      {"\"\\ud83d\\ude00\"", 14},
      {"[[],[{}],1]", 11},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    const Result<size_t> end = ScanJsonValue(c.text, 0);
    ASSERT_TRUE(end.ok()) << end.error().text();
    EXPECT_EQ(*end, c.end);
  }
}

TEST(JsonScanTest, EverythingElseIsRejected) {
  for (const char* text : {"",
                           " ",
                           "{",
                           "[",
                           "{]",
                           "[}",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{\"a\":1,}",
                           "{a:1}",
                           "{1:2}",
                           "[1 2]",
                           "[,1]",
                           "\"a",
                           "\"\\x\"",
                           "\"\\u12g4\"",
                           "\"\\ud800\"",
                           "\"\\udc00\"",
                           "\"\\ud800\\u0041\"",
                           "\"\t\"",
                           "01",
                           "-",
                           "1.",
                           ".5",
                           "1e",
                           "+1",
                           "tru",
                           "nul",
                           "NaN",
                           "'a'",
                           "{\"a\":1"}) {
    EXPECT_FALSE(ScanJsonValue(text, 0).ok()) << text;
  }
}

TEST(JsonScanTest, DepthIsBounded) {
  const std::string at_limit = std::string(kMaxJsonDepth, '[') + std::string(kMaxJsonDepth, ']');
  EXPECT_TRUE(ScanJsonValue(at_limit, 0).ok());
  EXPECT_FALSE(ScanJsonValue("[" + at_limit + "]", 0).ok());
}

TEST(JsonScanTest, Utf8ErrorsSayWhere) {
  EXPECT_TRUE(CheckUtf8("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80").ok());
  for (const char* text :
       {"x\n\x80", "x\n\xC3", "x\n\xC0\xAF", "x\n\xED\xA0\x80", "x\n\xF5\x80\x80\x80", "x\n\xE2\x82"}) {
    const Error error = CheckUtf8(text);
    ASSERT_FALSE(error.ok());
    EXPECT_EQ(error.text(), "invalid UTF-8 at line 2, column 1");
  }
}

TEST(JsonScanTest, ABadByteIsFoundWhereverItStandsInTextsOfAnyLength) {
  for (size_t size = 1; size <= 80; ++size) {
    std::string text(size, 'a');
    EXPECT_TRUE(CheckUtf8(text).ok()) << size;
    for (size_t at = 0; at < size; ++at) {
      text[at] = '\x80';
      EXPECT_FALSE(CheckUtf8(text).ok()) << size << ", " << at;
      text[at] = 'a';
      if (at + 1 == size) continue;
      EXPECT_TRUE(CheckUtf8(std::string(text).replace(at, 2, "\xC3\xA9")).ok()) << size << ", " << at;
    }
  }
}

TEST(JsonScanTest, EveryByteThatIsNotUtf8IsRepaired) {
  EXPECT_EQ(RepairUtf8("a\xC3\xA9"), "a\xC3\xA9");
  EXPECT_EQ(RepairUtf8("a\xC3"), "a\xEF\xBF\xBD");
  EXPECT_EQ(RepairUtf8("\xE2\x82z\xC3\xA9"), "\xEF\xBF\xBD\xEF\xBF\xBDz\xC3\xA9");
  EXPECT_EQ(RepairUtf8("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(JsonScanTest, HalvesOfPairsAreReplaced) {
  const struct {
    std::string text, want;
    size_t at;
  } cases[] = {
      {R"("plain")", R"("plain")", std::string::npos},
      {R"("\ud83d\ude00")", R"("\ud83d\ude00")", std::string::npos},
      {R"("\ud83d")", R"("\ufffd")", 1},
      {R"("x\ude00\ud83dn")", R"("x\ufffd\ufffdn")", 2},
      {R"("\\ud83d")", R"("\\ud83d")", std::string::npos},
      {R"("\ud8)", R"("\ud8)", std::string::npos},
  };
  for (const auto& c : cases) {
    std::string text = c.text;
    EXPECT_EQ(ReplaceLoneSurrogates(text), c.at) << c.text;
    EXPECT_EQ(text, c.want);
  }
}

TEST(JsonScanTest, StringsAreEscaped) {
  std::string out;
  AppendJsonString("a\"b\\c\n\x01", out);
  EXPECT_EQ(out, "\"a\\\"b\\\\c\\u000a\\u0001\"");
}

}  // namespace
}  // namespace berth
