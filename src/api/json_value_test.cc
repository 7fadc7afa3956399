// SPDX-License-Identifier: Apache-2.0
// JSON into Values: numbers as written, repeated keys, broken text.
#include "api/json_value.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(JsonValueTest, KeepsEverythingAsWritten) {
  const std::string json = R"({"a":[1,-2.50,1e400,123456789012345678901234567890],"s":"\u00e9\n","t":true,"f":false,)"
                           R"("n":null,"o":{},"l":[]})";
  std::vector<FieldError> errors;
  const Value value = ParseJson(json, errors);
  EXPECT_TRUE(errors.empty()) << errors[0].ToString();
  EXPECT_EQ(value.ToJson(),
            "{\"a\":[1,-2.50,1e400,123456789012345678901234567890],\"s\":\"\xc3\xa9\\n\",\"t\":true,"
            "\"f\":false,\"n\":null,\"o\":{},\"l\":[]}");
}

TEST(JsonValueTest, ScalarsMayStandAlone) {
  const struct {
    const char* json;
    Value want;
  } cases[] = {{"5", Value::Int(5)},
               {" -1.5 ", Value::Number("-1.5")},
               {"\"x\"", Value::String("x")},
               {"true", Value::Bool(true)},
               {"null", Value()}};
  for (const auto& c : cases) {
    std::vector<FieldError> errors;
    EXPECT_EQ(ParseJson(c.json, errors), c.want) << c.json;
    EXPECT_TRUE(errors.empty()) << c.json;
  }
}

TEST(JsonValueTest, RepeatedKeysAreReportedWithTheirPath) {
  std::vector<FieldError> errors;
  const Value value = ParseJson(R"({"a":1,"a":2,"l":[{"x":{"y":1,"z":2,"y":3}}]})", errors);
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0].ToString(), "a: duplicate field \"a\"");
  EXPECT_EQ(errors[1].ToString(), "l[0].x.y: duplicate field \"y\"");
  EXPECT_EQ(value.ToJson(), R"({"a":1,"l":[{"x":{"y":1,"z":2}}]})");
}

TEST(JsonValueTest, BrokenTextIsAnErrorAndNothingElse) {
  for (const char* json : {"", "{", "[1,", "{\"a\":", "{\"a\":}", "\"\\ud800\"", "[\"\\x\"]"}) {
    std::vector<FieldError> errors;
    ParseJson(json, errors);
    EXPECT_EQ(errors.size(), 1u) << json;
  }
}

}  // namespace
}  // namespace berth
