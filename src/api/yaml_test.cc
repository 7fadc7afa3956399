// SPDX-License-Identifier: Apache-2.0
#include "api/yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace berth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct ReadDocuments {
  std::vector<std::string> documents;
  std::string error;
};

ReadDocuments ReadAll(std::string_view text, size_t budget = kAliasBudget) {
  ReadDocuments read;
  const auto keep = [&](std::string json) {
    read.documents.push_back(std::move(json));
    return Error::Ok();
  };
  const Error error = ForEachDocument(text, keep, budget);
  if (!error.ok()) read.error = error.text();
  return read;
}

// The wanted JSON was recorded from sigs.k8s.io/yaml v1.6.0.
TEST(YamlTest, ScalarsMeanWhatTheyMeanToKubectl) {
  const struct {
    const char* yaml;
    const char* json;
  } cases[] = {
      {"v: y", R"({"v":true})"},
      {"v: Yes", R"({"v":true})"},
      {"v: on", R"({"v":true})"},
      {"v: Off", R"({"v":false})"},
      {"v: n", R"({"v":false})"},
      {"v: ~", R"({"v":null})"},
      {"v: Null", R"({"v":null})"},
      {"v:", R"({"v":null})"},
      {"v: \"yes\"", R"({"v":"yes"})"},
      {"v: 'no'", R"({"v":"no"})"},
      {"v: 010", R"({"v":8})"},
      {"v: 0o17", R"({"v":15})"},
      {"v: 0x1F", R"({"v":31})"},
      {"v: 0b101", R"({"v":5})"},
      {"v: -0b11", R"({"v":-3})"},
      {"v: 08", R"({"v":8})"},
      {"v: 0x", R"({"v":"0x"})"},
      {"v: 1_000", R"({"v":1000})"},
      {"v: _1", R"({"v":"_1"})"},
      {"v: 1e3", R"({"v":1000})"},
      {"v: 1.0", R"({"v":1})"},
      {"v: .5", R"({"v":0.5})"},
      {"v: 1e21", R"({"v":1e+21})"},
      {"v: 1e-7", R"({"v":1e-7})"},
      {"v: 0.000001", R"({"v":0.000001})"},
      {"v: 1e400", R"({"v":"1e400"})"},
      {"v: 18446744073709551615", R"({"v":18446744073709551615})"},
      {"v: 123456789012345678901", R"({"v":123456789012345680000})"},
      {"v: -9223372036854775809", R"({"v":-9223372036854776000})"},
      {"v: 2001-01-01", R"({"v":"2001-01-01"})"},
      {"v: 12:30:45", R"({"v":"12:30:45"})"},
      {"v: 100m", R"({"v":"100m"})"},
      {"v: !!str 5", R"({"v":"5"})"},
      {"v: !!int \"5\"", R"({"v":5})"},
      {"v: !!binary aGVsbG8=", R"({"v":"hello"})"},
      {"v: !foo 5", R"({"v":"5"})"},
      {"v: ! 5", R"({"v":"5"})"},
      {"yes: v", R"({"true":"v"})"},
      {"1: v", R"({"1":"v"})"},
      {"1.5: v", R"({"1.5":"v"})"},
      {"1000000.5: v", R"({"1.0000005e+06":"v"})"},
      {"v: |\n  a\n  b\n", R"({"v":"a\u000ab\u000a"})"},
      {"v: \"\\u00e9\\\"\\\\\"", "{\"v\":\"\xC3\xA9\\\"\\\\\"}"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.yaml);
    const ReadDocuments read = ReadAll(c.yaml);
    EXPECT_EQ(read.error, "");
    EXPECT_THAT(read.documents, ElementsAre(c.json));
  }
}

TEST(YamlTest, MergeKeysAndAliasesAreResolved) {
  const struct {
    const char* yaml;
    const char* json;
  } cases[] = {
      {"a: &a [1, 2]\nb: *a", R"({"a":[1,2],"b":[1,2]})"},
      {"<<: {a: 2, b: 3}\na: 1", R"({"a":1,"b":3})"},
      // The later one wins even when it is the merged one: go-yaml v2 does that.
      {"a: 1\n<<: {a: 2, b: 3}", R"({"a":2,"b":3})"},
      {"x: &x {a: 1}\nw: &w {a: 2, b: 2}\nz: {<<: [*x, *w], c: 3}",
       R"({"x":{"a":1},"w":{"a":2,"b":2},"z":{"a":1,"b":2,"c":3}})"},
      {"a: {<<: {<<: {z: 1}, w: 2}}", R"({"a":{"z":1,"w":2}})"},
      {"\"<<\": {a: 1}", R"({"<<":{"a":1}})"},
      {"&k key: v\nother: *k", R"({"key":"v","other":"key"})"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.yaml);
    const ReadDocuments read = ReadAll(c.yaml);
    EXPECT_EQ(read.error, "");
    EXPECT_THAT(read.documents, ElementsAre(c.json));
  }
}

TEST(YamlTest, DocumentsComeOneByOneAndEmptyOnesAreSkipped) {
  EXPECT_THAT(ReadAll("---\n# nothing\n---\na: 1\n---\n---\nb: 2\n...\n").documents,
              ElementsAre(R"({"a":1})", R"({"b":2})"));
  EXPECT_THAT(ReadAll("").documents, ElementsAre());
  EXPECT_THAT(ReadAll(" \n\t\n").documents, ElementsAre());
  EXPECT_THAT(ReadAll("\xEF\xBB\xBF{\"a\":1}").documents, ElementsAre(R"({"a":1})"));
  EXPECT_THAT(ReadAll("{\"a\":1}{\"b\":2} [3]\n---\n{\"c\":4}").documents,
              ElementsAre(R"({"a":1})", R"({"b":2})", "[3]", R"({"c":4})"));
}

TEST(YamlTest, GoodDocumentsInFrontOfABadOneAreDelivered) {
  const ReadDocuments read = ReadAll("a: 1\n---\nb: [\n");
  EXPECT_THAT(read.documents, ElementsAre(R"({"a":1})"));
  EXPECT_THAT(read.error, HasSubstr("malformed YAML at line"));
}

TEST(YamlTest, MalformedTextIsAnErrorWithItsPlace) {
  const std::string deep_yaml = std::string(600, '[');
  std::string deep_block;
  for (int i = 0; i < 600; ++i) deep_block += std::string(static_cast<size_t>(i), ' ') + "a:\n";
  const struct {
    const char* name;
    std::string text;
    const char* error;
  } cases[] = {
      {"duplicate key", "a: 1\nb: 2\na: 3", "line 3: key \"a\" already set in map"},
      {"duplicate after conversion", "1: a\n\"1\": b", "key \"1\" already set in map"},
      {"unknown anchor", "a: *b", "malformed YAML at line 1: unknown anchor referenced"},
      {"anchor in itself", "a: &a [*a]", "value contains itself"},
      {"key that is a list", "? [a]\n: b", "a map key must be a scalar"},
      {"null key", "null: 3", "unsupported map key"},
      {"merge of a number", "<<: 5", "map merge requires map"},
      {"infinity has no JSON", "a: .inf", "unsupported value: .inf"},
      {"wrong tag", "a: !!int 5.5", "malformed YAML at line 1: cannot be decoded as a !!int"},
      {"bad base64", "a: !!binary ???", "invalid base64"},
      {"invalid UTF-8", "a: \xff\xfe", "malformed YAML"},
      {"NUL", std::string("a: b\0c", 6), "malformed YAML"},
      {"truncated", "a: \"x", "malformed YAML at line"},
      {"deep flow", "a: " + deep_yaml, "nested too deeply"},
      {"deep block", deep_block, "nested too deeply"},
      {"truncated JSON", "{\"a\":", "malformed JSON at line 1, column 6: unexpected end"},
      {"JSON with a comma too many", "{\"a\":[1,]}", "line 1, column 9"},
      {"JSON with invalid UTF-8", "{\"a\":\"\xff\"}", "invalid UTF-8 at line 1, column 7"},
      {"JSON followed by garbage", "{} x", "line 1, column 4: not a JSON value"},
      {"deep JSON", std::string(600, '['), "nested too deeply (limit 512 levels)"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_THAT(ReadAll(c.text).error, HasSubstr(c.error));
  }
}

TEST(YamlTest, AliasBombsAreStopped) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  std::string merge_bomb = "a0: &a0 {k: v}\n";
  for (int i = 1; i <= 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    std::string list = before;
    for (int k = 1; k < 10; ++k) list += ", " + before;
    const std::string name = "a" + std::to_string(i);
    bomb += name + ": &" + name + " [" + list + "]\n";
    merge_bomb += name + ": &" + name + " {<<: [" + list + "]}\n";
  }
  static_assert(kAliasBudget == size_t{64} << 20);
  // A hundredth of what a file of objects may grow to: writing that much takes seconds, much longer where memory is
  // checked.
  for (const std::string& text : {bomb, merge_bomb}) {
    const ReadDocuments read = ReadAll(text, kAliasBudget / 100);
    EXPECT_THAT(read.error, HasSubstr("document grows beyond 671088 bytes through aliases"));
    EXPECT_THAT(read.documents, IsEmpty());
  }
}

TEST(YamlTest, TheCallbacksErrorEndsTheWalk) {
  int calls = 0;
  const Error error = ForEachDocument("a: 1\n---\nb: 2", [&](std::string) {
    ++calls;
    return Error("enough");
  });
  EXPECT_EQ(error.text(), "enough");
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace berth
