// SPDX-License-Identifier: Apache-2.0
#include "berth/labels.h"

#include <gtest/gtest.h>

#include <string>

namespace berth {
namespace {

TEST(LabelsTest, SortsItsEntriesAndKeepsTheLastOfEqualKeys) {
  const Labels labels({{"b", "1"}, {"a", "first"}, {"c", ""}, {"a", "second"}, {"a", "third"}});
  ASSERT_EQ(labels.size(), 3u);
  EXPECT_EQ(*labels.Find("a"), "third");
  EXPECT_EQ(*labels.Find("b"), "1");
  EXPECT_EQ(*labels.Find("c"), "");
  EXPECT_EQ(labels.Find("d"), nullptr);
  EXPECT_EQ(labels.begin()->first, "a");
}

TEST(LabelsTest, EmptyLabelsFindNothing) {
  const Labels none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.size(), 0u);
  EXPECT_FALSE(none.Has(""));
  EXPECT_EQ(none.begin(), none.end());
  EXPECT_EQ(none, Labels(std::vector<Labels::Entry>{}));
}

TEST(LabelsTest, EqualContentIsEqualInAnyOrderAndHashesAlike) {
  const Labels a({{"x", "1"}, {"y", "2"}});
  const Labels b({{"y", "2"}, {"x", "1"}});
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.hash(), b.hash());
  EXPECT_EQ(a.begin(), b.begin()) << "equal maps share one copy";
  const Labels copy = a;
  EXPECT_EQ(a.begin(), copy.begin());
}

TEST(LabelsTest, DifferentContentDiffers) {
  const Labels a({{"x", "1"}, {"y", "2"}});
  EXPECT_NE(a, Labels({{"x", "1"}}));
  EXPECT_NE(a, Labels({{"x", "1"}, {"y", "3"}}));
  EXPECT_NE(a, Labels());
  EXPECT_NE(Labels({{"ab", "c"}}).hash(), Labels({{"a", "bc"}}).hash());
}

TEST(RequirementTest, MatchesAsUpstreamsSelectorsDo) {
  const Labels labels({{"zone", "a"}, {"cores", "8"}, {"empty", ""}, {"plus", "+5"}, {"big", "9223372036854775808"}});
  const struct {
    const char* name;
    Requirement requirement;
    bool want;
  } cases[] = {
      {"In with the value", {"zone", SelectorOp::kIn, {"a", "b"}}, true},
      {"In without the value", {"zone", SelectorOp::kIn, {"b", "c"}}, false},
      {"In with the key absent", {"rack", SelectorOp::kIn, {"a"}}, false},
      {"In of an empty value", {"empty", SelectorOp::kIn, {""}}, true},
      {"In of an empty value with the key absent", {"rack", SelectorOp::kIn, {""}}, false},
      {"In without values", {"zone", SelectorOp::kIn, {}}, false},
      {"NotIn with the value", {"zone", SelectorOp::kNotIn, {"a"}}, false},
      {"NotIn without the value", {"zone", SelectorOp::kNotIn, {"b"}}, true},
      {"NotIn with the key absent", {"rack", SelectorOp::kNotIn, {"a"}}, true},
      {"Exists", {"empty", SelectorOp::kExists, {}}, true},
      {"Exists with the key absent", {"rack", SelectorOp::kExists, {}}, false},
      {"DoesNotExist", {"zone", SelectorOp::kDoesNotExist, {}}, false},
      {"DoesNotExist with the key absent", {"rack", SelectorOp::kDoesNotExist, {}}, true},
      {"Gt of a smaller number", {"cores", SelectorOp::kGt, {"7"}}, true},
      {"Gt of the same number", {"cores", SelectorOp::kGt, {"8"}}, false},
      {"Gt compares numbers, not texts", {"cores", SelectorOp::kGt, {"10"}}, false},
      {"Lt of a larger number", {"cores", SelectorOp::kLt, {"10"}}, true},
      {"Lt of a negative number", {"cores", SelectorOp::kLt, {"-1"}}, false},
      {"Lt with the key absent", {"rack", SelectorOp::kLt, {"1"}}, false},
      {"Gt of a label that is no number", {"zone", SelectorOp::kGt, {"1"}}, false},
      {"Gt of an empty label", {"empty", SelectorOp::kGt, {"-1"}}, false},
      {"Gt takes a plus sign", {"plus", SelectorOp::kGt, {"+4"}}, true},
      {"Gt of a label beyond int64", {"big", SelectorOp::kGt, {"1"}}, false},
      {"Gt of a limit that is no number", {"cores", SelectorOp::kGt, {"1.5"}}, false},
      {"Gt takes no two signs", {"cores", SelectorOp::kGt, {"+-1"}}, false},
      {"Gt takes no blanks", {"cores", SelectorOp::kGt, {" 1"}}, false},
      {"Gt without a value", {"cores", SelectorOp::kGt, {}}, false},
      {"Gt with two values", {"cores", SelectorOp::kGt, {"1", "2"}}, false},
      {"an unknown operator", {"zone", SelectorOp::kUnknown, {"a"}}, false},
      {"an unknown operator with the key absent", {"rack", SelectorOp::kUnknown, {}}, false},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(c.requirement.Matches(labels), c.want) << c.name;
    EXPECT_EQ(c.requirement.MatchesValue(labels.Find(c.requirement.key)), c.want) << c.name;
  }
}

TEST(LabelSelectorTest, AllRequirementsMustHold) {
  const Labels labels({{"app", "web"}, {"tier", "front"}});
  LabelSelector selector{{{"app", SelectorOp::kIn, {"web"}}, {"tier", SelectorOp::kNotIn, {"back"}}}, ""};
  EXPECT_TRUE(selector.Matches(labels));
  selector.requirements.push_back({"zone", SelectorOp::kExists, {}});
  EXPECT_FALSE(selector.Matches(labels));
}

TEST(LabelSelectorTest, AnEmptyOneMatchesAllAndANullOneNothing) {
  const Labels labels({{"app", "web"}});
  EXPECT_TRUE(LabelSelector().empty());
  EXPECT_TRUE(LabelSelector().Matches(labels));
  EXPECT_TRUE(LabelSelector().Matches(Labels()));
  EXPECT_TRUE(Matches(LabelSelector(), labels));
  EXPECT_FALSE(Matches(std::nullopt, labels));
}

TEST(LabelSelectorTest, AnInvalidOneMatchesNothing) {
  const LabelSelector selector{{}, "\"Near\" is not a valid label selector operator"};
  EXPECT_FALSE(selector.empty());
  EXPECT_FALSE(selector.Matches(Labels()));
  EXPECT_FALSE(selector.Matches(Labels({{"app", "web"}})));
}

TEST(LabelSelectorTest, AMapSelectsByEveryEntry) {
  const LabelSelector selector = SelectorFromMap(Labels({{"tier", "front"}, {"app", "web"}}));
  EXPECT_TRUE(selector.Matches(Labels({{"app", "web"}, {"tier", "front"}, {"more", "x"}})));
  EXPECT_FALSE(selector.Matches(Labels({{"app", "web"}})));
  EXPECT_FALSE(selector.Matches(Labels({{"app", "web"}, {"tier", "back"}})));
  EXPECT_TRUE(SelectorFromMap(Labels()).empty());
  const LabelSelector written{{{"app", SelectorOp::kIn, {"web"}}, {"tier", SelectorOp::kIn, {"front"}}}, ""};
  EXPECT_EQ(selector, written);
}

TEST(SelectorOpTest, NamesAreTheApisNames) {
  EXPECT_EQ(ToString(SelectorOp::kIn), "In");
  EXPECT_EQ(ToString(SelectorOp::kNotIn), "NotIn");
  EXPECT_EQ(ToString(SelectorOp::kExists), "Exists");
  EXPECT_EQ(ToString(SelectorOp::kDoesNotExist), "DoesNotExist");
  EXPECT_EQ(ToString(SelectorOp::kGt), "Gt");
  EXPECT_EQ(ToString(SelectorOp::kLt), "Lt");
}

}  // namespace
}  // namespace berth
