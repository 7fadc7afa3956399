// SPDX-License-Identifier: Apache-2.0
#include "util/core_dumps.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
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
        const bool none = filter.find_first_not_of('0') == std::string::npos || prctl(PR_GET_DUMPABLE) == 0;
        std::cerr << "limit " << limit.rlim_cur << " of " << limit.rlim_max << ", for collectors "
                  << (none ? "nothing" : filter) << "\n";
        std::_Exit(0);
      },
      ::testing::ExitedWithCode(0), "limit 0 of 0, for collectors nothing\n");
}

}  // namespace
}  // namespace berth::util
