// SPDX-License-Identifier: Apache-2.0
#include "client/request_body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/json_scan.h"
#include "client/leader_elector.h"
#include "client/resource_path.h"
#include "client/wire.h"

namespace berth::client {
namespace {

const ObjectName kWebPod{"ns", "web-1", "uid-1"};

TEST(RequestBodyTest, ABindingNamesPodUidAndNode) {
  EXPECT_EQ(BindingBody(kWebPod, "node-1"),
            R"({"kind":"Binding","apiVersion":"v1","metadata":{"name":"web-1","namespace":"ns","uid":"uid-1"},)"
            R"("target":{"kind":"Node","name":"node-1"}})");
}

TEST(RequestBodyTest, APatchChangesWhatItSaysAlone) {
  PodStatusPatch patch;
  patch.pod = kWebPod;
  patch.condition = PodCondition{"PodScheduled", "False", "Unschedulable", "0/1 nodes: \"x\"\n"};
  EXPECT_EQ(PodStatusPatchBody(patch, Time{1'000'000'000}),
            R"({"metadata":{"uid":"uid-1"},"status":{"conditions":[{"type":"PodScheduled","status":"False",)"
            R"("reason":"Unschedulable","message":"0/1 nodes: \"x\"\u000a","lastProbeTime":null,)"
            R"("lastTransitionTime":"1970-01-01T00:00:01Z"}]}})");
  patch.transition = false;  // False it was before; and the pod's third generation was looked at
  patch.generation = 3;
  EXPECT_EQ(PodStatusPatchBody(patch, Time{1'000'000'000}),
            R"({"metadata":{"uid":"uid-1"},"status":{"conditions":[{"type":"PodScheduled","status":"False",)"
            R"("reason":"Unschedulable","message":"0/1 nodes: \"x\"\u000a","lastProbeTime":null,)"
            R"("observedGeneration":3}]}})");
  patch.condition.reset();
  patch.nominated_node_name = "node-1";
  EXPECT_EQ(PodStatusPatchBody(patch, Time{}),
            R"({"metadata":{"uid":"uid-1"},"status":{"nominatedNodeName":"node-1"}})");
  patch.nominated_node_name = "";
  patch.pod.uid = "";
  EXPECT_EQ(PodStatusPatchBody(patch, Time{}), R"({"metadata":{},"status":{"nominatedNodeName":null}})");
}

TEST(RequestBodyTest, AVolumeIsGivenToAClaimUnderTheLockOfItsVersion) {
  VolumeClaimPatch patch{"disk-1", "7", {"ns", "data", "uid-2"}, "5", true};
  EXPECT_EQ(VolumePatchBody(patch),
            R"({"metadata":{"resourceVersion":"7","annotations":{"pv.kubernetes.io/bound-by-controller":"yes"}},)"
            R"("spec":{"claimRef":{"kind":"PersistentVolumeClaim","apiVersion":"v1","namespace":"ns","name":"data",)"
            R"("uid":"uid-2","resourceVersion":"5"}}})");
  patch.bound_by_controller = false;
  patch.claim_version = "";
  EXPECT_EQ(VolumePatchBody(patch),
            R"({"metadata":{"resourceVersion":"7"},"spec":{"claimRef":{"kind":"PersistentVolumeClaim",)"
            R"("apiVersion":"v1","namespace":"ns","name":"data","uid":"uid-2"}}})");
  EXPECT_EQ(ClaimPatchBody({"ns", "data", "5", "node-1"}),
            R"({"metadata":{"resourceVersion":"5","annotations":{"volume.kubernetes.io/selected-node":"node-1"}}})");
}

TEST(RequestBodyTest, ADeletionIsOfOneIncarnation) {
  EXPECT_EQ(DeleteBody(kWebPod), R"({"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"uid-1"}})");
  EXPECT_EQ(DeleteBody({"ns", "a", ""}), R"({"kind":"DeleteOptions","apiVersion":"v1"})");
}

// The values of a recorded one.
EventRecord RecordedEvent() {
  EventRecord event;
  event.regarding = {"default", "big", "07c8d9fd-f9e4-4ce5-b7c9-2abf167f064c"};
  event.resource_version = "264";
  event.type = "Warning";
  event.reason = "FailedScheduling";
  event.action = "Scheduling";
  event.note = "0/2 nodes are available: 2 Insufficient cpu.";
  event.related = "other/vip";  // nobody says it
  event.reporting_controller = "default-scheduler";
  event.name = "big.18e8581dada4fb4c";
  event.time = Time{0x18e8581dada4fb4c - 6000};  // upstream looks at the clock twice
  return event;
}

TEST(RequestBodyTest, AnEventIsAsKubeSchedulerWritesIt) {
  EventRecord event = RecordedEvent();
  const std::string head =
      R"({"kind":"Event","apiVersion":"events.k8s.io/v1",)"
      R"("metadata":{"name":"big.18e8581dada4fb4c","namespace":"default"},"eventTime":"2026-11-15T22:22:15.997703Z",)";
  const std::string tail = R"("reportingController":"default-scheduler","reportingInstance":"default-scheduler-HOST",)"
                           R"("action":"Scheduling","reason":"FailedScheduling",)"
                           R"("regarding":{"kind":"Pod","apiVersion":"v1","namespace":"default","name":"big",)"
                           R"("uid":"07c8d9fd-f9e4-4ce5-b7c9-2abf167f064c","resourceVersion":"264"},)"
                           R"("note":"0/2 nodes are available: 2 Insufficient cpu.","type":"Warning"})";
  EXPECT_EQ(EventBody(event, "default-scheduler-HOST"), head + tail);
  event.series = EventSeries{2, Time{event.time.ns + 4'093'431'000}};
  const std::string series = R"("series":{"count":2,"lastObservedTime":"2026-11-15T22:22:20.091134Z"})";
  EXPECT_EQ(EventBody(event, "default-scheduler-HOST"), head + series + "," + tail);
  EXPECT_EQ(EventSeriesBody(event), "{" + series + "}");
  event.name = "";
  EXPECT_NE(EventBody(event, "x").find(R"("metadata":{"name":"big.18e8581dada4e3dc",)"), std::string::npos);
}

TEST(RequestBodyTest, ACoreEventIsAsKubeSchedulerWritesIt) {
  Lease lease;
  lease.namespace_ = "kube-system";
  lease.name = "kube-scheduler";
  lease.uid = "261f5a4f-a572-4d08-b4aa-4ea413dda17a";
  lease.resource_version = "208";
  EventRecord event = LeaderEvent(lease, "HOST_3f37c114 became leader", "default-scheduler", Time{0x18e8580e1279096b});
  EXPECT_TRUE(event.legacy);
  EXPECT_EQ(CoreEventBody(event),
            R"({"kind":"Event","apiVersion":"v1",)"
            R"("metadata":{"name":"kube-scheduler.18e8580e1279096b","namespace":"kube-system"},)"
            R"("involvedObject":{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","namespace":"kube-system",)"
            R"("name":"kube-scheduler","uid":"261f5a4f-a572-4d08-b4aa-4ea413dda17a","resourceVersion":"208"},)"
            R"("reason":"LeaderElection","message":"HOST_3f37c114 became leader",)"
            R"("source":{"component":"default-scheduler"},"firstTimestamp":"2026-11-15T22:21:08Z",)"
            R"("lastTimestamp":"2026-11-15T22:21:08Z","count":1,"type":"Normal","eventTime":null,)"
            R"("reportingComponent":"default-scheduler","reportingInstance":""})");
  event.series = EventSeries{3, Time{event.time.ns + 7'000'000'000}};
  EXPECT_EQ(CoreEventSeriesBody(event),
            R"({"count":3,"lastTimestamp":"2026-11-15T22:21:15Z","message":"HOST_3f37c114 became leader"})");
  EXPECT_NE(CoreEventBody(event).find(R"("lastTimestamp":"2026-11-15T22:21:15Z","count":3)"), std::string::npos);
}

TEST(RequestBodyTest, AnEventWithoutAGoodNameHasAUniqueOne) {
  EventRecord event;
  event.time = Time{0x17979cfe3d85cd15};
  event.regarding = {"ns", std::string(236, 'a'), "uid-1"};
  EXPECT_EQ(EventName(event), std::string(236, 'a') + ".17979cfe3d85cd15");
  EXPECT_EQ(EventName(event).size(), 253u);  // what a server takes
  const std::string uuid = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}";
  event.regarding.name += 'a';
  EXPECT_THAT(EventName(event), ::testing::MatchesRegex(uuid));
  EXPECT_NE(EventName(event), EventName(event));
  event.regarding.name = "system:node";  // of leases, say
  EXPECT_THAT(EventName(event), ::testing::MatchesRegex(uuid));
}

TEST(RequestBodyTest, TextThatIsNotUtf8IsStillJson) {
  EventRecord event;
  event.regarding = kWebPod;
  event.note = "a\xff\xc3(b";
  const std::string body = EventBody(event, "x");
  EXPECT_TRUE(CheckUtf8(body).ok());
  EXPECT_NE(body.find(R"("note":"a??(b")"), std::string::npos) << body;
}

TEST(RequestBodyTest, ALeaseComesBackAsItWent) {
  Lease lease;
  lease.namespace_ = "kube-system";
  lease.name = "berth";
  lease.resource_version = "17";
  lease.holder = "me";
  lease.duration = Duration::Seconds(15);
  lease.acquired = Time{1'700'000'000'000'001'000};
  lease.renewed = Time{1'700'000'005'999'999'000};
  lease.transitions = 3;
  std::string body = LeaseBody(lease);
  const Result<Lease> read = ReadLease(body, Encoding::kJson);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read->namespace_, lease.namespace_);
  EXPECT_EQ(read->name, lease.name);
  EXPECT_EQ(read->resource_version, lease.resource_version);
  EXPECT_EQ(read->holder, lease.holder);
  EXPECT_EQ(read->duration, lease.duration);
  EXPECT_EQ(read->acquired, lease.acquired);
  EXPECT_EQ(read->renewed, lease.renewed);
  EXPECT_EQ(read->transitions, lease.transitions);
}

TEST(RequestBodyTest, ALeaseLosesNothingThatOthersHaveWrittenThere) {
  std::string body =
      R"({"kind":"Lease","metadata":{"labels":{"team":"a\u0022b"},"name":"l","managedFields":[{"manager":"x"}],)"
      R"("namespace":"ns","uid":"u-1","ownerReferences":[{"kind":"Pod"}, {}],"resourceVersion":"7","generation": 2 },)"
      R"("spec":{"strategy":"OldestEmulationVersion","holderIdentity":"me","preferredHolder":null}})";
  const Result<Lease> read = ReadLease(body, Encoding::kJson);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read->holder, "me");
  EXPECT_EQ(read->uid, "u-1");
  EXPECT_EQ(LeaseBody(*read),
            R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"l","namespace":"ns",)"
            R"("resourceVersion":"7","uid":"u-1","labels":{"team":"a\u0022b"},"ownerReferences":[{"kind":"Pod"}, {}],)"
            R"("generation":2},"spec":{"holderIdentity":"me","leaseDurationSeconds":0,)"
            R"("acquireTime":"1970-01-01T00:00:00.000000Z","renewTime":"1970-01-01T00:00:00.000000Z",)"
            R"("leaseTransitions":0,"strategy":"OldestEmulationVersion","preferredHolder":null}})");
}

TEST(RequestBodyTest, TimesAreThoseOfRfc3339) {
  EXPECT_EQ(FormatTime(Time{951'782'400'999'999'999}), "2000-02-29T00:00:00Z");
  EXPECT_EQ(FormatMicroTime(Time{-1'000}), "1969-12-31T23:59:59.999999Z");
}

TEST(ResourcePathTest, EveryKindHasItsPathAndNamesAreEncoded) {
  for (size_t i = 0; i < kKindCount; ++i) {
    const std::string path(CollectionPath(static_cast<Kind>(i)));
    EXPECT_TRUE(path.starts_with("/api/v1/") || path.starts_with("/apis/")) << path;
  }
  EXPECT_EQ(CollectionPath(Kind::kResourceSlice), "/apis/resource.k8s.io/v1/resourceslices");
  EXPECT_EQ(CollectionPath(Kind::kReplicaSet, "a/b"), "/apis/apps/v1/namespaces/a%2Fb/replicasets");
  EXPECT_EQ(ObjectPath(Kind::kPod, "a/b", "c?d e%"), PodPath("a/b", "c?d e%"));
  EXPECT_EQ(ObjectPath(Kind::kCsiNode, "", "n"), "/apis/storage.k8s.io/v1/csinodes/n");
  EXPECT_EQ(PodPath("a/b", "c?d e%"), "/api/v1/namespaces/a%2Fb/pods/c%3Fd%20e%25");
  EXPECT_EQ(PodPath("ns", "web-1", "/binding"), "/api/v1/namespaces/ns/pods/web-1/binding");
  EXPECT_EQ(EventPath(true, "ns"), "/api/v1/namespaces/ns/events");
  EXPECT_EQ(EventPath(false, "ns", "web.1/2"), "/apis/events.k8s.io/v1/namespaces/ns/events/web.1%2F2");
}

}  // namespace
}  // namespace berth::client
