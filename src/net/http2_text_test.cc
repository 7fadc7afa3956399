// SPDX-License-Identifier: Apache-2.0
#include "net/http2_text.h"

#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <string>
#include <vector>

namespace berth::net {
namespace {

// As nghttp2 has it, which is what the client asked before.
bool IsNameToNghttp2(const std::string& text) {
  return nghttp2_check_header_name(reinterpret_cast<const uint8_t*>(text.data()), text.size()) != 0;
}
bool IsValueToNghttp2(const std::string& text) {
  return nghttp2_check_header_value_rfc9113(reinterpret_cast<const uint8_t*>(text.data()), text.size()) != 0;
}

TEST(Http2Text, NamesAndValuesAreWhatRfc9113Allows) {
  for (const char* name : {"a", "content-type", ":status", "x_y.z~1", "!#$%&'*+-.^_`|~"})
    EXPECT_TRUE(IsHttp2Name(name)) << name;
  for (const char* name : {"", ":", "::a", "a:", "A", "content-Type", "a b", "a\t", "\x7f", "\xc3\xa4", "a\"", "(a)"})
    EXPECT_FALSE(IsHttp2Name(name)) << name;
  EXPECT_FALSE(IsHttp2Name(std::string("a\0b", 3)));
  for (const char* value : {"", "a", "a b", "a\tb", "\xc3\xa4", "\"x\"; y=1", ":"})
    EXPECT_TRUE(IsHttp2Value(value)) << value;
  for (const char* value : {" ", "\t", " a", "a ", "\ta", "a\t", "a\r", "a\nb", "\x7f", "\x1b[0m"})
    EXPECT_FALSE(IsHttp2Value(value)) << value;
  EXPECT_FALSE(IsHttp2Value(std::string("a\0b", 3)));
}

TEST(Http2Text, Nghttp2IsOfTheSameOpinion) {
  std::vector<std::string> texts = {""};
  for (int i = 0; i < 256; ++i) {
    const auto one = static_cast<char>(i);
    texts.insert(texts.end(), {std::string(1, one), std::string("a") + one + "b", std::string(":") + one});
    for (int j = 0; j < 256; ++j) texts.push_back({one, static_cast<char>(j)});
  }
  for (const std::string& text : texts) {
    ASSERT_EQ(IsHttp2Name(text), IsNameToNghttp2(text)) << ::testing::PrintToString(text);
    ASSERT_EQ(IsHttp2Value(text), IsValueToNghttp2(text)) << ::testing::PrintToString(text);
  }
}

TEST(Http2Text, ErrorsHaveTheirNames) {
  EXPECT_EQ(Http2CodeName(7), "REFUSED_STREAM");
  for (const uint32_t code : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 10U, 11U, 12U, 13U, 14U, 100U, UINT32_MAX})
    EXPECT_EQ(Http2CodeName(code), nghttp2_http2_strerror(code)) << code;
}

}  // namespace
}  // namespace berth::net
