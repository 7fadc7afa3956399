// SPDX-License-Identifier: Apache-2.0
#include "util/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <thread>
#include <vector>

namespace berth::util {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(MetricsTest, CountersAndHistogramsAreShownAsPrometheusReadsThem) {
  Metrics metrics;
  metrics.counter("berth_requests_total", "Requests.", {{"route", "/filter"}}).Add();
  metrics.counter("berth_requests_total", "Requests.", {{"route", "/filter"}}).Add(2);
  metrics.counter("berth_requests_total", "Requests.", {{"route", "/bind"}}).Add();
  metrics.histogram("berth_seconds", "Time.", {1, 10}).Observe(5);
  const std::string text = metrics.Text();
  EXPECT_THAT(text, HasSubstr("# TYPE berth_requests_total counter\n"));
  EXPECT_THAT(text, HasSubstr("berth_requests_total{route=\"/filter\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("berth_requests_total{route=\"/bind\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("berth_seconds_bucket{le=\"1\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("berth_seconds_bucket{le=\"10\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("berth_seconds_sum 5\n"));
}

TEST(MetricsTest, WhatAnOperatorLeavesOutIsNotShown) {
  Metrics metrics(
      {.disabled = {"berth_a_total", "berth_seconds"}, .allowed = {{"berth_b_total", {{"x", {"1", "2"}}}}}});
  metrics.counter("berth_a_total", "A.").Add();
  metrics.histogram("berth_seconds", "Time.", {1}).Observe(1);
  for (const char* x : {"1", "2", "3", "4", ""}) {
    metrics.counter("berth_b_total", "B.", {{"x", x}, {"y", "9"}}).Add();
    metrics.counter("berth_c_total", "C.", {{"x", x}}).Add();
  }
  const std::string text = metrics.Text();
  EXPECT_THAT(text, Not(HasSubstr("berth_a_total")));
  EXPECT_THAT(text, Not(HasSubstr("berth_seconds")));
  EXPECT_THAT(text, HasSubstr("berth_b_total{x=\"1\",y=\"9\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("berth_b_total{x=\"unexpected\",y=\"9\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("berth_c_total{x=\"4\"} 1\n"));
}

TEST(MetricsTest, GaugesAreRefreshedBeforeTheyAreShown) {
  Metrics metrics;
  const Metrics::Gauge age = metrics.gauge("berth_age_seconds", "Age.", {{"kind", "Node"}});
  double now = 0.5;
  metrics.BeforeText([&] { age.Set(now); });
  EXPECT_THAT(metrics.Text(), HasSubstr("# TYPE berth_age_seconds gauge\nberth_age_seconds{kind=\"Node\"} 0.5\n"));
  now = 2;
  EXPECT_THAT(metrics.Text(), HasSubstr("berth_age_seconds{kind=\"Node\"} 2\n"));
}

TEST(MetricsTest, AfterAResetWhatHasLabelsStartsAnew) {
  Metrics metrics;
  const Metrics::Counter plain = metrics.counter("berth_plain_total", "Plain.");
  const Metrics::Counter a = metrics.counter("berth_some_total", "Some.", {{"x", "a"}});
  const Metrics::Counter b = metrics.counter("berth_some_total", "Some.", {{"x", "b"}});
  const Metrics::Gauge gauge = metrics.gauge("berth_now", "Now.", {{"x", "a"}});
  const Metrics::Histogram histogram = metrics.histogram("berth_seconds", "Time.", {1, 10}, {{"x", "a"}});
  plain.Add(3);
  a.Add(5);
  b.Add(7);
  gauge.Set(2);
  histogram.Observe(0.5);
  histogram.Observe(20);
  metrics.Reset();
  EXPECT_EQ(metrics.Text(), "# HELP berth_plain_total Plain.\n# TYPE berth_plain_total counter\nberth_plain_total 3\n");
  a.Add();
  gauge.Set(0);
  histogram.Observe(5);
  metrics.counter("berth_some_total", "Some.", {{"x", "c"}}).Add();
  const std::string text = metrics.Text();
  for (const char* line : {"berth_some_total{x=\"a\"} 1\n", "berth_some_total{x=\"c\"} 1\n", "berth_now{x=\"a\"} 0\n",
                           "berth_seconds_count{x=\"a\"} 1\n", "berth_seconds_sum{x=\"a\"} 5\n",
                           "berth_seconds_bucket{x=\"a\",le=\"1\"} 0\n", "berth_seconds_bucket{x=\"a\",le=\"10\"} 1\n",
                           "berth_seconds_bucket{x=\"a\",le=\"+Inf\"} 1\n"})
    EXPECT_THAT(text, HasSubstr(line));
  EXPECT_THAT(text, Not(HasSubstr("x=\"b\"")));
  metrics.Reset();
  EXPECT_THAT(metrics.Text(), Not(HasSubstr("x=")));
}

TEST(MetricsTest, TheTextIsSortedAndHasItsNumbersAsGoWritesThem) {
  Metrics metrics;
  metrics.gauge("berth_b", "Two\nlines.", {{"x", "b"}}).Set(1234567);
  metrics.gauge("berth_b", "Two\nlines.", {{"x", "a\"\\\n"}}).Set(-0.5);
  metrics.histogram("berth_a", "A.", Metrics::Exponential(0.00001, 1.5, 3)).Observe(0.00002);
  EXPECT_EQ(metrics.Text(),
            "# HELP berth_a A.\n"
            "# TYPE berth_a histogram\n"
            "berth_a_bucket{le=\"1e-05\"} 0\n"
            "berth_a_bucket{le=\"1.5000000000000002e-05\"} 0\n"
            "berth_a_bucket{le=\"2.2500000000000005e-05\"} 1\n"
            "berth_a_bucket{le=\"+Inf\"} 1\n"
            "berth_a_sum 2e-05\n"
            "berth_a_count 1\n"
            "# HELP berth_b Two\\nlines.\n"
            "# TYPE berth_b gauge\n"
            "berth_b{x=\"a\\\"\\\\\\n\"} -0.5\n"
            "berth_b{x=\"b\"} 1.234567e+06\n");
}

TEST(MetricsTest, SeveralThreadsCountTogether) {
  Metrics metrics;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const Metrics::Counter counter = metrics.counter("n_total", "N.");
      const Metrics::Histogram histogram = metrics.histogram("n_seconds", "N.", {1, 2});
      for (int i = 0; i < 1000; ++i) {
        counter.Add();
        histogram.Observe(2);
        if (i % 100 != 0) continue;
        EXPECT_THAT(metrics.Text(), HasSubstr("n_seconds_bucket{le=\"1\"} 0\n"));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(metrics.Text(), HasSubstr("n_total 4000\n"));
  EXPECT_THAT(metrics.Text(), HasSubstr("n_seconds_bucket{le=\"2\"} 4000\n"));
  EXPECT_THAT(metrics.Text(), HasSubstr("n_seconds_sum 8000\nn_seconds_count 4000\n"));
}

TEST(MetricsTest, ABoundIsPartOfItsBucketAndEveryScrapeHasWhatCameSinceTheLast) {
  Metrics metrics;
  const Metrics::Histogram histogram = metrics.histogram("s", "S.", {1, 10});
  for (const double value : {-1.0, 1.0, 1.5, 10.0, 11.0}) histogram.Observe(value);
  const char* const first =
      "s_bucket{le=\"1\"} 2\ns_bucket{le=\"10\"} 4\ns_bucket{le=\"+Inf\"} 5\ns_sum 22.5\ns_count 5\n";
  EXPECT_THAT(metrics.Text(), HasSubstr(first));
  EXPECT_THAT(metrics.Text(), HasSubstr(first));
  metrics.histogram("s", "S.", {1, 10}).Observe(0.5);  // the same one
  histogram.Observe(std::nan(""));
  EXPECT_THAT(metrics.Text(), HasSubstr("s_bucket{le=\"1\"} 3\ns_bucket{le=\"10\"} 5\ns_bucket{le=\"+Inf\"} 7\n"));
}

TEST(MetricsTest, BucketsGrowByAFactor) { EXPECT_THAT(Metrics::Exponential(1, 4, 3), ElementsAre(1, 4, 16)); }

}  // namespace
}  // namespace berth::util
