// SPDX-License-Identifier: Apache-2.0
// What an object from outside may ask for at most, and resource lists of any size and order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/decode_test_util.h"
#include "api/json_reader.h"
#include "api/peer_resources.h"

namespace berth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// `text` with commas in between.
std::string Times(size_t count, const std::string& text) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += (i == 0 ? "" : ",") + text;
  return all;
}

std::string NodeJson(const std::string& members) {
  return R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},)" + members + "}";
}
std::string ConditionsJson(size_t count) {
  return NodeJson(R"("status":{"conditions":[)" + Times(count, R"({"type":"Ready","status":"True"})") + "]}");
}
std::string AllocatableJson(const std::string& members) {
  return NodeJson(R"("status":{"allocatable":{)" + members + "}}");
}
std::string PodJson(const std::string& spec) {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{)" + spec + "}}";
}
std::string ResourceOf(size_t number) { return "example.com/r" + std::to_string(number); }

std::vector<std::string> PeerErrors(const std::string& json) {
  return Texts(DecodeObject(json, DecodeMode::kPeer).errors);
}

TEST(PeerLimitsTest, AListOfAPeersObjectHasAnEnd) {
  EXPECT_THAT(PeerErrors(ConditionsJson(10'000)), IsEmpty());
  EXPECT_THAT(PeerErrors(ConditionsJson(10'001)),
              ElementsAre("status.conditions[10000]: Invalid value: 10001: must have at most 10000 items"));
  EXPECT_THAT(PeerErrors(PodJson("\"containers\":[" + Times(10'001, "{}") + "]")),
              ElementsAre("spec.containers[10000]: Invalid value: 10001: must have at most 10000 items"));
  EXPECT_THAT(Texts(DecodeObject(ConditionsJson(10'001), DecodeMode::kFile).errors), IsEmpty());
}

TEST(PeerLimitsTest, SoHasAMap) {
  std::string labels;
  for (size_t i = 0; i < 10'001; ++i) labels += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\":\"\"";
  EXPECT_THAT(PeerErrors(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n","labels":{)" + labels + "}}}"),
              ElementsAre("metadata.labels[k10000]: Invalid value: 10001: must have at most 10000 items"));
}

TEST(PeerLimitsTest, ListsInListsDoNotGetAroundIt) {
  const std::string container = R"({"ports":[)" + Times(9'999, "{}") + "]}";
  EXPECT_THAT(PeerErrors(PodJson("\"containers\":[" + Times(10, container) + "]")), IsEmpty());
  EXPECT_THAT(
      PeerErrors(PodJson("\"containers\":[" + Times(11, container) + "]")),
      ElementsAre("spec.containers[10]: Invalid value: 100001: the lists of one object must have at most 100000 "
                  "items together"));
}

TEST(PeerLimitsTest, TheListThatAnObjectComesInIsNotItsOwn) {
  const std::string items = Times(10'001, R"({"metadata":{"name":"n"},"spec":{"taints":[)" + Times(20, "{}") + "]}}");
  const std::vector<DecodedObject> all =
      DecodeDocument(R"({"apiVersion":"v1","kind":"NodeList","items":[)" + items + "]}", DecodeMode::kPeer);
  ASSERT_THAT(all, SizeIs(10'001));
  for (const DecodedObject& object : all) ASSERT_THAT(Texts(object.errors), IsEmpty());
}

TEST(PeerLimitsTest, WhatStandsBehindAListThatIsTooLongIsRead) {
  const std::vector<DecodedObject> all = DecodeDocument(
      "[" + ConditionsJson(10'050) + "," + NodeJson(R"("spec":{"unschedulable":true})") + "]", DecodeMode::kPeer);
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_THAT(Texts(all[0].errors), SizeIs(1));
  EXPECT_THAT(Texts(all[1].errors), IsEmpty());
  EXPECT_TRUE(std::get<Node>(all[1].object).unschedulable);
}

TEST(PeerLimitsTest, AResourceListHasAnEnd) {
  const std::string thousand = Times(1'000, R"("cpu":"1")");
  EXPECT_THAT(PeerErrors(AllocatableJson(thousand)), IsEmpty());
  EXPECT_THAT(PeerErrors(AllocatableJson(thousand + R"(,"memory":"1","pods":"2")")),
              ElementsAre("status.allocatable[memory]: Invalid value: 1001: must have at most 1000 items"));
  EXPECT_THAT(Texts(DecodeObject(AllocatableJson(thousand + R"(,"memory":"1")"), DecodeMode::kFile).errors), IsEmpty());
}

TEST(PeerLimitsTest, AResourceNameIsNoLongerThanAQualifiedName) {
  const std::string prefix = std::string(253, 'a') + "/";
  EXPECT_THAT(PeerErrors(AllocatableJson('"' + prefix + std::string(63, 'b') + R"(":"1")")), IsEmpty());
  EXPECT_THAT(PeerErrors(AllocatableJson('"' + prefix + std::string(64, 'b') + R"(":"1")")),
              ElementsAre(HasSubstr(": must be no more than 317 bytes")));
}

TEST(PeerLimitsTest, TheFirstNamesAreRememberedAndNoMore) {
  PeerResources names(2);
  const auto first = names.Intern(ResourceOf(1)), second = names.Intern(ResourceOf(2));
  EXPECT_EQ(first, InternResource(ResourceOf(1)));
  EXPECT_EQ(second, InternResource(ResourceOf(2)));
  EXPECT_EQ(names.Intern("limits-test.example.com/third"), std::nullopt);
  EXPECT_EQ(names.Intern(ResourceOf(1)), first);
  for (const char* name : {"cpu", "memory", "ephemeral-storage", "pods"}) {
    EXPECT_EQ(names.Intern(name), InternResource(name)) << name;
  }
}

// In a process of its own: names are for life.
TEST(PeerLimitsDeathTest, APeersNewNameIsRefusedWhenThereAreTooMany) {
  const auto decode = [](size_t from, size_t count, DecodeMode mode) {
    std::string members;
    for (size_t i = 0; i < count; ++i) {
      members += (i == 0 ? "\"many." : ",\"many.") + ResourceOf(from + i) + "\":\"1\"";
    }
    return Texts(DecodeObject(AllocatableJson(members), mode).errors);
  };
  const auto run = [&] {
    std::vector<std::string> refused;
    for (size_t from = 0; from < 5'000; from += 1'000) {
      for (std::string& error : decode(from, 1'000, DecodeMode::kPeer)) refused.push_back(std::move(error));
    }
    if (refused.size() < 5'000 - 4'096) std::exit(1);
    if (refused.back() !=
        "status.allocatable[many.example.com/r4999]: Invalid value: \"many.example.com/r4999\": at most 4096 different "
        "resource names are taken until the next start") {
      std::exit(2);
    }
    if (!decode(0, 1'000, DecodeMode::kPeer).empty()) std::exit(3);  // known ones stay
    if (!decode(4'999, 1, DecodeMode::kFile).empty()) std::exit(4);
    std::exit(0);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(0), "");
}

RC_GTEST_PROP(ResourceListPropertyTest, AnyOrderIsSortedAndOfEqualNamesTheLastStays, ()) {
  const auto entries = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 12), rc::gen::inRange(0, 1000)));
  const DecodeMode mode = *rc::gen::element(DecodeMode::kFile, DecodeMode::kPeer);
  std::string members;
  std::map<ResourceId, int64_t> want;
  for (const auto& [number, amount] : entries) {
    members +=
        (members.empty() ? "\"" : ",\"") + ResourceOf(static_cast<size_t>(number)) + "\":" + std::to_string(amount);
    want[InternResource(ResourceOf(static_cast<size_t>(number)))] = amount;
  }
  const DecodedObject decoded = DecodeObject(AllocatableJson(members), mode);
  RC_ASSERT(decoded.errors.empty());
  const Resources& got = std::get<Node>(decoded.object).allocatable;
  RC_ASSERT(got.scalars == (std::vector<std::pair<ResourceId, int64_t>>(want.begin(), want.end())));
}

// Each name in front of all those before it: putting them into place one by one would take minutes.
TEST(ResourceListTest, ManyNamesInTheWorstOrderAreReadAtOnce) {
  constexpr size_t kNames = 400'000;
  for (size_t i = 0; i < kNames; ++i) InternResource("worst." + ResourceOf(i));
  std::string members;
  for (size_t i = kNames; i-- > 0;) members += (members.empty() ? "\"worst." : ",\"worst.") + ResourceOf(i) + "\":1";
  const DecodedObject decoded = DecodeObject(AllocatableJson(members), DecodeMode::kFile);
  EXPECT_THAT(Texts(decoded.errors), IsEmpty());
  EXPECT_THAT(std::get<Node>(decoded.object).allocatable.scalars, SizeIs(kNames));
}

}  // namespace
}  // namespace berth
