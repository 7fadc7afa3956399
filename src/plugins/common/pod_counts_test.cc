// SPDX-License-Identifier: Apache-2.0
// Kept counts must be what counting again would find, whatever happens to pods and nodes and however few are kept.
#include "plugins/common/pod_counts.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "berth/testing.h"
#include "cluster/cluster_state.h"

namespace berth::plugins {
namespace {

using Rows = std::vector<std::pair<Row, int64_t>>;

Rows Listed(const RowCounts& counts) {
  Rows rows;
  counts.ForEach([&](Row row, int64_t count) { rows.emplace_back(row, count); });
  return rows;
}

RC_GTEST_PROP(RowCountsTest, CountsLikeAMap, ()) {
  std::map<Row, int64_t> want;
  RowCounts counts;
  const Row rows = *rc::gen::element<Row>(3, 100, 3000);
  const int steps = *rc::gen::inRange(0, 1000);
  int64_t total = 0;
  uint64_t state = *rc::gen::arbitrary<uint64_t>();
  for (int i = 0; i < steps; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const Row row = static_cast<Row>((state >> 33) % rows);
    const bool leave = (state >> 20) % 3 == 0;
    const int64_t amount = leave ? -want[row] : 1 + static_cast<int64_t>((state >> 24) % 3);
    counts.Add(row, amount);
    total += amount;
    if ((want[row] += amount) == 0) want.erase(row);
  }
  RC_ASSERT(Listed(counts) == Rows(want.begin(), want.end()));
  RC_ASSERT(counts.total() == total);
  std::vector<uint32_t> room;
  const std::span<const uint32_t> column = counts.Column(rows / 2 + 1, room);
  RC_ASSERT(column.size() == rows / 2 + 1);
  for (Row row = 0; row < rows + 10; ++row) {
    const int64_t expected = want.contains(row) ? want[row] : 0;
    RC_ASSERT(counts[row] == expected);
    if (row < column.size()) RC_ASSERT(int64_t{column[row]} == expected);
  }
}

std::optional<LabelSelector> AnySelector() {
  switch (*rc::gen::inRange(0, 7)) {
    case 0:
      return std::nullopt;
    case 1:
      return LabelSelector();
    case 2:
      return LabelSelector{{Require("app", SelectorOp::kNotIn, {"a0"})}, ""};
    case 3:
      return LabelSelector{{Require("tier", SelectorOp::kExists)}, ""};
    default:
      return SelectLabels({{"app", "a" + std::to_string(*rc::gen::inRange(0, 3))}});
  }
}

// A query and what it says, in plain words.
struct Question {
  bool terminating = false;
  struct Clause {
    bool any_namespace;
    std::vector<std::string> namespaces;
    std::optional<LabelSelector> selector;
  };
  std::vector<Clause> clauses;

  static Question Any() {
    Question question;
    question.terminating = *rc::gen::arbitrary<bool>();
    for (int i = *rc::gen::inRange(1, 3); i > 0; --i) {
      std::vector<std::string> names;
      for (const char* name : {"x", "y", "z"})
        if (*rc::gen::arbitrary<bool>()) names.emplace_back(name);
      question.clauses.push_back({*rc::gen::inRange(0, 4) == 0, names, AnySelector()});
    }
    return question;
  }
  PodQuery Query() const {
    PodQuery query(terminating);
    for (const Clause& clause : clauses) query.And(clause.any_namespace, clause.namespaces, clause.selector);
    return query;
  }
  bool Matches(const Pod& pod) const {
    if (pod.terminating() && !terminating) return false;
    return std::all_of(clauses.begin(), clauses.end(), [&](const Clause& clause) {
      const auto& names = clause.namespaces;
      return (clause.any_namespace || std::count(names.begin(), names.end(), pod.namespace_()) > 0) &&
             berth::Matches(clause.selector, pod.meta.labels);
    });
  }
  Rows Answer(const Snapshot& snapshot) const {
    Rows rows;
    for (Row row = 0; row < snapshot.rows(); ++row) {
      int64_t count = 0;
      for (const PodRecord* record : snapshot.pods(row)) count += Matches(*record->pod);
      if (count > 0) rows.emplace_back(row, count);
    }
    return rows;
  }
};

RC_GTEST_PROP(PodCountsTest, KnowsWhatCountingAgainWouldFind, ()) {
  PodCountIndex index(PodCounts::Limits{*rc::gen::element<size_t>(1, 2, 100), size_t{1} << 20});
  cluster::ClusterState state;
  const bool late = *rc::gen::arbitrary<bool>();
  if (!late) state.AddIndex(&index);
  std::vector<Question> questions;
  for (int i = *rc::gen::inRange(1, 6); i > 0; --i) questions.push_back(Question::Any());
  std::vector<std::string> uids;
  const int steps = *rc::gen::inRange(1, 60);
  for (int step = 0; step < steps; ++step) {
    const std::string node = "n" + std::to_string(*rc::gen::inRange(0, 6));
    const auto pod = [&](const std::string& uid, const std::string& on) {
      MakePod made(uid);
      made.Uid(uid).Namespace(*rc::gen::element<std::string>("x", "y", "z")).OnNode(on);
      if (*rc::gen::inRange(0, 5) != 0) made.Label("app", "a" + std::to_string(*rc::gen::inRange(0, 3)));
      if (*rc::gen::inRange(0, 4) == 0) made.Label("tier", "t");
      if (*rc::gen::inRange(0, 4) == 0) made.Terminating();
      return std::make_shared<const Pod>(made.Build());
    };
    switch (*rc::gen::inRange(0, 8)) {
      case 0:
        state.PutNode(std::make_shared<const Node>(MakeNode(node).Build()));
        break;
      case 1:
        (void)state.RemoveNode(node);
        break;
      case 2:
      case 3:
        if (uids.empty()) break;
        RC_ASSERT(state.RemovePod(uids.back()).ok());
        uids.pop_back();
        break;
      case 4:
        if (uids.empty()) break;
        (void)state.UpdatePod(pod(*rc::gen::elementOf(uids), node));  // says so when the pod moved
        break;
      default:
        uids.push_back("u" + std::to_string(step));
        RC_ASSERT(state.AddPod(pod(uids.back(), node)).ok());
    }
    if (late && step == steps / 2) state.AddIndex(&index);
    if (!index.Serves(state.snapshot())) continue;
    const Question& question = *rc::gen::elementOf(questions);
    index.counts().Begin();
    RC_ASSERT(Listed(index.counts().Count(state.snapshot(), question.Query())) == question.Answer(state.snapshot()));
  }
}

class PodCountIndexTest : public ::testing::Test {
 protected:
  PodCountIndexTest() { state_.AddIndex(&index_); }
  void Put(const std::string& name, const std::string& app, const std::string& node = "n") {
    ASSERT_TRUE(
        state_.AddPod(std::make_shared<const Pod>(MakePod(name).Uid(name).Label("app", app).OnNode(node).Build()))
            .ok());
  }
  int64_t Total(const std::string& app) {
    const std::vector<std::string> names = {"default"};
    const std::optional<LabelSelector> selector = SelectLabels({{"app", app}});
    PodQuery query(false);
    query.And(false, names, selector);
    index_.counts().Begin();
    return index_.counts().Count(state_.snapshot(), query).total();
  }
  PodCountIndex index_{PodCounts::Limits{2, size_t{1} << 20}};
  cluster::ClusterState state_;
};

TEST_F(PodCountIndexTest, TheEpochGrowsWithCountsThatAreKeptOnly) {
  Put("p1", "a");
  EXPECT_EQ(Total("a"), 1);
  const uint64_t before = index_.epoch();
  Put("p2", "b");
  EXPECT_EQ(index_.epoch(), before) << "nobody counts b";
  Put("p3", "a");
  EXPECT_GT(index_.epoch(), before);
  EXPECT_EQ(Total("a"), 2);
}

TEST_F(PodCountIndexTest, TheEpochGrowsWhenACountIsLetGo) {
  Total("a");
  Total("b");
  Total("c");
  const uint64_t before = index_.epoch();
  Total("c");  // the first question after there were too many
  EXPECT_GT(index_.epoch(), before);
  EXPECT_EQ(index_.counts().queries(), 2u);
}

TEST_F(PodCountIndexTest, TheEpochGrowsWithTheRows) {
  const uint64_t before = index_.epoch();
  Put("p1", "a", "unknown");
  EXPECT_GT(index_.epoch(), before) << "columns may have moved";
}

TEST_F(PodCountIndexTest, OtherClustersAreNotServed) {
  cluster::ClusterState other;
  EXPECT_TRUE(index_.Serves(state_.snapshot()));
  EXPECT_FALSE(index_.Serves(other.snapshot()));
  EXPECT_FALSE(PodCountIndex().Serves(state_.snapshot())) << "nobody feeds it";
}

}  // namespace
}  // namespace berth::plugins
