// SPDX-License-Identifier: Apache-2.0
#include "queue/in_flight.h"

#include <gtest/gtest.h>

#include "queue/queue_test_util.h"

namespace berth::queue {
namespace {

std::vector<ClusterEvent> Read(const InFlight& log, InFlight::Mark mark) {
  std::vector<ClusterEvent> events;
  for (auto it = log.Since(mark); it != log.end(); ++it) events.push_back(it->event);
  return events;
}

TEST(InFlightTest, NothingIsRecordedWhileNothingIsInFlight) {
  InFlight log;
  log.Record(kNodeAdd, {});
  EXPECT_EQ(log.events(), 0u);
  const auto mark = log.Begin();
  EXPECT_TRUE(Read(log, mark).empty());
}

TEST(InFlightTest, APodSeesTheEventsSinceItsOwnStart) {
  InFlight log;
  const auto first = log.Begin();
  log.Record(kNodeAdd, {});
  const auto second = log.Begin();
  log.Record(kNodeDelete, {});
  EXPECT_EQ(Read(log, first), (std::vector{kNodeAdd, kNodeDelete}));
  EXPECT_EQ(Read(log, second), (std::vector{kNodeDelete}));
  log.End(first);
  EXPECT_EQ(log.events(), 1u);
  EXPECT_EQ(Read(log, second), (std::vector{kNodeDelete}));
  EXPECT_TRUE(log.Pruned());
}

TEST(InFlightTest, ALaterPodThatEndsFirstLeavesTheEventsOfTheEarlierOne) {
  InFlight log;
  const auto first = log.Begin();
  log.Record(kNodeAdd, {});
  const auto second = log.Begin();
  log.End(second);
  EXPECT_EQ(Read(log, first), (std::vector{kNodeAdd}));
}

TEST(InFlightTest, ObjectsLiveAsLongAsSomebodyMayAskForThem) {
  InFlight log;
  auto node = std::make_shared<const Node>();
  const std::weak_ptr<const Node> watch = node;
  const auto first = log.Begin();
  log.Record(kNodeAdd, {nullptr, nullptr, nullptr, std::move(node)});
  const auto second = log.Begin();
  EXPECT_EQ(log.Since(first)->objects.view().node_after, watch.lock().get());
  EXPECT_FALSE(watch.expired());
  log.End(first);
  EXPECT_TRUE(watch.expired());
  log.End(second);
  EXPECT_EQ(log.pods(), 0u);
}

}  // namespace
}  // namespace berth::queue
