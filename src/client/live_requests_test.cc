// SPDX-License-Identifier: Apache-2.0
// Requests that are not worth sending for ever, and connections that are not worth keeping.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "client/live_cluster_test_util.h"

namespace berth::client {
namespace {

using ::testing::HasSubstr;

const ObjectName kPod{"ns", "a", "u"};

class LiveRequestsTest : public LiveClusterTest {
 protected:
  ApiStatus BindWithin(Duration within) {
    return Ask([&](Answer done) { api_->BindBy(util::After(within), kPod, "n1", std::move(done)); });
  }
};

TEST_F(LiveRequestsTest, ABindingWhoseTimeIsOverIsNotSent) {
  Serve([](const FakeRequest&) -> FakeReply { return {201, "{}", ""}; });
  const ApiStatus status = BindWithin(Duration{1});
  EXPECT_FALSE(status.ok());
  EXPECT_TRUE(status.unsent());
  EXPECT_FALSE(status.uncertain()) << "nothing has to be looked up";
  EXPECT_EQ(BindWithin(Duration::Seconds(600)).code, 201);
  EXPECT_EQ(server_->requests().size(), 1u);
}

TEST_F(LiveRequestsTest, ABindingThatWouldWaitForItsTurnTooLongIsNotSentAndSaysSoAtOnce) {
  options_.qps = 1e-6;
  options_.burst = 2;
  Serve([](const FakeRequest&) -> FakeReply { return {201, "{}", ""}; });
  EXPECT_EQ(BindWithin(Duration::Seconds(600)).code, 201);
  EXPECT_EQ(BindWithin(Duration::Seconds(600)).code, 201);
  const ApiStatus status = BindWithin(Duration::Seconds(600));
  EXPECT_TRUE(status.unsent());
  EXPECT_THAT(status.message, HasSubstr("too many requests wait"));
  bool got = false;
  api_->GetPodBy(util::After(Duration::Seconds(600)), "ns", "a", [&](const ApiStatus& answer, const Ptr<Pod>&) {
    got = true;
    EXPECT_TRUE(answer.unsent());
  });
  Until([&] { return got; });
  EXPECT_EQ(server_->requests().size(), 2u);
}

TEST_F(LiveRequestsTest, ABindingThatTheServerPutsOffForTooLongHasItsAnswer) {
  FakeReply reply{429, "later", "Retry-After: 100\r\n"};
  Serve([&](const FakeRequest&) { return reply; });
  const ApiStatus status = BindWithin(Duration::Seconds(50));
  EXPECT_EQ(status.code, 429);
  EXPECT_EQ(status.message, "later");
  EXPECT_EQ(server_->requests().size(), 1u);
}

TEST_F(LiveRequestsTest, AConnectionOnWhichWeAreNobodyIsNotUsedAgain) {
  FakeReply reply{401, StatusJson(401, "Unauthorized"), ""};
  Serve([&](const FakeRequest&) { return reply; });
  EXPECT_EQ(BindWithin(Duration{}).code, 401);
  EXPECT_EQ(BindWithin(Duration{}).code, 401);
  EXPECT_EQ(server_->connections(), 2u);
  reply = {201, "{}", ""};
  EXPECT_EQ(BindWithin(Duration{}).code, 201);
  EXPECT_EQ(BindWithin(Duration{}).code, 201);
  EXPECT_EQ(server_->connections(), 3u);
}

TEST_F(LiveRequestsTest, APodIsNotWaitedForLongerThanItIsWanted) {
  std::atomic<bool> over = false;
  Serve([&](const FakeRequest&) -> FakeReply {
    while (!over) std::this_thread::yield();
    return {200, PodJson("a", 3), ""};
  });
  const ApiStatus status = Ask([&](const Answer& done) {
    api_->GetPodBy(util::After(Duration::Millis(50)), "ns", "a",
                   [done](const ApiStatus& got, const Ptr<Pod>&) { done(got); });
  });
  EXPECT_EQ(status.code, 0);
  EXPECT_THAT(status.message, HasSubstr("timed out"));
  over = true;
  server_ = nullptr;  // before what its thread looks at
}

}  // namespace
}  // namespace berth::client
