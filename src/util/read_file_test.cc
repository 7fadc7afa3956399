// SPDX-License-Identifier: Apache-2.0
#include "util/read_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace berth::util {
namespace {

namespace fs = std::filesystem;

class ReadFileTest : public testing::Test {
 protected:
  ReadFileTest() { fs::create_directories(folder_); }
  ~ReadFileTest() override { fs::remove_all(folder_); }

  std::string Make(const std::string& name, const std::string& content) {
    std::ofstream(Path(name), std::ios::binary) << content;
    return Path(name);
  }
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

  const std::string folder_ = testing::TempDir() + "/read_file_test." + std::to_string(::getpid());
};

TEST_F(ReadFileTest, GivesWhatIsInIt) {
  std::string large;
  for (int i = 0; i < 100'000; ++i) large += std::to_string(i);
  for (const std::string& content : {std::string(), std::string("a\0b\n", 4), std::string(65'536, 'x'), large}) {
    const FileContent read = ReadFile(Make("file", content), {1 << 20});
    EXPECT_TRUE(read.ok()) << read.problem;
    EXPECT_TRUE(read.text == content) << content.size();
  }
}

TEST_F(ReadFileTest, SaysWhatTheSystemSays) {
  EXPECT_EQ(ReadFile(Path("none"), {100}).problem, "cannot open file: No such file or directory");
  EXPECT_EQ(ReadFile(folder_, {100}).problem, "is a folder");
}

TEST_F(ReadFileTest, AReadThatFailsIsNotTheEnd) {
  // Nothing is mapped at address 0.
  const FileContent read = ReadFile("/proc/self/mem", {100});
  EXPECT_EQ(read.problem, "cannot read file: Input/output error");
  EXPECT_EQ(read.text, "");
}

TEST_F(ReadFileTest, FilesThatSayNothingOfTheirSizeAreRead) {
  const FileContent read = ReadFile("/proc/self/status", {1 << 20});
  EXPECT_TRUE(read.ok()) << read.problem;
  EXPECT_TRUE(read.text.starts_with("Name:"));
}

TEST_F(ReadFileTest, MoreThanTheLimitIsAProblemThatNamesIt) {
  EXPECT_TRUE(ReadFile(Make("file", std::string(2048, 'x')), {2048}).ok());
  const FileContent read = ReadFile(Make("file", std::string(2049, 'x')), {2048});
  EXPECT_EQ(read.problem, "has more than 2 KiB");
  EXPECT_EQ(read.text, "");
  EXPECT_EQ(ReadFile("/proc/self/status", {10}).problem, "has more than 10 bytes");
}

TEST_F(ReadFileTest, DevicesEnd) {
  EXPECT_EQ(ReadFile("/dev/zero", {uint64_t{1} << 40}).problem, "is a device that gives more than 1 MiB");
  const FileContent nothing = ReadFile("/dev/null", {100});
  EXPECT_TRUE(nothing.ok());
  EXPECT_EQ(nothing.text, "");
}

TEST_F(ReadFileTest, PipesAreReadToTheirEndOrTheLimit) {
  const std::string path = Path("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  for (const auto& [size, problem] : {std::pair(200'000, ""), std::pair(200'001, "has more than 200000 bytes")}) {
    std::thread writer([&path, size = size] { std::ofstream(path) << std::string(static_cast<size_t>(size), 'x'); });
    const FileContent read = ReadFile(path, {200'000});
    writer.join();
    EXPECT_EQ(read.problem, problem);
    EXPECT_EQ(read.text.size(), read.ok() ? 200'000u : 0u);
  }
}

TEST_F(ReadFileTest, WhoMustNotWaitReadsRegularFilesAlone) {
  const FileRules rules{100, FileKinds::kRegular};
  ASSERT_EQ(::mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(ReadFile(Path("pipe"), rules).problem, "is not a regular file");  // nobody writes to it, ever
  EXPECT_EQ(ReadFile("/dev/zero", rules).problem, "is not a regular file");
  EXPECT_EQ(ReadFile("-", rules).problem, "cannot open file: No such file or directory");
  EXPECT_EQ(ReadFile(Make("file", "text"), rules).text, "text");
}

TEST(BytesTextTest, UsesTheLargestUnitThatFits) {
  EXPECT_EQ(BytesText(0), "0 bytes");
  EXPECT_EQ(BytesText(1000), "1000 bytes");
  EXPECT_EQ(BytesText(64 << 10), "64 KiB");
  EXPECT_EQ(BytesText(16 << 20), "16 MiB");
  EXPECT_EQ(BytesText(uint64_t{4096} << 30), "4096 GiB");
}

}  // namespace
}  // namespace berth::util
