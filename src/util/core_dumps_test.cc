// SPDX-License-Identifier: Apache-2.0
#include "util/core_dumps.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

namespace berth::util {
namespace {

// In a process of its own: what is forbidden stays forbidden.
TEST(CoreDumpsDeathTest, NeitherFilesNorCollectorsGetMemory) {
  EXPECT_EXIT(
      {
        ForbidCoreDumps();
        ForbidCoreDumps();
        rlimit limit;
        getrlimit(RLIMIT_CORE, &limit);
        std::string filter;
        std::ifstream("/proc/self/coredump_filter") >> filter;
        std::cerr << "limit " << limit.rlim_cur << " of " << limit.rlim_max << ", filter " << filter << "\n";
        std::_Exit(0);
      },
      ::testing::ExitedWithCode(0), "limit 0 of 0, filter 0+\n");
}

}  // namespace
}  // namespace berth::util
