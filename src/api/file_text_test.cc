// SPDX-License-Identifier: Apache-2.0
#include "api/file_text.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace berth {
namespace {

// Of this process alone.
std::string PathOf(const std::string& name) {
  return testing::TempDir() + "/" + name + "." + std::to_string(::getpid()) + ".yaml";
}

TEST(FileTextTest, StaysWhenItsFileIsCut) {
  const std::string path = PathOf("file_text_test");
  const std::string content(100'000, 'x');
  std::ofstream(path, std::ios::binary) << content;
  const Result<FileText> text = FileText::Read(path);
  ASSERT_TRUE(text.ok()) << text.error().text();
  std::filesystem::resize_file(path, 0);
  EXPECT_TRUE(text->text() == content);  // a mapped one would be a bus error
  std::filesystem::remove(path);
}

TEST(FileTextTest, RefusesMoreThanItMayHave) {
  const std::string path = PathOf("file_text_limit_test");
  std::ofstream(path, std::ios::binary) << "12345";
  EXPECT_TRUE(FileText::Read(path, 5).ok());
  const Result<FileText> text = FileText::Read(path, 4);
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().text(), "has more than 4 bytes");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace berth
