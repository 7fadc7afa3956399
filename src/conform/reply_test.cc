// SPDX-License-Identifier: Apache-2.0
// Replies are read as kube-scheduler's JSON decoder reads them.
#include "conform/reply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace berth::conform {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr Target kNodes{Verb::kFilter, Shape::kNodes}, kNames{Verb::kFilter, Shape::kNames};

Reply Good(Verb verb, const std::string& body) {
  Result<Reply> reply = ReadReply(verb, body);
  EXPECT_TRUE(reply.ok()) << body << ": " << reply.error().text();
  return reply.ok() ? std::move(reply).value() : Reply();
}

std::string Bad(Verb verb, const std::string& body) {
  const Result<Reply> reply = ReadReply(verb, body);
  EXPECT_FALSE(reply.ok()) << body;
  return reply.ok() ? "" : reply.error().text();
}

TEST(ReplyTest, KeysMayHaveAnyCaseAndUnknownOnesArePassedOver) {
  const Reply reply = Good(Verb::kFilter, R"({"nodenames":["a","b"],"FAILEDNODES":{"c":"why"},"x":[1],"error":null})");
  EXPECT_THAT(reply.node_names.value(), ElementsAre("a", "b"));
  EXPECT_THAT(reply.failed, ElementsAre(Pair("c", "why")));
  EXPECT_THAT(reply.error, IsEmpty());
  EXPECT_FALSE(reply.nodes.has_value());
}

TEST(ReplyTest, NullAndAnEmptyListAreTwoThings) {
  EXPECT_FALSE(Good(Verb::kFilter, R"({"NodeNames":null})").node_names.has_value());
  EXPECT_TRUE(Good(Verb::kFilter, R"({"NodeNames":[]})").node_names.has_value());
  EXPECT_TRUE(Good(Verb::kFilter, R"({"Nodes":{}})").nodes.has_value());
  EXPECT_FALSE(Good(Verb::kFilter, "null").nodes.has_value());
  EXPECT_THAT(Good(Verb::kPrioritize, "null").priorities, IsEmpty());
}

TEST(ReplyTest, WhatIsBehindTheValueIsLeft) {
  EXPECT_THAT(Good(Verb::kPrioritize, "[{\"Host\":\"a\",\"Score\":3}]\n garbage").priorities.at(0).score, 3);
}

TEST(ReplyTest, WhatIsNoCharacterBecomesTheReplacementCharacterAsInGo) {
  const Reply bytes = Good(Verb::kFilter, "{\"NodeNames\":[\"a\xff\"],\"FailedNodes\":{\"\xc3\":\"\xed\xa0\x80\"}}");
  EXPECT_TRUE(bytes.repaired);
  EXPECT_THAT(bytes.node_names.value(), ElementsAre("a\uFFFD"));
  EXPECT_THAT(bytes.failed, ElementsAre(Pair("\uFFFD", "\uFFFD\uFFFD\uFFFD")));
  const Reply halves =
      Good(Verb::kFilter, R"({"NodeNames":["\ud83d","\uDE00x","\ud83d\ud83d\ude00","\\ud83d","\ud83dn"]})");
  EXPECT_TRUE(halves.repaired);
  EXPECT_THAT(halves.node_names.value(), ElementsAre("\uFFFD", "\uFFFDx", "\uFFFD\U0001F600", "\\ud83d", "\uFFFDn"));
  EXPECT_FALSE(Good(Verb::kFilter, R"({"Error":"\ud83d\ude00 \\ud83d \ufffd"})").repaired);
  EXPECT_FALSE(Good(Verb::kFilter, "{} \xff \"\\ud83d\"").repaired) << "what is behind the value is not read";
}

TEST(ReplyTest, NodesAreKnownByNameAndKeptAsTheyAre) {
  const Reply reply = Good(Verb::kFilter, R"({"Nodes":{"items":[{"metadata":{"name":"a"}},null]}})");
  ASSERT_EQ(reply.nodes->size(), 2U);
  EXPECT_EQ((*reply.nodes)[0].name, "a");
  EXPECT_EQ((*reply.nodes)[0].json, R"({"metadata":{"name":"a"}})");
  EXPECT_EQ((*reply.nodes)[1].name, "") << "Go makes an empty node of null";
}

TEST(ReplyTest, WhatGoWouldNotTakeIsAnErrorThatNamesTheField) {
  EXPECT_THAT(Bad(Verb::kFilter, ""), HasSubstr("empty"));
  EXPECT_THAT(Bad(Verb::kFilter, "{\"NodeNames\":["), HasSubstr("malformed JSON"));
  EXPECT_THAT(Bad(Verb::kFilter, "\xff{}"), HasSubstr("malformed JSON")) << "outside of a string it is no text";
  EXPECT_THAT(Bad(Verb::kFilter, R"({"Error":"\ud8"})"), HasSubstr("malformed JSON"));
  EXPECT_THAT(Bad(Verb::kFilter, "[]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(Bad(Verb::kFilter, R"({"NodeNames":"a"})"), HasSubstr("NodeNames"));
  EXPECT_THAT(Bad(Verb::kFilter, R"({"NodeNames":[1]})"), HasSubstr("NodeNames[0]"));
  EXPECT_THAT(Bad(Verb::kFilter, R"({"FailedNodes":["a"]})"), HasSubstr("FailedNodes"));
  EXPECT_THAT(Bad(Verb::kFilter, R"({"Nodes":{"items":[{"metadata":{"name":7}}]}})"), HasSubstr("Nodes.items[0]"));
  EXPECT_THAT(Bad(Verb::kPrioritize, "{}"), HasSubstr("not an array"));
  EXPECT_THAT(Bad(Verb::kPrioritize, R"([{"Host":"a","Score":"3"}])"), HasSubstr("[0].Score"));
  EXPECT_THAT(Bad(Verb::kPrioritize, R"([{"Host":"a","Score":1e1}])"), HasSubstr("must be an integer"));
  EXPECT_THAT(Bad(Verb::kPrioritize, R"([{"Host":"a","Score":9223372036854775808}])"), HasSubstr("out of range"));
  EXPECT_THAT(Bad(Verb::kPreempt, R"({"NodeNameToMetaVictims":{"n":{"Pods":[{"UID":1}]}}})"), HasSubstr("UID"));
  EXPECT_THAT(Bad(Verb::kBind, R"({"Error":false})"), HasSubstr("Error"));
}

TEST(ReplyTest, NullsAmongVictimsAreSeen) {
  const Reply reply = Good(Verb::kPreempt, R"({"NodeNameToMetaVictims":{"a":null,"b":{"Pods":[null,{"UID":"u"}]}}})");
  EXPECT_FALSE(reply.victims.at("a").has_value());
  ASSERT_EQ(reply.victims.at("b")->uids.size(), 2U);
  EXPECT_FALSE(reply.victims.at("b")->uids[0].has_value());
  EXPECT_EQ(reply.victims.at("b")->uids[1], "u");
}

TEST(ReplyTest, WhichListCountsIsUpToTheShapeThatWasAsked) {
  const Reply both = Good(Verb::kFilter, R"({"NodeNames":["a"],"Nodes":{"items":[{"metadata":{"name":"b"}}]}})");
  EXPECT_THAT(PassedNodes(Shape::kNames, both), ElementsAre("a"));
  EXPECT_THAT(PassedNodes(Shape::kNodes, both), ElementsAre("b"));
  const Reply names = Good(Verb::kFilter, R"({"NodeNames":["a"]})");
  EXPECT_THAT(PassedNodes(Shape::kNodes, names), IsEmpty());
  const Reply nodes = Good(Verb::kFilter, R"({"Nodes":{"items":[{"metadata":{"name":"b"}}]}})");
  EXPECT_THAT(PassedNodes(Shape::kNames, nodes), ElementsAre("b"));
}

TEST(ReplyTest, DecisionsAreEqualWhateverOrderAndTextsAre) {
  const Reply one = Good(Verb::kFilter, R"({"NodeNames":["a","b"],"FailedNodes":{"c":"x"}})");
  const Reply two = Good(Verb::kFilter, R"({"NodeNames":["b","a"],"FailedNodes":{"c":"y"}})");
  const Reply three = Good(Verb::kFilter, R"({"NodeNames":["b"],"FailedNodes":{"c":"y"}})");
  EXPECT_EQ(Decision(kNames, one), Decision(kNames, two));
  EXPECT_NE(Decision(kNames, one), Decision(kNames, three));
  EXPECT_EQ(Decision(kNodes, one), Decision(kNodes, three)) << "names do not count there";
}

TEST(ReplyTest, RepliesOfAnyBytesAreReadOrRefusedInAShortSentence) {
  const std::vector<std::pair<Verb, std::string>> replies = {
      {Verb::kFilter, R"({"Nodes":{"items":[{"metadata":{"name":"a","labels":{"b":"c"}}}]},"NodeNames":["a","\u00e9"],)"
                      R"("FailedNodes":{"c":"why"},"Error":""})"},
      {Verb::kPrioritize, R"([{"Host":"a","Score":3},{"Host":"b","Score":-7}])"},
      {Verb::kPreempt, R"({"NodeNameToMetaVictims":{"a":{"Pods":[{"UID":"u"}],"NumPDBViolations":1},"b":null}})"},
      {Verb::kBind, R"({"Error":"no"})"}};
  const bool holds = rc::check([&replies] {
    const auto& [verb, text] = replies[*rc::gen::inRange<size_t>(0, replies.size())];
    std::string body = text;
    const int edits = *rc::gen::inRange(0, 4);
    for (int i = 0; i < edits && !body.empty(); ++i) {
      const auto at = *rc::gen::inRange<size_t>(0, body.size());
      const char byte = *rc::gen::weightedOneOf<char>(
          {{3, rc::gen::element('{', '}', '[', ']', '"', ',', ':', '0', '\\')}, {1, rc::gen::arbitrary<char>()}});
      if (*rc::gen::arbitrary<bool>()) {
        body[at] = byte;
      } else {
        body.erase(at, *rc::gen::inRange<size_t>(1, 9));
      }
    }
    const Result<Reply> reply = ReadReply(verb, body);
    if (edits == 0) RC_ASSERT(reply.ok());
    if (!reply.ok()) RC_ASSERT(!reply.error().text().empty() && reply.error().text().size() < 400);
    if (reply.ok()) RC_ASSERT(Decision({verb, Shape::kNames}, *reply) == Decision({verb, Shape::kNames}, *reply));
  });
  EXPECT_TRUE(holds);
}

}  // namespace
}  // namespace berth::conform
