// SPDX-License-Identifier: Apache-2.0
// What a scrape of /metrics/resources says, and that no step of it looks at many pods.
#include "live/resource_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "berth/testing.h"
#include "cycle/cycle_test_util.h"

namespace berth::live {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Ptr<Pod> Shared(const MakePod& pod) { return std::make_shared<const Pod>(pod.Build()); }

TEST(ResourceTextTest, IsWhatUpstreamWrites) {
  // As recorded from kube-scheduler.
  EXPECT_EQ(ResourceText({Shared(MakePod("web").OnNode("n1").Request({{"cpu", "500m"}, {"memory", "100Mi"}}))}),
            "# HELP kube_pod_resource_request [STABLE] Resources requested by workloads on the cluster, broken down by "
            "pod. This shows the resource usage the scheduler and kubelet expect per pod for resources along with the "
            "unit for the resource if any.\n"
            "# TYPE kube_pod_resource_request gauge\n"
            "kube_pod_resource_request{namespace=\"default\",node=\"n1\",pod=\"web\",priority=\"0\",resource=\"cpu\","
            "scheduler=\"default-scheduler\",unit=\"cores\"} 0.5\n"
            "kube_pod_resource_request{namespace=\"default\",node=\"n1\",pod=\"web\",priority=\"0\",resource="
            "\"memory\",scheduler=\"default-scheduler\",unit=\"bytes\"} 1.048576e+08\n");
}

TEST(ResourceTextTest, LimitsComeFirstAndEveryResourceHasItsUnit) {
  Pod pod = MakePod("p").Priority(7).Request({{"cpu", "1"}, {"example.com/gpu", "2"}, {"memory", "0"}});
  pod.containers.Edit()[0].limits = {
      {ResourceId::kCpu, Quantity::FromMilli(1500)},
      {ResourceId::kEphemeralStorage, Quantity::FromValue(1)},
  };
  pod.pod_limits = {{ResourceId::kCpu, Quantity::FromValue(3)}};
  pod.overhead = {{ResourceId::kCpu, Quantity::FromMilli(250)}, {ResourceId::kMemory, Quantity::FromValue(5)}};
  const std::string text = ResourceText({std::make_shared<const Pod>(pod)});
  const std::string labels = "{namespace=\"default\",node=\"\",pod=\"p\",priority=\"7\",resource=\"";
  for (const std::string& line :
       {"kube_pod_resource_limit" + labels + "cpu\",scheduler=\"default-scheduler\",unit=\"cores\"} 3.25\n",
        "kube_pod_resource_limit" + labels + "ephemeral-storage\",scheduler=\"default-scheduler\",unit=\"bytes\"} 1\n",
        "kube_pod_resource_request" + labels + "cpu\",scheduler=\"default-scheduler\",unit=\"cores\"} 1.25\n",
        "kube_pod_resource_request" + labels + "example.com/gpu\",scheduler=\"default-scheduler\",unit=\"\"} 2\n",
        "kube_pod_resource_request" + labels + "memory\",scheduler=\"default-scheduler\",unit=\"bytes\"} 5\n"})
    EXPECT_THAT(text, HasSubstr(line));
  EXPECT_LT(text.find("kube_pod_resource_limit"), text.find("kube_pod_resource_request"));
  EXPECT_THAT(text, Not(HasSubstr("resource_limit" + labels + "memory")));
}

TEST(ResourceTextTest, PodsAreSortedAndThoseThatHaveEndedAreLeftOut) {
  const auto pod = [](const std::string& name, const std::string& node, const std::string& phase) {
    Pod made = MakePod(name).Request({{"cpu", "1"}});
    made.node_name = node;
    made.phase = phase;
    return std::make_shared<const Pod>(std::move(made));
  };
  const std::string text = ResourceText({pod("c", "n1", ""), pod("a", "n2", "Running"), pod("b", "n1", "Succeeded"),
                                         pod("d", "n1", "Failed"), pod("e", "", "Succeeded")});
  std::string names;
  for (size_t at = 0; (at = text.find(",pod=\"", at)) != std::string::npos; ++at) names += text[at + 6];
  EXPECT_EQ(names, "eca") << "by namespace, node and name";
  EXPECT_THAT(ResourceText({}), IsEmpty());
}

class ResourceMetricsTest : public ::testing::Test, private client::ObjectHandler {
 protected:
  void SetUp() override {
    pods_.Start();
    Hear();
    ASSERT_TRUE(pods_.synced());
  }
  void Hear() {
    while (inbox_.Drain() > 0) {
    }
  }
  static std::string Name(int i) { return "p" + std::to_string(100000 + i); }
  void Put(int from, int to) {
    for (int i = from; i < to; ++i) api_.Put(MakePod(Name(i)).Request({{"cpu", "1"}}).Build());
    Hear();
  }
  void Ask() {
    metrics_.Ask([this](const ResourceMetrics::MakeText& make) { texts_.push_back(make ? make() : "nothing"); });
  }
  // A step of the collection; false: none is due.
  bool Step() {
    clock_.Advance(ResourceMetrics::kPause);
    return timers_.RunOne(clock_.Now());
  }
  static bool Has(const std::string& text, int i) { return text.find("pod=\"" + Name(i) + "\"") != std::string::npos; }
  static size_t Lines(const std::string& text) {
    return static_cast<size_t>(std::count(text.begin(), text.end(), '{'));
  }

  ManualClock clock_;
  util::Inbox inbox_;
  util::TimerQueue timers_;
  cycle::FakeApi api_{inbox_};
  client::Reflector pods_{Kind::kPod, api_, *this, timers_, clock_, [] { return uint64_t{0}; }};
  ResourceMetrics metrics_{pods_, timers_, clock_};
  std::vector<std::string> texts_;

 private:
  void OnAdd(const ClusterObject&) override {}
  void OnUpdate(const ClusterObject&, const ClusterObject&) override {}
  void OnDelete(const ClusterObject&) override {}
};

TEST_F(ResourceMetricsTest, ManyPodsAreCollectedInSmallSteps) {
  constexpr int kPods = 5500;
  Put(0, kPods);
  Ask();
  int steps = 1;
  while (texts_.empty()) {
    ASSERT_TRUE(Step());
    ++steps;
  }
  EXPECT_GE(steps, kPods / static_cast<int>(ResourceMetrics::kAtATime));
  EXPECT_EQ(Lines(texts_[0]), static_cast<size_t>(kPods));
  EXPECT_TRUE(timers_.empty());
}

TEST_F(ResourceMetricsTest, WhatIsThereAllTheTimeIsThereOnceWhateverComesAndGoesMeanwhile) {
  Put(0, 3000);
  Ask();
  const size_t layout = pods_.layout();
  for (int i = 0; i < 50; ++i) api_.Remove(Kind::kPod, "default/" + Name(i));
  Put(3000, 3050);
  ASSERT_EQ(pods_.layout(), layout);
  Step();
  Put(50, 200);  // change
  while (texts_.empty()) ASSERT_TRUE(Step());
  size_t old = 0;
  for (int i = 50; i < 3000; ++i) old += Has(texts_[0], i) ? 1 : 0;
  EXPECT_EQ(old, 2950u);
  size_t others = 0;
  for (int i = 0; i < 50; ++i) others += (Has(texts_[0], i) ? 1 : 0) + (Has(texts_[0], 3000 + i) ? 1 : 0);
  EXPECT_EQ(Lines(texts_[0]), old + others);
}

TEST_F(ResourceMetricsTest, AStoreThatGrowsIsCollectedAnew) {
  Put(0, 2500);
  Ask();
  Step();
  const size_t layout = pods_.layout();
  for (int i = 2500; pods_.layout() == layout; i += 500) Put(i, i + 500);
  while (texts_.empty()) ASSERT_TRUE(Step());
  EXPECT_EQ(Lines(texts_[0]), pods_.size());
}

TEST_F(ResourceMetricsTest, ThoseWhoAskMeanwhileShareAndThoseWhoLeadNoMoreHaveNothing) {
  Put(0, 2500);
  Ask();
  Ask();
  while (texts_.empty()) ASSERT_TRUE(Step());
  ASSERT_EQ(texts_.size(), 2u);
  EXPECT_EQ(texts_[0], texts_[1]);
  Ask();
  metrics_.Stop();
  EXPECT_EQ(texts_.back(), "nothing");
  EXPECT_TRUE(timers_.empty());
  metrics_.Stop();
  EXPECT_EQ(texts_.size(), 3u);
}

}  // namespace
}  // namespace berth::live
