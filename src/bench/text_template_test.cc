// SPDX-License-Identifier: Apache-2.0
#include "bench/text_template.h"

#include <gtest/gtest.h>

namespace berth::bench {
namespace {

std::string Rendered(const std::string& text, int64_t index, int64_t count) {
  const Result<TextTemplate> parsed = TextTemplate::Parse(text);
  if (!parsed.ok()) return "parse: " + parsed.error().text();
  const Result<std::string> out = parsed->Render(index, count);
  return out.ok() ? *out : "render: " + out.error().text();
}

TEST(TextTemplateTest, IndexAndCountAreFilledInWhereverTheyStand) {
  EXPECT_EQ(Rendered("a-{{.Index}}-{{ .Count }}.", 3, 7), "a-3-7.");
  EXPECT_EQ(Rendered("{{.Index}}{{.Index}}", 12, 1), "1212");
}

TEST(TextTemplateTest, TextWithoutActionsIsConstantAndStaysAsItIs) {
  EXPECT_TRUE(TextTemplate::Parse("a: {b: c}")->constant());
  EXPECT_FALSE(TextTemplate::Parse("a: {{.Index}}")->constant());
  EXPECT_EQ(Rendered("a: {b: c}", 1, 2), "a: {b: c}");
}

TEST(TextTemplateTest, FunctionsCalculateAsGosDo) {
  EXPECT_EQ(Rendered("{{DivideInt 30000 .Count}}", 0, 7), "4285");
  EXPECT_EQ(Rendered("{{Mod .Index 12}}", 25, 1), "1");
  EXPECT_EQ(Rendered("{{AddInt .Index 1 2}} {{SubtractInt 1 .Index}} {{MultiplyInt 3 .Index}}", 4, 1), "7 -3 12");
  EXPECT_EQ(Rendered("{{DivideFloat .Index 4}} {{AddFloat 1 .Index}}", 1, 1), "0.25 2");
}

TEST(TextTemplateTest, ActionsThatNobodyKnowsAreNamed) {
  EXPECT_EQ(Rendered("{{Shout .Index}}", 0, 1), "parse: {{Shout .Index}}: unknown function \"Shout\"");
  EXPECT_EQ(Rendered("{{if .Index}}", 0, 1), "parse: {{if .Index}}: unknown function \"if\"");
  EXPECT_EQ(Rendered("{{Mod .Index .Name}}", 0, 1),
            "parse: {{Mod .Index .Name}}: \".Name\" is not a number, .Index or .Count");
  EXPECT_EQ(Rendered("{{Mod 1}}", 0, 1), "parse: {{Mod 1}}: wrong number of operands");
  EXPECT_EQ(Rendered("{{}}", 0, 1), "parse: {{}}: wrong number of operands");
  EXPECT_EQ(Rendered("a {{.Index", 0, 1), "parse: {{ without }}");
  EXPECT_EQ(Rendered("{{Mod 1 .Index}}", 0, 1), "render: {{Mod 1 .Index}}: division by zero");
  EXPECT_EQ(Rendered("{{MultiplyInt 1e300 1e300}}", 0, 1),
            "render: {{MultiplyInt 1e300 1e300}}: the result is too large");
}

}  // namespace
}  // namespace berth::bench
