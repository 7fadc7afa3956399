// SPDX-License-Identifier: Apache-2.0
#include "api/pod_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/decode_value.h"
#include "api/proto_schema.h"
#include "api/proto_test_util.h"

namespace berth {
namespace {

// Field numbers of k8s.io/api/core/v1.
ProtoBytes Container(const std::string& image, const std::string& cpu = "100m") {
  return ProtoBytes().Message(2,
                              ProtoBytes().Text(1, "c").Text(2, image).Message(8, ProtoBytes().Amount(2, "cpu", cpu)));
}
ProtoBytes Spec(const std::string& image, const std::string& node, const std::string& account = "default",
                const std::string& cpu = "100m") {
  return Container(image, cpu).Text(8, account).Text(10, node);
}
std::string Bytes(const std::string& name, const ProtoBytes& spec, const ProtoBytes& status = {}) {
  return ProtoBytes().Message(1, ProtoBytes().Text(1, name)).Message(2, spec).Message(3, status).bytes();
}

PodParts Small(size_t most = 3, size_t most_bytes = 10'000) {
  return {PodSpecs(most, most_bytes),
          KnownParts<Labels>(most, most_bytes),
          KnownParts<List<OwnerReference>>(most, most_bytes),
          KnownParts<List<PodCondition>>(most, most_bytes),
          {}};
}

class PodPartsTest : public ::testing::Test {
 protected:
  Pod Read(const std::string& bytes, PodParts* parts) {
    std::vector<LoadError> errors;
    Context context(DecodeMode::kPeer, errors);
    context.UseParts(parts);
    Pod pod = *DecodeSharedPod(context, ProtoValue::Of(bytes, ProtoMessageOf("Pod")));
    error_ = errors.empty() ? "" : errors.front().Text();
    return pod;
  }
  // Reads it with and without, which must be the same; whether the spec was known.
  bool Known(const std::string& bytes) {
    const Pod pod = Read(bytes, &parts_);
    const bool known = specs_.found();
    const std::string error = error_;
    EXPECT_EQ(pod, Read(bytes, nullptr));
    EXPECT_EQ(error, error_);
    return known;
  }

  PodParts parts_ = Small();
  const PodSpecs& specs_ = parts_.specs;
  std::string error_;
};

TEST_F(PodPartsTest, TheNodesNameAndFieldsThatNobodyReadMakeNoDifference) {
  EXPECT_FALSE(Known(Bytes("a", Spec("i", ""))));
  EXPECT_TRUE(Known(Bytes("a", Spec("i", "n1"), ProtoBytes().Text(1, "Pending"))));
  EXPECT_TRUE(Known(Bytes("b", Spec("i", "", "robot"))));
  EXPECT_FALSE(Known(Bytes("a", Spec("other", ""))));
  EXPECT_EQ(specs_.size(), 2u);
  EXPECT_EQ(Read(Bytes("a", Spec("i", "n1")), &parts_).node_name, "n1");
}

TEST_F(PodPartsTest, ASpecThatComesOnceMoreIsComparedAsItLiesThere) {
  const auto node_of = [&](const ProtoBytes& spec) { return Read(Bytes("a", spec), &parts_).node_name; };
  const auto spec = [](const std::string& node, uint32_t after = 60, const std::string& scheduler = "s") {
    ProtoBytes made = Container("i").Text(8, "default");
    if (!node.empty()) made.Text(10, node);
    return made.Text(19, scheduler).Text(after, "nobody reads that");
  };
  EXPECT_FALSE(Known(Bytes("a", spec(""))));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Known(Bytes("b", spec(""))));
  for (const char* node : {"n1", "n22", "", "n1"}) {
    EXPECT_TRUE(Known(Bytes("a", spec(node))));
    EXPECT_EQ(node_of(spec(node)), node);
  }
  // Others between them, also such that begin or end alike.
  EXPECT_FALSE(Known(Bytes("a", spec("n1", 60, "other"))));
  EXPECT_TRUE(Known(Bytes("a", spec("n2", 60, "other"))));
  EXPECT_TRUE(Known(Bytes("a", spec("n3"))));
  EXPECT_EQ(Read(Bytes("a", spec("n3")), &parts_).scheduler_name, "s");
  EXPECT_EQ(Read(Bytes("a", spec("n3", 60, "other")), &parts_).scheduler_name, "other");
  EXPECT_TRUE(Known(Bytes("a", spec("n3").Text(61, "unknown"))));
  EXPECT_TRUE(Known(Bytes("a", spec("n3"))));
  // Where no API server writes the node's name: behind everything, or twice.
  EXPECT_TRUE(Known(Bytes("a", spec("").Text(10, "late"))));
  EXPECT_EQ(node_of(spec("").Text(10, "late")), "late");
  EXPECT_EQ(node_of(spec("n1")), "n1");
  EXPECT_FALSE(Known(Bytes("a", spec("n1").Text(10, "late"))));
  // A spec with nothing but the node's name, and one with nothing.
  EXPECT_EQ(node_of(ProtoBytes().Text(10, "alone")), "alone");
  EXPECT_TRUE(Known(Bytes("a", ProtoBytes().Text(10, "alone"))));
  EXPECT_TRUE(Known(Bytes("a", ProtoBytes().Text(10, "again"))));
  // What was kept for others must not be what is found.
  for (const char* image : {"x", "y", "z", "w"}) Known(Bytes("a", Spec(image, "")));
  Known(Bytes("a", spec("n1")));
  EXPECT_LE(specs_.size(), 3u);
}

TEST_F(PodPartsTest, AStatusThatCountsForResourcesIsCounted) {
  const ProtoBytes resized = ProtoBytes().Message(
      8, ProtoBytes().Text(1, "c").Amount(10, "cpu", "3").Message(11, ProtoBytes().Amount(2, "cpu", "3")));
  EXPECT_FALSE(Known(Bytes("a", Spec("i", "n1"), resized)));
  EXPECT_EQ(specs_.size(), 0u) << "more than the spec went into it";
  EXPECT_FALSE(Known(Bytes("a", Spec("i", "n1"))));
  EXPECT_TRUE(Known(Bytes("a", Spec("i", "n1"), resized)));
  EXPECT_NE(Read(Bytes("a", Spec("i", "n1"), resized), &parts_).resources,
            Read(Bytes("a", Spec("i", "n1")), &parts_).resources);
}

TEST_F(PodPartsTest, ClaimsOfEphemeralVolumesAreCalledAfterTheirPod) {
  ProtoBytes spec = Spec("i", "");
  spec.Message(1,
               ProtoBytes().Text(1, "v").Message(2, ProtoBytes().Message(29, ProtoBytes().Message(1, ProtoBytes()))));
  for (const char* name : {"a", "b"}) {
    EXPECT_FALSE(Known(Bytes(name, spec)));
    EXPECT_EQ(Read(Bytes(name, spec), &parts_).volumes[0].source, std::string(name) + "-v");
  }
  EXPECT_EQ(specs_.size(), 0u);
}

TEST_F(PodPartsTest, WhatIsWrongIsNotKept) {
  const std::string twice = Bytes("a", Spec("i", "n1").Text(10, "n2"));
  ProtoBytes number = Container("i");
  const std::string wrong = Bytes("a", number.Number(10, 7));  // for the node's name
  EXPECT_FALSE(Known(wrong));
  EXPECT_NE(error_, "");
  EXPECT_EQ(specs_.size(), 0u);
  EXPECT_FALSE(Known(Bytes("a", Spec("i", ""))));
  EXPECT_TRUE(Known(wrong));
  EXPECT_NE(error_, "") << "the node's name is read all the same";
  EXPECT_FALSE(Known(twice)) << "as no API server writes it";
  EXPECT_FALSE(Known(twice));
  // Cut off within the spec, and a spec that comes twice or behind the status: as no API server writes it.
  const std::string whole = Spec("new", "").bytes();
  Known(ProtoBytes().Message(1, ProtoBytes().Text(1, "a")).Text(2, whole.substr(0, whole.size() - 1)).bytes());
  Known(ProtoBytes()
            .Message(1, ProtoBytes().Text(1, "a"))
            .Message(2, Spec("i", ""))
            .Message(2, Spec("j", "n", "", "3"))
            .bytes());
  Known(ProtoBytes().Message(3, ProtoBytes().Text(1, "Running")).Message(2, Spec("i", "")).bytes());
  EXPECT_EQ(specs_.size(), 1u);
}

TEST_F(PodPartsTest, OfTooManyTheOnesThatNobodyAsksForGo) {
  for (const char* image : {"a", "b", "c"}) EXPECT_FALSE(Known(Bytes("p", Spec(image, ""))));
  EXPECT_TRUE(Known(Bytes("p", Spec("a", ""))));
  EXPECT_FALSE(Known(Bytes("p", Spec("d", "")))) << "in the place of b";
  EXPECT_EQ(specs_.size(), 3u);
  EXPECT_TRUE(Known(Bytes("p", Spec("a", ""))));
  EXPECT_TRUE(Known(Bytes("p", Spec("c", ""))));
  EXPECT_TRUE(Known(Bytes("p", Spec("d", ""))));
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(Known(Bytes("p", Spec("more" + std::to_string(i), ""))));
  EXPECT_EQ(specs_.size(), 3u);
}

TEST_F(PodPartsTest, TheirBytesAreBounded) {
  PodParts small = Small(100, 2000);
  for (int i = 0; i < 50; ++i) Read(Bytes("p", Spec(std::string(300, 'x') + std::to_string(i), "")), &small);
  EXPECT_GT(small.specs.size(), 2u);
  EXPECT_LE(small.specs.size() * 300, 2000u);
  EXPECT_FALSE(Known(Bytes("p", Spec(std::string(KnownParts<Pod>::kMaxPartBytes, 'x'), ""))));
  EXPECT_EQ(specs_.size(), 0u) << "a huge one is read every time";
}

// A pod with these labels, owners and conditions.
std::string Lists(const ProtoBytes& metadata, const ProtoBytes& status = {}) {
  return ProtoBytes().Message(1, metadata).Message(2, Container("i")).Message(3, status).bytes();
}
ProtoBytes Condition(const std::string& status, int64_t seconds) {
  return ProtoBytes().Text(1, "Ready").Text(2, status).Message(4, ProtoBytes().Number(1, seconds)).Text(5, "r");
}

// Of items that are empty there may be thousands in a few bytes.
TEST_F(PodPartsTest, OfManyItemsNothingIsKept) {
  constexpr size_t kMany = KnownParts<Pod>::kMaxPartItems + 1;
  ProtoBytes containers, conditions;
  for (size_t i = 0; i < kMany; ++i) {
    containers.Message(2, ProtoBytes());
    conditions.Message(2, ProtoBytes());
  }
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(Known(Bytes("p", containers)));
  EXPECT_EQ(specs_.size(), 0u);
  EXPECT_EQ(Read(Bytes("p", Spec("a", ""), conditions), &parts_).conditions.size(), kMany);
  EXPECT_EQ(parts_.conditions.size(), 0u);
}

TEST_F(PodPartsTest, LabelsThatComeAgainAreKnown) {
  const ProtoBytes labels = ProtoBytes().Entry(11, "a", "1").Entry(11, "b", "2");
  const std::vector<std::pair<ProtoBytes, size_t>> pods = {
      {ProtoBytes(labels).Text(1, "one"), 1},
      {ProtoBytes().Text(1, "two").Raw(labels.bytes()).Text(15, "c"), 1},
      // Not one after another, but the same bytes in all.
      {ProtoBytes().Entry(11, "a", "1").Entry(12, "x", "y").Entry(11, "b", "2").Text(1, "three"), 1},
      {ProtoBytes().Entry(11, "a", "1").Text(1, "four"), 2},
      {ProtoBytes().Entry(11, "a", "\xff").Text(1, "five"), 3}};  // no UTF-8
  for (const auto& [metadata, known] : pods) {
    Known(Lists(metadata));
    EXPECT_EQ(parts_.labels.size(), known);
    Known(Lists(metadata));
    EXPECT_EQ(parts_.labels.size(), known);
  }
  EXPECT_EQ(*Read(Lists(ProtoBytes(labels).Text(1, "six")), &parts_).meta.labels.Find("b"), "2");
  EXPECT_EQ(*Read(Lists(pods.back().first), &parts_).meta.labels.Find("a"), "\xEF\xBF\xBD");
}

TEST_F(PodPartsTest, LabelsThatAreWrongAreNotKept) {
  for (const ProtoBytes& wrong : {ProtoBytes().Number(11, 1), ProtoBytes().Text(11, "\x0a\x05"),
                                  ProtoBytes().Message(11, ProtoBytes().Number(1, 5)),
                                  ProtoBytes().Message(11, ProtoBytes().Text(1, "k").Number(2, 5)),
                                  ProtoBytes().Entry(11, "a", "1").Raw("\x0a\x7f")}) {
    Known(Lists(wrong));
    EXPECT_NE(error_, "");
    Known(Lists(wrong));
    EXPECT_NE(error_, "");
    EXPECT_EQ(parts_.labels.size(), 0u);
  }
}

TEST_F(PodPartsTest, OwnersThatComeAgainAreKnownAndShared) {
  const auto owned = [](const std::string& uid) {
    return Lists(ProtoBytes().Text(1, "p").Message(
        13, ProtoBytes().Text(1, "ReplicaSet").Text(3, "web").Text(4, uid).Text(5, "apps/v1").Number(6, 1)));
  };
  const Pod first = Read(owned("u"), &parts_), second = Read(owned("u"), &parts_);
  EXPECT_TRUE(first.meta.owners.SharesWith(second.meta.owners));
  EXPECT_EQ(second.meta.owners[0].uid, "u");
  Known(owned("v"));
  EXPECT_EQ(parts_.owners.size(), 2u);
}

TEST_F(PodPartsTest, TheTimeOfAConditionMakesNoDifference) {
  const auto with = [](const std::vector<ProtoBytes>& conditions) {
    ProtoBytes status;
    for (const ProtoBytes& condition : conditions) status.Message(2, condition);
    return Lists(ProtoBytes().Text(1, "p"), status);
  };
  Known(with({Condition("True", 1)}));
  Known(with({Condition("True", 2)}));
  EXPECT_EQ(parts_.conditions.size(), 1u);
  EXPECT_TRUE(Read(with({Condition("True", 1)}), &parts_)
                  .conditions.SharesWith(Read(with({Condition("True", 2)}), &parts_).conditions));
  // Where one ends and the next begins does.
  Known(with({Condition("True", 1), ProtoBytes().Text(6, "m")}));
  Known(with({Condition("True", 1).Text(6, "m")}));
  EXPECT_EQ(parts_.conditions.size(), 3u);
  EXPECT_EQ(Read(with({Condition("True", 1), ProtoBytes().Text(6, "m")}), &parts_).conditions.size(), 2u);
  for (const ProtoBytes& wrong : {ProtoBytes().Number(2, 1), ProtoBytes().Text(2, "\x0a\x05"),
                                  ProtoBytes().Message(2, ProtoBytes().Number(1, 5))}) {
    Known(Lists(ProtoBytes().Text(1, "p"), wrong));
    EXPECT_NE(error_, "");
    EXPECT_EQ(parts_.conditions.size(), 3u);
  }
}

TEST(KnownPartsTest, TheirNumberAndTheirBytesAreBounded) {
  KnownParts<int> few(2, 100);
  for (int i = 0; i < 10; ++i) few.Keep("key" + std::to_string(i), i);
  EXPECT_EQ(few.size(), 2u);
  EXPECT_EQ(*few.Find("key9"), 9);
  EXPECT_EQ(few.Find("key0"), nullptr);
  EXPECT_EQ(*few.Find("key9"), 9) << "the last one that was found";
  few.Keep(std::string(99, 'x'), 1);
  EXPECT_EQ(few.Find("key9"), nullptr);
  EXPECT_EQ(few.size(), 1u) << "the bytes of two are too many";
  few.Keep(std::string(101, 'x'), 1);
  EXPECT_EQ(few.Find(std::string(101, 'x')), nullptr);
  EXPECT_EQ(*few.Find(std::string(99, 'x')), 1);
  few.Keep(std::string(99, 'x'), 2);
  EXPECT_EQ(*few.Find(std::string(99, 'x')), 1) << "the first one stays";
}

TEST(GatheredBytesTest, PiecesThatTouchAreNotCopied) {
  const std::string message = "abcdef";
  const std::string_view all = message;
  std::string store = "old";
  GatheredBytes touching(store);
  touching.Add(all.substr(1, 2));
  touching.Add(all.substr(3, 1));
  EXPECT_EQ(touching.Text(), "bcd");
  EXPECT_EQ(touching.Text().data(), message.data() + 1);
  GatheredBytes apart(store);
  for (const size_t at : {0, 2, 3, 5}) apart.Add(all.substr(at, 1));
  EXPECT_EQ(apart.Text(), "acdf");
  EXPECT_EQ(apart.Text(), "acdf");
  EXPECT_EQ(GatheredBytes(store).Text(), "");
}

}  // namespace
}  // namespace berth
