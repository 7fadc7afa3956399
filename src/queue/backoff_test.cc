// SPDX-License-Identifier: Apache-2.0
#include "queue/backoff.h"

#include <gtest/gtest.h>

namespace berth::queue {
namespace {

constexpr Time At(int64_t ms) { return {ms * 1'000'000}; }

TEST(BackoffTest, DoublesFromTheInitialUpToTheMaximum) {
  const Backoff backoff;
  const int64_t want[] = {0, 1, 2, 4, 8, 10, 10};
  for (int count = 0; count < 7; ++count) EXPECT_EQ(backoff.For(count), Duration::Seconds(want[count])) << count;
  EXPECT_EQ(backoff.For(63), Duration::Seconds(10));
  EXPECT_EQ(backoff.For(1'000'000), Duration::Seconds(10));
}

TEST(BackoffTest, AnInitialAboveTheMaximumIsTheMaximum) {
  EXPECT_EQ((Backoff{Duration::Seconds(7), Duration::Seconds(3)}.For(1)), Duration::Seconds(3));
}

TEST(BackoffTest, AMaximumOfZeroTurnsBackoffOff) {
  EXPECT_EQ((Backoff{Duration::Seconds(1), {}}.Expiry(At(10'700), 5)), kLongAgo);
  EXPECT_EQ(Backoff{}.Expiry(At(10'700), 0), kLongAgo);
  EXPECT_FALSE(StillWaiting(kLongAgo, At(0)));
}

TEST(BackoffTest, APodIsReleasedAtTheFirstWholeSecondAfterItsTruncatedExpiry) {
  for (const int64_t failed_ms : {10'000, 10'700, 10'999}) {
    const Time expiry = Backoff{}.Expiry(At(failed_ms), 1);
    EXPECT_EQ(expiry, At(11'000)) << failed_ms;
    EXPECT_TRUE(StillWaiting(expiry, At(11'000)));
    EXPECT_TRUE(StillWaiting(expiry, At(11'999)));
    EXPECT_FALSE(StillWaiting(expiry, At(12'000)));
    EXPECT_EQ(ReleasedAt(expiry), At(12'000));
  }
}

TEST(BackoffTest, TruncationGoesDownBeforeTheEpochToo) {
  EXPECT_EQ(TruncateToSecond(At(-1)), At(-1000));
  EXPECT_EQ(TruncateToSecond(At(-1000)), At(-1000));
  EXPECT_EQ(TruncateToSecond(At(1999)), At(1000));
}

}  // namespace
}  // namespace berth::queue
