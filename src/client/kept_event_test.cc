// SPDX-License-Identifier: Apache-2.0
#include "client/kept_event.h"

#include <gtest/gtest.h>

#include <utility>

namespace berth::client {
namespace {

TEST(KeptEventTest, ARecordComesBackAsItWas) {
  EventRecord event;
  event.regarding = {"ns", "web-1", "3a1f7c0e-0000-0000-0000-000000000001"};
  event.type = "Warning";
  event.reason = "FailedScheduling";
  event.action = "Scheduling";
  event.note = "0/3 nodes are available";
  event.related = "ns/victim";
  event.reporting_controller = "default-scheduler";
  event.time = Time{1'700'000'000'123'456'789};
  event.resource_version = "17";
  event.kind = "Lease";
  event.api_version = "coordination.k8s.io/v1";
  event.name = "web-1.17a";
  event.series = EventSeries{3, Time{5}};
  event.legacy = true;
  KeptEvent first(event);
  const KeptEvent kept = std::move(first);
  EXPECT_EQ(kept.name(), "web-1.17a");
  EXPECT_EQ(kept.about_namespace(), "ns");
  const EventRecord back = kept.Record();
  EXPECT_EQ(back.regarding.namespace_, event.regarding.namespace_);
  EXPECT_EQ(back.regarding.name, event.regarding.name);
  EXPECT_EQ(back.regarding.uid, event.regarding.uid);
  EXPECT_EQ(back.type, event.type);
  EXPECT_EQ(back.reason, event.reason);
  EXPECT_EQ(back.action, event.action);
  EXPECT_EQ(back.note, event.note);
  EXPECT_EQ(back.related, event.related);
  EXPECT_EQ(back.reporting_controller, event.reporting_controller);
  EXPECT_EQ(back.time, event.time);
  EXPECT_EQ(back.resource_version, event.resource_version);
  EXPECT_STREQ(back.kind, event.kind);
  EXPECT_STREQ(back.api_version, event.api_version);
  EXPECT_EQ(back.name, event.name);
  ASSERT_TRUE(back.series);
  EXPECT_EQ(back.series->count, 3);
  EXPECT_EQ(back.series->last, Time{5});
  EXPECT_TRUE(back.legacy);
}

TEST(KeptEventTest, TextsThatAreNotThereStayEmpty) {
  const KeptEvent kept{EventRecord{}};
  EXPECT_EQ(kept.name(), "");
  EXPECT_EQ(kept.about_namespace(), "");
  EXPECT_EQ(kept.Record().note, "");
  EXPECT_FALSE(kept.Record().series);
}

}  // namespace
}  // namespace berth::client
