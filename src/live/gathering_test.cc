// SPDX-License-Identifier: Apache-2.0
#include "live/gathering.h"

#include <gtest/gtest.h>

namespace berth::live {
namespace {

// Pods arrive evenly, so many a second, from `from` until `to`; the time is in milliseconds.
void Arrive(Gathering& gathering, int rate, int64_t from, int64_t to) {
  for (int64_t i = 0; i < (to - from) * rate / 1000; ++i)
    gathering.Tried(Time{(from * 1'000'000) + i * 1'000'000'000 / rate});
}
int64_t PatienceMs(Gathering& gathering, int64_t at) { return gathering.Patience(Time{at * 1'000'000}).ns / 1'000'000; }

TEST(Gathering, PodsThatArriveNowAndThenAreTakenAtOnce) {
  Gathering gathering(Duration::Millis(150));
  EXPECT_EQ(PatienceMs(gathering, 0), 0);
  Arrive(gathering, 15, 0, 10'000);
  EXPECT_EQ(PatienceMs(gathering, 10'000), 0);
  // A burst is none that lasts.
  for (int i = 0; i < 1000; ++i) gathering.Tried(Time{10'100'000'000});
  for (int64_t at = 10'100; at < 12'000; at += 100) EXPECT_EQ(PatienceMs(gathering, at), 0) << at;
}

TEST(Gathering, OfAStreamSomeAreTakenAtATime) {
  struct Case {
    int rate;
    int64_t patience;
  };
  for (const Case& c : {Case{20, 150}, {50, 150}, {100, 80}, {400, 20}, {2000, 4}}) {
    Gathering gathering(Duration::Millis(150));
    Arrive(gathering, c.rate, 0, 400);
    EXPECT_EQ(PatienceMs(gathering, 400), 0) << c.rate << ": it may be over in a moment";
    Arrive(gathering, c.rate, 400, 3000);
    EXPECT_EQ(PatienceMs(gathering, 3000), c.patience) << c.rate;
  }
}

TEST(Gathering, AStreamEndsWithinASecond) {
  Gathering gathering(Duration::Millis(150));
  Arrive(gathering, 100, 0, 2000);
  EXPECT_GT(PatienceMs(gathering, 2000), 0);
  EXPECT_EQ(PatienceMs(gathering, 3000), 0);
  Arrive(gathering, 100, 100'000, 102'000);
  EXPECT_GT(PatienceMs(gathering, 102'000), 0);
  EXPECT_EQ(PatienceMs(gathering, 1'000'000'000), 0);
}

TEST(Gathering, OneThatIsJustAboutAStreamStaysOne) {
  Gathering gathering(Duration::Millis(150));
  Arrive(gathering, 24, 0, 2000);
  EXPECT_EQ(PatienceMs(gathering, 2000), 150);
  Arrive(gathering, 14, 2000, 4000);
  EXPECT_EQ(PatienceMs(gathering, 4000), 150);
  Arrive(gathering, 6, 4000, 6000);
  EXPECT_EQ(PatienceMs(gathering, 6000), 0);
  Arrive(gathering, 14, 6000, 8000);
  EXPECT_EQ(PatienceMs(gathering, 8000), 0);
}

TEST(Gathering, MayBeSwitchedOff) {
  Gathering gathering(Duration{0});
  Arrive(gathering, 50, 0, 3000);
  EXPECT_EQ(PatienceMs(gathering, 3000), 0);
}

}  // namespace
}  // namespace berth::live
