// SPDX-License-Identifier: Apache-2.0
// Node selectors, required and preferred terms, and affinity added by configuration.
#include "plugins/node_affinity.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "berth/testing.h"

namespace berth::plugins {
namespace {

using Scores = std::map<std::string, int64_t>;

NodeSelectorTerm Expressions(std::vector<Requirement> requirements) {
  return {.match_expressions = std::move(requirements), .match_fields = {}, .invalid = ""};
}
NodeSelectorTerm Names(SelectorOp op, std::vector<std::string> names) {
  return {.match_expressions = {}, .match_fields = {Require("metadata.name", op, std::move(names))}, .invalid = ""};
}

TEST(NodeAffinityTest, SelectorAndOneOfTheRequiredTermsMustMatch) {
  const Node node = MakeNode("n").Label("foo", "bar").Label("size", "5").Label("zone", "a");
  const Verdict mismatch = NodeAffinity::kPodMismatch;
  using Op = SelectorOp;
  const NodeSelectorTerm unparsable{
      .match_expressions = {Require("foo", Op::kExists)}, .match_fields = {}, .invalid = "bad"};
  const struct {
    const char* name;
    Pod pod;
    Verdict want;
  } cases[] = {
      {"nothing asked", MakePod(), {}},
      {"selector matches", MakePod().NodeSelector("foo", "bar"), {}},
      {"selector misses the key", MakePod().NodeSelector("x", "bar"), mismatch},
      {"selector has another value", MakePod().NodeSelector("foo", "baz"), mismatch},
      {"all entries of the selector", MakePod().NodeSelector("foo", "bar").NodeSelector("zone", "b"), mismatch},
      {"In", MakePod().RequireNode(Expressions({Require("foo", Op::kIn, {"bar", "v2"})})), {}},
      {"In with many values",
       MakePod().RequireNode(Expressions({Require("foo", Op::kIn, {"1", "2", "3", "4", "bar"})})),
       {}},
      {"In without its value", MakePod().RequireNode(Expressions({Require("foo", Op::kIn, {"v1", "v2"})})), mismatch},
      {"NotIn", MakePod().RequireNode(Expressions({Require("foo", Op::kNotIn, {"v1"})})), {}},
      {"NotIn its value", MakePod().RequireNode(Expressions({Require("foo", Op::kNotIn, {"bar"})})), mismatch},
      {"NotIn without the key", MakePod().RequireNode(Expressions({Require("none", Op::kNotIn, {"v1"})})), {}},
      {"Exists", MakePod().RequireNode(Expressions({Require("foo", Op::kExists)})), {}},
      {"Exists without the key", MakePod().RequireNode(Expressions({Require("none", Op::kExists)})), mismatch},
      {"DoesNotExist", MakePod().RequireNode(Expressions({Require("none", Op::kDoesNotExist)})), {}},
      {"DoesNotExist with the key", MakePod().RequireNode(Expressions({Require("foo", Op::kDoesNotExist)})), mismatch},
      {"Gt", MakePod().RequireNode(Expressions({Require("size", Op::kGt, {"4"})})), {}},
      {"Gt is strict", MakePod().RequireNode(Expressions({Require("size", Op::kGt, {"5"})})), mismatch},
      {"Lt", MakePod().RequireNode(Expressions({Require("size", Op::kLt, {"6"})})), {}},
      {"Gt of a text", MakePod().RequireNode(Expressions({Require("foo", Op::kGt, {"4"})})), mismatch},
      {"Lt without the key", MakePod().RequireNode(Expressions({Require("none", Op::kLt, {"6"})})), mismatch},
      {"expressions are ANDed",
       MakePod().RequireNode(Expressions({Require("foo", Op::kExists), Require("zone", Op::kIn, {"b"})})), mismatch},
      {"terms are ORed",
       MakePod()
           .RequireNode(Expressions({Require("zone", Op::kIn, {"b"})}))
           .RequireNode(Expressions({Require("foo", Op::kIn, {"bar"})})),
       {}},
      {"an empty term matches nothing", MakePod().RequireNode({}), mismatch},
      {"no terms match nothing", MakePod().With([](Pod& p) { p.affinity.node_required.emplace(); }), mismatch},
      {"a term that cannot be parsed matches nothing", MakePod().RequireNode(unparsable), mismatch},
      {"and does not spoil the others",
       MakePod().RequireNode(unparsable).RequireNode(Expressions({Require("foo", Op::kExists)})),
       {}},
      {"selector holds besides terms",
       MakePod().NodeSelector("foo", "baz").RequireNode(Expressions({Require("foo", Op::kExists)})), mismatch},
      {"not this name", MakePod().RequireNode(Names(Op::kNotIn, {"n"})), mismatch},
      {"not another name", MakePod().RequireNode(Names(Op::kNotIn, {"m"})), {}},
      {"not an unknown field", MakePod().RequireNode({{}, {Require("metadata.uid", Op::kNotIn, {"x"})}, ""}), {}},
      {"an unknown field", MakePod().RequireNode({{}, {Require("metadata.uid", Op::kIn, {"x"})}, ""}), mismatch},
  };
  const NodeAffinity plugin({});
  for (const auto& c : cases) EXPECT_EQ(FilterOne(plugin, c.pod, node), c.want) << c.name;
  EXPECT_EQ(mismatch.code(), Code::kUnschedulableAndUnresolvable);
}

class NamedNodesTest : public ::testing::Test {
 protected:
  PreFilterOutcome PreFilter(const Pod& pod) {
    cluster_.Add(MakeNode("a")).Add(MakeNode("b"));
    const Snapshot snapshot = cluster_.snapshot();
    class NoWhatIf final : public Cycle {
     public:
      using Cycle::Cycle;
      std::unique_ptr<WhatIf> Imagine(Row) const override { return nullptr; }
    };
    return NodeAffinity({}).PreFilter(NoWhatIf(pod, snapshot, {}));
  }
  TestCluster cluster_;
};

TEST_F(NamedNodesTest, NamesAreUnitedOverTermsAndIntersectedWithinATerm) {
  using Op = SelectorOp;
  using NodeNames = std::vector<std::string>;
  EXPECT_EQ(PreFilter(MakePod()).verdict.code(), Code::kSkip);
  EXPECT_EQ(PreFilter(MakePod().RequireNode(Names(Op::kIn, {"b"})).RequireNode(Names(Op::kIn, {"a"}))).node_names,
            (NodeNames{"a", "b"}));
  EXPECT_EQ(PreFilter(MakePod().RequireNode(Names(Op::kIn, {"gone"}))).node_names, (NodeNames{"gone"}));
  EXPECT_EQ(PreFilter(MakePod().RequireNode(Names(Op::kNotIn, {"a"}))).node_names, std::nullopt);
  EXPECT_EQ(
      PreFilter(MakePod().RequireNode(Names(Op::kIn, {"a"})).RequireNode(Expressions({Require("foo", Op::kExists)})))
          .node_names,
      std::nullopt);
  NodeSelectorTerm both = Names(Op::kIn, {"a"});
  both.match_fields.push_back(Require("metadata.name", Op::kIn, {"b"}));
  EXPECT_EQ(PreFilter(MakePod().RequireNode(both)).verdict, Verdict(NodeAffinity::kConflict));
  EXPECT_EQ(PreFilter(MakePod().RequireNode(both).RequireNode(Names(Op::kIn, {"a"}))).node_names, (NodeNames{"a"}));
}

TEST(NodeAffinityTest, AddedAffinityHoldsBesidesThePodsOwn) {
  NodeAffinity::Args args;
  args.added_required = NodeSelector{{Expressions({Require("zone", SelectorOp::kIn, {"a"})})}};
  const NodeAffinity plugin(args);
  const Node in_zone = MakeNode("n").Label("zone", "a"), outside = MakeNode("n").Label("zone", "b");
  EXPECT_EQ(FilterOne(plugin, MakePod(), in_zone), Verdict());
  EXPECT_EQ(FilterOne(plugin, MakePod(), outside), Verdict(NodeAffinity::kEnforcedMismatch));
  EXPECT_EQ(FilterOne(plugin, MakePod().NodeSelector("x", "y"), outside), Verdict(NodeAffinity::kEnforcedMismatch));
  EXPECT_EQ(FilterOne(plugin, MakePod().NodeSelector("x", "y"), in_zone), Verdict(NodeAffinity::kPodMismatch));
}

TEST(NodeAffinityTest, ScoresAreTheWeightsOfMatchingTermsScaledToTheHighest) {
  const auto term = [](const char* key, const char* value) {
    return Expressions({Require(key, SelectorOp::kIn, {value})});
  };
  NodeAffinity::Args added;
  added.added_preferred = {{.weight = 6, .preference = term("az", "az1")}};
  const struct {
    const char* name;
    NodeAffinity::Args args;
    Pod pod;
    Scores raw, normalized;
  } cases[] = {
      {"weights add up",
       {},
       MakePod().PreferNode(2, term("foo", "bar")).PreferNode(4, term("key", "value")),
       {{"a", 2}, {"b", 4}, {"c", 6}, {"d", 0}},
       {{"a", 33}, {"b", 66}, {"c", 100}, {"d", 0}}},
      {"nothing matches",
       {},
       MakePod().PreferNode(2, term("foo", "none")),
       {{"a", 0}, {"b", 0}, {"c", 0}, {"d", 0}},
       {{"a", 0}, {"b", 0}, {"c", 0}, {"d", 0}}},
      {"no preference", {}, MakePod(), {}, {}},
      {"weight 0 and empty terms do not count",
       {},
       MakePod().PreferNode(0, term("foo", "bar")).PreferNode(9, {}).PreferNode(1, term("key", "value")),
       {{"a", 0}, {"b", 1}, {"c", 1}, {"d", 0}},
       {{"a", 0}, {"b", 100}, {"c", 100}, {"d", 0}}},
      {"added preferences",
       added,
       MakePod(),
       {{"a", 0}, {"b", 0}, {"c", 0}, {"d", 6}},
       {{"a", 0}, {"b", 0}, {"c", 0}, {"d", 100}}},
      {"added and own",
       added,
       MakePod().PreferNode(3, term("foo", "bar")),
       {{"a", 3}, {"b", 0}, {"c", 3}, {"d", 6}},
       {{"a", 50}, {"b", 0}, {"c", 50}, {"d", 100}}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    TestCluster cluster;
    cluster.Add(MakeNode("a").Label("foo", "bar"))
        .Add(MakeNode("b").Label("key", "value"))
        .Add(MakeNode("c").Label("foo", "bar").Label("key", "value"))
        .Add(MakeNode("d").Label("az", "az1"));
    const ScoreResult got = ScoreAll(NodeAffinity(c.args), c.pod, cluster);
    EXPECT_EQ(got.raw, c.raw);
    EXPECT_EQ(got.normalized, c.normalized);
  }
}

TEST(NodeAffinityTest, APreferenceThatCannotBeParsedFailsTheCycle) {
  TestCluster cluster;
  cluster.Add(MakeNode("a")).Add(MakeNode("b"));
  NodeSelectorTerm bad = Expressions({Require("foo", SelectorOp::kUnknown)});
  bad.invalid = "bad operator";
  EXPECT_NE(ScoreAll(NodeAffinity({}), MakePod().PreferNode(1, bad), cluster).error.find("bad operator"),
            std::string::npos);
}

TEST(NodeAffinityTest, ARejectedPodIsWokenWhenANodeComesToMatchItsOwnTerms) {
  const Pod pod = MakePod().NodeSelector("foo", "bar");
  const Node match = MakeNode("n").Label("foo", "bar"), other = MakeNode("n"),
             enforced = MakeNode("n").Label("foo", "bar").Label("zone", "a");
  const NodeAffinity plain({});
  const auto hint = plain.EventsToRegister()->at(0).hint;
  EXPECT_EQ(hint(pod, {.node_after = &match}), QueueingHint::kQueue);
  EXPECT_EQ(hint(pod, {.node_after = &other}), QueueingHint::kSkip);
  EXPECT_EQ(hint(pod, {.node_before = &other, .node_after = &match}), QueueingHint::kQueue);
  EXPECT_EQ(hint(pod, {.node_before = &match, .node_after = &match}), QueueingHint::kSkip);
  NodeAffinity::Args args;
  args.added_required = NodeSelector{{Expressions({Require("zone", SelectorOp::kIn, {"a"})})}};
  const NodeAffinity adding(args);
  const auto strict = adding.EventsToRegister()->at(0).hint;
  EXPECT_EQ(strict(pod, {.node_after = &match}), QueueingHint::kSkip);
  EXPECT_EQ(strict(pod, {.node_before = &match, .node_after = &enforced}), QueueingHint::kSkip)
      << "a change that only satisfies addedAffinity is passed over, as upstream does";
}

std::vector<std::string> Read(const Value& value, NodeAffinity::Args& args) {
  std::vector<FieldError> errors;
  ArgsReader reader(&value, "args", &errors);
  args.Read(reader);
  reader.Finish();
  std::vector<std::string> texts;
  for (const FieldError& error : errors) texts.push_back(error.ToString());
  return texts;
}

Value AddedRequired(Value requirement, const char* list) {
  Value term = Value::Object({{list, Value::Array({std::move(requirement)})}});
  Value required = Value::Object({{"nodeSelectorTerms", Value::Array({std::move(term)})}});
  return Value::Object(
      {{"addedAffinity", Value::Object({{"requiredDuringSchedulingIgnoredDuringExecution", std::move(required)}})}});
}

TEST(NodeAffinityArgsTest, AddedAffinityIsReadAndShownAsGiven) {
  const Value value = AddedRequired(Value::Object({{"key", Value::String("zone")},
                                                   {"operator", Value::String("In")},
                                                   {"values", Value::Array({Value::String("b"), Value::String("a")})}}),
                                    "matchExpressions");
  NodeAffinity::Args args;
  EXPECT_TRUE(Read(value, args).empty());
  ASSERT_TRUE(args.added_required.has_value());
  EXPECT_EQ(args.added_required->terms,
            (std::vector<NodeSelectorTerm>{Expressions({Require("zone", SelectorOp::kIn, {"a", "b"})})}));
  ASSERT_NE(args.Write().Find("addedAffinity"), nullptr);
  EXPECT_EQ(*args.Write().Find("addedAffinity"), *value.Find("addedAffinity"));
  EXPECT_EQ(NodeAffinity::Args().Write().ToJson(),
            R"({"kind":"NodeAffinityArgs","apiVersion":"kubescheduler.config.k8s.io/v1"})");
}

TEST(NodeAffinityArgsTest, WhatUpstreamCannotParseIsRefusedWithItsFieldPath) {
  const std::string path = "args.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].";
  const auto requirement = [](const char* key, const char* op, std::vector<const char*> values) {
    Value list = Value::Array();
    for (const char* value : values) list.Append(Value::String(value));
    return Value::Object({{"key", Value::String(key)}, {"operator", Value::String(op)}, {"values", std::move(list)}});
  };
  const struct {
    const char* name;
    Value value;
    std::string want;
  } cases[] = {
      {"operator", AddedRequired(requirement("foo", "invalidOp", {"x"}), "matchExpressions"),
       path + "matchExpressions[0].operator: Unsupported value: \"invalidOp\": supported values: \"DoesNotExist\", "
              "\"Exists\", \"Gt\", \"In\", \"Lt\", \"NotIn\""},
      {"no values", AddedRequired(requirement("foo", "In", {}), "matchExpressions"),
       path + "matchExpressions[0].values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty"},
      {"integer", AddedRequired(requirement("foo", "Gt", {"x"}), "matchExpressions"),
       path + "matchExpressions[0].values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an "
              "integer"},
      {"field operator", AddedRequired(requirement("metadata.name", "Exists", {}), "matchFields"),
       path + "matchFields[0].operator: Unsupported value: \"Exists\": supported values: \"In\", \"NotIn\""},
      {"field values", AddedRequired(requirement("metadata.name", "In", {"a", "b"}), "matchFields"),
       path + "matchFields[0].values: Invalid value: [\"a\",\"b\"]: must have one element"},
  };
  for (const auto& c : cases) {
    NodeAffinity::Args args;
    EXPECT_EQ(Read(c.value, args), std::vector<std::string>{c.want}) << c.name;
  }
}

// The compiled form must say what the plain form says, for any terms and labels.
RC_GTEST_PROP(NodeAffinityPropertyTest, CompiledTermsAgreeWithPlainOnes, ()) {
  const auto text = [](const char* prefix, int limit) { return prefix + std::to_string(*rc::gen::inRange(0, limit)); };
  const auto requirement = [&] {
    Requirement r;
    r.key = text("k", 3);
    r.op = static_cast<SelectorOp>(*rc::gen::inRange(0, 7));
    const int values = r.op == SelectorOp::kGt || r.op == SelectorOp::kLt ? 1 : *rc::gen::inRange(0, 8);
    std::set<std::string> set;
    for (int i = 0; i < values; ++i) set.insert(std::to_string(*rc::gen::inRange(0, 8)));
    r.values.assign(set.begin(), set.end());
    return r;
  };
  TestCluster cluster;
  std::map<std::string, Node> nodes;
  const int node_count = *rc::gen::inRange(1, 400);
  for (int n = 0; n < node_count; ++n) {
    MakeNode node("n" + std::to_string(n));
    for (int k = 0; k < 3; ++k) {
      if (*rc::gen::inRange(0, 3) != 0) node.Label("k" + std::to_string(k), std::to_string(*rc::gen::inRange(0, 8)));
    }
    const Node built = node;
    nodes.emplace(built.meta.name, built);
    cluster.Add(built);
  }
  MakePod pod;
  const int terms = *rc::gen::inRange(0, 4);
  for (int t = 0; t < terms; ++t) {
    NodeSelectorTerm term;
    for (int i = *rc::gen::inRange(0, 3); i > 0; --i) term.match_expressions.push_back(requirement());
    if (*rc::gen::inRange(0, 4) == 0) {
      term.match_fields.push_back(Require("metadata.name", SelectorOp::kNotIn, {text("n", 400)}));
    }
    pod.RequireNode(term);
    pod.PreferNode(t + 1, term);
  }
  if (*rc::gen::inRange(0, 2)) pod.NodeSelector(text("k", 3), std::to_string(*rc::gen::inRange(0, 8)));
  const Pod built = pod;
  const NodeAffinity plugin({});
  const auto verdicts = FilterAll(plugin, built, cluster);
  const ScoreResult scores = ScoreAll(plugin, built, cluster);
  for (const auto& [name, node] : nodes) {
    bool fits = !built.node_selector || SelectorFromMap(*built.node_selector).Matches(node.meta.labels);
    if (built.affinity.node_required) fits = fits && built.affinity.node_required->Matches(name, node.meta.labels);
    RC_ASSERT(verdicts.at(name).fits() == fits);
    int64_t weight = 0;
    for (const auto& term : built.affinity.node_preferred) {
      if (term.preference.Matches(name, node.meta.labels)) weight += term.weight;
    }
    if (terms > 0 && node_count > 1) RC_ASSERT(scores.raw.at(name) == weight);
  }
}

}  // namespace
}  // namespace berth::plugins
