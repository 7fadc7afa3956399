// SPDX-License-Identifier: Apache-2.0
#include "util/standard_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>

namespace berth::util {
namespace {

std::string TargetOf(int fd) {
  char path[256] = {};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  return ::readlink(link.c_str(), path, sizeof path - 1) > 0 ? path : "";
}

// The number of the first expectation that does not hold; 0: all do.
int LookWithout(bool in, bool out, bool err) {
  const std::string before[] = {TargetOf(0), TargetOf(1), TargetOf(2)};
  const bool closed[] = {in, out, err};
  for (int fd = 0; fd < 3; ++fd)
    if (closed[fd]) ::close(fd);
  OpenStandardFiles();
  for (int fd = 0; fd < 3; ++fd)
    if (TargetOf(fd) != (closed[fd] ? "/dev/null" : before[fd])) return 1 + fd;
  const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (next < 3) return 4;
  char c = 0;
  if (in && (::read(0, &c, 1) >= 0 || errno != EBADF)) return 5;
  if (out && (::write(1, &c, 1) >= 0 || errno != EBADF)) return 6;
  if (err && ::write(2, &c, 1) != 1) return 7;
  return 0;
}

TEST(StandardFilesTest, WhatIsClosedIsOpenedOnNothing) {
  for (int closed = 0; closed < 8; ++closed) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) ::_exit(LookWithout((closed & 1) != 0, (closed & 2) != 0, (closed & 4) != 0));
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << closed << ": " << status;
  }
}

}  // namespace
}  // namespace berth::util
