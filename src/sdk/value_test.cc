// SPDX-License-Identifier: Apache-2.0
// Value: building, looking up, printing.
#include "berth/value.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(ValueTest, PrintsCompactJson) {
  Value value = Value::Object();
  value.Set("n", Value::Int(-5)).Set("f", Value::Number("1.50")).Set("b", Value::Bool(true)).Set("z", Value());
  value.Set("list", Value::Array({Value::String("x"), Value::Array(), Value::Object()}));
  EXPECT_EQ(value.ToJson(), R"({"n":-5,"f":1.50,"b":true,"z":null,"list":["x",[],{}]})");
}

TEST(ValueTest, PrintsIndentedJson) {
  const Value value = Value::Object({{"a", Value::Array({Value::Int(1), Value::Int(2)})}, {"e", Value::Array()}});
  EXPECT_EQ(value.ToJson(2), "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"e\": []\n}");
}

TEST(ValueTest, EscapesWhatJsonCannotHold) {
  EXPECT_EQ(Value::String("a\"b\\c\n\r\t\x01\xc3\xa9").ToJson(), "\"a\\\"b\\\\c\\n\\r\\t\\u0001\xc3\xa9\"");
}

TEST(ValueTest, FindsMembersOfObjectsOnly) {
  const Value value = Value::Object({{"a", Value::Int(1)}, {"b", Value()}});
  ASSERT_NE(value.Find("a"), nullptr);
  EXPECT_EQ(value.Find("a")->text(), "1");
  ASSERT_NE(value.Find("b"), nullptr);
  EXPECT_TRUE(value.Find("b")->is_null());
  EXPECT_EQ(value.Find("c"), nullptr);
  EXPECT_EQ(Value::Int(1).Find("a"), nullptr);
}

TEST(ValueTest, NullBecomesWhatIsPutIntoIt) {
  Value list;
  list.Append(Value::Int(1));
  EXPECT_EQ(list, Value::Array({Value::Int(1)}));
  Value object;
  object.Set("a", Value::Int(1));
  EXPECT_EQ(object, Value::Object({{"a", Value::Int(1)}}));
}

TEST(ValueTest, EqualityLooksAtKindAndContent) {
  EXPECT_EQ(Value::Int(1), Value::Number("1"));
  EXPECT_NE(Value::Int(1), Value::String("1"));
  EXPECT_NE(Value::Array(), Value::Object());
}

}  // namespace
}  // namespace berth
