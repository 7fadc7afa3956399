// SPDX-License-Identifier: Apache-2.0
#include "api/source_lines.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

std::vector<SourceDocument> Read(std::string_view text, size_t limit = 10) {
  std::vector<SourceDocument> documents;
  const Error error = ReadSource(text, size_t{1} << 20, limit, documents);
  EXPECT_TRUE(error.ok()) << (error.ok() ? "" : error.text());
  return documents;
}

TEST(SourceLinesTest, YamlFieldsHaveTheLinesOfTheirKeysAndItemsTheirOwn) {
  const auto documents = Read("# comment\na:\n  b:\n  - x: 1\n    w:\n      2\n  - z\nc: {d: 1,\n  e: 2}\n");
  ASSERT_EQ(documents.size(), 1u);
  const SourceLines& lines = documents[0].lines;
  const struct {
    const char* path;
    uint32_t line;
  } cases[] = {{"", 2},  {"a", 2},   {"a.b", 3}, {"a.b[0]", 4},   {"a.b[0].x", 4},      {"a.b[0].w", 5},  {"a.b[1]", 7},
               {"c", 8}, {"c.d", 8}, {"c.e", 9}, {"a.b[7].q", 3}, {"a.b[0].w.none", 5}, {"nothing.at", 2}};
  for (const auto& c : cases) EXPECT_EQ(lines.Of(c.path), c.line) << c.path;
  EXPECT_EQ(documents[0].json, R"({"a":{"b":[{"x":1,"w":2},"z"]},"c":{"d":1,"e":2}})");
}

TEST(SourceLinesTest, JsonFieldsHaveTheLinesOfTheirKeys) {
  const auto documents =
      Read("\n{\n \"a\" : [ {\"x\": \"q\\\"{\"},\n  17,\n [true]],\n\"b\\u0063\":\n null }\n{\"z\":\n1}");
  ASSERT_EQ(documents.size(), 2u);
  const SourceLines& lines = documents[0].lines;
  EXPECT_EQ(lines.Of(""), 2u);
  EXPECT_EQ(lines.Of("a"), 3u);
  EXPECT_EQ(lines.Of("a[0].x"), 3u);
  EXPECT_EQ(lines.Of("a[1]"), 4u);
  EXPECT_EQ(lines.Of("a[2][0]"), 5u);
  EXPECT_EQ(lines.Of("bc"), 6u);
  EXPECT_EQ(documents[1].lines.Of(""), 8u);
  EXPECT_EQ(documents[1].lines.Of("z"), 8u);
}

TEST(SourceLinesTest, DocumentsAreCountedAndTheRestIsNotRead) {
  EXPECT_EQ(Read("a: 1\n---\nb: 2\n---\nc: [", 2).size(), 2u);
  EXPECT_EQ(Read("a: 1\n---\nb: 2\n")[1].lines.Of("b"), 3u);
  EXPECT_EQ(Read("").size(), 0u);
}

TEST(SourceLinesTest, MergedAndAliasedFieldsStandWhereTheyAreWritten) {
  const auto documents = Read("x: &x\n  a: 1\n  b: 2\nw:\n  <<: *x\n  c: 3\nz: *x\n");
  EXPECT_EQ(documents[0].lines.Of("w.a"), 2u);
  EXPECT_EQ(documents[0].lines.Of("w.c"), 6u);
  EXPECT_EQ(documents[0].lines.Of("z"), 7u);
  EXPECT_EQ(documents[0].lines.Of("z.b"), 3u);
}

TEST(SourceLinesTest, WhatIsNestedTooDeeplyHasTheLineAroundIt) {
  std::string text, json;
  for (int i = 0; i < 100; ++i) text += std::string(static_cast<size_t>(i), ' ') + "k:\n";
  const auto documents = Read(text);
  std::string path = "k";
  for (int i = 1; i < 100; ++i) path += ".k";
  EXPECT_EQ(documents[0].lines.Of(path), 16u);
  for (int i = 0; i < 100; ++i) json += "[\n";
  for (int i = 0; i < 100; ++i) json += "]";
  EXPECT_EQ(Read(json)[0].lines.Of("[0][0]"), 3u);
}

}  // namespace
}  // namespace berth
