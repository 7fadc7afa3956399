// SPDX-License-Identifier: Apache-2.0
// RequiredNodeAffinity must say of every row what the plain selectors say of its node.
#include "plugins/common/required_node_affinity.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "berth/testing.h"

namespace berth::plugins {
namespace {

const std::vector<std::string> kKeys = {"disk", "rank", "zone"};
const std::vector<std::string> kValues = {"", "1", "5", "ssd", "x5"};

Requirement AnyRequirement() {
  const auto op = static_cast<SelectorOp>(*rc::gen::inRange(0, 7));
  const bool one = op == SelectorOp::kGt || op == SelectorOp::kLt;
  std::vector<std::string> values;
  const int count = one ? 1 : *rc::gen::inRange(0, 3);
  for (int i = 0; i < count; ++i) values.push_back(*rc::gen::elementOf(kValues));
  std::sort(values.begin(), values.end());
  return Require(*rc::gen::elementOf(kKeys), op, values);
}

NodeSelectorTerm AnyTerm() {
  NodeSelectorTerm term;
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) term.match_expressions.push_back(AnyRequirement());
  if (*rc::gen::inRange(0, 3) == 0) {
    const auto op = *rc::gen::element(SelectorOp::kIn, SelectorOp::kNotIn, SelectorOp::kExists);
    const auto key = *rc::gen::element<std::string>("metadata.name", "metadata.other");
    term.match_fields.push_back(Require(key, op, {*rc::gen::element<std::string>("n0", "n1", "gone", "")}));
  }
  if (*rc::gen::inRange(0, 9) == 0) term.invalid = "cannot be parsed";
  return term;
}

RC_GTEST_PROP(RequiredNodeAffinityProperty, AgreesWithThePlainSelectors, ()) {
  TestCluster cluster;
  for (int n = 0; n < 4; ++n) {
    MakeNode node("n" + std::to_string(n));
    for (const std::string& key : kKeys) {
      if (*rc::gen::inRange(0, 3) != 0) node.Label(key, *rc::gen::elementOf(kValues));
    }
    cluster.Add(node);
  }
  MakePod pod;
  if (*rc::gen::inRange(0, 2) == 0) pod.NodeSelector(*rc::gen::elementOf(kKeys), *rc::gen::elementOf(kValues));
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) pod.RequireNode(AnyTerm());
  const Pod built = pod;
  const Snapshot snapshot = cluster.snapshot();
  const RequiredNodeAffinity compiled(built, snapshot);
  for (Row row = 0; row < snapshot.rows(); ++row) {
    const Node& node = snapshot.node(row);
    const bool want =
        (!built.node_selector || SelectorFromMap(*built.node_selector).Matches(node.meta.labels)) &&
        (!built.affinity.node_required || built.affinity.node_required->Matches(node.name(), node.meta.labels));
    RC_ASSERT(compiled.Matches(row) == want);
    RC_ASSERT(compiled.constrains() || want);
  }
}

TEST(RequiredNodeAffinityTest, ARequiredBlockWithoutTermsMatchesNothing) {
  TestCluster cluster;
  cluster.Add(MakeNode("n"));
  const Pod pod = MakePod().With([](Pod& p) { p.affinity.node_required.emplace(); });
  const RequiredNodeAffinity compiled(pod, cluster.snapshot());
  EXPECT_TRUE(compiled.constrains());
  EXPECT_FALSE(compiled.Matches(0));
}

}  // namespace
}  // namespace berth::plugins
