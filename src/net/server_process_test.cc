// SPDX-License-Identifier: Apache-2.0
#include "net/server_process.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace berth::net {
namespace {

TEST(ServerProcess, ItHasAsManyDescriptorsAsTheSystemAllows) {
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit less = before;
  less.rlim_cur = 100;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &less), 0);
  EXPECT_EQ(DescriptorLimit(), 100u);
  PrepareToServe();
  rlimit after = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_EQ(after.rlim_cur, before.rlim_max);
  EXPECT_GT(DescriptorLimit(), 100u);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace
}  // namespace berth::net
