// SPDX-License-Identifier: Apache-2.0
// Protobuf reads as the same object's JSON does, and damaged protobuf hurts nobody. That every field is read as Go
// writes it is what tests/encodings is for.
#include "api/proto_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "api/decode.h"
#include "api/proto_test_util.h"

namespace berth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Pod PodOf(const DecodedObject& decoded) {
  EXPECT_TRUE(decoded.errors.empty()) << decoded.errors.front().Text();
  EXPECT_TRUE(std::holds_alternative<DecodedPod>(decoded.object));
  return std::get<DecodedPod>(decoded.object).pod;
}
Node NodeOf(const DecodedObject& decoded) {
  EXPECT_TRUE(decoded.errors.empty()) << decoded.errors.front().Text();
  EXPECT_TRUE(std::holds_alternative<Node>(decoded.object));
  return std::get<Node>(decoded.object);
}
std::string ErrorOf(const std::string& bytes) {
  const DecodedObject decoded = DecodeProtobuf(bytes);
  return decoded.errors.empty() ? "" : decoded.errors.front().Text();
}
// A pod with this spec.
std::string WithSpec(const ProtoBytes& spec) {
  return InEnvelope("Pod", ProtoBytes().Message(1, ProtoBytes().Text(1, "a")).Message(2, spec));
}

const AnnotationKeys kKeep{{"kept"}, {"kept"}};

TEST(ProtoValueTest, APodIsTheSameInBothEncodings) {
  const std::string json = R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","namespace":"shop","uid":"u1",
      "resourceVersion":"7","generation":3,"creationTimestamp":"2026-11-17T08:00:00Z","labels":{"app":"web","tier":"é"},
      "annotations":{"kept":"1","other":"2"},
      "ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"rs","uid":"u2","controller":true}]},
    "spec":{"containers":[{"name":"c","image":"i:1","resources":{"requests":{"cpu":"100m","memory":"1Gi"},
          "limits":{"memory":"2Gi"}},"ports":[{"hostPort":80,"containerPort":8080,"protocol":"UDP","hostIP":"::1"}]}],
      "initContainers":[{"name":"s","restartPolicy":"Always","resources":{}}],
      "volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"pvc","readOnly":true}},
        {"name":"e","emptyDir":{}},{"name":"g","ephemeral":{}}],
      "nodeSelector":{"zone":"a"},"nodeName":"n1","schedulerName":"x","priority":-5,"preemptionPolicy":"Never",
      "overhead":{"cpu":"10m"},"hostUsers":false,
      "tolerations":[{"key":"k","operator":"Exists","effect":"NoSchedule","tolerationSeconds":3}],
      "topologySpreadConstraints":[{"maxSkew":2,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule",
        "labelSelector":{"matchLabels":{"app":"web"}},"minDomains":3,"nodeTaintsPolicy":"Honor"}],
      "affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":7,"preference":
          {"matchExpressions":[{"key":"disk","operator":"In","values":["ssd","nvme"]}]}}]},
        "podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"host",
          "labelSelector":{},"namespaceSelector":{}}]}},
      "schedulingGates":[{"name":"g"}]},
    "status":{"phase":"Running","startTime":"1970-01-01T00:00:00Z","nominatedNodeName":"n2",
      "conditions":[{"type":"Ready","status":"True","reason":"r","message":"m"}],
      "containerStatuses":[{"name":"c","allocatedResources":{"cpu":"1"},"resources":{"requests":{"cpu":"2"}}}]}})";
  ProtoBytes meta;
  meta.Text(1, "web").Text(3, "shop").Text(5, "u1").Text(6, "7").Number(7, 3);
  meta.Message(8, ProtoBytes().Number(1, 1794902400).Number(2, 0));
  meta.Entry(11, "app", "web").Entry(11, "tier", "é").Entry(12, "kept", "1").Entry(12, "other", "2");
  meta.Message(13, ProtoBytes().Text(1, "ReplicaSet").Text(3, "rs").Text(4, "u2").Text(5, "apps/v1").Number(6, 1));
  meta.Message(17, ProtoBytes().Text(1, "managed fields, which nobody reads"));
  ProtoBytes resources;
  resources.Amount(1, "memory", "2Gi").Amount(2, "cpu", "100m").Amount(2, "memory", "1Gi");
  ProtoBytes container;
  container.Text(1, "c").Text(2, "i:1").Message(8, resources);
  container.Message(6, ProtoBytes().Text(1, "").Number(2, 80).Number(3, 8080).Text(4, "UDP").Text(5, "::1"));
  ProtoBytes term;
  term.Message(1, ProtoBytes()).Text(3, "host").Message(4, ProtoBytes());
  ProtoBytes affinity;
  affinity.Message(1,
                   ProtoBytes().Message(
                       2, ProtoBytes().Number(1, 7).Message(
                              2, ProtoBytes().Message(
                                     1, ProtoBytes().Text(1, "disk").Text(2, "In").Text(3, "ssd").Text(3, "nvme")))));
  affinity.Message(3, ProtoBytes().Message(1, term));
  ProtoBytes spread;
  spread.Number(1, 2).Text(2, "zone").Text(3, "DoNotSchedule").Message(4, ProtoBytes().Entry(1, "app", "web"));
  spread.Number(5, 3).Text(7, "Honor");
  ProtoBytes spec;
  spec.Message(
      1, ProtoBytes().Text(1, "v").Message(2, ProtoBytes().Message(10, ProtoBytes().Text(1, "pvc").Number(2, 1))));
  spec.Message(1, ProtoBytes().Text(1, "e").Message(2, ProtoBytes().Message(2, ProtoBytes().Text(1, ""))));
  spec.Message(1, ProtoBytes().Text(1, "g").Message(2, ProtoBytes().Message(29, ProtoBytes())));
  spec.Message(2, container).Entry(7, "zone", "a").Text(10, "n1").Number(11, 0).Message(18, affinity).Text(19, "x");
  spec.Message(20, ProtoBytes().Text(1, "s").Message(8, ProtoBytes()).Text(24, "Always"));
  spec.Message(22, ProtoBytes().Text(1, "k").Text(2, "Exists").Text(3, "").Text(4, "NoSchedule").Number(5, 3));
  spec.Text(24, "").Number(25, -5).Text(31, "Never").Amount(32, "cpu", "10m").Message(33, spread).Number(37, 0);
  spec.Message(38, ProtoBytes().Text(1, "g"));
  ProtoBytes status;
  status.Text(1, "Running").Message(7, ProtoBytes().Number(1, 0).Number(2, 0)).Text(11, "n2");
  status.Message(2, ProtoBytes().Text(1, "Ready").Text(2, "True").Text(5, "r").Text(6, "m"));
  status.Message(8, ProtoBytes().Text(1, "c").Amount(10, "cpu", "1").Message(11, ProtoBytes().Amount(2, "cpu", "2")));

  const Pod pod = PodOf(
      DecodeProtobuf(InEnvelope("Pod", ProtoBytes().Message(1, meta).Message(2, spec).Message(3, status)), kKeep));
  EXPECT_EQ(pod, PodOf(DecodeObject(json, DecodeMode::kPeer, kKeep)));
  EXPECT_EQ(pod.volumes[2].source, "web-g");
  EXPECT_EQ(pod.meta.annotations, Labels({{"kept", "1"}}));
}

TEST(ProtoValueTest, ANodeIsTheSameInBothEncodings) {
  const std::string json = R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n","creationTimestamp":null,
      "annotations":{"kept":"1","other":"2"}},
    "spec":{"unschedulable":true,"taints":[{"key":"k","value":"v","effect":"NoExecute"}]},
    "status":{"capacity":{"cpu":"4","example.com/gpu":"2"},"allocatable":{"cpu":"3900m","pods":"110"},
      "conditions":[{"type":"Ready","status":"False"}],"images":[{"names":["a","b"],"sizeBytes":12345678901}],
      "declaredFeatures":["B","A"]}})";
  ProtoBytes meta, spec, status;
  meta.Text(1, "n").Message(8, ProtoBytes()).Entry(12, "kept", "1").Entry(12, "other", "2");
  spec.Text(1, "10.0.0.0/8").Number(4, 1);
  spec.Message(5, ProtoBytes().Text(1, "k").Text(2, "v").Text(3, "NoExecute").Message(4, ProtoBytes().Number(1, 5)));
  status.Amount(1, "cpu", "4").Amount(1, "example.com/gpu", "2").Amount(2, "cpu", "3900m").Amount(2, "pods", "110");
  status.Message(4, ProtoBytes().Text(1, "Ready").Text(2, "False"));
  status.Message(8, ProtoBytes().Text(1, "a").Text(1, "b").Number(2, 12345678901)).Text(14, "B").Text(14, "A");
  const std::string bytes = InEnvelope("Node", ProtoBytes().Message(1, meta).Message(2, spec).Message(3, status));
  EXPECT_EQ(NodeOf(DecodeProtobuf(bytes, kKeep)), NodeOf(DecodeObject(json, DecodeMode::kPeer, kKeep)));
}

TEST(ProtoValueTest, EqualListsOfTwoObjectsAreOne) {
  const auto node = [](const char* name) {
    ProtoBytes status;
    status.Message(8, ProtoBytes().Text(1, "image").Number(2, 1));
    return NodeOf(
        DecodeProtobuf(InEnvelope("Node", ProtoBytes().Message(1, ProtoBytes().Text(1, name)).Message(3, status))));
  };
  const Node a = node("a"), b = node("b");
  EXPECT_EQ(&*a.images.begin(), &*b.images.begin());
}

// As protobuf has it: the items of a list need not be neighbours.
TEST(ProtoValueTest, AListMayComeInParts) {
  ProtoBytes spec;
  spec.Message(2, ProtoBytes().Text(1, "a")).Text(10, "n1").Message(2, ProtoBytes().Text(1, "b"));
  const Pod pod = PodOf(DecodeProtobuf(WithSpec(spec)));
  ASSERT_EQ(pod.containers.size(), 2u);
  EXPECT_EQ(pod.containers[0].name + pod.containers[1].name, "ab");
  EXPECT_EQ(pod.node_name, "n1");
}

TEST(ProtoValueTest, TimesAreWholeSecondsAndGoesZeroTimeIsNone) {
  const auto deleted = [](const ProtoBytes& time) {
    const ProtoBytes meta = ProtoBytes().Text(1, "a").Message(9, time);
    return PodOf(DecodeProtobuf(InEnvelope("Pod", ProtoBytes().Message(1, meta)))).meta.deletion_time;
  };
  EXPECT_EQ(deleted(ProtoBytes().Number(1, 5).Number(2, 999)), Time{5'000'000'000});
  EXPECT_EQ(deleted(ProtoBytes()), std::nullopt);
  EXPECT_EQ(deleted(ProtoBytes().Number(1, -62135596800)), std::nullopt);
  EXPECT_EQ(deleted(ProtoBytes().Number(1, INT64_MAX)), Time{INT64_MAX});
  EXPECT_EQ(deleted(ProtoBytes().Number(1, INT64_MIN)), Time{INT64_MIN});
}

TEST(ProtoValueTest, TextThatIsNotUtf8ReadsAsGoWouldWriteItInJson) {
  const ProtoBytes meta = ProtoBytes().Text(1, "a").Entry(11, "k\xff", "\xC3");
  const Pod pod = PodOf(DecodeProtobuf(InEnvelope("Pod", ProtoBytes().Message(1, meta))));
  EXPECT_EQ(pod.meta.labels, Labels({{"k\xEF\xBF\xBD", "\xEF\xBF\xBD"}}));
}

TEST(ProtoValueTest, AnEntryOfAMapMayLeaveOutWhatIsEmpty) {
  const ProtoBytes meta =
      ProtoBytes().Text(1, "a").Message(11, ProtoBytes().Text(1, "k")).Message(11, ProtoBytes().Text(2, "v"));
  EXPECT_EQ(PodOf(DecodeProtobuf(InEnvelope("Pod", ProtoBytes().Message(1, meta)))).meta.labels,
            Labels({{"k", ""}, {"", "v"}}));
  const Pod pod = PodOf(DecodeProtobuf(WithSpec(ProtoBytes().Message(32, ProtoBytes().Text(1, "cpu")))));
  EXPECT_THAT(pod.overhead, ElementsAre(std::pair(ResourceId::kCpu, Quantity())));
}

TEST(ProtoValueTest, UnknownFieldsOfEveryTypeArePassedOver) {
  ProtoBytes spec;
  spec.Number(900, 1).Text(901, "x").Fixed(902, 7).Text(10, "n1").Raw(
      "\xfd\x06"
      "1234");  // 111, 32 bits
  EXPECT_EQ(PodOf(DecodeProtobuf(WithSpec(spec))).node_name, "n1");
}

TEST(ProtoValueTest, WhatIsWrongIsNamed) {
  const struct {
    const char* name;
    std::string bytes;
    const char* want;
  } cases[] = {
      {"nothing", "", "malformed protobuf: it does not begin with k8s"},
      {"JSON", "{}", "malformed protobuf: it does not begin with k8s"},
      {"cut in the envelope", InEnvelope("Pod", PodProto("a", 1)).substr(0, 12), "malformed protobuf"},
      {"a number for a name", InEnvelope("Pod", ProtoBytes().Message(1, ProtoBytes().Number(1, 5))),
       "metadata.name: Invalid value: must be a string, not a varint"},
      {"a text for a number", WithSpec(ProtoBytes().Text(25, "5")),
       "spec.priority: Invalid value: must be an int32, not bytes"},
      {"a number beyond an int32", WithSpec(ProtoBytes().Number(25, 4294967296)),
       "spec.priority: Invalid value: 4294967296: out of range for an int32"},
      {"a number for a message", InEnvelope("Pod", ProtoBytes().Number(2, 5)),
       "spec: Invalid value: must be a message, not a varint"},
      {"64 bits for a text", WithSpec(ProtoBytes().Fixed(10, 5)),
       "spec.nodeName: Invalid value: must be a string, not 64 bits"},
      {"a number among containers", WithSpec(ProtoBytes().Message(2, ProtoBytes().Text(1, "c")).Number(2, 5)),
       "spec.containers[1]: Invalid value: must be a message, not a varint"},
      {"a number in a map", InEnvelope("Pod", ProtoBytes().Message(1, ProtoBytes().Number(11, 5))),
       "metadata.labels: Invalid value: must be an entry of a map, not a varint"},
      {"a number for a key", WithSpec(ProtoBytes().Message(7, ProtoBytes().Number(1, 5))),
       "spec.nodeSelector: Invalid value: must be a key of a map, not a varint"},
      {"a number for a source", WithSpec(ProtoBytes().Message(1, ProtoBytes().Number(2, 5))),
       "spec.volumes[0]: Invalid value: must be a message, not a varint"},
      {"no quantity", WithSpec(ProtoBytes().Amount(32, "cpu", "many")), "spec.overhead[cpu]: Invalid value: \"many\""},
      {"a number for a quantity", WithSpec(ProtoBytes().Message(32, ProtoBytes().Text(1, "cpu").Number(2, 5))),
       "spec.overhead[cpu]: Invalid value: must be a quantity, not a varint"},
      {"a text for a time's seconds",
       InEnvelope("Pod", ProtoBytes().Message(1, ProtoBytes().Message(8, ProtoBytes().Text(1, "5")))),
       "metadata.creationTimestamp: Invalid value: must be a time, not bytes"},
      {"a length beyond the end", WithSpec(ProtoBytes().Raw("\x52\x7fn1")), "spec: malformed protobuf"},
      {"a length of 64 bits", WithSpec(ProtoBytes().Raw("\x52\x82\x80\x80\x80\x10n1")), "spec: malformed protobuf"},
      {"a varint without an end", WithSpec(ProtoBytes().Raw("\x58\xff\xff")), "spec: malformed protobuf"},
      {"a varint of eleven bytes", WithSpec(ProtoBytes().Raw("\x58\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")),
       "spec: malformed protobuf"},
      {"a group", WithSpec(ProtoBytes().Raw("\x53")), "spec: malformed protobuf"},
      {"field zero", WithSpec(ProtoBytes().Raw(std::string_view("\x02\0", 2))), "spec: malformed protobuf"},
      {"damage behind a list", WithSpec(ProtoBytes().Message(2, ProtoBytes().Text(1, "c")).Raw("\x52\x7f")),
       "spec.containers[0]: malformed protobuf"},
  };
  for (const auto& c : cases) EXPECT_THAT(ErrorOf(c.bytes), HasSubstr(c.want)) << c.name;
  EXPECT_THAT(ErrorOf(InEnvelope("Pod", ProtoBytes().Message(1, ProtoBytes().Text(1, "a").Text(3, "ns").Number(5, 1)))),
              StartsWith("Pod \"ns/a\": "));
}

TEST(ProtoValueTest, ListsAndMapsAreBoundedAsThoseOfJsonAre) {
  ProtoBytes many, labels, together;
  for (size_t i = 0; i <= kMaxPeerItems; ++i) {
    many.Message(2, ProtoBytes());
    labels.Entry(7, std::to_string(i), "");
  }
  EXPECT_THAT(ErrorOf(WithSpec(many)), HasSubstr("Invalid value: 10001: must have at most 10000 items"));
  EXPECT_THAT(ErrorOf(WithSpec(labels)), HasSubstr("Invalid value: 10001: must have at most 10000 items"));
  ProtoBytes ports;
  for (int i = 0; i < 9'000; ++i) ports.Message(6, ProtoBytes());
  for (int i = 0; i < 12; ++i) together.Message(2, ports);
  EXPECT_THAT(ErrorOf(WithSpec(together)), HasSubstr("must have at most 100000 items together"));
}

TEST(ProtoValueTest, AKindThatIsNotReadIsNothing) {
  const DecodedObject decoded = DecodeProtobuf(InEnvelope("Secret", PodProto("a", 1)));
  EXPECT_EQ(decoded.kind, "Secret");
  EXPECT_FALSE(decoded.known());
  EXPECT_TRUE(HasProtobuf(Kind::kPod));
  EXPECT_TRUE(HasProtobuf(Kind::kNode));
  EXPECT_FALSE(HasProtobuf(Kind::kService));
}

// Whatever comes, it is read or refused.
TEST(ProtoValueTest, DamagedBytesNeverHurt) {
  ProtoBytes spec;
  spec.Message(2, ProtoBytes().Text(1, "c").Message(8, ProtoBytes().Amount(1, "cpu", "1")));
  spec.Entry(7, "zone", "a").Message(1, ProtoBytes().Text(1, "v").Message(2, ProtoBytes().Message(2, ProtoBytes())));
  const std::string whole = WithSpec(spec);
  EXPECT_TRUE(rc::check([&] {
    std::string bytes = whole;
    const int changes = *rc::gen::inRange(1, 5);
    for (int i = 0; i < changes && bytes.size() > 5; ++i) {
      const size_t at = *rc::gen::inRange<size_t>(4, bytes.size());
      if (*rc::gen::arbitrary<bool>()) {
        bytes[at] = *rc::gen::arbitrary<char>();
      } else {
        bytes.erase(at, *rc::gen::inRange<size_t>(1, 9));
      }
    }
    (void)DecodeProtobuf(bytes);
  }));
}

}  // namespace
}  // namespace berth
