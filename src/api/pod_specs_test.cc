// SPDX-License-Identifier: Apache-2.0
#include "api/pod_specs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/decode_value.h"
#include "api/proto_schema.h"
#include "api/proto_test_util.h"

namespace berth {
namespace {

// Field numbers of k8s.io/api/core/v1.
ProtoBytes Spec(const std::string& image, const std::string& node, const std::string& account = "default",
                const std::string& cpu = "100m") {
  ProtoBytes spec;
  spec.Message(2, ProtoBytes().Text(1, "c").Text(2, image).Message(8, ProtoBytes().Amount(2, "cpu", cpu)));
  spec.Text(8, account).Text(10, node);
  return spec;
}
std::string Bytes(const std::string& name, const ProtoBytes& spec, const ProtoBytes& status = {}) {
  return ProtoBytes().Message(1, ProtoBytes().Text(1, name)).Message(2, spec).Message(3, status).bytes();
}

class PodSpecsTest : public ::testing::Test {
 protected:
  Pod Read(const std::string& bytes, PodSpecs* specs) {
    std::vector<LoadError> errors;
    Context context(DecodeMode::kPeer, errors);
    context.UseSpecs(specs);
    Pod pod = DecodePodValue(context, ProtoValue::Of(bytes, ProtoMessageOf("Pod")));
    error_ = errors.empty() ? "" : errors.front().Text();
    return pod;
  }
  // Reads it with and without, which must be the same; whether the spec was known.
  bool Known(const std::string& bytes) {
    const Pod pod = Read(bytes, &specs_);
    const bool known = specs_.found();
    const std::string error = error_;
    EXPECT_EQ(pod, Read(bytes, nullptr));
    EXPECT_EQ(error, error_);
    return known;
  }

  PodSpecs specs_{3};
  std::string error_;
};

TEST_F(PodSpecsTest, TheNodesNameAndFieldsThatNobodyReadMakeNoDifference) {
  EXPECT_FALSE(Known(Bytes("a", Spec("i", ""))));
  EXPECT_TRUE(Known(Bytes("a", Spec("i", "n1"), ProtoBytes().Text(1, "Pending"))));
  EXPECT_TRUE(Known(Bytes("b", Spec("i", "", "robot"))));
  EXPECT_FALSE(Known(Bytes("a", Spec("other", ""))));
  EXPECT_EQ(specs_.size(), 2u);
  EXPECT_EQ(Read(Bytes("a", Spec("i", "n1")), &specs_).node_name, "n1");
}

TEST_F(PodSpecsTest, AStatusThatCountsForResourcesIsCounted) {
  const ProtoBytes resized = ProtoBytes().Message(
      8, ProtoBytes().Text(1, "c").Amount(10, "cpu", "3").Message(11, ProtoBytes().Amount(2, "cpu", "3")));
  EXPECT_FALSE(Known(Bytes("a", Spec("i", "n1"), resized)));
  EXPECT_EQ(specs_.size(), 0u) << "more than the spec went into it";
  EXPECT_FALSE(Known(Bytes("a", Spec("i", "n1"))));
  EXPECT_TRUE(Known(Bytes("a", Spec("i", "n1"), resized)));
  EXPECT_NE(Read(Bytes("a", Spec("i", "n1"), resized), &specs_).resources,
            Read(Bytes("a", Spec("i", "n1")), &specs_).resources);
}

TEST_F(PodSpecsTest, ClaimsOfEphemeralVolumesAreCalledAfterTheirPod) {
  ProtoBytes spec = Spec("i", "");
  spec.Message(1,
               ProtoBytes().Text(1, "v").Message(2, ProtoBytes().Message(29, ProtoBytes().Message(1, ProtoBytes()))));
  for (const char* name : {"a", "b"}) {
    EXPECT_FALSE(Known(Bytes(name, spec)));
    EXPECT_EQ(Read(Bytes(name, spec), &specs_).volumes[0].source, std::string(name) + "-v");
  }
  EXPECT_EQ(specs_.size(), 0u);
}

TEST_F(PodSpecsTest, WhatIsWrongIsNotKept) {
  const std::string wrong = Bytes("a", Spec("i", "").Number(10, 7));  // a number for the node's name
  EXPECT_FALSE(Known(wrong));
  EXPECT_NE(error_, "");
  EXPECT_EQ(specs_.size(), 0u);
  EXPECT_FALSE(Known(Bytes("a", Spec("i", ""))));
  EXPECT_TRUE(Known(wrong));
  EXPECT_NE(error_, "") << "the node's name is read all the same";
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

TEST_F(PodSpecsTest, OfTooManyTheOnesThatNobodyAsksForGo) {
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

TEST_F(PodSpecsTest, TheirBytesAreBounded) {
  PodSpecs small(100, 2000);
  for (int i = 0; i < 50; ++i) Read(Bytes("p", Spec(std::string(300, 'x') + std::to_string(i), "")), &small);
  EXPECT_GT(small.size(), 2u);
  EXPECT_LE(small.size() * 300, 2000u);
  EXPECT_FALSE(Known(Bytes("p", Spec(std::string(PodSpecs::kMaxSpecBytes, 'x'), ""))));
  EXPECT_EQ(specs_.size(), 0u) << "a huge one is read every time";
}

}  // namespace
}  // namespace berth
