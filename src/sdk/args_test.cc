// SPDX-License-Identifier: Apache-2.0
// ArgsReader: what is read, what is left alone, and every complaint.
#include "berth/args.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

class ArgsReaderTest : public ::testing::Test {
 protected:
  std::vector<std::string> Errors() const {
    std::vector<std::string> texts;
    for (const FieldError& error : errors_) texts.push_back(error.ToString());
    return texts;
  }
  using Texts = std::vector<std::string>;
  std::vector<FieldError> errors_;
};

TEST_F(ArgsReaderTest, AbsentAndNullFieldsLeaveTheTargetAlone) {
  const Value object = Value::Object({{"n", Value()}, {"list", Value()}});
  for (const Value* value : {&object, static_cast<const Value*>(nullptr)}) {
    ArgsReader in(value, "args", &errors_);
    int64_t n = 7;
    std::string text = "seven";
    std::vector<std::string> list = {"a"};
    in.Int("n", n);
    in.String("text", text);
    in.Strings("list", list);
    in.Object("object", [](ArgsReader&) { FAIL() << "not there"; });
    EXPECT_FALSE(in.Has("n"));
    in.Finish();
    EXPECT_EQ(n, 7);
    EXPECT_EQ(text, "seven");
    EXPECT_EQ(list, std::vector<std::string>{"a"});
  }
  EXPECT_EQ(Errors(), Texts{});
}

TEST_F(ArgsReaderTest, ReadsEveryType) {
  const Value object = Value::Object({{"int", Value::Int(-3)},
                                      {"int32", Value::Int(2147483647)},
                                      {"float", Value::Number("1.5e1")},
                                      {"bool", Value::Bool(true)},
                                      {"string", Value::String("x")},
                                      {"enum", Value::String("B")},
                                      {"strings", Value::Array({Value::String("p"), Value()})},
                                      {"time", Value::String("1m30s")},
                                      {"apiVersion", Value::String("v1")},
                                      {"kind", Value::String("Args")}});
  ArgsReader in(&object, "args", &errors_);
  int64_t integer = 0;
  int32_t small = 0;
  double real = 0;
  bool flag = false;
  std::string text, choice;
  std::vector<std::string> list;
  Duration time;
  in.Int("int", integer);
  in.Int32("int32", small);
  in.Float("float", real);
  in.Bool("bool", flag);
  in.String("string", text);
  in.Enum("enum", choice, {"A", "B"});
  in.Strings("strings", list);
  in.Time("time", time);
  in.Finish();
  EXPECT_EQ(Errors(), Texts{});
  EXPECT_EQ(integer, -3);
  EXPECT_EQ(small, 2147483647);
  EXPECT_EQ(real, 15);
  EXPECT_TRUE(flag);
  EXPECT_EQ(text, "x");
  EXPECT_EQ(choice, "B");
  EXPECT_EQ(list, (std::vector<std::string>{"p", ""}));
  EXPECT_EQ(time, Duration::Seconds(90));
}

TEST_F(ArgsReaderTest, WrongTypesAndRangesAreNamedAndLeaveTheTargetAlone) {
  const Value object = Value::Object({{"a", Value::String("x")},
                                      {"b", Value::Number("1.5")},
                                      {"c", Value::Number("9223372036854775808")},
                                      {"d", Value::Number("2147483648")},
                                      {"e", Value::Int(120)},
                                      {"f", Value::Int(0)},
                                      {"g", Value::Int(11)},
                                      {"h", Value::Int(5)},
                                      {"i", Value::String("yes")},
                                      {"j", Value::Int(1)},
                                      {"k", Value::String("C")},
                                      {"l", Value::Array({Value::String("ok"), Value::Int(3)})},
                                      {"m", Value::String("5")}});
  ArgsReader in(&object, "p", &errors_);
  int64_t n = 42;
  int32_t small = 42;
  bool flag = false;
  std::string text = "old";
  std::vector<std::string> list;
  Duration time;
  in.Int("a", n);
  in.Int("b", n);
  in.Int("c", n);
  in.Int32("d", small);
  in.Int("e", n, {.min = 1, .max = 90});
  in.Int("f", n, {.min = 1});
  in.Int("g", n, {.max = 10});
  in.Int("h", n, {.min = 6, .text = "not in valid range [6, inf)"});
  in.Bool("i", flag);
  in.String("j", text);
  in.Enum("k", text, {"A", "B"});
  in.Strings("l", list);
  in.Time("m", time);
  EXPECT_EQ(Errors(), (Texts{
                          "p.a: Invalid value: \"x\": must be an integer",
                          "p.b: Invalid value: 1.5: must be an integer",
                          "p.c: Invalid value: 9223372036854775808: must fit in 64 bits",
                          "p.d: Invalid value: 2147483648: must fit in 32 bits",
                          "p.e: Invalid value: 120: must be in [1, 90]",
                          "p.f: Invalid value: 0: must be at least 1",
                          "p.g: Invalid value: 11: must be at most 10",
                          "p.h: Invalid value: 5: not in valid range [6, inf)",
                          "p.i: Invalid value: \"yes\": must be true or false",
                          "p.j: Invalid value: 1: must be a string",
                          "p.k: Unsupported value: \"C\": supported values: \"A\", \"B\"",
                          "p.l[1]: Invalid value: 3: must be a string",
                          "p.m: Invalid value: \"5\": time: missing unit in duration \"5\"",
                      }));
  EXPECT_EQ(n, 42);
  EXPECT_EQ(small, 42);
  EXPECT_EQ(text, "old");
}

TEST_F(ArgsReaderTest, UnknownFieldsAreFoundAtEveryLevel) {
  const Value item = Value::Object({{"name", Value::String("cpu")}, {"wight", Value::Int(1)}});
  const Value object = Value::Object({{"extra", Value::Int(1)},
                                      {"nested", Value::Object({{"kind", Value::String("x")}})},
                                      {"list", Value::Array({item, Value()})}});
  ArgsReader in(&object, "args", &errors_);
  int items = 0;
  in.Object("nested", [](ArgsReader&) {});
  in.Objects("list", [&](ArgsReader& reader) {
    std::string name;
    reader.String("name", name);
    ++items;
  });
  in.Finish();
  EXPECT_EQ(items, 2);
  EXPECT_EQ(Errors(), (Texts{"args.nested.kind: unknown field \"kind\"", "args.list[0].wight: unknown field \"wight\"",
                             "args.extra: unknown field \"extra\""}));
}

TEST_F(ArgsReaderTest, SomethingElseThanAnObjectIsAComplaint) {
  const Value list = Value::Array({Value::Int(1)});
  ArgsReader in(&list, "args", &errors_);
  EXPECT_EQ(in.Raw("x"), nullptr);
  const Value object = Value::Object({{"o", Value::Int(1)}, {"l", Value::Array({Value::Int(2)})}});
  ArgsReader nested(&object, "", &errors_);
  nested.Object("o", [](ArgsReader&) { FAIL() << "not an object"; });
  nested.Objects("l", [](ArgsReader& reader) { EXPECT_FALSE(reader.Has("x")); });
  EXPECT_EQ(Errors(), (Texts{"args: Invalid value: must be an object, not a list",
                             "o: Invalid value: 1: must be an object", "l[0]: Invalid value: 2: must be an object"}));
}

TEST_F(ArgsReaderTest, PluginsComplainInTheSameForm) {
  ArgsReader in(nullptr, "args", &errors_);
  in.Invalid("weight", "5", "must be 1");
  in.Complain("shape", "Required value: at least one point must be specified");
  EXPECT_EQ(Errors(), (Texts{"args.weight: Invalid value: 5: must be 1",
                             "args.shape: Required value: at least one point must be specified"}));
  EXPECT_EQ(in.PathOf(""), "args");
}

}  // namespace
}  // namespace berth
