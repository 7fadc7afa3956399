// SPDX-License-Identifier: Apache-2.0
// What is remembered is filled by any number of threads, and changes no decision.
#include <gtest/gtest.h>

#include <thread>

#include "framework/memory_test_util.h"

namespace berth::framework {
namespace {

TEST(MemoryThreadsTest, DecidesTheSameWithAnyNumberOfThreads) {
  for (const size_t threads : {size_t{1}, size_t{2}, size_t{std::thread::hardware_concurrency()} + 2}) {
    SCOPED_TRACE(threads);
    MemoryWorld world(7, "", {.threads = threads, .split_rows = 1});
    ASSERT_NO_FATAL_FAILURE(RunStory(world, 2200, 40));
    EXPECT_GT(world.engine().memory_stats().full_passes, 5u);
  }
}

}  // namespace
}  // namespace berth::framework
