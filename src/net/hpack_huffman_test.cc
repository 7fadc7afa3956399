// SPDX-License-Identifier: Apache-2.0
#include "net/hpack_huffman.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/hpack_test_util.h"

namespace berth::net {
namespace {

// Nothing: it is not a code.
std::optional<std::string> TextOf(std::string_view code) {
  // In memory of exactly that size, so that AddressSanitizer sees what goes too far.
  const std::vector<char> exact(code.begin(), code.end());
  std::vector<char> text(MostHuffmanText(code.size()));
  char none = 0;
  char* const to = text.empty() ? &none : text.data();
  const char* const end = DecodeHuffman({exact.data(), exact.size()}, to);
  if (end == nullptr) return std::nullopt;
  return std::string(to, static_cast<size_t>(end - to));
}

// As nghttp2 has it, whose encoder takes what is shorter: `text` has many bytes with short codes.
std::string CodeOf(const std::string& text) {
  OtherDeflater deflater;
  std::string block = deflater.Block({{"s", text}}, true);
  // Kept out of the table, with its name of one byte, whose code is as long.
  block.erase(0, 3);
  const auto first = static_cast<uint8_t>(block[0]);
  EXPECT_EQ(first & 0x80, 0x80) << "not in this code";
  size_t begin = 1;
  if ((first & 0x7f) == 0x7f) {
    while ((static_cast<uint8_t>(block[begin]) & 0x80) != 0) ++begin;
    ++begin;
  }
  return block.substr(begin);
}

TEST(HpackHuffman, TextsOfTheDocumentAreRead) {
  EXPECT_EQ(TextOf("\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff"), "www.example.com");
  EXPECT_EQ(TextOf("\xa8\xeb\x10\x64\x9c\xbf"), "no-cache");
  EXPECT_EQ(TextOf("\x25\xa8\x49\xe9\x5b\xa9\x7d\x7f"), "custom-key");
  EXPECT_EQ(TextOf("\xae\xc3\x77\x1a\x4b"), "private");
  EXPECT_EQ(TextOf(""), "");
}

TEST(HpackHuffman, EveryByteIsReadAtEveryPlace) {
  for (int byte = 0; byte < 256; ++byte) {
    for (size_t before = 0; before < 20; ++before) {
      for (const size_t after : {0, 1, 3, 7, 30}) {
        // Zeros have five bits each, and there are enough of them for any byte's 30.
        const std::string text =
            std::string(before, '0') + static_cast<char>(byte) + std::string(after, 'e') + std::string(12, '1');
        ASSERT_EQ(TextOf(CodeOf(text)), text) << byte << " after " << before;
      }
    }
    const std::string twice = {static_cast<char>(byte), static_cast<char>(byte)};
    const std::string text = std::string(60, 'a') + twice + twice + twice;
    ASSERT_EQ(TextOf(CodeOf(text)), text) << byte;
    // It is the last one.
    ASSERT_EQ(TextOf(CodeOf(std::string(12, 'o') + static_cast<char>(byte))), std::string(12, 'o') + twice[0]) << byte;
  }
}

TEST(HpackHuffman, WhatFillsTheLastByteUpIsOnesAndLessThanAByte) {
  // '0' is 00000, '1' is 00001, 'a' is 00011.
  EXPECT_EQ(TextOf(std::string("\x07", 1)), "0");
  EXPECT_EQ(TextOf("\x1f"), "a");
  for (const int last : {0x00, 0x01, 0x03, 0x05, 0x06}) {
    EXPECT_EQ(TextOf(std::string(1, static_cast<char>(last))), std::nullopt) << last;
    // Also behind what is read eight bytes at a time.
    EXPECT_EQ(TextOf(std::string(20, '\0') + static_cast<char>(last)), std::nullopt) << last;
  }
  EXPECT_EQ(TextOf(std::string(20, '\0') + "\x07"), std::string(33, '0'));
  // Eight ones and more.
  for (size_t more = 1; more < 12; ++more) {
    EXPECT_EQ(TextOf("\x07" + std::string(more, '\xff')), std::nullopt) << more;
    EXPECT_EQ(TextOf(std::string(more, '\xff')), std::nullopt) << more;
    EXPECT_EQ(TextOf(std::string(5 * more, '\0') + "\xff"), std::nullopt) << more;
  }
  // Seven: '&' has eight bits, of which the last are of no byte: 'X' is 11111100.
  EXPECT_EQ(TextOf("\xfc"), "X");
  EXPECT_EQ(TextOf("\xfe"), std::nullopt) << "the beginning of '!'";
  EXPECT_EQ(TextOf("\xfe\x3f"), "!");
}

TEST(HpackHuffman, TheEndIsNotSent) {
  // Thirty ones, alone and behind and before others.
  EXPECT_EQ(TextOf("\xff\xff\xff\xff"), std::nullopt);
  EXPECT_EQ(TextOf(std::string("\xff\xff\xff\xfc\x07", 5)), std::nullopt);
  EXPECT_EQ(TextOf("\x1f\xff\xff\xff\xff"), std::nullopt);
  for (size_t before = 0; before < 10; ++before) {
    for (size_t after = 0; after < 10; ++after) {
      const std::string code = std::string(5 * before, '\0') + "\xff\xff\xff\xff" + std::string(after, '\x18');
      EXPECT_EQ(TextOf(code), std::nullopt) << before << " " << after;
    }
  }
}

TEST(HpackHuffman, ACodeThatIsCutOffIsNone) {
  const std::string text = "a@b{c}\n\xf9\x01 and the rest of it " + std::string(40, 'e');
  const std::string code = CodeOf(text);
  ASSERT_EQ(TextOf(code), text);
  // A shorter one may end where a byte does, and then it says the beginning.
  size_t wrong = 0;
  for (size_t size = 0; size < code.size(); ++size) {
    const auto cut = TextOf(code.substr(0, size));
    if (!cut) ++wrong;
    if (cut) {
      EXPECT_TRUE(text.starts_with(*cut)) << size;
    }
  }
  EXPECT_GT(wrong, code.size() / 2);
}

}  // namespace
}  // namespace berth::net
