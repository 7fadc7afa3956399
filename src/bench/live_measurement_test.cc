// SPDX-License-Identifier: Apache-2.0
#include "bench/live_measurement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace berth::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Time kBegan{5'000'000'000'000};
Time Moment(double seconds) { return kBegan + Duration{static_cast<int64_t>(seconds * 1e9)}; }

std::vector<double> Samples(const std::vector<double>& bindings, double ended) {
  std::vector<Time> times;
  for (const double binding : bindings) times.push_back(Moment(binding));
  return ThroughputSamples(times, kBegan, Moment(ended));
}

TEST(ThroughputSamplesTest, TheFirstSecondWithABindingIsLeftOut) {
  EXPECT_THAT(Samples({}, 10), IsEmpty());
  EXPECT_THAT(Samples({0.1, 0.2, 0.9}, 1.9), IsEmpty());
  EXPECT_THAT(Samples({2.5, 3.1, 3.2, 4.5}, 5), ElementsAre(2, 1));
}

TEST(ThroughputSamplesTest, SecondsWithoutABindingShareWhatTheNextBrings) {
  EXPECT_THAT(Samples({0.5, 3.1, 3.2, 3.3}, 4.2), ElementsAre(1, 1, 1));
  EXPECT_THAT(Samples({0.5, 1.5}, 9), ElementsAre(1));  // the silence at the end is not a sample
}

TEST(ThroughputSamplesTest, PercentilesAreUpstreams) {
  EXPECT_FALSE(Summarize({}));
  std::vector<double> samples;
  for (int i = 100; i > 0; --i) samples.push_back(i);
  const auto summary = Summarize(samples);
  ASSERT_TRUE(summary);
  EXPECT_DOUBLE_EQ(summary->average, 50.5);
  EXPECT_DOUBLE_EQ(summary->p50, 50);
  EXPECT_DOUBLE_EQ(summary->p95, 95);
  EXPECT_DOUBLE_EQ(summary->p99, 99);
  EXPECT_DOUBLE_EQ(Summarize({7})->p50, 7);
}

LivePod PodIn(const std::string& ns, const std::string& name) {
  LivePod pod;
  pod.ns = ns;
  pod.name = name;
  pod.paced = true;
  return pod;
}

TEST(LiveMeasurementTest, OnlyBindingsInTheWindowMakeTheRate) {
  LiveMeasurement measurement(std::nullopt);
  LiveMeasurement::Pods pods;
  LivePod& early = pods["a/early"] = PodIn("a", "early");
  LivePod& other = pods["b/other"] = PodIn("b", "other");
  ASSERT_TRUE(measurement.Start(Moment(0), pods, {{"a"}, {}}).ok());
  EXPECT_THAT(measurement.Start(Moment(0), pods, {}).text(), HasSubstr("already"));
  LivePod& late = pods["a/late"] = PodIn("a", "late");
  measurement.Created(late);
  early.node = other.node = "n";
  measurement.Bound(early, Moment(1));
  measurement.Bound(other, Moment(1));
  ASSERT_TRUE(measurement.Stop(Moment(4), 2).ok());
  EXPECT_FALSE(measurement.Stop(Moment(4), 2).ok());
  late.node = "m";
  measurement.Bound(late, Moment(5));
  const Result<WorkloadResult> result = measurement.Finish(Moment(6), pods, {"n", "m", "idle"});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->pods, 2u);
  EXPECT_EQ(result->scheduled, 2u);
  EXPECT_EQ(result->live->bound, 1u);
  EXPECT_DOUBLE_EQ(result->PodsPerSecond(), 0.25);
  EXPECT_DOUBLE_EQ(result->live->first_binding_s, 1);
  EXPECT_EQ(result->nodes, 2u);
  EXPECT_THAT(result->nodes_by_pods, ElementsAre(std::pair(0u, 1u), std::pair(1u, 1u), std::pair(2u, 1u)));
}

TEST(LiveMeasurementTest, PodsThatAreLeftAreNamedAndThoseOvertakenAreNot) {
  LiveMeasurement measurement(std::nullopt);
  LiveMeasurement::Pods pods;
  pods["a/left"] = PodIn("a", "left");
  pods["a/overtaken"] = PodIn("a", "overtaken");
  ASSERT_TRUE(measurement.Start(Moment(0), pods, {{"a"}, {}}).ok());
  measurement.Overtaken(pods["a/overtaken"]);
  pods["a/left"].message = "0/1 nodes are available";
  const Result<WorkloadResult> result = measurement.Finish(Moment(1), pods, {});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->pods, 1u);
  EXPECT_EQ(result->unschedulable, 1u);
  EXPECT_EQ(result->unscheduled, "a/left: 0/1 nodes are available");
}

TEST(ProcessUseTest, ReadsWhatTheKernelWrites) {
  std::string folder = (std::filesystem::temp_directory_path() / "berth-proc-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  std::filesystem::create_directory(folder + "/7");
  std::ofstream(folder + "/7/stat") << "7 (a (b) c) S 1 7 7 0 -1 4 0 0 0 0 150 50 0 0 20 0 1 0 4242 0 0\n";
  std::ofstream(folder + "/7/status") << "Name:\ta\nVmHWM:\t  2048 kB\n";
  const Result<ProcessUse> use = ReadProcess(7, folder);
  ASSERT_TRUE(use.ok()) << use.error().text();
  EXPECT_EQ(use->cpu_ns, 200 * (1'000'000'000 / ::sysconf(_SC_CLK_TCK)));
  EXPECT_DOUBLE_EQ(use->peak_mb, 2);
  EXPECT_EQ(use->began, 4242u);
  std::ofstream(folder + "/7/stat") << "7 (a) Z 1 7 7 0 -1 4 0 0 0 0 150 50 0 0 20 0 1 0 4242 0 0\n";
  EXPECT_FALSE(ReadProcess(7, folder).ok());
  EXPECT_EQ(ReadProcess(8, folder).error().text(), "process 8 is not there, or has ended");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace berth::bench
