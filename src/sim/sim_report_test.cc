// SPDX-License-Identifier: Apache-2.0
// Results as JSON and JUnit, and the comparison of two.
#include "sim/sim_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "sim/compare.h"

namespace berth::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

PodLine Line(std::string pod, std::string node) { return {std::move(pod), std::move(node), {}, "", false}; }

RunResult Sample() {
  RunResult result;
  result.placements = {{"default/a", "n", 12, "best of 2", true}, {"default/b", "m", {}, "", false}};
  result.pending = {{"default/c", "", {}, "no \"room\"", false}};
  result.summary.nodes = 2;
  result.summary.placed = 2;
  result.summary.pending = 1;
  result.summary.attempts = 4;
  result.summary.evictions = 1;
  result.summary.time = Duration::Millis(1234);
  result.summary.cpu = 50;
  result.summary.memory = 1000;
  result.summary.zones = {{"east", 5}, {"west", 2}, {"north", 3}};
  return result;
}

TEST(SimReportTest, TheJsonOfOneRunIsTheContract) {
  EXPECT_EQ(ToValue(std::vector<ScenarioReport>{{"", "", {{"default", Sample()}}}}).ToJson(2), R"({
  "apiVersion": "berth.dev/v1alpha1",
  "kind": "SimulationResult",
  "placements": [
    {
      "pod": "default/a",
      "node": "n",
      "total": 12
    },
    {
      "pod": "default/b",
      "node": "m",
      "total": null
    }
  ],
  "pending": [
    {
      "pod": "default/c",
      "message": "no \"room\""
    }
  ],
  "summary": {
    "nodes": 2,
    "pods": 3,
    "placed": 2,
    "pending": 1,
    "finished": 0,
    "attempts": 4,
    "preemptions": 1,
    "virtualSeconds": 1.234,
    "utilisation": {
      "cpu": 0.050,
      "memory": 1.000
    },
    "zones": {
      "east": 5,
      "north": 3,
      "west": 2
    },
    "zoneSpread": 3
  }
})");
}

TEST(SimReportTest, SeveralScenariosStandInAList) {
  ScenarioReport report{"one", "one.yaml", {{"default", Sample()}}};
  report.runs[0].result.expectations = {{"20s", "default/a", "on node m", "on node n: best of 2", false}};
  report.runs[0].result.notes = {"steps[1]: gone"};
  const Value value = ToValue({report, {"two", "two.yaml", {{"default", Sample()}}}});
  ASSERT_NE(value.Find("scenarios"), nullptr);
  ASSERT_EQ(value.Find("scenarios")->items().size(), 2u);
  const Value& first = value.Find("scenarios")->items()[0];
  EXPECT_EQ(first.Find("name")->text(), "one");
  EXPECT_EQ(
      first.Find("expectations")->ToJson(),
      R"([{"at":"20s","pod":"default/a","met":false,"text":"expected on node m, but it is on node n: best of 2"}])");
  EXPECT_EQ(first.Find("notes")->ToJson(), R"(["steps[1]: gone"])");
  EXPECT_EQ(value.Find("scenarios")->items()[1].Find("expectations"), nullptr);
}

TEST(SimReportTest, JunitHasATestcasePerExpectationAndEscapesTexts) {
  ScenarioReport report{"a & b", "s.yaml", {{"default", Sample()}}};
  report.runs[0].result.expectations = {{"end", "default/a", "on node n", "on node n", true},
                                        {"20s", "default/c", "gone", "pending: <\"x\">\n\x01", false}};
  EXPECT_EQ(ToJunit({report}),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuites name=\"berth sim\" tests=\"2\" failures=\"1\" errors=\"0\">\n"
            "  <testsuite name=\"a &amp; b\" tests=\"2\" failures=\"1\" errors=\"0\">\n"
            "    <testcase classname=\"a &amp; b\" name=\"default/a at end: on node n\"/>\n"
            "    <testcase classname=\"a &amp; b\" name=\"default/c at 20s: gone\">\n"
            "      <failure message=\"expected gone, but it is pending: &lt;&quot;x&quot;&gt;&#10;?\"/>\n"
            "    </testcase>\n"
            "  </testsuite>\n"
            "</testsuites>\n");
}

TEST(SimReportTest, VerificationIsInEveryForm) {
  ScenarioReport report{"s", "s.yaml", {{"default", Sample()}}};
  RunResult& result = report.runs[0].result;
  result.expectations.clear();
  result.verification.emplace().decisions = 12;
  EXPECT_TRUE(result.met());
  EXPECT_EQ(VerificationText(*result.verification), "12 decisions made twice, no difference and no undeclared read");
  EXPECT_THAT(ToJunit({report}), HasSubstr("tests=\"1\" failures=\"0\""));
  EXPECT_THAT(ToJunit({report}), HasSubstr("<testcase classname=\"s\" name=\"verification\"/>"));
  // What is found again and again is counted each time and told once.
  for (const char* text : {"Heat reads labels", "Heat reads labels", "pod a goes elsewhere"})
    result.verification->Add(text);
  EXPECT_FALSE(result.met());
  EXPECT_THAT(VerificationText(*result.verification), HasSubstr("3 findings ("));
  EXPECT_THAT(VerificationText(*result.verification), HasSubstr(")\nHeat reads labels\npod a goes elsewhere"));
  EXPECT_THAT(ToJunit({report}), HasSubstr("tests=\"1\" failures=\"1\""));
  EXPECT_THAT(ToJunit({report}), HasSubstr("&#10;pod a goes elsewhere"));
  EXPECT_THAT(ToValue(std::vector<ScenarioReport>{report}).ToJson(),
              HasSubstr(R"("verification":{"decisions":12,"findings":3,"texts":["Heat reads labels","pod a goes)"));
  for (int i = 0; i < 100; ++i) result.verification->Add(std::to_string(i));
  EXPECT_EQ(result.verification->texts.size(), Verification::kTextsKept);
}

TEST(SimReportTest, ThousandthsHaveOneSign) {
  EXPECT_EQ(Thousandths(0), "0.000");
  EXPECT_EQ(Thousandths(12'034), "12.034");
  EXPECT_EQ(Thousandths(-286), "-0.286");
  EXPECT_EQ(Thousandths(-1'500), "-1.500");
  EXPECT_EQ(Thousandths(std::numeric_limits<int64_t>::min()), "-9223372036854775.808");
}

TEST(SimReportTest, NamesThatAreNoTextBecomeText) {
  // A stray byte, a cut character, an overlong one, a surrogate; then good ones.
  const std::string bad = "x\xFF\xC3|\xC0\x80|\xED\xA0\x80|\xC3\xA9\xF0\x9F\x98\x80\xEF\xBF\xBE";
  const std::string mark = "\xEF\xBF\xBD";
  const std::string good =
      "x" + mark + mark + "|" + mark + mark + "|" + mark + mark + mark + "|\xC3\xA9\xF0\x9F\x98\x80";
  const ScenarioReport report{bad, "s.yaml", {{bad, Sample()}, {bad, Sample()}}};
  const std::string json = ToValue(std::vector<ScenarioReport>{report}).ToJson();
  EXPECT_THAT(json, HasSubstr("\"name\":\"" + good + "\xEF\xBF\xBE\""));
  EXPECT_THAT(json, HasSubstr("\"base\":\"" + good + "\xEF\xBF\xBE\""));
  EXPECT_EQ(json.find('\xFF'), std::string::npos);
  EXPECT_THAT(ToJunit({report}), HasSubstr("name=\"" + good + mark + " (" + good + mark + ")\""));
}

TEST(CompareTest, EveryPodIsInOneClass) {
  RunResult base, other;
  base.placements = {Line("a", "n"), Line("b", "n"), Line("c", "n"), Line("lost", "n")};
  base.pending = {Line("d", ""), Line("e", "")};
  other.placements = {Line("a", "n"), Line("b", "m"), Line("d", "n"), Line("new", "n")};
  other.pending = {Line("c", ""), Line("e", "")};
  const Comparison comparison = Compare(base, other);
  EXPECT_EQ(comparison.same, 1u);
  ASSERT_EQ(comparison.moved.size(), 1u);
  EXPECT_EQ(comparison.moved[0].pod + comparison.moved[0].from + comparison.moved[0].to, "bnm");
  EXPECT_THAT(comparison.waits, ElementsAre("c"));
  EXPECT_THAT(comparison.relieved, ElementsAre("d"));
  EXPECT_THAT(comparison.lost, ElementsAre("lost"));
  EXPECT_THAT(comparison.found, ElementsAre("new"));
}

TEST(CompareTest, OnlyTheFirstMovesAreListedButAllAreCounted) {
  RunResult base, other;
  for (int i = 0; i < 60; ++i) {
    base.placements.push_back(Line("p" + std::to_string(i), "n"));
    other.placements.push_back(Line("p" + std::to_string(i), "m"));
  }
  const Value value = ToValue(Compare(base, other));
  EXPECT_EQ(value.Find("movedCount")->text(), "60");
  EXPECT_EQ(value.Find("moved")->items().size(), 50u);
}

TEST(CompareTest, SeveralConfigurationsComeWithTheirComparison) {
  RunResult moved = Sample();
  moved.placements[0].node = "m";
  const std::string json =
      ToValue(std::vector<ScenarioReport>{{"", "", {{"a.yaml", Sample()}, {"b.yaml", moved}}}}).ToJson();
  EXPECT_THAT(json, HasSubstr(R"("configs":[{"config":"a.yaml","placements":[)"));
  EXPECT_THAT(json,
              HasSubstr(R"("comparison":{"base":"a.yaml","against":[{"config":"b.yaml","sameNode":1,"movedCount":1,)"
                        R"("moved":[{"pod":"default/a","from":"n","to":"m"}])"));
}

}  // namespace
}  // namespace berth::sim
