// SPDX-License-Identifier: Apache-2.0
#include "live/gathering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "cycle/cycle_test_util.h"

namespace berth::live {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr Duration kLongest = Duration::Millis(100);  // the default of --gather-pods

// Pods arrive evenly, so many a second, from `from` until `to`; the time is in milliseconds.
void Arrive(Gathering& gathering, int rate, int64_t from, int64_t to) {
  for (int64_t i = 0; i < (to - from) * rate / 1000; ++i) gathering.Tried(Time{from * kMs + i * 1'000'000'000 / rate});
}
int64_t PatienceMs(Gathering& gathering, int64_t at) { return gathering.Patience(Time{at * kMs}).ns / kMs; }

TEST(Gathering, PodsThatArriveNowAndThenAreTakenAtOnce) {
  Gathering gathering(kLongest);
  EXPECT_EQ(PatienceMs(gathering, 0), 0);
  Arrive(gathering, 15, 0, 10'000);
  EXPECT_EQ(PatienceMs(gathering, 10'000), 0);
  // A burst is none that lasts.
  for (int i = 0; i < 1000; ++i) gathering.Tried(Time{10'100 * kMs});
  for (int64_t at = 10'100; at < 13'000; at += 100) EXPECT_EQ(PatienceMs(gathering, at), 0) << at;
}

TEST(Gathering, OfAStreamSomeAreTakenAtATime) {
  struct Case {
    int rate;
    int64_t patience;
  };
  for (const Case& c : {Case{20, 100}, {50, 100}, {100, 80}, {400, 20}, {2000, 4}}) {
    Gathering gathering(kLongest);
    Arrive(gathering, c.rate, 0, 1900);
    EXPECT_EQ(PatienceMs(gathering, 1900), 0) << c.rate << ": it may be over in a moment";
    Arrive(gathering, c.rate, 1900, 3000);
    EXPECT_EQ(PatienceMs(gathering, 3000), c.patience) << c.rate;
  }
}

// When there is patience, in half seconds from `from` on, '+' or '-'.
std::string Course(Gathering& gathering, int rate, int64_t from, int64_t to) {
  std::string course;
  for (int64_t at = from; at < to; at += 500) {
    course += PatienceMs(gathering, at) > 0 ? '+' : '-';
    Arrive(gathering, rate, at, at + 500);
  }
  return course;
}
std::string Times(size_t count, char sign) { return std::string(count, sign); }

TEST(Gathering, ItIsTriedAgainAndAgainWhetherTheStreamIsFasterWithout) {
  Gathering gathering(kLongest);
  std::string expected;
  for (const size_t span : {8, 16, 32, 64, 64}) expected += "----" + Times(span, '+');
  EXPECT_EQ(Course(gathering, 100, 0, static_cast<int64_t>(500 * expected.size())), expected);
}

TEST(Gathering, AfterAStreamThatHasEndedTheNextOneIsTreatedLikeTheFirst) {
  Gathering gathering(kLongest);
  int64_t at = 0;
  const auto course = [&](int rate, int64_t ms) {
    at += ms;
    return Course(gathering, rate, at - ms, at);
  };
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(course(100, 4000), "----++++");
    EXPECT_EQ(course(0, 2000), "++--");
  }
  // Within half a second.
  EXPECT_EQ(course(100, 4000), "----++++");
  Arrive(gathering, 100, at, at + 100);
  at += 500;
  EXPECT_EQ(course(0, 2000), "++--");
  // While it is watched.
  EXPECT_EQ(course(100, 7000), "----++++++++--");
  EXPECT_EQ(course(0, 1000), "--");
  EXPECT_EQ(course(100, 4000), "----++++");
  // A long silence is handled at once.
  at = 1'000'000'000'000;
  EXPECT_EQ(course(100, 4000), "----++++");
}

TEST(Gathering, BurstsAmongOtherPodsAreGatheredEachTime) {
  Gathering gathering(kLongest);
  for (int64_t at = 0; at < 1'200'000; at += 30'000) {
    EXPECT_EQ(Course(gathering, 50, at, at + 5000), "----++++++") << at;
    // Others go on.
    const std::string course = Course(gathering, 2, at + 5000, at + 30'000);
    EXPECT_EQ(course.find('+', course.find('-')), std::string::npos) << course;
  }
}

TEST(Gathering, PausesAreTwiceAsLongEachTime) {
  Gathering gathering(kLongest);
  EXPECT_EQ(Course(gathering, 100, 0, 4000), "----++++");
  int64_t at = 4000;
  for (const int64_t pause : {10'000, 20'000, 40'000, 80'000, 160'000, 300'000, 300'000}) {
    EXPECT_EQ(Course(gathering, 20, at, at + 1000), "++") << "slower than half of what it was";
    at += 1000;
    EXPECT_EQ(Course(gathering, 100, at, at + pause + 2000), Times(static_cast<size_t>(pause) / 500 + 4, '-'));
    at += pause + 2000;
    EXPECT_EQ(Course(gathering, 100, at, at + 1000), "++") << pause;
    at += 1000;
  }
}

TEST(Gathering, OneThatIsJustAboutAStreamStaysOne) {
  Gathering gathering(kLongest);
  Arrive(gathering, 20, 0, 3000);
  EXPECT_EQ(PatienceMs(gathering, 3000), 100);
  // Longer than a span, so that it is seen as a stream again.
  EXPECT_EQ(Course(gathering, 16, 3000, 13'000), "++++++----++++++++++");
  EXPECT_EQ(Course(gathering, 6, 13'000, 17'000), "+++-----");
}

TEST(Gathering, APauseIsForgottenOnceNothingHasBeenSlowedDown) {
  Gathering gathering(kLongest);
  int64_t at = 0;
  const auto stream = [&](int64_t ms) {
    Arrive(gathering, 100, at, at + ms);
    at += ms;
    EXPECT_EQ(Course(gathering, 20, at, at + 1000), "++") << at;
    at += 1000;
    EXPECT_EQ(PatienceMs(gathering, at), 0) << at;
  };
  // So long nothing waits, whatever arrives.
  const auto pauses = [&](int64_t ms) {
    EXPECT_EQ(Course(gathering, 100, at, at + ms + 2500), Times(static_cast<size_t>(ms) / 500 + 4, '-') + "+") << at;
    at += ms + 2500;
    EXPECT_EQ(Course(gathering, 20, at, at + 1000), "++") << at;
    at += 1000;
  };
  stream(4000);
  pauses(10'000);
  pauses(20'000);
  pauses(40'000);
  at += 80'000;
  stream(12'000);
  pauses(10'000);
}

// When pods arrive, and when the next one of the same client does; so that it is the same everywhere nothing but the
// generator is the library's.
double Uniform(std::mt19937& random) { return (static_cast<double>(random()) + 0.5) / 4294967296.0; }

// How long there is patience, as a share, while pods come one after the other, `next` ns apart.
double PatientShare(Duration longest, Duration span, const std::function<double()>& next) {
  Gathering gathering(longest);
  double at = 0;
  Time look;
  Duration patience;
  int64_t patient = 0;
  while (look < Time{} + span) {
    // Looks at once, or when patience is over; then all that has arrived is taken.
    const Time before = look;
    look = std::max(Time{static_cast<int64_t>(std::ceil(at))}, look + patience);
    if (patience.ns > 0) patient += (look - before).ns;
    for (; at <= static_cast<double>(look.ns); at += next()) gathering.Tried(look);
    patience = gathering.Patience(look);
  }
  return static_cast<double>(patient) / static_cast<double>(look.ns);
}

TEST(Gathering, AnEvenStreamIsNearlyAlwaysGathered) {
  for (const double rate : {25, 50, 100, 1000})
    EXPECT_GT(PatientShare(kLongest, Duration::Seconds(120), [&] { return 1e9 / rate; }), 0.85) << rate;
  // The longest time that the flag allows; and it was faster for five seconds.
  for (const double rate : {11, 12, 13, 15, 20, 50}) {
    int64_t pods = 0;
    const auto next = [&] { return 1e9 / (++pods < 110 ? 22 : rate); };
    EXPECT_GT(PatientShare(Gathering::kWindow, Duration::Seconds(120), next), 0.85) << rate;
  }
}

TEST(Gathering, SoIsOneThatComesAsItLikes) {
  struct Case {
    double rate, share;
  };
  for (const Case& c : {Case{25, 0.7}, {50, 0.88}, {100, 0.9}, {400, 0.9}}) {
    for (const uint32_t seed : {1, 2, 3, 4, 5}) {
      std::mt19937 random(seed);
      const double share =
          PatientShare(kLongest, Duration::Seconds(600), [&] { return -std::log(Uniform(random)) / c.rate * 1e9; });
      EXPECT_GT(share, c.share) << c.rate << " a second, seed " << seed;
      RecordProperty("poisson_" + std::to_string(static_cast<int>(c.rate)) + "_" + std::to_string(seed),
                     std::to_string(share));
    }
  }
}

// Those who create a pod each, and the next one when it is bound.
struct Clients {
  int count;
  Duration bind;   // from the look that takes it until the next one is created
  Duration first;  // when they begin
  double spread;   // bindings take so much longer or shorter, as it happens
};

// How many they get through, as a share of what they would without patience.
double Pace(const Clients& clients, Duration longest, Duration span) {
  Gathering gathering(longest);
  std::mt19937 random(1);
  // They do not begin in step.
  std::vector<Time> created;
  for (int i = 0; i < clients.count; ++i)
    created.push_back(Time{} + clients.first +
                      Duration{static_cast<int64_t>(Uniform(random) * static_cast<double>(clients.bind.ns))});
  int64_t tried = 0;
  for (Time may_look;;) {
    const Time look = std::max(may_look, *std::min_element(created.begin(), created.end()));
    if (look >= Time{} + span) break;
    for (Time& one : created) {
      if (look < one) continue;
      gathering.Tried(look);
      ++tried;
      const double part = clients.spread == 0 ? 1 : 1 + clients.spread * (2 * Uniform(random) - 1);
      one = look + Duration{static_cast<int64_t>(static_cast<double>(clients.bind.ns) * part)};
    }
    may_look = look + gathering.Patience(look);
  }
  const double plain = static_cast<double>(span.ns - clients.first.ns) / static_cast<double>(clients.bind.ns);
  return static_cast<double>(tried) / (plain * clients.count);
}

// Clients of all kinds, of whom the slowest keep three quarters of their pace.
void ExpectTheirPace(Duration longest, const std::vector<int>& counts, int64_t step) {
  double worst = 1;
  std::string which;
  for (const int count : counts) {
    for (const int64_t bind : {20, 50, 83, 100, 115, 200, 400}) {
      for (const double spread : {0.0, 0.1}) {
        // It matters where in a window they begin where few come within it, and all keep step.
        for (int64_t first = 0; first < (bind < 50 || spread > 0 ? step : 500); first += step) {
          const Clients clients{count, Duration::Millis(bind), Duration::Millis(first), spread};
          const double pace = Pace(clients, longest, Duration::Seconds(600));
          if (pace >= worst) continue;
          worst = pace;
          which = std::to_string(count) + " clients, " + std::to_string(bind) + " ms, from " + std::to_string(first) +
                  " ms, spread " + std::to_string(spread);
        }
      }
    }
  }
  EXPECT_GT(worst, 0.75) << which;
  ::testing::Test::RecordProperty("worst", std::to_string(worst) + ": " + which);
}

TEST(Gathering, ThoseThatWaitForTheirPodsKeepThreeQuartersOfTheirPace) {
  ExpectTheirPace(kLongest, {1, 2, 3, 5, 8, 10, 20}, 50);
}

TEST(Gathering, SoTheyDoWhateverTheLongestTimeIs) {
  for (const int64_t longest : {50, 500}) ExpectTheirPace(Duration::Millis(longest), {1, 4}, 250);
}

TEST(Gathering, OneWhoWaitsForItsPodsIsNoticedInAStreamThatHasLasted) {
  Gathering gathering(kLongest);
  const Time joins = Time{} + Duration::Seconds(3600), end = joins + Duration::Seconds(120);
  Time even, own = joins, may_look;
  int own_pods = 0;
  Time noticed = end;
  while (even < end) {
    const Time look = std::max(may_look, std::min(even, own));
    for (; even <= look; even = even + Duration::Millis(40)) gathering.Tried(look);
    if (own <= look) {
      gathering.Tried(look);
      own = look + Duration::Millis(20);
      ++own_pods;
    }
    const Duration patience = gathering.Patience(look);
    may_look = look + patience;
    // Watching takes two seconds only.
    if (look < joins || patience.ns > 0) noticed = end;
    if (look >= joins && patience.ns == 0) noticed = std::min(noticed, look);
    if (look - noticed >= Duration::Seconds(3)) break;
  }
  // Within a span, however long it was.
  EXPECT_LT((noticed - joins).ns, Duration::Seconds(34).ns);
  EXPECT_GT(own_pods, 100);
}

TEST(Gathering, MayBeSwitchedOff) {
  Gathering gathering(Duration{0});
  Arrive(gathering, 50, 0, 3000);
  EXPECT_EQ(PatienceMs(gathering, 3000), 0);
}

class PatienceTest : public cycle::CycleTest {
 protected:
  // So many pods are written, 20 a second, and bound.
  void Stream(int count, const std::string& name, bool leads = true) {
    for (int i = 0; i < count; ++i) {
      clock_.Advance(Duration::Millis(50));
      api_.Put(Wants(name + std::to_string(i), "1m").Build());
      while (Step()) NoteTry(gathering_, *scheduler_, leads, clock_.Now());
      AcceptAll();
      (void)patient(leads);
    }
  }
  bool patient(bool leads = true) { return PatienceOf(gathering_, *scheduler_, leads, clock_.Now()).ns > 0; }

  Gathering gathering_{kLongest};
};

TEST_F(PatienceTest, WhoLeadsHasItAndWaitsForNothing) {
  Start({"n1"});
  Stream(60, "a");
  EXPECT_TRUE(patient());
  EXPECT_GT(gathering_.gathered_pods(), 5u);
  EXPECT_LT(gathering_.gathered_pods(), 30u) << "there is patience after two seconds only";
  EXPECT_FALSE(patient(false));
  Put(Wants("another", "1m"));
  EXPECT_TRUE(patient()) << "the answer to its binding may come with the next news";
  Put(Wants("large", "1000"));
  EXPECT_FALSE(patient()) << "its status is being written";
  AcceptAll();
  EXPECT_TRUE(patient());
}

TEST_F(PatienceTest, WhatIsSeenInStandbyIsNoStream) {
  Start({"n1"});
  Stream(60, "a", false);
  EXPECT_FALSE(patient());
  EXPECT_EQ(gathering_.gathered_pods(), 0u);
}

TEST_F(PatienceTest, PodsThatAreTriedAgainAreNoStream) {
  Start({"n1"});
  for (int i = 0; i < 60; ++i) Put(Wants("a" + std::to_string(i), "5"));
  AcceptAll();
  clock_.Advance(Duration::Seconds(30));
  Run();
  Stream(60, "a");  // they are small enough now
  EXPECT_THAT(journal_.bound, ::testing::SizeIs(60));
  EXPECT_FALSE(patient());
  Stream(60, "b");
  EXPECT_TRUE(patient());
}

}  // namespace
}  // namespace berth::live
