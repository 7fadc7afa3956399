// SPDX-License-Identifier: Apache-2.0
#include "live/gathering.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

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
  Arrive(gathering, 100, 3000, 12'900);
  EXPECT_EQ(PatienceMs(gathering, 12'900), 0) << "it may be one of those that wait for their pods";
  Arrive(gathering, 100, 100'000, 102'000);
  EXPECT_GT(PatienceMs(gathering, 102'000), 0);
  EXPECT_EQ(PatienceMs(gathering, 1'000'000'000), 0);
}

TEST(Gathering, OneThatIsJustAboutAStreamStaysOne) {
  Gathering gathering(Duration::Millis(150));
  Arrive(gathering, 20, 0, 2000);
  EXPECT_EQ(PatienceMs(gathering, 2000), 150);
  Arrive(gathering, 16, 2000, 4000);
  EXPECT_EQ(PatienceMs(gathering, 4000), 150);
  Arrive(gathering, 8, 4000, 6000);
  EXPECT_EQ(PatienceMs(gathering, 6000), 0);
  Arrive(gathering, 18, 6000, 8000);
  EXPECT_EQ(PatienceMs(gathering, 8000), 0);
}

// So many create a pod each, and the next one when it is bound, which takes so long after a look. How many are tried.
int TriedOfThoseThatWait(Duration longest, int clients, Duration bind, Duration span) {
  Gathering gathering(longest);
  std::vector<Time> created(static_cast<size_t>(clients));
  Time look;
  Duration patience;
  int tried = 0;
  for (;;) {
    const Time next = *std::min_element(created.begin(), created.end());
    look = patience.ns == 0 ? next : std::max(next, look + patience);
    if (look >= Time{} + span) return tried;
    for (Time& one : created) {
      if (look < one) continue;
      gathering.Tried(look);
      ++tried;
      one = look + bind;
    }
    patience = gathering.Patience(look);
  }
}

TEST(Gathering, ThoseThatWaitForTheirPodsAreNotSlowedDownForLong) {
  for (const int clients : {1, 2, 3, 4, 6, 7, 8, 20}) {
    for (const int64_t bind : {2, 5, 20, 50, 200}) {
      const Duration span = Duration::Seconds(120);
      const int without = TriedOfThoseThatWait(Duration{0}, clients, Duration::Millis(bind), span);
      const int with = TriedOfThoseThatWait(Duration::Millis(150), clients, Duration::Millis(bind), span);
      EXPECT_GT(with, without * 3 / 4) << clients << " clients, " << bind << " ms";
    }
  }
}

TEST(Gathering, AStreamThatDriesUpIsLeftAloneForLongerEachTime) {
  Gathering gathering(Duration::Millis(150));
  int64_t at = 0;
  for (const int64_t pause : {10'000, 20'000, 40'000}) {
    Arrive(gathering, 100, at, at + 2000);
    EXPECT_GT(PatienceMs(gathering, at + 2000), 0);
    Arrive(gathering, 40, at + 2000, at + 4000);
    EXPECT_EQ(PatienceMs(gathering, at + 4000), 0);
    at += 4000;
    Arrive(gathering, 100, at, at + pause - 500);
    EXPECT_EQ(PatienceMs(gathering, at + pause - 500), 0);
    at += pause + 2000;
  }
  // One that lasts is a stream again.
  at += 200'000;
  Arrive(gathering, 100, at, at + 2000);
  EXPECT_GT(PatienceMs(gathering, at + 2000), 0);
  Arrive(gathering, 100, at + 2000, at + 20'000);
  EXPECT_GT(PatienceMs(gathering, at + 20'000), 0);
  Arrive(gathering, 40, at + 20'000, at + 22'000);
  EXPECT_EQ(PatienceMs(gathering, at + 22'000), 0);
  Arrive(gathering, 100, at + 22'000, at + 34'000);
  EXPECT_GT(PatienceMs(gathering, at + 34'000), 0);
}

TEST(Gathering, MayBeSwitchedOff) {
  Gathering gathering(Duration{0});
  Arrive(gathering, 50, 0, 3000);
  EXPECT_EQ(PatienceMs(gathering, 3000), 0);
}

}  // namespace
}  // namespace berth::live
