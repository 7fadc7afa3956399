// SPDX-License-Identifier: Apache-2.0
#include "conform/gzip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "conform/gzip_test_util.h"

namespace berth::conform {
namespace {

using ::testing::HasSubstr;

std::string Read(const std::string& data, uint64_t max_bytes = 1 << 20) {
  const Result<std::string> text = Gunzip(data, max_bytes);
  return text.ok() ? *text : "error: " + text.error().text();
}

TEST(GunzipTest, ReadsWhatWasWritten) {
  std::string large;
  for (int i = 0; i < 50'000; ++i) large += std::to_string(i);
  for (const std::string& text : {std::string(), std::string("{}"), std::string(200'000, 'x'), large})
    EXPECT_TRUE(Read(Gzipped(text)) == text) << text.size();
}

TEST(GunzipTest, ReadsMembersOneAfterTheOther) { EXPECT_EQ(Read(Gzipped("ab") + Gzipped("") + Gzipped("c")), "abc"); }

TEST(GunzipTest, RefusesWhatIsNoWholeGzip) {
  const std::string whole = Gzipped("{\"Error\":\"\"}");
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(Read(whole.substr(0, size)), "error: gzip: it ends too early") << size;
  EXPECT_EQ(Read("{}"), "error: gzip: incorrect header check");
  EXPECT_EQ(Read(whole + "{}"), "error: gzip: incorrect header check");
  std::string damaged = whole;
  damaged[damaged.size() - 6] ^= 1;  // of the checksum
  EXPECT_EQ(Read(damaged), "error: gzip: incorrect data check");
}

TEST(GunzipTest, MakesNoMoreThanItMay) {
  const std::string bomb = Gzipped(std::string(10'000'000, ' '));
  EXPECT_LT(bomb.size(), 20'000u);
  const Result<std::string> text = Gunzip(bomb, 100'000);
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().text(), "gzip: says more than 100000 bytes");
  EXPECT_EQ(text.error().kind(), ErrorKind::kTooLarge);
  EXPECT_TRUE(Gunzip(Gzipped("12345"), 5).ok());
  EXPECT_FALSE(Gunzip(Gzipped("12345"), 4).ok());
}

}  // namespace
}  // namespace berth::conform
