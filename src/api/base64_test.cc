// SPDX-License-Identifier: Apache-2.0
// Base64 against RFC 4648's examples.
#include "api/base64.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace berth {
namespace {

TEST(Base64Test, TheExamplesOfTheRfc) {
  const struct {
    const char* bytes;
    const char* text;
  } cases[] = {{"", ""},
               {"f", "Zg=="},
               {"fo", "Zm8="},
               {"foo", "Zm9v"},
               {"foob", "Zm9vYg=="},
               {"fooba", "Zm9vYmE="},
               {"foobar", "Zm9vYmFy"}};
  for (const auto& c : cases) {
    EXPECT_EQ(EncodeBase64(c.bytes), c.text);
    EXPECT_EQ(DecodeBase64(c.text).value(), c.bytes);
  }
  EXPECT_EQ(DecodeBase64("Zm9v\r\nYmFy\n").value(), "foobar");
}

TEST(Base64Test, BadTextIsRefusedWithItsPlace) {
  const struct {
    const char* text;
    const char* error;
  } cases[] = {{"!!", "illegal base64 data at input byte 0"},   {"Zm9", "illegal base64 data at input byte 3"},
               {"Z===", "illegal base64 data at input byte 1"}, {"Zg==Zg==", "illegal base64 data at input byte 4"},
               {"Zg=", "illegal base64 data at input byte 3"},  {"Zm9v=", "illegal base64 data at input byte 4"}};
  for (const auto& c : cases) {
    const Result<std::string> bytes = DecodeBase64(c.text);
    ASSERT_FALSE(bytes.ok()) << c.text;
    EXPECT_EQ(bytes.error().text(), c.error) << c.text;
  }
}

TEST(Base64Test, WhatIsEncodedDecodes) {
  EXPECT_TRUE(
      rc::check([](const std::string& bytes) { RC_ASSERT(DecodeBase64(EncodeBase64(bytes)).value() == bytes); }));
}

}  // namespace
}  // namespace berth
