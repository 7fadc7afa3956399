// SPDX-License-Identifier: Apache-2.0
// In which order pods that wait for extenders are asked about.
#include "cycle/turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "berth/testing.h"

namespace berth::cycle {
namespace {

using ::testing::ElementsAre;

class TurnsTest : public ::testing::Test {
 protected:
  void Enter(const std::string& name, int32_t priority) {
    queue::QueuedPodInfo info;
    info.pod = std::make_shared<const Pod>(MakePod(name).Uid("u-" + name).Priority(priority).Build());
    info.timestamp = Time{++time_};
    held_[name] = turns_.Enter(info);
  }
  // By their numbers.
  std::vector<std::string> Order() const {
    std::vector<std::string> names;
    for (const auto& [name, turn] : held_) names.push_back(name);
    std::sort(names.begin(), names.end(),
              [&](const auto& a, const auto& b) { return *held_.at(a)->turn() < *held_.at(b)->turn(); });
    return names;
  }
  // As PrioritySort.
  Turns turns_{[](const QueuedPod& a, const QueuedPod& b) {
    return a.pod->priority != b.pod->priority ? a.pod->priority > b.pod->priority : a.timestamp < b.timestamp;
  }};
  std::map<std::string, std::shared_ptr<const Turns::Held>> held_;
  int64_t time_ = 0;
};

TEST_F(TurnsTest, TheQueuesOrderCountsWhoeverCameFirst) {
  Enter("a", 1);
  Enter("b", 1);
  Enter("high", 5);
  Enter("low", 0);
  Enter("c", 1);
  EXPECT_THAT(Order(), ElementsAre("high", "a", "b", "c", "low"));
}

TEST_F(TurnsTest, APodThatIsThereKeepsItsPlaceAndOneThatHasLeftHasNone) {
  Enter("a", 1);
  Enter("b", 1);
  const std::shared_ptr<const Turns::Held> before = held_["a"];
  Enter("a", 9);
  EXPECT_EQ(held_["a"], before);
  EXPECT_EQ(turns_.size(), 2u);
  const framework::Turn of_b = held_["b"]->turn();
  held_.erase("b");
  EXPECT_EQ(*of_b, framework::kWithdrawn);
  EXPECT_EQ(turns_.size(), 1u);
  Enter("b", 9);
  EXPECT_THAT(Order(), ElementsAre("b", "a"));
}

TEST_F(TurnsTest, NobodyIsPassedByMoreThanSoMany) {
  Enter("low", 0);
  for (size_t i = 0; i < 1000; ++i) {
    Enter("high", 5);
    if (i < Turns::kMostPassed) {
      EXPECT_THAT(Order(), ElementsAre("high", "low")) << i;
    } else {
      EXPECT_THAT(Order(), ElementsAre("low", "high")) << i;
    }
    held_.erase("high");
  }
}

TEST_F(TurnsTest, WhoGoesFirstStaysFirst) {
  Enter("a", 1);
  Enter("b", 0);
  Enter("c", 0);
  turns_.GoFirst(*held_["c"]);
  Enter("high", 5);
  EXPECT_THAT(Order(), ElementsAre("c", "high", "a", "b"));
}

}  // namespace
}  // namespace berth::cycle
