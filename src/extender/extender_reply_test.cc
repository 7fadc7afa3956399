// SPDX-License-Identifier: Apache-2.0
// Replies byte by byte, as Go would write them.
#include "extender/extender_reply.h"

#include <gtest/gtest.h>

#include "extender/extender_test_util.h"

namespace berth::extender {
namespace {

ExtenderArgs Names(std::vector<std::string> names) {
  ExtenderArgs args;
  args.node_names = std::move(names);
  return args;
}

TEST(ExtenderReplyTest, NamesAreAnsweredWithNames) {
  FilterResult result;
  result.passed = {0, 2};
  result.texts = {"too \"hot\"", "no label"};
  result.failed = {{1, 0, false}, {3, 1, true}};
  EXPECT_EQ(FilterResultJson(Names({"a", "b", "c", "d"}), result),
            R"({"Nodes":null,"NodeNames":["a","c"],"FailedNodes":{"b":"too \"hot\""},)"
            R"("FailedAndUnresolvableNodes":{"d":"no label"},"Error":""})");
}

TEST(ExtenderReplyTest, CompleteNodesAreAnsweredWithTheBytesThatCame) {
  std::string body = R"({"Nodes":{"items":[{"metadata":{"name":"a"} , "x":[1]},{"metadata":{"name":"b"}}]}})";
  const Result<ExtenderArgs> args = DecodeExtenderArgs(body);
  ASSERT_TRUE(args.ok()) << args.error().text();
  FilterResult result;
  result.passed = {0};
  result.texts = {"no"};
  result.failed = {{1, 0, false}};
  EXPECT_EQ(FilterResultJson(*args, result),
            R"({"Nodes":{"metadata":{},"items":[{"metadata":{"name":"a"} , "x":[1]}]},"NodeNames":null,)"
            R"("FailedNodes":{"b":"no"},"FailedAndUnresolvableNodes":{},"Error":""})");
}

TEST(ExtenderReplyTest, TheReplyMadeInTheBodyIsTheSame) {
  const std::string padding(60, ' ');
  const std::string bodies[] = {
      R"({"Pod":{"metadata":{"name":"p"}},"Nodes":{"metadata":{},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}},)"
      R"({"metadata":{"name":"c"}} , {"metadata":{"name":"d"}}]},"NodeNames":null})",
      R"({"Nodes":{"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}},{"metadata":{"name":"c"}},{"a":1}]}})",
      padding + R"({"Nodes":{"items":[{"metadata":{"name":"a"}},null,{"metadata":{"name":"c"}},{"a":1}]}})",
      padding + R"({"Nodes":{"items":[{"metadata":{"name":"a"}},{},{},{}]}})",
  };
  for (const std::string& text : bodies) {
    for (unsigned mask = 0; mask < 16; ++mask) {
      std::string body = text;
      const Result<ExtenderArgs> args = DecodeExtenderArgs(body);
      ASSERT_TRUE(args.ok()) << args.error().text();
      FilterResult result;
      result.texts = {
          "a reason that is rather longer than the node it is about, so that the reply outgrows the request"};
      for (size_t i = 0; i < 4; ++i) {
        if (mask >> i & 1) {
          result.passed.push_back(i);
        } else {
          result.failed.push_back({i, 0, false});
        }
      }
      const std::string want = FilterResultJson(*args, result);
      EXPECT_EQ(FilterResultJsonFrom(body, *args, result), want) << text << " " << mask;
    }
  }
}

TEST(ExtenderReplyTest, AnEmptyListStaysAList) {
  EXPECT_EQ(FilterResultJson(Names({}), {}),
            R"({"Nodes":null,"NodeNames":[],"FailedNodes":{},"FailedAndUnresolvableNodes":{},"Error":""})");
}

TEST(ExtenderReplyTest, AnErrorStandsAlone) {
  EXPECT_EQ(FilterResultJson(Names({"a"}), FilterResult::Fail("line\nend")),
            R"({"Nodes":null,"NodeNames":null,"FailedNodes":null,"FailedAndUnresolvableNodes":null,)"
            R"("Error":"line\u000aend"})");
  EXPECT_EQ(BindingResultJson(""), R"({"Error":""})");
  EXPECT_EQ(BindingResultJson("bad \xff byte"), R"({"Error":"bad ? byte"})");
}

TEST(ExtenderReplyTest, ScoresAreABareList) {
  EXPECT_EQ(HostPriorityListJson({}), "[]");
  EXPECT_EQ(HostPriorityListJson({{"a", 7}, {"b", -3}}), R"([{"Host":"a","Score":7},{"Host":"b","Score":-3}])");
}

TEST(ExtenderReplyTest, VictimsAreUidsInTheirOrder) {
  EXPECT_EQ(PreemptionResultJson({}), R"({"NodeNameToMetaVictims":{}})");
  const VictimMap victims = {{"n1", Evict({"b", "a"}, 1)}, {"n2", Victims{}}, {"n3", Evict({})}};
  EXPECT_EQ(PreemptionResultJson(victims),
            R"({"NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":"b"},{"UID":"a"}],"NumPDBViolations":1},)"
            R"("n2":{"Pods":null,"NumPDBViolations":0},"n3":{"Pods":[],"NumPDBViolations":0}}})");
}

}  // namespace
}  // namespace berth::extender
