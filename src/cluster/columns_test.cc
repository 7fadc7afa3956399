// SPDX-License-Identifier: Apache-2.0
// Rows that come and go, shared sets, label columns, image spread and the fields that the change log records.
#include "cluster/columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "berth/depends.h"
#include "berth/testing.h"

namespace berth::cluster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ColumnsTest : public ::testing::Test {
 protected:
  Row Put(const Node& node) {
    const Row row = columns_.RowFor(node.name());
    columns_.SetNode(row, std::make_shared<const Node>(node));
    return row;
  }
  void Remove(const std::string& name) { columns_.ClearNode(columns_.FindAny(name)); }
  // What `change` recorded, fields joined per row.
  template <class Fn>
  std::map<Row, RowFields> Recorded(Fn&& change) {
    const uint64_t position = columns_.data().changes.position();
    change();
    std::map<Row, RowFields> fields;
    EXPECT_TRUE(columns_.data().changes.Since(position,
                                              [&](ChangeLog::Change change) { fields[change.row] |= change.fields; }));
    return fields;
  }
  size_t rows() const { return columns_.data().live.size(); }

  Columns columns_;
};

TEST_F(ColumnsTest, TheLowestFreeRowIsReusedFirst) {
  for (const char* name : {"a", "b", "c", "d"}) Put(MakeNode(name));
  Remove("c");
  Remove("a");
  EXPECT_EQ(rows(), 4u);
  EXPECT_EQ(Put(MakeNode("e")), 0u);
  EXPECT_EQ(Put(MakeNode("f")), 2u);
  EXPECT_EQ(Put(MakeNode("g")), 4u);
}

TEST_F(ColumnsTest, FreeRowsAtTheEndAreCutOff) {
  for (const char* name : {"a", "b", "c", "d"}) Put(MakeNode(name));
  Remove("b");
  Remove("c");
  EXPECT_EQ(rows(), 4u);
  Remove("d");
  EXPECT_EQ(rows(), 1u);
  Remove("a");
  EXPECT_EQ(rows(), 0u);
}

TEST_F(ColumnsTest, TenThousandNodesThatGoTakeTheirMemoryWithThem) {
  for (int i = 0; i < 10'000; ++i) {
    const std::string number = std::to_string(i);
    Put(MakeNode("n" + number).Label("n", number).Capacity({{"cpu", "1"}, {"example.com/x", "1"}}));
  }
  columns_.Column("n");
  for (int i = 0; i < 10'000; ++i) Remove("n" + std::to_string((i * 7919) % 10'000));
  const SnapshotData& data = columns_.data();
  EXPECT_EQ(rows(), 0u);
  EXPECT_EQ(data.node_count, 0u);
  EXPECT_LE(data.rows.capacity(), 64u);
  EXPECT_LE(data.allocatable[Index(ResourceId::kCpu)].capacity(), 64u);
  EXPECT_LE(data.allocatable[Index(InternResource("example.com/x"))].capacity(), 64u);
  EXPECT_THAT(columns_.Order(), IsEmpty());
}

TEST_F(ColumnsTest, AReusedRowRemembersNothing) {
  const Resources none;
  MakeNode a("a");
  a.Label("k", "v").Taint("t", "", TaintEffect::kNoSchedule).Unschedulable().Image("i", 9).Feature("F");
  Put(a);
  Put(MakeNode("b"));
  columns_.Column("k");
  Remove("a");
  Node bare = MakeNode("c");
  bare.allocatable = none;
  ASSERT_EQ(Put(bare), 0u);
  const SnapshotData& data = columns_.data();
  for (const auto& column : data.allocatable) EXPECT_EQ(column.empty() ? 0 : column[0], 0);
  EXPECT_EQ(data.unschedulable[0], 0);
  EXPECT_EQ(data.taint_set[0], 0u);
  EXPECT_EQ(data.image_set[0], 0u);
  EXPECT_EQ(data.feature_set[0], 0u);
  EXPECT_EQ(columns_.Column("k")[0], LabelColumn::kAbsent);
}

TEST_F(ColumnsTest, ExtendedResourcesGetAColumnWhenTheyFirstComeUp) {
  const ResourceId id = InternResource("example.com/columns-test");
  Put(MakeNode("a"));
  Put(MakeNode("b").Capacity({{"example.com/columns-test", "3"}}));
  const Snapshot snapshot(columns_);
  EXPECT_THAT(snapshot.allocatable(id), ElementsAre(0, 3));
  EXPECT_THAT(snapshot.requested(id), ElementsAre(0, 0)) << "a column nobody filled reads as zeros";
  Put(MakeNode("c").Capacity({{"example.com/columns-test", "5"}}));
  EXPECT_THAT(snapshot.allocatable(id), ElementsAre(0, 3, 5));
}

TEST_F(ColumnsTest, EqualTaintAndFeatureSetsAreSharedAndTheirIdsReused) {
  Put(MakeNode("a").Taint("gpu", "", TaintEffect::kNoSchedule).Feature("F"));
  Put(MakeNode("b").Taint("gpu", "", TaintEffect::kNoSchedule).Feature("F"));
  Put(MakeNode("c").Taint("gpu", "", TaintEffect::kNoExecute));
  const SnapshotData& data = columns_.data();
  EXPECT_EQ(data.taint_set[0], data.taint_set[1]);
  EXPECT_EQ(data.feature_set[0], data.feature_set[1]);
  EXPECT_NE(data.taint_set[0], data.taint_set[2]);
  EXPECT_EQ(data.feature_set[2], 0u);
  const size_t sets = data.taint_sets.size();
  const uint32_t freed = data.taint_set[2];
  Put(MakeNode("c"));
  Put(MakeNode("c").Taint("other", "", TaintEffect::kNoSchedule));
  EXPECT_EQ(data.taint_set[2], freed);
  EXPECT_EQ(data.taint_sets.size(), sets);
  EXPECT_EQ(data.taint_sets[freed].front().key, "other");
}

TEST_F(ColumnsTest, ASetThatANodeKeepsThroughAnUpdateKeepsItsId) {
  Put(MakeNode("a").Taint("gpu", "", TaintEffect::kNoSchedule));
  const uint32_t id = columns_.data().taint_set[0];
  Put(MakeNode("a").Taint("gpu", "", TaintEffect::kNoSchedule).Label("new", "label"));
  EXPECT_EQ(columns_.data().taint_set[0], id);
  EXPECT_EQ(columns_.data().taint_sets[id].size(), 1u);
}

TEST_F(ColumnsTest, AKeyThatNobodyHasIsAbsentEverywhere) {
  Put(MakeNode("a").Label("k", "v"));
  const LabelColumn& column = columns_.Column("nobody");
  EXPECT_EQ(column.values().size(), 1u);
  EXPECT_EQ(column[0], LabelColumn::kAbsent);
  EXPECT_EQ(column.Find("v"), LabelColumn::kAbsent);
  Put(MakeNode("a").Label("nobody", "v"));
  EXPECT_NE(columns_.Column("nobody")[0], LabelColumn::kAbsent) << "until somebody has it";
}

TEST_F(ColumnsTest, ALabelColumnIsBuiltLateAndThenFollowsEveryChange) {
  Put(MakeNode("a").Label("zone", "x"));
  Put(MakeNode("b").Label("zone", "y"));
  Put(MakeNode("c"));
  const LabelColumn& column = columns_.Column("zone");
  EXPECT_EQ(column.text(column[0]), "x");
  EXPECT_EQ(column.text(column[1]), "y");
  EXPECT_EQ(column[2], LabelColumn::kAbsent);
  Put(MakeNode("c").Label("zone", "x"));
  EXPECT_EQ(column[2], column[0]);
  Put(MakeNode("b"));
  EXPECT_EQ(column[1], LabelColumn::kAbsent);
  EXPECT_EQ(column.Find("y"), LabelColumn::kAbsent);
  Put(MakeNode("d").Label("zone", "z"));
  EXPECT_EQ(column.text(column[3]), "z");
}

TEST_F(ColumnsTest, ValueIdsStayDenseWhenValuesComeAndGo) {
  Put(MakeNode("a").Label("build", "0"));
  const LabelColumn& column = columns_.Column("build");
  for (int i = 1; i < 1000; ++i) Put(MakeNode("a").Label("build", std::to_string(i)));
  EXPECT_LE(column.distinct(), 2u);
  EXPECT_EQ(column.text(column[0]), "999");
}

TEST_F(ColumnsTest, AnEmptyLabelValueIsNotAnAbsentOne) {
  Put(MakeNode("a").Label("k", ""));
  Put(MakeNode("b"));
  const LabelColumn& column = columns_.Column("k");
  EXPECT_NE(column[0], LabelColumn::kAbsent);
  EXPECT_EQ(column.Find(""), column[0]);
  EXPECT_EQ(column[1], LabelColumn::kAbsent);
}

TEST_F(ColumnsTest, PodsThatNameAnyNumberOfKeysDoNotFillTheMemory) {
  for (int i = 0; i < 2000; ++i) {
    Put(MakeNode("a").Label("key" + std::to_string(i), "v"));
    EXPECT_NE(columns_.Column("key" + std::to_string(i))[0], LabelColumn::kAbsent);
  }
  Put(MakeNode("a").Label("key1", "w"));
  EXPECT_EQ(columns_.Column("key1").text(columns_.Column("key1")[0]), "w");
}

TEST_F(ColumnsTest, AnImageKnowsOnHowManyNodesItIs) {
  Put(MakeNode("a").Image("web", 100).Image("db", 50));
  Put(MakeNode("b").Image("web", 100));
  const uint32_t web = columns_.FindImage("web");
  ASSERT_NE(web, kNoImage);
  EXPECT_EQ(columns_.data().images[web].nodes, 2u);
  EXPECT_EQ(columns_.data().images[web].size_bytes, 100);
  Remove("a");
  EXPECT_EQ(columns_.data().images[columns_.FindImage("web")].nodes, 1u);
  EXPECT_EQ(columns_.FindImage("db"), kNoImage);
  const size_t images = columns_.data().images.size();
  Put(MakeNode("b").Image("web", 100).Image("cache", 7));
  EXPECT_EQ(columns_.data().images.size(), images) << "db's place is taken";
}

TEST_F(ColumnsTest, AnImageListedTwiceByOneNodeCountsOnce) {
  Put(MakeNode("a").Image("web", 100).Image("web", 70));
  EXPECT_EQ(columns_.data().images[columns_.FindImage("web")].nodes, 1u);
  EXPECT_EQ(columns_.data().images[columns_.FindImage("web")].size_bytes, 100) << "the first size stands";
  Put(MakeNode("a"));
  EXPECT_EQ(columns_.FindImage("web"), kNoImage);
}

TEST_F(ColumnsTest, TheFirstReportersSizeStandsUntilItIsTheOnlyOneThatReports) {
  Put(MakeNode("a").Image("web", 100));
  Put(MakeNode("b").Image("web", 70));
  Put(MakeNode("a").Image("web", 80));
  EXPECT_EQ(columns_.data().images[columns_.FindImage("web")].size_bytes, 100);
  Remove("b");
  const uint64_t epoch = columns_.data().epochs.image_spread;
  Put(MakeNode("a").Image("web", 90));
  EXPECT_EQ(columns_.data().images[columns_.FindImage("web")].size_bytes, 90);
  EXPECT_NE(columns_.data().epochs.image_spread, epoch) << "answers that read the size are out of date";
}

TEST_F(ColumnsTest, ANewNodeIsAChangeOfEverything) {
  EXPECT_THAT(Recorded([&] { Put(MakeNode("a")); }), ElementsAre(std::pair(Row{0}, row_field::kAll)));
  EXPECT_THAT(Recorded([&] { Remove("a"); }), ElementsAre(std::pair(Row{0}, row_field::kAll)));
}

TEST_F(ColumnsTest, AnUpdateRecordsJustTheFieldsThatChanged) {
  Put(MakeNode("a"));
  EXPECT_THAT(Recorded([&] { Put(MakeNode("a")); }), IsEmpty()) << "a heartbeat is no change";
  auto expect = [&](const Node& node, RowFields fields) {
    EXPECT_THAT(Recorded([&] { Put(node); }), ElementsAre(std::pair(Row{0}, fields)));
    Put(MakeNode("a"));
  };
  expect(MakeNode("a").Capacity({{"cpu", "1"}}), row_field::kAllocatable);
  expect(MakeNode("a").Label("k", "v"), row_field::kLabels);
  expect(MakeNode("a").Taint("t", "", TaintEffect::kNoSchedule), row_field::kTaints);
  expect(MakeNode("a").Unschedulable(), row_field::kUnschedulable);
  expect(MakeNode("a").Image("i", 1), row_field::kImages);
  expect(MakeNode("a").Feature("F"), row_field::kFeatures);
  expect(MakeNode("a").Annotation("k", "v"), row_field::kAnnotations);
}

TEST_F(ColumnsTest, PodsAndNominationsAreRecorded) {
  Put(MakeNode("a"));
  const PodRecord record{std::make_shared<const Pod>(MakePod("p").Build()), 0, false};
  constexpr RowFields kOfPods = row_field::kRequested | row_field::kPodCount | row_field::kPods | row_field::kPorts;
  EXPECT_THAT(Recorded([&] { columns_.AddPod(0, record); }), ElementsAre(std::pair(Row{0}, kOfPods)));
  EXPECT_THAT(Recorded([&] { columns_.RemovePod(record); }), ElementsAre(std::pair(Row{0}, kOfPods)));
  EXPECT_THAT(Recorded([&] { columns_.SetNominated(0, {&record}); }),
              ElementsAre(std::pair(Row{0}, row_field::kNominated)));
}

TEST_F(ColumnsTest, TheNodeSetEpochMovesOnlyWhenNodesComeOrGo) {
  const uint64_t start = columns_.data().epochs.node_set;
  Put(MakeNode("a"));
  const uint64_t one = columns_.data().epochs.node_set;
  EXPECT_NE(one, start);
  Put(MakeNode("a").Label("k", "v"));
  EXPECT_EQ(columns_.data().epochs.node_set, one);
  Remove("a");
  EXPECT_NE(columns_.data().epochs.node_set, one);
}

TEST_F(ColumnsTest, PodsWithAffinityAreListedByRow) {
  Put(MakeNode("a"));
  Put(MakeNode("b"));
  PodAffinityTerm term;
  term.topology_key = "zone";
  auto share = [](const Pod& pod) { return std::make_shared<const Pod>(pod); };
  const PodRecord near{share(MakePod("near").PodAffinity(term)), 1, false};
  const PodRecord far{share(MakePod("far").PodAntiAffinity(term)), 0, false};
  const PodRecord prefers{share(MakePod("prefers").PreferPodAntiAffinity(1, term)), 1, false};
  for (const PodRecord* pod : {&near, &far, &prefers}) columns_.AddPod(pod->row, *pod);
  EXPECT_THAT(columns_.data().affinity_rows, ElementsAre(0, 1));
  EXPECT_THAT(columns_.data().anti_affinity_rows, ElementsAre(0));
  EXPECT_THAT(columns_.data().rows[1].affinity_pods, ElementsAre(&near, &prefers));
  columns_.RemovePod(near);
  EXPECT_THAT(columns_.data().affinity_rows, ElementsAre(0, 1));
  columns_.RemovePod(prefers);
  columns_.RemovePod(far);
  EXPECT_THAT(columns_.data().affinity_rows, IsEmpty());
  EXPECT_THAT(columns_.data().anti_affinity_rows, IsEmpty());
}

}  // namespace
}  // namespace berth::cluster
