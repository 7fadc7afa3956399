// SPDX-License-Identifier: Apache-2.0
// WorkerPool: every task once, whatever the number of threads.
#include "util/worker_pool.h"

#include <gtest/gtest.h>

#include <numeric>
#include <thread>  // the pool starts some: for ThreadSanitizer

namespace berth::util {
namespace {

TEST(WorkerPoolTest, EveryTaskIsDoneOnceInEveryRound) {
  for (const size_t threads : {0, 1, 2, 5}) {
    WorkerPool pool(threads);
    for (size_t round = 0; round < 200; ++round) {
      std::vector<int> done(round % 37, 0);
      pool.Run(done.size(), [&](size_t i) { ++done[i]; });
      EXPECT_EQ(std::accumulate(done.begin(), done.end(), size_t{0}), done.size());
      for (const int times : done) EXPECT_EQ(times, 1);
    }
  }
}

TEST(WorkerPoolTest, APoolWithoutWorkEnds) {
  WorkerPool idle(4);
  WorkerPool once(4);
  once.Run(8, [](size_t) {});
  EXPECT_EQ(once.threads(), 4u);
  EXPECT_EQ(WorkerPool(0).threads(), 1u);
}

}  // namespace
}  // namespace berth::util
