// SPDX-License-Identifier: Apache-2.0
#include "api/proto_fields.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "api/proto_test_util.h"

namespace berth {
namespace {

TEST(ProtoFieldsTest, NumbersOfEveryLengthAreRead) {
  for (int bits = 0; bits < 64; ++bits) {
    for (const uint64_t value : {uint64_t{1} << bits, (uint64_t{1} << bits) - 1, ~uint64_t{0} >> bits}) {
      const std::string bytes = ProtoBytes().Number(1, static_cast<int64_t>(value)).Text(2, "t").bytes();
      ProtoFields fields(bytes);
      ASSERT_TRUE(fields.Next());
      EXPECT_EQ(fields.varint(), value);
      ASSERT_TRUE(fields.Next()) << "where the number ends is known";
      EXPECT_EQ(fields.bytes(), "t");
      EXPECT_FALSE(fields.Next());
      EXPECT_FALSE(fields.broken());
    }
  }
}

TEST(ProtoFieldsTest, SizesAndFieldNumbersOfSeveralBytesAreRead) {
  for (const uint32_t number : {1U, 15U, 16U, 2047U, 2048U, 536'870'911U}) {
    for (const size_t size : {0, 1, 127, 128, 16'383, 16'384, 100'000}) {
      const std::string text(size, 'x');
      const std::string bytes = ProtoBytes().Text(number, text).Fixed(number, 7).bytes();
      ProtoFields fields(bytes);
      ASSERT_TRUE(fields.Next());
      EXPECT_EQ(fields.number(), number);
      EXPECT_EQ(fields.bytes(), text);
      ASSERT_TRUE(fields.Next());
      EXPECT_EQ(fields.wire(), ProtoWire::kFixed64);
      EXPECT_EQ(fields.bytes().size(), 8u);
      EXPECT_FALSE(fields.Next());
      EXPECT_FALSE(fields.broken());
    }
  }
}

TEST(ProtoFieldsTest, WhatIsCutOffIsBroken) {
  const std::vector<ProtoBytes> messages = {
      ProtoBytes().Number(1, 5),    ProtoBytes().Number(1, 300),   ProtoBytes().Number(1, -1),
      ProtoBytes().Number(3000, 5), ProtoBytes().Number(16, 5),    ProtoBytes().Text(1, "abc"),
      ProtoBytes().Fixed(1, 5),     ProtoBytes().Text(100, "abc"), ProtoBytes().Text(1, std::string(200, 'x'))};
  for (const ProtoBytes& message : messages) {
    for (size_t size = 1; size < message.bytes().size(); ++size) {
      const std::string cut = message.bytes().substr(0, size);  // of its own, so that a sanitizer sees its end
      ProtoFields fields(cut);
      EXPECT_FALSE(fields.Next());
      EXPECT_TRUE(fields.broken());
      EXPECT_FALSE(fields.Next());
    }
  }
}

TEST(ProtoFieldsTest, WhatIsNoFieldIsBroken) {
  for (const std::string& bytes :
       std::vector<std::string>{{"\0\0", 2},  // number 0
                                "\x0b\x01",
                                "\x0c\x01",
                                "\x0e\x01",
                                "\x0f\x01",  // groups, and types that there are none of
                                "\x0a\x05"
                                "abcd",                                              // shorter than it says
                                "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",  // more than 64 bits
                                "\xff\xff\xff\xff\xff\xff\x01\x01"}) {               // a number of more than 29
    ProtoFields fields(bytes);
    EXPECT_FALSE(fields.Next());
    EXPECT_TRUE(fields.broken());
  }
}

}  // namespace
}  // namespace berth
