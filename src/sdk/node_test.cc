// SPDX-License-Identifier: Apache-2.0
#include "berth/node.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

const Labels kLabels({{"zone", "a"}, {"cores", "8"}});

TEST(NodeSelectorTest, TermsMatchAsUpstreamsDo) {
  const Requirement zone_a{"zone", SelectorOp::kIn, {"a"}};
  const Requirement zone_b{"zone", SelectorOp::kIn, {"b"}};
  const Requirement cores{"cores", SelectorOp::kGt, {"4"}};
  const Requirement name_n1{"metadata.name", SelectorOp::kIn, {"n1"}};
  const Requirement not_n1{"metadata.name", SelectorOp::kNotIn, {"n1"}};
  const struct {
    const char* name;
    NodeSelectorTerm term;
    bool want;
  } cases[] = {
      {"an empty term matches nothing", {}, false},
      {"an expression that holds", {{zone_a}, {}, ""}, true},
      {"an expression that does not", {{zone_b}, {}, ""}, false},
      {"expressions are ANDed", {{zone_a, cores}, {}, ""}, true},
      {"expressions are ANDed, one fails", {{cores, zone_b}, {}, ""}, false},
      {"the name", {{}, {name_n1}, ""}, true},
      {"not the name", {{}, {not_n1}, ""}, false},
      {"another name", {{}, {{"metadata.name", SelectorOp::kIn, {"n2"}}}, ""}, false},
      {"not another name", {{}, {{"metadata.name", SelectorOp::kNotIn, {"n2"}}}, ""}, true},
      {"fields and expressions are ANDed", {{zone_b}, {name_n1}, ""}, false},
      {"fields are ANDed", {{}, {name_n1, not_n1}, ""}, false},
      {"two names in one field", {{}, {{"metadata.name", SelectorOp::kIn, {"n1", "n2"}}}, ""}, false},
      {"no name in a field", {{}, {{"metadata.name", SelectorOp::kNotIn, {}}}, ""}, false},
      {"another operator on a field", {{}, {{"metadata.name", SelectorOp::kExists, {"n1"}}}, ""}, false},
      {"an unknown field", {{}, {{"spec.podCIDR", SelectorOp::kIn, {"n1"}}}, ""}, false},
      {"an unknown field reads as empty", {{}, {{"spec.podCIDR", SelectorOp::kNotIn, {"n1"}}}, ""}, true},
      {"a term that cannot be parsed", {{zone_a}, {}, "operator: Unsupported value"}, false},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(c.term.Matches("n1", kLabels), c.want) << c.name;
    EXPECT_EQ(NodeSelector{{c.term}}.Matches("n1", kLabels), c.want) << c.name;
  }
}

TEST(NodeSelectorTest, TermsAreOredAndBadOnesDoNotSpoilTheRest) {
  const NodeSelectorTerm good{{{"zone", SelectorOp::kIn, {"a"}}}, {}, ""};
  const NodeSelectorTerm other{{{"zone", SelectorOp::kIn, {"b"}}}, {}, ""};
  const NodeSelectorTerm broken{{}, {{"metadata.name", SelectorOp::kIn, {}}}, "must have one element"};
  EXPECT_TRUE((NodeSelector{{broken, other, good}}).Matches("n1", kLabels));
  EXPECT_FALSE((NodeSelector{{broken, other}}).Matches("n1", kLabels));
  EXPECT_FALSE(NodeSelector{}.Matches("n1", kLabels));
}

TEST(NodeSelectorTest, ANodeWithoutANameIsNotJudgedByFields) {
  const NodeSelectorTerm term{{}, {{"metadata.name", SelectorOp::kIn, {"n1"}}}, ""};
  EXPECT_TRUE(term.Matches("", kLabels));
}

TEST(TaintEffectTest, NamesAreTheApisNames) {
  EXPECT_EQ(ToString(TaintEffect::kNone), "");
  EXPECT_EQ(ToString(TaintEffect::kNoSchedule), "NoSchedule");
  EXPECT_EQ(ToString(TaintEffect::kPreferNoSchedule), "PreferNoSchedule");
  EXPECT_EQ(ToString(TaintEffect::kNoExecute), "NoExecute");
}

}  // namespace
}  // namespace berth
