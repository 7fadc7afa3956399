// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/decode_test_util.h"

namespace berth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(DecodeObjectsTest, SmallKindsArrive) {
  EXPECT_EQ(Decode<Namespace>("{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {a: b}}}").meta.labels,
            Labels({{"a", "b"}, {"kubernetes.io/metadata.name", "shop"}}));
  EXPECT_EQ(Decode<Service>("{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {selector: {a: b}}}").selector,
            Labels({{"a", "b"}}));
  EXPECT_EQ(Decode<Service>("{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {}}").selector, std::nullopt);
  const auto rc = Decode<ReplicationController>(
      "{apiVersion: v1, kind: ReplicationController, metadata: {name: r}, spec: {template: {metadata: {labels: {a: "
      "b}}}}}");
  EXPECT_EQ(rc.selector, Labels({{"a", "b"}}));
  EXPECT_EQ(rc.meta.labels, Labels({{"a", "b"}}));
  for (const char* kind : {"ReplicaSet", "StatefulSet"}) {
    const std::string yaml = std::string("{apiVersion: apps/v1, kind: ") + kind +
                             ", metadata: {name: r, namespace: x}, spec: {selector: {matchLabels: {a: b}}}}";
    const DecodedObject decoded = DecodeObject(Json(yaml), DecodeMode::kFile);
    EXPECT_THAT(decoded.errors, ElementsAre());
    EXPECT_EQ(MetaOf(decoded.object).namespace_, "x");
  }
  const auto pc = Decode<PriorityClass>(
      "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: p}, value: -5, globalDefault: true, "
      "preemptionPolicy: Never}");
  EXPECT_EQ(pc.value, -5);
  EXPECT_TRUE(pc.global_default);
  EXPECT_EQ(pc.preemption_policy, "Never");
  const auto pdb = Decode<PodDisruptionBudget>(
      "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: p}, spec: {minAvailable: 1, selector: {}}, "
      "status: {disruptionsAllowed: 2, disruptedPods: {b: \"2024-01-01T00:00:00Z\", a: null}}}");
  EXPECT_EQ(pdb.disruptions_allowed, 2);
  EXPECT_THAT(pdb.disrupted_pods, ElementsAre("a", "b"));
  EXPECT_TRUE(pdb.selector && pdb.selector->empty());
}

TEST(DecodeObjectsTest, EveryKindOfTheTableIsReadInEachOfItsVersionsAndInNoOther) {
  for (const KindInfo& info : kKinds) {
    const auto decode = [&](std::string_view version) {
      const std::string group = info.group.empty() ? "" : std::string(info.group) + "/";
      return DecodeObject(R"({"apiVersion":")" + group + std::string(version) + R"(","kind":")" +
                              std::string(info.name) + R"(","metadata":{"name":"one"}})",
                          DecodeMode::kPeer);
    };
    for (const std::string_view version : info.versions) {
      if (version.empty()) continue;
      const DecodedObject decoded = decode(version);
      EXPECT_THAT(decoded.errors, IsEmpty()) << info.name;
      const std::optional<ClusterObject> object = ToClusterObject(decoded.object);
      ASSERT_TRUE(object) << info.name;
      EXPECT_EQ(KindOf(*object), info.kind);
      EXPECT_EQ(MetaOf(*object).name, "one");
    }
    EXPECT_EQ(decode("v9").errors.size(), 1u) << info.name;
  }
  EXPECT_FALSE(ToClusterObject(AnyObject{}));
}

TEST(DecodeObjectsTest, StorageKindsArrive) {
  const auto claim = Decode<PersistentVolumeClaim>(
      "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, annotations: {a: b}}, spec: {accessModes: "
      "[ReadWriteOnce], storageClassName: fast, volumeName: pv, resources: {requests: {storage: 1Gi}}}}");
  EXPECT_EQ(claim.request, Quantity::FromValue(1 << 30));
  EXPECT_EQ(claim.storage_class, "fast");
  EXPECT_EQ(claim.volume_name, "pv");
  EXPECT_EQ(claim.phase, "Pending");
  EXPECT_EQ(claim.volume_mode, "Filesystem");
  EXPECT_EQ(claim.meta.annotations, Labels({{"a", "b"}}));
  const auto volume = Decode<PersistentVolume>(
      "{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv}, spec: {accessModes: [ReadOnlyMany], capacity: "
      "{storage: 2Gi}, claimRef: {namespace: a, name: c, uid: u}, csi: {driver: d, volumeHandle: h}}, status: {phase: "
      "Bound}}");
  EXPECT_EQ(volume.capacity, Quantity::FromValue(int64_t{2} << 30));
  EXPECT_EQ(volume.claim_ref, (ClaimReference{"a", "c", "u"}));
  EXPECT_EQ(volume.csi_handle, "h");
  EXPECT_EQ(volume.phase, "Bound");
  EXPECT_EQ(
      Decode<StorageClass>("{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: s}, provisioner: "
                           "Ex.com/P}")
          .volume_binding_mode,
      "Immediate");
  const auto csi_node = Decode<CsiNode>(
      "{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: node}, spec: {drivers: [{name: a, nodeID: x, "
      "allocatable: {count: 5}}, {name: b, nodeID: x}]}}");
  EXPECT_EQ(csi_node.driver_limits.at("a"), 5);
  EXPECT_EQ(csi_node.driver_limits.at("b"), std::nullopt);
  EXPECT_TRUE(Decode<CsiDriver>("{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: d}, spec: "
                                "{storageCapacity: true}}")
                  .storage_capacity);
  const auto capacity = Decode<CsiStorageCapacity>(
      "{apiVersion: storage.k8s.io/v1, kind: CSIStorageCapacity, metadata: {name: c}, storageClassName: s, capacity: "
      "5, "
      "nodeTopology: {matchLabels: {zone: a}}}");
  EXPECT_EQ(capacity.capacity, Quantity::FromValue(5));
  EXPECT_EQ(capacity.maximum_volume_size, std::nullopt);
  EXPECT_EQ(
      Decode<VolumeAttachment>("{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {name: v}, spec: "
                               "{attacher: d, nodeName: node, source: {persistentVolumeName: pv}}}")
          .volume_name,
      "pv");
}

TEST(DecodeObjectsTest, DeviceKindsArriveInEveryVersion) {
  for (const char* version : {"v1", "v1beta1", "v1beta2"}) {
    const std::string head = std::string("{apiVersion: resource.k8s.io/") + version;
    EXPECT_TRUE(Decode<ResourceClaim>(head + ", kind: ResourceClaim, metadata: {name: c}, status: {allocation: {}}}")
                    .allocated);
    EXPECT_EQ(
        Decode<ResourceSlice>(head + ", kind: ResourceSlice, metadata: {name: s}, spec: {driver: d, nodeName: node, "
                                     "pool: {name: p}}}")
            .pool,
        "p");
    EXPECT_EQ(Decode<DeviceClass>(head + ", kind: DeviceClass, metadata: {name: d}, spec: {extendedResourceName: a/b}}")
                  .extended_resource_name,
              "a/b");
  }
}

TEST(DecodeObjectsTest, ListsAreUnrolled) {
  const auto all = DecodeDocument(Json(R"(
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: a}}
- apiVersion: v1
  kind: List
  items: [{apiVersion: v1, kind: Node, metadata: {name: b}}]
- {apiVersion: apps/v1, kind: Deployment, metadata: {name: d}}
)"),
                                  DecodeMode::kFile);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(MetaOf(all[0].object).name, "a");
  EXPECT_EQ(MetaOf(all[1].object).name, "b");
  EXPECT_FALSE(all[2].known());
  EXPECT_EQ(all[2].kind, "Deployment");
  EXPECT_THAT(all[2].errors, ElementsAre());

  // Items of a typed list have no kind of their own.
  const auto typed = DecodeDocument(
      R"({"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}],"apiVersion":"v1","kind":"NodeList"})",
      DecodeMode::kFile);
  ASSERT_EQ(typed.size(), 2u);
  EXPECT_EQ(typed[1].kind, "Node");
  EXPECT_EQ(MetaOf(typed[1].object).name, "b");

  EXPECT_EQ(DecodeDocument(R"([{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}}])", DecodeMode::kFile).size(),
            1u);
  EXPECT_EQ(DecodeDocument(R"({"apiVersion":"v1","kind":"PodList","items":null})", DecodeMode::kFile).size(), 0u);
  EXPECT_EQ(DecodeDocument("null", DecodeMode::kFile).size(), 0u);
  // A server's list is good up to the object that is not one.
  const auto peers = DecodeDocument(R"({"apiVersion":"v1","kind":"NodeList","items":[{"metadata":{"name":"a"}},null]})",
                                    DecodeMode::kPeer);
  ASSERT_EQ(peers.size(), 2u);
  EXPECT_THAT(peers[0].errors, ElementsAre());
  EXPECT_EQ(peers[1].errors.size(), 1u);
}

TEST(DecodeObjectsTest, TypeMetaIsChecked) {
  const struct {
    const char* json;
    const char* error;
  } cases[] = {
      {R"({"apiVersion":"v1"})", "kind: Required value: Object 'Kind' is missing"},
      {R"({"kind":"Pod"})", "apiVersion: Required value: Object 'apiVersion' is missing"},
      {R"({"kind":5,"apiVersion":"v1"})", "kind: Invalid value: 5: must be a string, not a number"},
      {R"({"kind":"Pod","apiVersion":"v2"})",
       "apiVersion: Invalid value: \"v2\": no kind \"Pod\" is registered for version \"v2\""},
      {R"({"kind":"ReplicaSet","apiVersion":"apps/v1beta1"})", "apiVersion: Invalid value: \"apps/v1beta1\""},
      {R"([5])", ": Invalid value: must be an object, not a number"},
      {R"(["hunter2"])", ": Invalid value: must be an object, not a string"},
      {R"("text")", ": Invalid value: must be an object"},
      {R"({"kind":"NodeList","apiVersion":"v1","items":{}})", "items: Invalid value: must be an array, not an object"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.json);
    EXPECT_THAT(Texts(DecodeObject(c.json, DecodeMode::kFile).errors), ElementsAre(HasSubstr(c.error)));
  }
  // A kind of the same name in somebody else's group is not ours.
  EXPECT_FALSE(DecodeObject(R"({"kind":"Service","apiVersion":"serving.knative.dev/v1"})", DecodeMode::kFile).known());
}

TEST(DecodeObjectsTest, ErrorsNameKindAndObject) {
  const DecodedObject decoded =
      DecodeObject(R"({"kind":"Pod","spec":{"containers":[{"name":"c","image":"i"}],"nodeName":5},)"
                   R"("apiVersion":"v1","metadata":{"name":"p","namespace":"x"}})",
                   DecodeMode::kFile);
  ASSERT_EQ(decoded.errors.size(), 1u);
  EXPECT_EQ(decoded.errors[0].Text(), "Pod \"x/p\": spec.nodeName: Invalid value: 5: must be a string, not a number");
  EXPECT_EQ(decoded.errors[0].value, "5");
}

TEST(DecodeObjectsTest, TheLastOfRepeatedMembersCounts) {
  const auto decode = [](const std::string& spec) {
    const std::string text = R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"},"spec":{)" + spec + "}}";
    return std::get<DecodedPod>(DecodeObject(text, DecodeMode::kPeer).object).pod;
  };
  EXPECT_EQ(decode(R"("schedulerName":"a","schedulerName":"")").scheduler_name, "default-scheduler");
  EXPECT_EQ(decode(R"("schedulerName":"","schedulerName":"a")").scheduler_name, "a");
  EXPECT_EQ(decode(R"("schedulerName":"a","schedulerName":null)").scheduler_name, "a");
  // Pointers, where upstream keeps them: null takes them back.
  EXPECT_EQ(decode(R"("priority":5,"priority":null)").priority, 0);
  EXPECT_EQ(decode(R"("priority":null,"priority":5)").priority, 5);
  for (const char* last : {R"("PreemptLowerPriority")", "null"}) {
    EXPECT_EQ(decode(std::string(R"("preemptionPolicy":"Never","preemptionPolicy":)") + last).preemption_policy,
              PreemptionPolicy::kPreemptLowerPriority);
  }
}

TEST(DecodeObjectsTest, MalformedJsonOfPeersIsAnError) {
  const std::string good =
      R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"a","labels":{"x":"y"}},"spec":{"unschedulable":true}})";
  ASSERT_THAT(DecodeObject(good, DecodeMode::kPeer).errors, ElementsAre());
  for (size_t cut = 0; cut < good.size(); ++cut) {
    EXPECT_FALSE(DecodeObject(good.substr(0, cut), DecodeMode::kPeer).errors.empty()) << good.substr(0, cut);
  }
  for (const std::string& bad :
       {good + "x", good + good, std::string("{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":tru}}"),
        std::string("{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\" \"a\"}}"),
        std::string("{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"\xff\"}}")}) {
    EXPECT_FALSE(DecodeObject(bad, DecodeMode::kPeer).errors.empty()) << bad;
  }
}

TEST(DecodeObjectsTest, OfRepeatedKeysTheLastOneCounts) {
  const DecodedObject decoded =
      DecodeObject(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"a"},)"
                   R"("spec":{"taints":[{"key":"x","effect":"NoSchedule"}],"taints":[]},"metadata":{"name":"b"}})",
                   DecodeMode::kFile);
  EXPECT_EQ(MetaOf(decoded.object).name, "b");
  EXPECT_TRUE(std::get<Node>(decoded.object).taints.empty());
}

TEST(DecodeObjectsTest, NodeAffinityAloneIsDecoded) {
  std::vector<LoadError> errors;
  const NodeAffinity affinity =
      DecodeNodeAffinity(R"({"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":)"
                         R"([{"matchExpressions":[{"key":"a","operator":"Exists"}]}]}})",
                         DecodeMode::kFile, errors);
  EXPECT_THAT(errors, ElementsAre());
  ASSERT_TRUE(affinity.required);
  EXPECT_EQ(affinity.required->terms.size(), 1u);
  DecodeNodeAffinity(R"({"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":0}]})", DecodeMode::kFile,
                     errors);
  EXPECT_THAT(Texts(errors), ElementsAre("preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 0: "
                                         "must be in the range 1-100"));
}

TEST(DecodeObjectsTest, OtherKindsAreValidatedToo) {
  const struct {
    const char* yaml;
    const char* error;
  } cases[] = {
      {"{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: r}}", "spec.selector: Required value"},
      {"{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: r}, spec: {selector: {}}}",
       "spec.selector: Invalid value: {}: empty selector"},
      {"{apiVersion: v1, kind: ReplicationController, metadata: {name: r}}", "spec.selector: Required value"},
      {"{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: system-x}}",
       "metadata.name: Forbidden: priority class names with 'system-'"},
      {"{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: p}, value: 1000000001}",
       "value: Forbidden: maximum allowed value"},
      {"{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: p}, spec: {minAvailable: 1, "
       "maxUnavailable: 1}}",
       "spec: Invalid value: {}: minAvailable and maxUnavailable"},
      {"{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: p}, status: {disruptionsAllowed: -1}}",
       "status.disruptionsAllowed: Invalid value: -1"},
      {"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}, spec: {accessModes: [ReadWriteOnce]}}",
       "spec.resources[storage]: Required value"},
      {"{apiVersion: v1, kind: PersistentVolume, metadata: {name: c}, spec: {nfs: {}, accessModes: [Some], capacity: "
       "{storage: "
       "1}}}",
       "spec.accessModes: Unsupported value: \"Some\""},
      {"{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: s}}", "provisioner: Required value"},
      {"{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: s}, provisioner: p, volumeBindingMode: "
       "Now}",
       "volumeBindingMode: Unsupported value: \"Now\""},
      {"{apiVersion: v1, kind: Namespace, metadata: {name: a.b}}",
       "metadata.name: Invalid value: \"a.b\": must not contain dots"},
      {"{apiVersion: v1, kind: Service, metadata: {name: s, namespace: A}}",
       "metadata.namespace: Invalid value: \"A\""},
      {"{apiVersion: v1, kind: Node, metadata: {name: node, ownerReferences: [{apiVersion: v1, kind: A, name: b}]}}",
       "metadata.ownerReferences[0].uid: Invalid value: \"\": must not be empty"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.yaml);
    EXPECT_THAT(ErrorsOf(c.yaml), ElementsAre(HasSubstr(c.error)));
  }
}

TEST(DecodeObjectsTest, AnObjectWithoutMembersIsOneAndNotTheNext) {
  const std::string list = R"({"items":[{},{"metadata":{"name":"a"}},{ }],"kind":"NodeList","apiVersion":"v1"})";
  for (const DecodeMode mode : {DecodeMode::kFile, DecodeMode::kPeer}) {
    const std::vector<DecodedObject> objects = DecodeDocument(list, mode);
    ASSERT_EQ(objects.size(), 3u);
    std::vector<std::string> names;
    for (const DecodedObject& object : objects) names.push_back(MetaOf(object.object).name);
    EXPECT_THAT(names, ElementsAre("", "a", ""));
    EXPECT_THAT(Texts(objects[1].errors), IsEmpty());
  }
  EXPECT_THAT(Texts(DecodeDocument("{}", DecodeMode::kFile).at(0).errors),
              ElementsAre("kind: Required value: Object 'Kind' is missing",
                          "apiVersion: Required value: Object 'apiVersion' is missing"));
}

TEST(DecodeObjectsTest, OfPodsAndNodesTheAnnotationsThatAreAskedForAreKept) {
  const AnnotationKeys keep{{"a"}, {"b"}};
  const std::string meta = "metadata: {name: x, annotations: {a: '1', b: '2', c: '3'}}";
  const std::string node = Json("{apiVersion: v1, kind: Node, " + meta + "}");
  const std::string pod = Json("{apiVersion: v1, kind: Pod, " + meta + ", spec: {containers: [{name: c, image: i}]}}");
  for (const DecodeMode mode : {DecodeMode::kFile, DecodeMode::kPeer}) {
    EXPECT_EQ(MetaOf(DecodeObject(node, mode, keep).object).annotations, Labels({{"b", "2"}}));
    EXPECT_EQ(MetaOf(DecodeObject(pod, mode, keep).object).annotations, Labels({{"a", "1"}}));
    EXPECT_TRUE(MetaOf(DecodeObject(node, mode).object).annotations.empty());
    EXPECT_TRUE(MetaOf(DecodeObject(pod, mode).object).annotations.empty());
  }
}

TEST(DecodeObjectsTest, AnnotationsOfFilesAreCheckedWhetherTheyAreKeptOrNot) {
  for (const char* kind : {"Node", "Pod"}) {
    const std::string yaml = std::string("{apiVersion: v1, kind: ") + kind +
                             ", metadata: {name: x, annotations: {a: 1}}, spec: {containers: [{name: c, image: i}]}}";
    EXPECT_THAT(ErrorsOf(yaml), ElementsAre(HasSubstr("metadata.annotations[a]: Invalid value: "))) << kind;
    EXPECT_TRUE(DecodeObject(Json(yaml), DecodeMode::kPeer).errors.empty()) << kind;
    EXPECT_FALSE(DecodeObject(Json(yaml), DecodeMode::kPeer, {{"a"}, {"a"}}).errors.empty()) << kind;
  }
}

}  // namespace
}  // namespace berth
