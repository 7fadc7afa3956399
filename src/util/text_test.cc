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

}  // namespace
}  // namespace berth::util
