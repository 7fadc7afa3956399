// SPDX-License-Identifier: Apache-2.0
#include "api/source_text.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "berth/node.h"
#include "berth/pod.h"

namespace berth {
namespace {

TEST(SourceTextTest, TheTextGoesWithThePointerAndNotWithTheObject) {
  Node node;
  node.meta.name = "n";
  const Ptr<Node> kept = WithSource(std::move(node), R"({"metadata":{"name":"n"}})");
  const Ptr<Node> same = kept;
  ASSERT_NE(SourceOf(same), nullptr);
  EXPECT_EQ(*SourceOf(same), R"({"metadata":{"name":"n"}})");
  EXPECT_EQ(SourceOf(Ptr<Node>(std::make_shared<const Node>(*kept))), nullptr);
  EXPECT_EQ(SourceOf(Ptr<Pod>()), nullptr);
}

TEST(SourceTextTest, WhatKubeSchedulerDoesNotSendIsLeftOut) {
  const struct {
    const char *json, *bare, *managed;
  } cases[] = {
      {"{}", "{}", "{}"},
      {R"({"kind":"Pod"})", "{}", "{}"},
      {R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"},"spec":{"kind":"x"}})",
       R"({"metadata":{"name":"p"},"spec":{"kind":"x"}})", R"({"metadata":{"name":"p"},"spec":{"kind":"x"}})"},
      {R"({ "metadata" : { "managedFields" : [ { "a" : "}" } ] , "name" : "p" } , "kind" : "Pod" } )",
       R"({"metadata":{"name":"p"}})", R"({"metadata":{ "managedFields" : [ { "a" : "}" } ] , "name" : "p" }})"},
      {R"({"metadata":null,"status":{"managedFields":1}})", R"({"metadata":null,"status":{"managedFields":1}})",
       R"({"metadata":null,"status":{"managedFields":1}})"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.json);
    EXPECT_EQ(TrimmedSource(c.json, false), c.bare);
    EXPECT_EQ(TrimmedSource(c.json, true), c.managed);
  }
}

TEST(SourceTextTest, WhatTheServerWouldHaveAddedIsAdded) {
  ObjectMeta meta;
  meta.name = "p";
  meta.namespace_ = "default";
  meta.uid = "u";
  EXPECT_EQ(CompletedSource(R"({"metadata":{"name":"p"},"spec":{}})", meta),
            R"({"metadata":{"name":"p","namespace":"default","uid":"u"},"spec":{}})");
  EXPECT_EQ(CompletedSource(R"({"metadata":{"uid":"x","namespace":"y","name":"z"}})", meta),
            R"({"metadata":{"uid":"x","namespace":"y","name":"z"}})");
  EXPECT_EQ(CompletedSource("{}", meta), R"({"metadata":{"name":"p","namespace":"default","uid":"u"}})");
}

TEST(SourceTextTest, ObjectsOfListsAreFoundOneByOne) {
  const auto found = [](std::string_view json) {
    std::string all;
    ForEachSource(json, [&](std::string_view kind, const std::string& name, std::string_view) {
      all += std::string(kind) + " " + name + ";";
    });
    return all;
  };
  EXPECT_EQ(found(R"({"kind":"Pod","metadata":{"name":"p"}})"), "Pod default/p;");
  EXPECT_EQ(found(R"({"kind":"Node","metadata":{"name":"n","namespace":"x"}})"), "Node n;");
  EXPECT_EQ(found(R"({"kind":"List","items":[{"kind":"Pod","metadata":{"name":"p","namespace":"a"}},)"
                  R"({"kind":"NodeList","items":[{"metadata":{"name":"n"}}]}]})"),
            "Pod a/p;Node n;");
  EXPECT_EQ(found(R"([{"kind":"Pod","metadata":{"name":"p"}}, {"kind":"Pod","metadata":{"name":"q"}}])"),
            "Pod default/p;Pod default/q;");
  EXPECT_EQ(found("null"), "");
  EXPECT_EQ(found(""), "");
}

}  // namespace
}  // namespace berth
