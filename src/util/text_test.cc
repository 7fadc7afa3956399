// SPDX-License-Identifier: Apache-2.0
#include "util/text.h"

#include <gtest/gtest.h>

namespace berth::util {
namespace {

TEST(TextTest, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(ValidUtf8("n\xC3\xB6rd \xF0\x9F\x9A\xA2"), "n\xC3\xB6rd \xF0\x9F\x9A\xA2");
  EXPECT_EQ(ValidUtf8("a\xFF"
                      "b\xC3"),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD");
  EXPECT_EQ(ValidUtf8("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD");                  // too long a form
  EXPECT_EQ(ValidUtf8("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // half a surrogate pair
}

TEST(TextTest, ShortensToWholeCharacters) {
  EXPECT_EQ(Shortened("abc", 3), "abc");
  EXPECT_EQ(Shortened("abcd", 3), "abc…");
  EXPECT_EQ(Shortened("ab\xC3\xB6", 3), "ab…");
}

TEST(TextTest, WritesWhatXmlCanRead) {
  EXPECT_EQ(XmlText("<a b=\"c\">&\n\x01\xFF"), "&lt;a b=&quot;c&quot;&gt;&amp;\n?\xEF\xBF\xBD");
  EXPECT_EQ(XmlAttribute("a\nb\t"), "a&#10;b?");
  EXPECT_EQ(XmlText("\xEF\xBF\xBF"), "\xEF\xBF\xBD");
}

TEST(TextTest, WhatCannotBeSeenIsEscaped) {
  const auto escaped = [](std::string_view text, Escapes escapes) {
    std::string out;
    AppendEscaped(out, text, escapes);
    return out;
  };
  // A bell, a delete, a C1 control, a right-to-left override, half a character.
  constexpr char kHidden[] = "a\a\n\x7F\xC2\x9B\xE2\x80\xAEz\xC3";
  EXPECT_EQ(escaped(kHidden, Escapes::kPlain), R"(a\a\n\x7f\u009b\u202ez\xc3)");
  EXPECT_EQ(escaped(kHidden, Escapes::kQuoted), R"(a\a\n\x7f\u009b\u202ez\xc3)");
  EXPECT_EQ(escaped(kHidden, Escapes::kJson), R"(a\u0007\n\u007f\u009b\u202ez\ufffd)");
  constexpr char kSeen[] = "\"n\xC3\xB6rd\\ \xF0\x9F\x9A\xA2";
  EXPECT_EQ(escaped(kSeen, Escapes::kPlain), kSeen);
  EXPECT_EQ(escaped(kSeen, Escapes::kQuoted), "\\\"n\xC3\xB6rd\\\\ \xF0\x9F\x9A\xA2");
  EXPECT_EQ(escaped(kSeen, Escapes::kJson), "\\\"n\xC3\xB6rd\\\\ \xF0\x9F\x9A\xA2");
}

}  // namespace
}  // namespace berth::util
