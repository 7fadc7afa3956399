// SPDX-License-Identifier: Apache-2.0
// YAML output, and that it reads back as what it was.
#include "config/yaml_text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "api/json_value.h"
#include "api/yaml.h"

namespace berth::config {
namespace {

// The value that the YAML reader makes of `yaml`.
Value ReadBack(const std::string& yaml) {
  Value value;
  std::vector<FieldError> errors;
  const Error error = ForEachYamlDocument(yaml, [&](std::string json) {
    value = ParseJson(json, errors);
    return Error::Ok();
  });
  EXPECT_TRUE(error.ok()) << error.text() << "\n" << yaml;
  EXPECT_TRUE(errors.empty());
  return value;
}

TEST(YamlTextTest, LooksAsKubectlPrints) {
  const Value value =
      Value::Object({{"apiVersion", Value::String("kubescheduler.config.k8s.io/v1")},
                     {"empty", Value::Object()},
                     {"list", Value::Array({Value::Object({{"name", Value::String("cpu")}, {"weight", Value::Int(1)}}),
                                            Value::Array({Value::Int(1), Value::Int(2)}), Value::String("no")})},
                     {"nested", Value::Object({{"on", Value::Bool(true)}, {"text", Value::String("a: b")}})},
                     {"time", Value::String("1h0.5s")},
                     {"tiny", Value::String("1\xc2\xb5s")},
                     {"url", Value::String("http://127.0.0.1:80/x")}});
  EXPECT_EQ(ToYaml(value),
            "apiVersion: kubescheduler.config.k8s.io/v1\n"
            "empty: {}\n"
            "list:\n"
            "- name: cpu\n"
            "  weight: 1\n"
            "-\n"
            "  - 1\n"
            "  - 2\n"
            "- \"no\"\n"
            "nested:\n"
            "  \"on\": true\n"
            "  text: \"a: b\"\n"
            "time: 1h0.5s\n"
            "tiny: 1\xc2\xb5s\n"
            "url: http://127.0.0.1:80/x\n");
  EXPECT_EQ(ReadBack(ToYaml(value)), value);
}

TEST(YamlTextTest, StringsThatLookLikeSomethingElseSurvive) {
  for (const char* text : {"",
                           "true",
                           "No",
                           "ON",
                           "y",
                           "null",
                           "~",
                           "1",
                           "0x1f",
                           "1e3",
                           ".inf",
                           "2001-01-01",
                           "1:30",
                           "*",
                           "&a",
                           "- x",
                           "#x",
                           "a #b",
                           "a: b",
                           "x\ny",
                           "\t",
                           "'",
                           "\"",
                           "\\",
                           "10m0s",
                           "1.5h",
                           "a:b",
                           "::",
                           "<<",
                           "=",
                           "@x",
                           "`x",
                           "%x",
                           "a\xc2\x85z",
                           "\xc2\x80",
                           "\xc2\xa0",
                           "\xe2\x80\xa8",
                           "\xef\xbb\xbf",
                           "\x7f",
                           "\xc3\xa9",
                           "/x",
                           "-",
                           "a:",
                           "inf",
                           "nan",
                           "NaN"}) {
    const Value value = Value::Object({{"k", Value::String(text)}, {"l", Value::Array({Value::String(text)})}});
    EXPECT_EQ(ReadBack(ToYaml(value)), value) << text;
  }
}

Value Arbitrary(int depth) {
  switch (*rc::gen::inRange(0, depth > 0 ? 6 : 4)) {
    case 0:
      return Value::Bool(*rc::gen::arbitrary<bool>());
    case 1:
      return Value::Int(*rc::gen::arbitrary<int32_t>());
    case 2:
      return Value();
    case 3:
      return Value::String(*rc::gen::string<std::string>());
    case 4: {
      Value list = Value::Array();
      for (int n = *rc::gen::inRange(0, 4); n > 0; --n) list.Append(Arbitrary(depth - 1));
      return list;
    }
    default: {
      Value object = Value::Object();
      for (int n = *rc::gen::inRange(0, 4); n > 0; --n) {
        object.Set("k" + std::to_string(n), Arbitrary(depth - 1));
      }
      return object;
    }
  }
}

TEST(YamlTextTest, WhatIsPrintedReadsBack) {
  EXPECT_TRUE(rc::check([] {
    // Arbitrary bytes are no text; what stands in a Value is valid UTF-8 (here: ASCII).
    const auto ascii = [](auto&& self, const Value& value) -> Value {
      if (value.kind() == Value::Kind::kString) {
        std::string text = value.text();
        for (char& c : text) c = static_cast<char>(c & 0x7f);
        std::erase(text, '\0');
        return Value::String(text);
      }
      Value copy = value.kind() == Value::Kind::kArray    ? Value::Array()
                   : value.kind() == Value::Kind::kObject ? Value::Object()
                                                          : value;
      for (const Value& item : value.items()) copy.Append(self(self, item));
      for (const auto& [key, member] : value.members()) copy.Set(key, self(self, member));
      return copy;
    };
    const Value value = Value::Object({{"v", ascii(ascii, Arbitrary(4))}});
    RC_ASSERT(ReadBack(ToYaml(value)) == value);
  }));
}

TEST(YamlTextTest, CommentsStandInFrontOfWhatTheyAreAbout) {
  const Value value = Value::Object(
      {{"a", Value::Int(1)},
       {"list", Value::Array({Value::Object({{"x", Value::Int(2)}, {"z", Value::Int(3)}}), Value::Int(4)})}});
  EXPECT_EQ(
      ToYaml(value, {{"list", {"of two"}}, {"list[0]", {"first"}}, {"list[0].z", {"why", "twice"}}, {"b", {"lost"}}}),
      "a: 1\n# of two\nlist:\n# first\n- x: 2\n  # why\n  # twice\n  z: 3\n- 4\n");
}

TEST(YamlTextTest, ALongCommentIsSeveralLinesAndNothingInItEndsOne) {
  std::string out;
  AppendComment("one two three four \"five\"", 2, 26, out);
  EXPECT_EQ(out, "  # one two three four\n  # \"five\"\n");
  out.clear();
  AppendComment(
      "a\nb\xc2\x85"
      "c",
      0, 100, out);
  EXPECT_EQ(out, "# a\\nb\\u0085c\n");
  out.clear();
  AppendComment(std::string(50, 'x') + " y", 0, 30, out);
  EXPECT_EQ(out, "# " + std::string(50, 'x') + "\n# y\n");
}

}  // namespace
}  // namespace berth::config
