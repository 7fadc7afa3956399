// SPDX-License-Identifier: Apache-2.0
#include "api/file_text.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace berth {
namespace {

TEST(FileTextTest, StaysWhenItsFileIsCut) {
  const std::string path = testing::TempDir() + "/file_text_test.yaml";
  const std::string content(100'000, 'x');
  std::ofstream(path, std::ios::binary) << content;
  const Result<FileText> text = FileText::Read(path);
  ASSERT_TRUE(text.ok()) << text.error().text();
  std::filesystem::resize_file(path, 0);
  EXPECT_TRUE(text->text() == content);  // a mapped one would be a bus error
  std::filesystem::remove(path);
}

TEST(FileTextTest, RefusesMoreThanItMayHave) {
  const std::string path = testing::TempDir() + "/file_text_limit_test.yaml";
  std::ofstream(path, std::ios::binary) << "12345";
  EXPECT_TRUE(FileText::Read(path, 5).ok());
  const Result<FileText> text = FileText::Read(path, 4);
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().text(), "has more than 4 bytes");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace berth
