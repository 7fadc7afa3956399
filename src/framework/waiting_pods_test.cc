// SPDX-License-Identifier: Apache-2.0
// Pods that wait at Permit: allowed, rejected, timed out, and decided only once.
#include "framework/waiting_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "berth/testing.h"

namespace berth::framework {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Time kStart{1'000'000'000};

class WaitingPodsTest : public ::testing::Test {
 protected:
  // Waits for "a" 10 and for "b" 20 seconds.
  std::shared_ptr<WaitingPodEntry> Wait(const std::string& uid = "p") {
    auto entry = std::make_shared<WaitingPodEntry>(
        std::make_shared<const Pod>(MakePod(uid).Uid(uid).Build()),
        std::map<std::string, Time>{{"a", kStart + Duration::Seconds(10)}, {"b", kStart + Duration::Seconds(20)}},
        kStart);
    entry->OnDone([this](Verdict verdict, std::string plugin) {
      decisions_.push_back(plugin + ":" + std::string(ToString(verdict.code())) + ":" + verdict.message());
    });
    return entry;
  }
  std::vector<std::string> decisions_;
};

TEST_F(WaitingPodsTest, APodGoesOnWhenTheLastPluginAllowsIt) {
  auto pod = Wait();
  pod->Allow("a");
  EXPECT_THAT(pod->pending_plugins(), ElementsAre("b"));
  pod->Allow("stranger");
  EXPECT_THAT(decisions_, IsEmpty());
  pod->Allow("b");
  EXPECT_THAT(decisions_, ElementsAre(":Success:"));
}

TEST_F(WaitingPodsTest, OneRejectionEndsTheWait) {
  auto pod = Wait();
  pod->Reject("b", "no quorum");
  EXPECT_THAT(decisions_, ElementsAre("b:Unschedulable:no quorum"));
  pod->Allow("a");
  pod->Allow("b");
  pod->Reject("a", "too late");
  pod->Expire(kStart + Duration::Seconds(100));
  EXPECT_EQ(decisions_.size(), 1u) << "a pod is decided once";
}

TEST_F(WaitingPodsTest, TheShortestPatienceRunsOutFirst) {
  auto pod = Wait();
  EXPECT_EQ(pod->deadline(), kStart + Duration::Seconds(10));
  pod->Expire(kStart + Duration::Millis(9'999));
  EXPECT_THAT(decisions_, IsEmpty());
  pod->Expire(kStart + Duration::Seconds(10));
  EXPECT_THAT(decisions_, ElementsAre("a:Unschedulable:rejected due to timeout after waiting 10s at plugin a"));
}

TEST_F(WaitingPodsTest, APluginThatAllowedNoLongerRunsOutOfPatience) {
  auto pod = Wait();
  pod->Allow("a");
  EXPECT_EQ(pod->deadline(), kStart + Duration::Seconds(20));
  pod->Expire(kStart + Duration::Seconds(15));
  EXPECT_THAT(decisions_, IsEmpty());
  pod->Expire(kStart + Duration::Seconds(900));
  EXPECT_THAT(decisions_, ElementsAre("b:Unschedulable:rejected due to timeout after waiting 20s at plugin b"));
}

TEST_F(WaitingPodsTest, WhoAsksAfterTheDecisionIsToldAtOnce) {
  WaitingPodEntry entry(std::make_shared<const Pod>(MakePod("p").Build()), {{"a", kStart}}, kStart);
  entry.Reject("a", "no");
  std::string heard;
  entry.OnDone([&](Verdict verdict, std::string plugin) { heard = plugin + " " + verdict.message(); });
  EXPECT_EQ(heard, "a no");
}

TEST_F(WaitingPodsTest, TheMapFindsPodsAndLosesThemWhenRemoved) {
  WaitingPodsMap map;
  map.Add(Wait("p"));
  map.Add(Wait("q"));
  EXPECT_EQ(map.Find("p")->pod().uid(), "p");
  EXPECT_EQ(map.Find("nobody"), nullptr);
  std::vector<std::string> seen;
  map.ForEach([&](WaitingPod& pod) {
    seen.push_back(pod.pod().uid());
    map.Remove(pod.pod().uid());  // must not deadlock
  });
  EXPECT_THAT(seen, ElementsAre("p", "q"));
  EXPECT_EQ(map.Find("p"), nullptr);
}

TEST_F(WaitingPodsTest, TheMapExpiresEverybodyWhoseTimeIsUp) {
  WaitingPodsMap map;
  map.Add(Wait("p"));
  auto patient = Wait("q");
  patient->Allow("a");
  map.Add(patient);
  map.Expire(kStart + Duration::Seconds(12));
  EXPECT_EQ(decisions_.size(), 1u);
  map.Expire(kStart + Duration::Seconds(22));
  EXPECT_EQ(decisions_.size(), 2u);
}

TEST_F(WaitingPodsTest, OfManyThreadsExactlyOneDecides) {
  for (int round = 0; round < 200; ++round) {
    WaitingPodEntry entry(std::make_shared<const Pod>(MakePod("p").Build()), {{"a", kStart}, {"b", kStart}}, kStart);
    std::atomic<int> decided{0};
    std::vector<std::thread> threads;
    threads.emplace_back([&] { entry.Allow("a"), entry.Allow("b"); });
    threads.emplace_back([&] { entry.Reject("a", "no"); });
    threads.emplace_back([&] { entry.Expire(kStart); });
    entry.OnDone([&](Verdict, std::string) { ++decided; });
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(decided, 1);
  }
}

}  // namespace
}  // namespace berth::framework
