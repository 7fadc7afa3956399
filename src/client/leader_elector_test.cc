// SPDX-License-Identifier: Apache-2.0
// Leading, one at a time.
#include "client/leader_elector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "util/log.h"
#include "util/random.h"
#include "util/virtual_clock.h"

namespace berth::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

constexpr Duration kMilli = Duration::Millis(1);
constexpr Time kLeaseStart{1'700'000'000'000'000'000};

Duration Seconds(double seconds) { return {static_cast<int64_t>(seconds * 1e9)}; }

// One lease, as an API server keeps it.
struct LeaseServer {
  std::optional<Lease> lease;
  int version = 0;

  std::pair<ApiStatus, Lease> Get() const {
    if (!lease) return {{404, "not found"}, {}};
    return {{}, *lease};
  }
  std::pair<ApiStatus, Lease> Put(Lease put) {
    if (!lease && !put.resource_version.empty()) return {{404, "not found"}, {}};
    if (lease && lease->resource_version != put.resource_version) return {{409, "modified"}, {}};
    Set(std::move(put));
    return {{}, *lease};
  }
  void Set(Lease put) {
    put.resource_version = std::to_string(++version);
    put.uid = "lease-uid";
    lease = std::move(put);
  }
};

// What a request meets on its way.
struct Fate {
  Duration there = kMilli, back = kMilli;
  bool arrives = true, answered = true;  // not: nobody ever says anything
  ApiStatus refusal;                     // not ok(): instead of what was asked for
};

class Net {
 public:
  util::VirtualClock clock{kLeaseStart};
  util::TimerQueue mail;
  LeaseServer server;

  template <class Work, class Done>
  void Carry(const Fate& fate, Work work, Done done) {
    if (!fate.arrives) return;
    mail.At(clock.Now() + fate.there, [this, fate, work = std::move(work), done = std::move(done)] {
      std::pair<ApiStatus, Lease> answer = fate.refusal.ok() ? work() : std::pair(fate.refusal, Lease{});
      if (fate.answered) mail.At(clock.Now() + fate.back, [answer, done] { done(answer.first, answer.second); });
    });
  }
};

class LeaseDoor final : public ClusterApi {
 public:
  // Where answers go: a thread that stands still does not hear them.
  struct Box {
    std::vector<std::function<void()>> letters;
  };
  explicit LeaseDoor(Net& net) : net_(net) {}
  const std::shared_ptr<Box> box = std::make_shared<Box>();
  std::function<Fate(bool put)> fate = [](bool) { return Fate{}; };
  std::vector<std::string> asked;  // "GET", "POST" and "PUT" with the time in milliseconds

  void GetLease(const std::string& ns, const std::string& name,
                std::function<void(const ApiStatus&, const Lease&)> done) override {
    EXPECT_EQ(ns + "/" + name, "kube-system/kube-scheduler");
    Note("GET");
    net_.Carry(
        fate(false), [&net = net_] { return net.server.Get(); }, Posted(std::move(done)));
  }
  void PutLease(const Lease& lease, std::function<void(const ApiStatus&, const Lease&)> done) override {
    Note(lease.resource_version.empty() ? "POST" : "PUT");
    net_.Carry(
        fate(true), [&net = net_, lease] { return net.server.Put(lease); }, Posted(std::move(done)));
  }
  size_t Count(const std::string& method) const {
    return static_cast<size_t>(
        std::count_if(asked.begin(), asked.end(), [&](const std::string& a) { return a.starts_with(method + " "); }));
  }

  void List(Kind, std::function<void(ListAnswer)>) override {}
  std::unique_ptr<Watch> StartWatch(Kind, const std::string&, WatchCallbacks) override { return nullptr; }
  void GetPod(const std::string&, const std::string&, std::function<void(const ApiStatus&, Ptr<Pod>)>) override {}
  void Bind(const ObjectName&, const std::string&, Answer) override {}
  void PatchPodStatus(const PodStatusPatch&, Answer) override {}
  void DeletePod(const ObjectName&, Answer) override {}
  void PostEvent(const EventRecord&, Answer) override {}
  void PatchEvent(const EventRecord&, Answer) override {}

 private:
  using LeaseAnswer = std::function<void(const ApiStatus&, const Lease&)>;
  LeaseAnswer Posted(LeaseAnswer done) {
    return [box = box, done = std::move(done)](const ApiStatus& status, const Lease& lease) {
      box->letters.push_back([done, status, lease] { done(status, lease); });
    };
  }
  void Note(const std::string& method) {
    asked.push_back(method + " " + std::to_string((net_.clock.Now() - kLeaseStart).ns / 1'000'000));
  }
  Net& net_;
};

class ShiftedClock final : public Clock {
 public:
  explicit ShiftedClock(const Clock& base) : base_(base) {}
  Time Now() const override { return frozen ? *frozen : base_.Now() + shift; }
  Duration shift;
  std::optional<Time> frozen;

 private:
  const Clock& base_;
};

// One scheduler, with clocks and a thread of its own.
struct Member {
  Member(Net& n, std::string name, uint64_t seed = 1) : net(n), door(n), steady(n.clock), wall(n.clock), random(seed) {
    options.identity = std::move(name);
    options.random = [this] { return random.Next(); };
    options.log = Logger(log, n.clock);
    callbacks.on_started_leading = [this] { Say("started"); };
    callbacks.on_stopped_leading = [this](LeadershipEnd end) {
      EXPECT_FALSE(elector->leading());
      Say(end == LeadershipEnd::kLost ? "lost" : "stopped");
    };
    callbacks.on_new_leader = [this](const std::string& who) { Say("leader is '" + who + "'"); };
    callbacks.on_event = [this](const Lease& lease, const std::string& note) {
      EXPECT_EQ(lease.uid, "lease-uid");
      Say("event: " + note);
    };
    callbacks.on_finished = [this] { Say("finished"); };
  }
  void Start() {
    auto made = LeaderElector::Make(options, callbacks, door, timers, steady, wall);
    ASSERT_TRUE(made.ok()) << made.error().text();
    elector = std::move(made).value();
    elector->Start();
  }
  void Say(const std::string& text) {
    said.push_back(text);
    when = net.clock.Now();
  }
  bool leading() const { return elector && elector->leading(); }

  Net& net;
  LeaseDoor door;
  ShiftedClock steady, wall;
  util::TimerQueue timers;
  bool paused = false;   // its thread does not run
  bool cut_off = false;  // nothing that it sends arrives
  util::Random random;
  std::ostringstream text;
  util::Log log{text, {.verbosity = 5}, net.clock};
  LeaderElectionOptions options;
  LeaderCallbacks callbacks;
  std::unique_ptr<LeaderElector> elector;
  std::vector<std::string> said;
  Time when;  // the last thing was said
};

class LeaderElectorTest : public ::testing::Test {
 protected:
  // Letters to a paused member wait.
  void Run(Duration span, const std::function<void()>& look = nullptr) {
    const Time end = net_.clock.Now() + span;
    for (;;) {
      Time next = net_.mail.Next();
      for (Member* m : members_) {
        if (m->paused || m->timers.empty()) continue;
        next = std::min(next, m->timers.Next() + Duration{-m->steady.shift.ns});
      }
      if (next > end) break;
      net_.clock.MoveTo(next);
      while (net_.mail.RunOne(net_.clock.Now())) {
      }
      for (Member* m : members_) {
        if (m->paused) continue;
        for (const auto& letter : std::exchange(m->door.box->letters, {})) letter();
        while (m->timers.RunOne(m->steady.Now())) {
        }
      }
      if (look) look();
    }
    net_.clock.MoveTo(end);
  }
  Lease HeldBy(const std::string& who, Duration duration = Duration::Seconds(15)) {
    Lease lease;
    lease.namespace_ = "kube-system";
    lease.name = "kube-scheduler";
    lease.holder = who;
    lease.duration = duration;
    lease.acquired = lease.renewed = net_.clock.Now();
    lease.transitions = 4;
    return lease;
  }
  const Lease& lease() const { return *net_.server.lease; }
  Duration Since(Time t) const { return net_.clock.Now() - t; }

  Net net_;
  Member a_{net_, "a"};
  std::vector<Member*> members_{&a_};
};

TEST_F(LeaderElectorTest, ALeaseThatIsNotThereIsMade) {
  a_.Start();
  EXPECT_FALSE(a_.leading());
  Run(Seconds(1));
  EXPECT_TRUE(a_.leading());
  EXPECT_THAT(a_.said, ElementsAre("leader is 'a'", "event: a became leader", "started"));
  // Renewed at once, as client-go does.
  EXPECT_THAT(a_.door.asked, ElementsAre("GET 0", "POST 2", "PUT 4"));
  EXPECT_EQ(lease().holder, "a");
  EXPECT_EQ(lease().duration, Duration::Seconds(15));
  EXPECT_EQ(lease().transitions, 0);
  EXPECT_EQ(lease().acquired, kLeaseStart + Duration::Millis(2));
  EXPECT_THAT(a_.text.str(), HasSubstr(R"("Attempting to acquire leader lease..." lock="kube-system/kube-scheduler")"));
  EXPECT_THAT(a_.text.str(), HasSubstr(R"("Successfully acquired lease" lock="kube-system/kube-scheduler")"));
}

TEST_F(LeaderElectorTest, ALeaderWritesEveryRetryPeriodWithoutALook) {
  a_.Start();
  Run(Seconds(9));
  EXPECT_THAT(a_.door.asked, ElementsAre("GET 0", "POST 2", "PUT 4", "PUT 2006", "PUT 4008", "PUT 6010", "PUT 8012"));
  EXPECT_EQ(lease().acquired, kLeaseStart + Duration::Millis(2));
  EXPECT_EQ(lease().renewed, kLeaseStart + Duration::Millis(8012));
  EXPECT_EQ(lease().transitions, 0);
  EXPECT_EQ(a_.elector->slow_paths(), 0u);
  EXPECT_EQ(a_.elector->last_renewal(), kLeaseStart + Duration::Millis(8012));
  EXPECT_THAT(a_.text.str(), HasSubstr("Successfully renewed lease"));
}

TEST_F(LeaderElectorTest, WhoWaitsLooksAfterOneToTwoPointTwoRetryPeriods) {
  for (const auto& [random, seconds] : std::vector<std::pair<uint64_t, double>>{{0, 2.0}, {UINT64_MAX, 4.4}}) {
    net_.server.Set(HeldBy("other"));
    Member waiting(net_, "w");
    waiting.options.random = [random = random] { return random; };
    members_ = {&waiting};
    waiting.Start();
    const Time begun = net_.clock.Now();
    Run(Seconds(seconds - 0.001));
    EXPECT_EQ(waiting.door.asked.size(), 1u) << seconds;
    Run(Seconds(0.005));
    EXPECT_EQ(waiting.door.asked.size(), 2u) << seconds;
    EXPECT_THAT(waiting.said, ElementsAre("leader is 'other'"));
    EXPECT_THAT(
        waiting.text.str(),
        HasSubstr(R"("Lease is held by and has not yet expired" lock="kube-system/kube-scheduler" holder="other")"));
    EXPECT_LT(Since(begun), Seconds(5));
  }
}

TEST_F(LeaderElectorTest, ALeaseUnchangedForItsOwnDurationIsTakenWhateverItsDatesSay) {
  for (const int64_t years : {-1000, 0, 200}) {
    Lease old = HeldBy("other", Duration::Seconds(7));
    old.renewed = old.acquired = Time{years * 365 * 86'400 * 1'000'000'000 / (years < 0 ? 10 : 1)};
    net_.server.Set(old);
    Member taker(net_, "t");
    members_ = {&taker};
    const Time begun = net_.clock.Now();
    taker.Start();
    Run(Seconds(7));
    EXPECT_FALSE(taker.leading());
    Run(Seconds(4.5));
    EXPECT_TRUE(taker.leading());
    EXPECT_GE(taker.when - begun, Seconds(7));
    EXPECT_EQ(lease().holder, "t");
    EXPECT_EQ(lease().transitions, 5);
    EXPECT_GT(lease().acquired, begun);
    EXPECT_EQ(lease().duration, Duration::Seconds(15));
    EXPECT_EQ(taker.elector->slow_paths(), 0u);
  }
}

TEST_F(LeaderElectorTest, OnlyWhatCountsKeepsAnothersLeaseAlive) {
  for (const bool renewed : {false, true}) {
    net_.server.Set(HeldBy("other"));
    Member taker(net_, "t");
    members_ = {&taker};
    taker.Start();
    for (int i = 0; i < 30; ++i) {
      Run(Seconds(1));
      if (!net_.server.lease || lease().holder != "other") continue;
      Lease next = lease();
      if (renewed) next.renewed = next.renewed + Duration::Millis(1);
      next.other_metadata = "\"labels\":{\"n\":\"" + std::to_string(i) + "\"}";
      net_.server.Set(next);
    }
    EXPECT_EQ(taker.leading(), !renewed);
    EXPECT_THAT(lease().other_metadata, HasSubstr("labels"));
  }
}

TEST_F(LeaderElectorTest, ALeaseThatNobodyOrWeHoldIsTakenAtOnce) {
  for (const std::string holder : {"", "t"}) {
    net_.server.Set(HeldBy(holder));
    Member taker(net_, "t");
    members_ = {&taker};
    taker.Start();
    Run(Seconds(0.1));
    EXPECT_TRUE(taker.leading());
    EXPECT_EQ(lease().transitions, holder.empty() ? 5 : 4);
  }
}

TEST_F(LeaderElectorTest, ARenewalThatFailsLooksFirst) {
  a_.Start();
  Run(Seconds(1));
  Lease touched = lease();
  touched.other_metadata = "\"labels\":{}";
  net_.server.Set(touched);
  a_.door.asked.clear();
  Run(Seconds(2));
  EXPECT_THAT(a_.door.asked, ElementsAre("PUT 2006", "GET 2008", "PUT 2010"));
  EXPECT_EQ(a_.elector->slow_paths(), 1u);
  EXPECT_TRUE(a_.leading());
  EXPECT_EQ(lease().acquired, kLeaseStart + Duration::Millis(2));
  EXPECT_EQ(lease().transitions, 0);
  EXPECT_THAT(a_.text.str(), HasSubstr(R"("Failed to update lease optimistically, falling back to slow path")"));
  // From here on without a look again.
  a_.door.asked.clear();
  Run(Seconds(2));
  EXPECT_THAT(a_.door.asked, ElementsAre("PUT 4012"));
}

TEST_F(LeaderElectorTest, ALeaderThatCannotRenewLosesWithinTheDeadlineAndAPeriod) {
  a_.Start();
  Run(Seconds(5));
  const Time last = lease().renewed;
  a_.said.clear();
  a_.door.asked.clear();
  a_.door.fate = [](bool) {
    Fate fate;
    fate.refusal = {0, "connection refused"};
    return fate;
  };
  Time lost;
  Run(Seconds(20), [&] {
    if (!a_.leading() && lost == Time{}) lost = net_.clock.Now();
  });
  EXPECT_GE(lost - last, Seconds(10));
  EXPECT_LE(lost - last, Seconds(12.01));
  EXPECT_THAT(a_.said, ElementsAre("lost", "event: a stopped leading", "finished"));
  EXPECT_TRUE(a_.elector->finished());
  // A try every two seconds, and a last look.
  EXPECT_THAT(a_.door.asked, ElementsAre("PUT 6010", "GET 6012", "PUT 8010", "GET 8012", "PUT 10010", "GET 10012",
                                         "PUT 12010", "GET 12012", "PUT 14010", "GET 14012", "GET 16010"));
  EXPECT_THAT(
      a_.text.str(),
      HasSubstr(R"("Failed to renew lease" lock="kube-system/kube-scheduler" err="context deadline exceeded")"));
  EXPECT_EQ(lease().holder, "a");
}

TEST_F(LeaderElectorTest, ALostLeaseIsGivenBackOnlyIfItIsStillOurs) {
  for (const bool ours : {true, false}) {
    Member m(net_, "m");
    members_ = {&m};
    net_.server.lease.reset();
    m.Start();
    Run(Seconds(1));
    bool down = true;
    m.door.fate = [&](bool) {
      Fate fate;
      if (down) fate.refusal = {500, "tired"};
      return fate;
    };
    // The server comes back for the last look.
    Run(Seconds(11), [&] {
      if (!m.leading()) down = false;
    });
    if (!ours) net_.server.Set(HeldBy("other"));
    down = false;
    Run(Seconds(5));
    EXPECT_TRUE(m.elector->finished());
    EXPECT_EQ(lease().holder, ours ? "" : "other");
  }
}

TEST_F(LeaderElectorTest, AfterATheftTheOldLeaderGoesOnForTheRenewDeadline) {
  a_.Start();
  Run(Seconds(5));
  Lease stolen = lease();
  stolen.holder = "thief";
  net_.server.Set(stolen);
  const Time stolen_at = net_.clock.Now();
  Time lost;
  for (int i = 0; i < 30; ++i) {
    Run(Seconds(0.5), [&] {
      if (!a_.leading() && lost == Time{}) lost = net_.clock.Now();
    });
    Lease renewed = lease();
    renewed.renewed = net_.clock.Now();
    net_.server.Set(renewed);
  }
  EXPECT_GE(lost - stolen_at, Seconds(10));
  EXPECT_LE(lost - stolen_at, Seconds(12.01));
  EXPECT_EQ(lease().holder, "thief");
  EXPECT_THAT(a_.said, ElementsAre("leader is 'a'", "event: a became leader", "started", "leader is 'thief'", "lost",
                                   "event: a stopped leading", "finished"));
}

TEST_F(LeaderElectorTest, StoppingGivesTheLeaseBack) {
  a_.Start();
  Run(Seconds(5));
  a_.said.clear();
  a_.door.asked.clear();
  const Time stopped = net_.clock.Now();
  a_.elector->Stop();
  EXPECT_FALSE(a_.leading());
  EXPECT_FALSE(a_.elector->finished());
  Run(Seconds(1));
  EXPECT_THAT(a_.said, ElementsAre("stopped", "leader is ''", "finished"));
  EXPECT_THAT(a_.door.asked, ElementsAre("GET 5000", "PUT 5002"));
  EXPECT_EQ(lease().holder, "");
  EXPECT_EQ(lease().duration, Duration::Seconds(1));
  EXPECT_EQ(lease().transitions, 0);
  EXPECT_EQ(lease().acquired, stopped + Duration::Millis(2));
  EXPECT_EQ(lease().renewed, lease().acquired);
  a_.elector->Stop();  // once is enough
  Run(Seconds(60));
  EXPECT_EQ(a_.door.asked.size(), 2u);
}

TEST_F(LeaderElectorTest, ARenewalUnderWayDoesNotKeepTheLeaseFromBeingGivenBack) {
  a_.Start();
  Run(Seconds(2.0065));  // a renewal was sent at 2.006
  // It overtakes nobody: it arrives after our look.
  a_.door.fate = [](bool) { return Fate{}; };
  a_.elector->Stop();
  Lease renewed = lease();
  renewed.renewed = net_.clock.Now();
  net_.mail.At(net_.clock.Now() + Duration{1'500'000}, [&] { net_.server.Set(renewed); });
  Run(Seconds(1));
  EXPECT_EQ(lease().holder, "");
  EXPECT_EQ(lease().duration, Duration::Seconds(1));
}

TEST_F(LeaderElectorTest, WhoWaitsJustStops) {
  net_.server.Set(HeldBy("other"));
  a_.Start();
  Run(Seconds(1));
  a_.elector->Stop();
  EXPECT_TRUE(a_.elector->finished());
  Run(Seconds(60));
  EXPECT_THAT(a_.door.asked, ElementsAre("GET 0"));
  EXPECT_THAT(a_.said, ElementsAre("leader is 'other'", "finished"));
}

TEST_F(LeaderElectorTest, ARequestThatHangsIsGivenUpAfterHalfTheDeadline) {
  a_.door.fate = [](bool) {
    Fate fate;
    fate.arrives = false;
    return fate;
  };
  a_.options.random = [] { return 0; };
  a_.Start();
  Run(Seconds(15));
  EXPECT_THAT(a_.door.asked, ElementsAre("GET 0", "GET 7000", "GET 14000"));
  EXPECT_THAT(a_.text.str(), HasSubstr(R"("Error retrieving lease lock" err="the API server did not answer in time")"));
}

TEST_F(LeaderElectorTest, ALeaderWhoseRequestsHangLosesInTime) {
  a_.Start();
  Run(Seconds(5));
  const Time last = lease().renewed;
  a_.door.fate = [](bool) {
    Fate fate;
    fate.answered = false;  // the server hears, we do not
    return fate;
  };
  a_.door.asked.clear();
  Time lost;
  Run(Seconds(40), [&] {
    if (!a_.leading() && lost == Time{}) lost = net_.clock.Now();
  });
  EXPECT_LE(lost - last, Seconds(12.01));
  EXPECT_TRUE(a_.elector->finished());
  EXPECT_THAT(a_.door.asked, ElementsAre("PUT 6010", "GET 11010", "GET 16010"));
}

TEST_F(LeaderElectorTest, AnAnswerThatComesLateCountsFromWhenItWasAskedFor) {
  a_.options.lease_duration = Duration::Seconds(11);
  a_.Start();
  Run(Seconds(1));
  // Answers take 4.9 s: the lease, as others see it, is over 11 s after it was written, not after we heard.
  a_.door.fate = [](bool) {
    Fate fate;
    fate.back = Seconds(4.9);
    return fate;
  };
  Run(Seconds(2));
  const Time sent = lease().renewed;
  EXPECT_GT(sent, kLeaseStart + Seconds(2));
  Run(Seconds(4.5));
  ASSERT_EQ(a_.elector->last_renewal(), sent);  // heard of
  a_.door.fate = [](bool) {
    Fate fate;
    fate.arrives = false;
    return fate;
  };
  Time lost;
  Run(Seconds(20), [&] {
    if (!a_.leading() && lost == Time{}) lost = net_.clock.Now();
  });
  EXPECT_EQ(lost - sent, Seconds(11));
}

TEST_F(LeaderElectorTest, AnswersToWhatWasGivenUpChangeNothing) {
  a_.door.fate = [](bool) {
    Fate fate;
    fate.back = Seconds(6);
    return fate;
  };
  a_.options.random = [] { return 0; };
  a_.Start();
  Run(Seconds(6.5));
  EXPECT_THAT(a_.door.asked, ElementsAre("GET 0"));
  EXPECT_THAT(a_.said, IsEmpty());
  a_.door.fate = [](bool) { return Fate{}; };
  Run(Seconds(1));
  EXPECT_TRUE(a_.leading());
}

TEST_F(LeaderElectorTest, AClockThatJumpsHarmsNobody) {
  Member b(net_, "b");
  members_ = {&a_, &b};
  a_.Start();
  Run(Seconds(1));
  b.Start();
  const Duration year = Duration::Seconds(365 * 86'400);
  for (const int64_t jump : {+1, -1, -3, 0, +5}) {
    a_.wall.shift = Duration{year.ns * jump};
    b.wall.shift = Duration{year.ns * -jump};
    Run(Seconds(60));
    EXPECT_TRUE(a_.leading()) << jump;
    EXPECT_FALSE(b.leading()) << jump;
  }
  // Also one that stands still: who waits sees that the lease is renewed.
  a_.wall.frozen = a_.wall.Now();
  Run(Seconds(60));
  EXPECT_TRUE(a_.leading());
  EXPECT_FALSE(b.leading());
  // And the taking over, with dates that are in the past.
  a_.elector->Stop();
  Run(Seconds(5));
  EXPECT_TRUE(b.leading());
  EXPECT_LT(lease().acquired, kLeaseStart);
}

TEST_F(LeaderElectorTest, AThreadThatStandsStillLeadsNoLonger) {
  a_.Start();
  Run(Seconds(5));
  a_.paused = true;
  Run(Seconds(8));
  EXPECT_TRUE(a_.leading());
  Run(Seconds(4));
  EXPECT_FALSE(a_.leading());
  EXPECT_TRUE(a_.elector->Check().ok());
  Run(Seconds(22));
  EXPECT_TRUE(a_.elector->Check().ok());
  Run(Seconds(1));
  const Error sick = a_.elector->Check();
  ASSERT_FALSE(sick.ok());
  EXPECT_EQ(sick.text(), "failed election to renew leadership on lease kube-scheduler");
  // It wakes up, and knows.
  a_.paused = false;
  Run(Seconds(1));
  EXPECT_THAT(a_.said, ::testing::Contains("lost"));
  EXPECT_TRUE(a_.elector->Check().ok());
}

TEST_F(LeaderElectorTest, OthersMayAskAtAnyTime) {
  a_.Start();
  std::atomic<bool> over = false;
  std::thread port([&] {
    while (!over) {
      EXPECT_TRUE(a_.elector->Check().ok());
      const bool led = a_.elector->leading();
      EXPECT_TRUE(!led || a_.elector->last_renewal() >= kLeaseStart);
      EXPECT_EQ(a_.elector->slow_paths(), 0u);
    }
  });
  Run(Seconds(600));
  a_.elector->Stop();
  Run(Seconds(1));
  over = true;
  port.join();
}

TEST_F(LeaderElectorTest, WhoWaitsIsHealthy) {
  net_.server.Set(HeldBy("other"));
  a_.Start();
  a_.paused = true;
  Run(Seconds(1000));
  EXPECT_TRUE(a_.elector->Check().ok());
}

TEST_F(LeaderElectorTest, BadOptionsAreRefusedWithUpstreamsTexts) {
  const struct {
    double lease, renew, retry;
    const char* identity;
    const char* error;
  } cases[] = {
      {10, 10, 2, "a", "leaseDuration must be greater than renewDeadline"},
      {15, 10, 9, "a", "renewDeadline must be greater than retryPeriod*JitterFactor"},
      {0, -1, -2, "a", "leaseDuration must be greater than zero"},
      {1, 0, -1, "a", "renewDeadline must be greater than zero"},
      {15, 10, 0, "a", "retryPeriod must be greater than zero"},
      {15, 10, 2, "", "Lock identity is empty"},
  };
  for (const auto& c : cases) {
    a_.options.lease_duration = Seconds(c.lease);
    a_.options.renew_deadline = Seconds(c.renew);
    a_.options.retry_period = Seconds(c.retry);
    a_.options.identity = c.identity;
    const auto made = LeaderElector::Make(a_.options, a_.callbacks, a_.door, a_.timers, a_.steady, a_.wall);
    ASSERT_FALSE(made.ok()) << c.error;
    EXPECT_EQ(made.error().text(), c.error);
  }
}

TEST_F(LeaderElectorTest, OneThatIsGoneAsksAndHearsNothing) {
  a_.Start();
  a_.elector = nullptr;
  Run(Seconds(60));
  EXPECT_EQ(a_.door.asked.size(), 1u);
  EXPECT_TRUE(a_.timers.empty());
}

TEST(LeaderIdentityTest, IsTheHostAndSomethingUnique) {
  const std::string one = NewLeaderIdentity();
  EXPECT_THAT(one, MatchesRegex(".+_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"));
  EXPECT_NE(one, NewLeaderIdentity());
}

// Whatever happens to requests, answers, clocks and threads: never two leaders, and one again when it is over.
TEST_F(LeaderElectorTest, NeverTwoLeadAndSomebodyDoesInTheEnd) {
  int changes = 0, losses = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    net_.mail = {};
    net_.server = {};
    util::Random random(seed);
    std::vector<std::unique_ptr<Member>> members;
    const Duration lease_duration = Duration::Seconds(11 + random.Below(5));  // the shorter, the more dangerous
    int made = 0;
    bool calm = false;
    const auto join = [&] {
      auto m = std::make_unique<Member>(net_, "m" + std::to_string(++made), random.Next());
      m->log.SetVerbosity(LogSink::kErrors - 1);
      m->steady.shift = Duration::Seconds(random.Below(1000));
      m->options.lease_duration = lease_duration;
      m->door.fate = [&, who = m.get()](bool) {
        Fate fate;
        if (calm) return fate;
        fate.there = Duration::Millis(random.Below(random.Chance(5) ? 7000 : 50));
        fate.back = Duration::Millis(random.Below(random.Chance(50) ? 5500 : 50));
        fate.arrives = !random.Chance(5) && !who->cut_off;
        fate.answered = !random.Chance(5);
        if (random.Chance(5)) fate.refusal = {random.Chance(50) ? 500 : 409, "no"};
        return fate;
      };
      m->Start();
      members.push_back(std::move(m));
    };
    const int count = 2 + static_cast<int>(random.Below(2));
    for (int i = 0; i < count; ++i) join();
    std::string leader;
    const auto look = [&] {
      std::vector<std::string> now;
      for (const auto& m : members)
        if (m->leading()) now.push_back(m->options.identity);
      ASSERT_LE(now.size(), 1u) << "seed " << seed << ": " << ::testing::PrintToString(now);
      if (!now.empty() && now[0] != leader) ++changes;
      if (!now.empty()) leader = now[0];
    };
    const auto step = [&](Duration span) {
      members_.clear();
      for (const auto& m : members) members_.push_back(m.get());
      Run(span, look);
      for (auto& m : members) {
        if (!m->elector->finished()) continue;
        // A process that has ended is started again, under another name.
        losses += std::count(m->said.begin(), m->said.end(), "lost") > 0;
        m = nullptr;
      }
      std::erase(members, nullptr);
      while (members.size() < static_cast<size_t>(count)) join();
    };
    for (int i = 0; i < 120; ++i) {
      step(Duration::Millis(random.Below(5000)));
      for (const auto& m : members) {
        if (random.Chance(3)) m->paused = !m->paused;
        if (random.Chance(m->cut_off ? 20 : 15)) m->cut_off = !m->cut_off;
        if (random.Chance(3)) m->wall.shift = Duration::Seconds(random.Below(2'000'000) - 1'000'000);
        if (random.Chance(1)) m->elector->Stop();
      }
      if (random.Chance(5) && net_.server.lease) {  // somebody labels it
        Lease labelled = lease();
        labelled.other_metadata = "\"labels\":{}";
        net_.server.Set(labelled);
      }
      if (random.Chance(1)) net_.server.lease.reset();  // or deletes it, which hands it to whoever comes first
      if (!net_.server.lease) {
        // A lease that is gone says nothing of who leads: let those find out, without a look.
        members_.clear();
        for (const auto& m : members) members_.push_back(m.get());
        Run(Seconds(40));
      }
    }
    calm = true;
    for (const auto& m : members) m->paused = false;
    step(Seconds(60));
    step(Seconds(60));
    const auto leaders = std::count_if(members.begin(), members.end(), [](const auto& m) { return m->leading(); });
    EXPECT_EQ(leaders, 1) << "seed " << seed;
    members_.clear();
    if (HasFatalFailure()) return;
  }
  // The run has had something to say.
  EXPECT_GT(changes, 100);
  EXPECT_GT(losses, 50);
}

}  // namespace
}  // namespace berth::client
