// SPDX-License-Identifier: Apache-2.0
#include "extender_client/plain_reply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "extender_client/extender_reply.h"

namespace berth::extender_client {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::Pair;

bool ReadsFilter(const std::string& body) {
  FilterReply reply;
  return PlainReply(body).ReadFilter(reply);
}
bool ReadsScores(const std::string& body) {
  ScoreReply reply;
  return PlainReply(body).ReadScores(reply);
}

TEST(PlainReplyTest, ReadsAFilterAnswer) {
  const std::string body =
      R"( {"Nodes":null,"NodeNames":["a","b"] , "FailedNodes":{"c":"too hot"},"Other":[1,{"x":null}],)"
      R"("FailedAndUnresolvableNodes":{"d":"gone"},"Error":"half"} and more)";
  FilterReply reply;
  ASSERT_TRUE(PlainReply(body).ReadFilter(reply));
  EXPECT_THAT(reply.node_names, Optional(ElementsAre("a", "b")));
  EXPECT_FALSE(reply.nodes);
  EXPECT_THAT(reply.failed, ElementsAre(Pair("c", "too hot")));
  EXPECT_THAT(reply.unresolvable, ElementsAre(Pair("d", "gone")));
  EXPECT_EQ(reply.error, "half");
}

TEST(PlainReplyTest, ReadsCompleteNodes) {
  const std::string body =
      R"({"Nodes":{"metadata":{},"items":[{"spec":{"x":"\n"},"metadata":{"labels":{"name":"no"},"name":"a"}},{}]}})";
  FilterReply reply;
  ASSERT_TRUE(PlainReply(body).ReadFilter(reply));
  EXPECT_THAT(reply.nodes, Optional(ElementsAre("a", "")));
  EXPECT_FALSE(reply.node_names);
}

TEST(PlainReplyTest, ReadsScores) {
  ScoreReply reply;
  ASSERT_TRUE(PlainReply(R"([{"Host":"a","Score":7},{"score":-9223372036854775808,"host":"b"},{"X":[0.5]}])")
                  .ReadScores(reply));
  EXPECT_THAT(reply.scores, ElementsAre(Pair("a", 7), Pair("b", INT64_MIN), Pair("", 0)));
  ScoreReply empty;
  ASSERT_TRUE(PlainReply(" [ ] ").ReadScores(empty));
  EXPECT_THAT(empty.scores, IsEmpty());
}

TEST(PlainReplyTest, LeavesTheUnusualToOthers) {
  for (const char* body : {"",
                           "null",
                           "[]",
                           "{",
                           R"({"NodeNames":["a","b")",
                           R"({"NodeNames":["a",]})",
                           R"({"NodeNames":["a"],})",
                           R"({"NodeNames":["\u0061"]})",
                           R"({"NodeNames":[null]})",
                           R"({"NodeNames":[1]})",
                           R"({"NodeNames":["a"],"nodenames":["b"]})",
                           R"({"NodeNames":{}})",
                           R"({"Error":null})",
                           R"({"Error":"a\nb"})",
                           R"({"Nodes":{"items":[null]}})",
                           R"({"Nodes":{"items":[{"metadata":null}]}})",
                           R"({"Nodes":{"items":[{"metadata":{"name":"\u0061"}}]}})",
                           R"({"Nodes":{"items":[{"metadata":{"name":"a"}}],"items":[]}})",
                           R"({"FailedNodes":{"a":null}})",
                           R"({"FailedNodes":{"\u0061":"x"}})",
                           R"({"Other":01})",
                           R"({"Other":"\ud800"})",
                           "{\"NodeNames\":[\"\xff\"]}",
                           "{\"NodeNames\":[\"a\nb\"]}"})
    EXPECT_FALSE(ReadsFilter(body)) << body;
  for (const char* body : {"", "null", "{}", "[", R"([{"Host":"a","Score":1)", R"([{"Host":"a","Score":1},])",
                           R"([null])", R"([{"Host":null}])", R"([{"Host":"\u0061"}])", R"([{"Score":null}])",
                           R"([{"Score":"1"}])", R"([{"Score":1.0}])", R"([{"Score":1e1}])", R"([{"Score":01}])",
                           R"([{"Score":-}])", R"([{"Score":9223372036854775808}])", R"([{"Score":1,"score":2}])",
                           R"([{"Host":"a","Host":"b"}])", "[{\"Host\":\"\xff\"}]"})
    EXPECT_FALSE(ReadsScores(body)) << body;
}

// An escape in a text that matters changes which reader reads it, not what is read.
TEST(PlainReplyTest, ComesToWhatTheOtherReaderComesTo) {
  const std::vector<std::pair<std::string, std::string>> filters = {
      {R"({"NodeNames":["a","b"]})", R"({"NodeNames":["\u0061","b"]})"},
      {R"({"NodeNames":[],"Error":"e"})", R"({"NodeNames":[],"Error":"\u0065"})"},
      {R"({"Nodes":{"items":[]},"Error":"e"})", R"({"Nodes":{"items":[]},"Error":"\u0065"})"},
      {R"({"Nodes":{},"Error":"e"})", R"({"Nodes":{},"Error":"\u0065"})"},
      {R"({"Nodes":{"items":[{"metadata":{"name":"a"}},{"metadata":{}}]}})",
       R"({"Nodes":{"items":[{"metadata":{"name":"\u0061"}},{"metadata":{}}]}})"},
      {R"({"Nodes":{"items":[{"metadata":{"name":"b","name":"a"},"metadata":{"uid":"u"}}]}})",
       R"({"Nodes":{"items":[{"metadata":{"name":"b","name":"\u0061"},"metadata":{"uid":"u"}}]}})"},
      {R"({"NODENAMES":["a"],"faiLednoDes":{"c":"r","c":"s"},"FailedAndUnresolvableNodes":null})",
       R"({"NODENAMES":["\u0061"],"faiLednoDes":{"c":"r","c":"s"},"FailedAndUnresolvableNodes":null})"},
      {R"({"FailedNodes":{"c":")" + std::string(600, 'x') + "a\"}}",
       R"({"FailedNodes":{"c":")" + std::string(600, 'x') + "\\u0061\"}}"}};
  for (auto [plain, escaped] : filters) {
    SCOPED_TRACE(plain);
    ASSERT_TRUE(ReadsFilter(plain));
    ASSERT_FALSE(ReadsFilter(escaped));
    const Result<FilterReply> one = ReadFilterReply(plain), other = ReadFilterReply(escaped);
    ASSERT_TRUE(one.ok() && other.ok());
    EXPECT_EQ(one->nodes, other->nodes);
    EXPECT_EQ(one->node_names, other->node_names);
    EXPECT_EQ(one->failed, other->failed);
    EXPECT_EQ(one->unresolvable, other->unresolvable);
    EXPECT_EQ(one->error, other->error);
  }
  const std::vector<std::pair<std::string, std::string>> scores = {
      {R"([{"Host":"a","Score":-3},{"HOST":"b"},{}])", R"([{"Host":"\u0061","Score":-3},{"HOST":"b"},{}])"}};
  for (auto [plain, escaped] : scores) {
    ASSERT_TRUE(ReadsScores(plain));
    ASSERT_FALSE(ReadsScores(escaped));
    const Result<ScoreReply> one = ReadPrioritizeReply(plain), other = ReadPrioritizeReply(escaped);
    ASSERT_TRUE(one.ok() && other.ok());
    EXPECT_EQ(one->scores, other->scores);
  }
}

}  // namespace
}  // namespace berth::extender_client
