// SPDX-License-Identifier: Apache-2.0
// What of a message is shown to people.
#include "conform/caller.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "api/json_scan.h"

namespace berth::conform {
namespace {

TEST(ExcerptTest, ShortTextsAreShownWhole) { EXPECT_EQ(Excerpt("{\"a\":\n\"é\"}\n"), "{\"a\": \"é\"}"); }

TEST(ExcerptTest, OfLongOnesBeginningAndEndAreShownInWholeCharacters) {
  std::string text = "begin";
  for (int i = 0; i < 200; ++i) text += "é";
  text += "end";
  EXPECT_EQ(Excerpt(text, 12), "beginé … end (408 bytes)");
}

TEST(ExcerptTest, AnyBytesBecomeOneLineOfValidUtf8OfBoundedLength) {
  const bool holds = rc::check([](const std::vector<uint8_t>& bytes) {
    const size_t length = *rc::gen::inRange<size_t>(3, 60);
    const std::string line = Excerpt(std::string(bytes.begin(), bytes.end()), length);
    RC_ASSERT(CheckUtf8(line).ok());
    RC_ASSERT(std::ranges::none_of(line, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; }));
    RC_ASSERT(line.size() < length + 40);
  });
  EXPECT_TRUE(holds);
}

}  // namespace
}  // namespace berth::conform
