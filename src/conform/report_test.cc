// SPDX-License-Identifier: Apache-2.0
// The three forms of a report, to the letter.
#include "conform/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::conform {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Report Example() {
  Report report;
  report.url = "http://127.0.0.1:8888";
  report.checks = {
      {"filter.nodes.answers", "12 nodes: 11 pass, 1 fail", false, {}},
      {"filter.nodes.subset",
       "",
       false,
       {{Level::kError, "passes \"<x>\"", "POST /filter {…}", "200 {\"NodeNames\":[]}"}}},
      {"filter.names.answers", "as asked", true, {}},
      {"filter.names.subset", "as asked", true, {}},
      {"prioritize.nodes.range",
       "",
       false,
       {{Level::kWarning, "12 scores outside 0 to 10", "", ""}, {Level::kWarning, "and more", "", ""}}},
      {"server.slow-client", "no verb is served", true, {}},
  };
  report.latencies = {{"filter.nodes", 12, 100, 0.126, 12.34, 123.4, 5000}};
  return report;
}

TEST(ReportTest, TextIsAlignedAndShort) {
  EXPECT_EQ(ToText(Example(), /*colour=*/false, /*strict=*/false),
            "extender http://127.0.0.1:8888\n"
            "\n"
            "  ok    filter.nodes.answers    12 nodes: 11 pass, 1 fail\n"
            "  FAIL  filter.nodes.subset     passes \"<x>\"\n"
            "            sent      POST /filter {…}\n"
            "            received  200 {\"NodeNames\":[]}\n"
            "  skip  filter.names.*          2 checks: as asked\n"
            "  WARN  prioritize.nodes.range  12 scores outside 0 to 10\n"
            "                                and more\n"
            "  skip  server.slow-client      no verb is served\n"
            "\n"
            "LATENCY in ms                    NODES  REQUESTS     P50     P90     P99     MAX\n"
            "  filter.nodes                      12       100    0.13    12.3     123    5000\n"
            "\n"
            "FAIL  6 checks: 1 passed, 1 with warnings, 1 failed, 3 skipped\n");
}

TEST(ReportTest, OnlyTerminalsGetColours) {
  EXPECT_THAT(ToText(Example(), /*colour=*/true, false), HasSubstr("\x1b[31;1mFAIL\x1b[0m"));
  EXPECT_THAT(ToText(Example(), /*colour=*/false, false), Not(HasSubstr("\x1b")));
}

TEST(ReportTest, WarningsFailOnlyStrictly) {
  Report report = Example();
  report.checks[1].findings.clear();
  EXPECT_TRUE(report.ok(/*strict=*/false));
  EXPECT_FALSE(report.ok(/*strict=*/true));
  EXPECT_THAT(ToText(report, false, true), HasSubstr("FAIL  6 checks: 2 passed, 1 with warnings, 0 failed, 3 skipped "
                                                     "(warnings fail with --strict)\n"));
  EXPECT_THAT(ToText(report, false, false), HasSubstr("PASS  6 checks"));
}

TEST(ReportTest, JsonHasEverything) {
  EXPECT_EQ(
      ToValue(Example(), /*strict=*/false).ToJson(),
      R"({"apiVersion":"berth.dev/v1alpha1","kind":"ConformanceReport","url":"http://127.0.0.1:8888","ok":false,)"
      R"("passed":1,"warnings":1,"failed":1,"skipped":3,"checks":[)"
      R"({"name":"filter.nodes.answers","result":"passed","verdict":"12 nodes: 11 pass, 1 fail"},)"
      R"({"name":"filter.nodes.subset","result":"failed","findings":[{"level":"error","sentence":"passes \"<x>\"",)"
      R"("sent":"POST /filter {…}","received":"200 {\"NodeNames\":[]}"}]},)"
      R"({"name":"filter.names.answers","result":"skipped","verdict":"as asked"},)"
      R"({"name":"filter.names.subset","result":"skipped","verdict":"as asked"},)"
      R"({"name":"prioritize.nodes.range","result":"warning","findings":[)"
      R"({"level":"warning","sentence":"12 scores outside 0 to 10"},{"level":"warning","sentence":"and more"}]},)"
      R"({"name":"server.slow-client","result":"skipped","verdict":"no verb is served"}],)"
      R"("latencyMilliseconds":[{"name":"filter.nodes","nodes":12,"requests":100,"p50":0.13,"p90":12.3,"p99":123,)"
      R"("max":5000}]})");
}

TEST(ReportTest, JunitHasASuitePerVerb) {
  EXPECT_EQ(ToJunit(Example(), /*strict=*/false),
            R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="berth conform" tests="6" failures="1" errors="0" skipped="3">
  <testsuite name="filter" tests="4" failures="1" errors="0" skipped="2">
    <testcase classname="filter" name="filter.nodes.answers"/>
    <testcase classname="filter" name="filter.nodes.subset">
      <failure message="passes &quot;&lt;x&gt;&quot;">sent: POST /filter {…}
received: 200 {&quot;NodeNames&quot;:[]}
</failure>
    </testcase>
    <testcase classname="filter" name="filter.names.answers">
      <skipped message="as asked"/>
    </testcase>
    <testcase classname="filter" name="filter.names.subset">
      <skipped message="as asked"/>
    </testcase>
  </testsuite>
  <testsuite name="prioritize" tests="1" failures="0" errors="0" skipped="0">
    <testcase classname="prioritize" name="prioritize.nodes.range">
      <system-out>warning: 12 scores outside 0 to 10
warning: and more
</system-out>
    </testcase>
  </testsuite>
  <testsuite name="server" tests="1" failures="0" errors="0" skipped="1">
    <testcase classname="server" name="server.slow-client">
      <skipped message="no verb is served"/>
    </testcase>
  </testsuite>
</testsuites>
)");
  EXPECT_THAT(ToJunit(Example(), /*strict=*/true), HasSubstr("tests=\"6\" failures=\"2\""));
}

TEST(ReportTest, PercentilesAreTakenFromWhatWasMeasured) {
  const Latency one = MakeLatency("x", 1, {7});
  EXPECT_EQ(one.p50, 7);
  EXPECT_EQ(one.p99, 7);
  std::vector<double> hundred;
  for (int i = 100; i > 0; --i) hundred.push_back(i);
  const Latency many = MakeLatency("x", 1, hundred);
  EXPECT_EQ(many.p50, 50);
  EXPECT_EQ(many.p90, 90);
  EXPECT_EQ(many.p99, 99);
  EXPECT_EQ(many.max, 100);
  EXPECT_EQ(many.requests, 100U);
}

}  // namespace
}  // namespace berth::conform
