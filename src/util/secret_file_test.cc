// SPDX-License-Identifier: Apache-2.0
#include "util/secret_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace berth::util {
namespace {

TEST(SecretFileTest, WhoElseReadsAFileIsItsMode) {
  std::string path = ::testing::TempDir() + "/berth-secret-XXXXXX";
  const int fd = ::mkstemp(path.data());
  ASSERT_GE(fd, 0);
  ::close(fd);
  EXPECT_EQ(WhoElseReads(path), "");
  const std::pair<mode_t, const char*> cases[] = {{0644, "group and others can read it (mode 0644)"},
                                                  {0640, "its group can read it (mode 0640)"},
                                                  {0604, "others can read it (mode 0604)"},
                                                  {0600, ""},
                                                  {0400, ""},
                                                  {0711, ""}};
  for (const auto& [mode, want] : cases) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    EXPECT_EQ(WhoElseReads(path), want);
  }
  ::unlink(path.c_str());
  EXPECT_EQ(WhoElseReads(path), "");
}

}  // namespace
}  // namespace berth::util
