// SPDX-License-Identifier: Apache-2.0
// Aggregation of requests: sidecars, init containers, overhead, pod-level requests, in-place resize, scoring defaults.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "berth/host/pod_amounts.h"
#include "berth/pod.h"
#include "berth/resources.h"

namespace berth {
namespace {

constexpr int64_t kMi = 1024 * 1024;

ResourceList List(const std::map<std::string, std::string>& amounts) {
  ResourceList list;
  for (const auto& [name, text] : amounts) list.emplace_back(InternResource(name), *Quantity::Parse(text));
  std::sort(list.begin(), list.end());
  return list;
}

Container Named(const std::string& name, const std::map<std::string, std::string>& requests) {
  Container c;
  c.name = name;
  c.requests = List(requests);
  return c;
}

Container Sidecar(const std::string& name, const std::map<std::string, std::string>& requests) {
  Container c = Named(name, requests);
  c.sidecar = true;
  return c;
}

TEST(PodResourcesTest, ContainersAddUpExactly) {
  Pod pod;
  pod.containers = {Named("a", {{"cpu", "500u"}, {"memory", "0.5"}}), Named("b", {{"cpu", "500u"}, {"memory", "0.5"}})};
  const PodResources r = ComputePodResources(pod);
  EXPECT_EQ(r.request.milli_cpu, 1);
  EXPECT_EQ(r.request.memory, 1);
  EXPECT_EQ(r.held, r.request);
  EXPECT_EQ(r.nonzero_cpu, 1);
  EXPECT_EQ(r.nonzero_memory, 1);
}

TEST(PodResourcesTest, AnInitContainerCountsOnlyBeyondTheSum) {
  Pod pod;
  pod.containers = {Named("a", {{"cpu", "1"}, {"memory", "100Mi"}}), Named("b", {{"cpu", "1"}})};
  pod.init_containers = {Named("i", {{"cpu", "1500m"}, {"memory", "300Mi"}}), Named("j", {{"memory", "200Mi"}})};
  const PodResources r = ComputePodResources(pod);
  EXPECT_EQ(r.request.milli_cpu, 2000);
  EXPECT_EQ(r.request.memory, 300 * kMi);
}

TEST(PodResourcesTest, SidecarsRunBesideLaterInitContainersOnly) {
  Pod pod;
  pod.containers = {Named("a", {{"cpu", "100m"}})};
  pod.init_containers = {Named("before", {{"cpu", "800m"}}), Sidecar("s", {{"cpu", "300m"}}),
                         Named("after", {{"cpu", "600m"}}), Sidecar("t", {{"cpu", "50m"}})};
  // Sum 450, before 800, s 300, after 600 + 300, t 350.
  EXPECT_EQ(ComputePodResources(pod).request.milli_cpu, 900);
  pod.init_containers.Edit()[2].requests = {};
  EXPECT_EQ(ComputePodResources(pod).request.milli_cpu, 800);
  pod.init_containers.Edit()[0].requests = {};
  EXPECT_EQ(ComputePodResources(pod).request.milli_cpu, 450);
}

TEST(PodResourcesTest, OverheadComesOnTopOfEverything) {
  Pod pod;
  pod.containers = {Named("a", {{"cpu", "1"}})};
  pod.init_containers = {Named("i", {{"cpu", "2"}})};
  pod.overhead = List({{"cpu", "250m"}, {"memory", "64Mi"}});
  const PodResources r = ComputePodResources(pod);
  EXPECT_EQ(r.request.milli_cpu, 2250);
  EXPECT_EQ(r.request.memory, 64 * kMi);
  // Both containers lack memory: 200 MiB at a time is the most, and the overhead on top.
  EXPECT_EQ(r.nonzero_memory, 264 * kMi);
  EXPECT_EQ(r.score_request.memory, 264 * kMi);
}

TEST(PodResourcesTest, ScoringAssumesRequestsForContainersWithoutThem) {
  Pod pod;
  pod.containers = {Named("a", {}), Named("b", {{"cpu", "0"}, {"memory", "50Mi"}}), Named("c", {{"cpu", "300m"}})};
  const PodResources r = ComputePodResources(pod);
  EXPECT_EQ(r.request.milli_cpu, 300);
  EXPECT_EQ(r.request.memory, 50 * kMi);
  EXPECT_EQ(r.nonzero_cpu, 400);
  EXPECT_EQ(r.nonzero_memory, 450 * kMi);
  EXPECT_EQ(r.score_request.milli_cpu, 400);
  EXPECT_EQ(r.score_request.memory, 450 * kMi);
}

TEST(PodResourcesTest, ExtendedResourcesAddUpAndUnknownNamesAreDropped) {
  Pod pod;
  pod.containers = {Named("a", {{"example.com/gpu", "1"}, {"bogomips", "5"}, {"pods", "3"}}),
                    Named("b", {{"example.com/gpu", "2"}, {"ephemeral-storage", "1Ki"}})};
  const PodResources r = ComputePodResources(pod);
  EXPECT_EQ(r.request.Get(InternResource("example.com/gpu")), 3);
  EXPECT_EQ(r.request.scalars.size(), 1u);
  EXPECT_EQ(r.request.pods, 0);
  EXPECT_EQ(r.request.ephemeral_storage, 1024);
  EXPECT_EQ(r.score_request.Get(InternResource("example.com/gpu")), 3);
}

TEST(PodResourcesTest, PodLevelRequestsReplaceTheSumOfTheirResource) {
  Pod pod;
  pod.containers = {
      Named("a", {{"cpu", "3"}, {"memory", "1Gi"}, {"hugepages-2Mi", "4Mi"}, {"ephemeral-storage", "10"}})};
  pod.pod_requests = List({{"cpu", "1"}, {"hugepages-2Mi", "8Mi"}, {"ephemeral-storage", "99"}});
  pod.overhead = List({{"cpu", "100m"}});
  const PodResources r = ComputePodResources(pod);
  EXPECT_EQ(r.request.milli_cpu, 1100);
  EXPECT_EQ(r.request.memory, 1024 * kMi);
  EXPECT_EQ(r.request.Get(InternResource("hugepages-2Mi")), 8 * kMi);
  EXPECT_EQ(r.request.ephemeral_storage, 10);  // not a pod-level resource
  EXPECT_EQ(r.held, r.request);
  EXPECT_EQ(r.nonzero_cpu, 1100);
  // As upstream's scorer, which is not told of pod-level requests.
  EXPECT_EQ(r.score_request.milli_cpu, 3100);
}

TEST(PodResourcesTest, AmountsToBeShownAreExactAndOverheadIsAddedToLimitsThatThereAre) {
  Pod pod;
  pod.containers = {Named("a", {{"cpu", "100m"}, {"bogomips", "5"}}), Named("b", {{"cpu", "1"}})};
  pod.containers.Edit()[0].limits = List({{"cpu", "2"}, {"memory", "0"}});
  pod.containers.Edit()[1].limits = List({{"cpu", "500m"}, {"ephemeral-storage", "10"}});
  pod.init_containers = {Named("i", {{"cpu", "3"}})};
  pod.init_containers.Edit()[0].limits = List({{"cpu", "1"}, {"hugepages-2Mi", "4Mi"}});
  pod.overhead = List({{"cpu", "250m"}, {"memory", "1Mi"}});
  EXPECT_EQ(PodRequestAmounts(pod), List({{"cpu", "3250m"}, {"memory", "1Mi"}, {"bogomips", "5"}}));
  EXPECT_EQ(PodLimitAmounts(pod),
            List({{"cpu", "2750m"}, {"memory", "0"}, {"ephemeral-storage", "10"}, {"hugepages-2Mi", "4Mi"}}));
  pod.pod_limits = List({{"cpu", "8"}, {"memory", "1Gi"}, {"ephemeral-storage", "99"}});
  EXPECT_EQ(PodLimitAmounts(pod),
            List({{"cpu", "8250m"}, {"memory", "1025Mi"}, {"ephemeral-storage", "10"}, {"hugepages-2Mi", "4Mi"}}));
}

TEST(PodResourcesTest, WithPodLevelRequestsDefaultsStandInOnlyForWhatNobodyNames) {
  Pod pod;
  pod.containers = {Named("a", {}), Named("b", {})};
  pod.pod_requests = List({{"cpu", "1"}});
  PodResources r = ComputePodResources(pod);
  EXPECT_EQ(r.nonzero_cpu, 1000);
  EXPECT_EQ(r.nonzero_memory, 400 * kMi);
  EXPECT_EQ(r.score_request.milli_cpu, 200);
  pod.overhead = List({{"memory", "1Mi"}});
  EXPECT_EQ(ComputePodResources(pod).nonzero_memory, kMi);
  pod.overhead = {};
  pod.containers.Edit()[0].requests = List({{"memory", "7Mi"}});
  EXPECT_EQ(ComputePodResources(pod).nonzero_memory, 7 * kMi);
  // Names that do not count at pod level are as if spec.resources were not there.
  pod.pod_requests = List({{"example.com/gpu", "1"}});
  r = ComputePodResources(pod);
  EXPECT_EQ(r.nonzero_memory, 207 * kMi);
  EXPECT_EQ(r.request.scalars.size(), 0u);
}

TEST(PodResourcesTest, APlacedPodHoldsTheMostOfSpecAndStatus) {
  Pod pod;
  pod.containers = {Named("a", {{"cpu", "1"}, {"memory", "100Mi"}}), Named("b", {{"cpu", "1"}})};
  pod.container_statuses = {{"a", List({{"cpu", "2"}, {"memory", "50Mi"}}), List({{"memory", "300Mi"}})},
                            {"b", std::nullopt, List({{"cpu", "9"}})}};  // no `resources`: the spec alone
  const PodResources r = ComputePodResources(pod);
  EXPECT_EQ(r.request.milli_cpu, 2000);
  EXPECT_EQ(r.request.memory, 100 * kMi);
  EXPECT_EQ(r.held.milli_cpu, 3000);
  EXPECT_EQ(r.held.memory, 300 * kMi);
  EXPECT_EQ(r.nonzero_cpu, 3000);
  EXPECT_EQ(r.nonzero_memory, 500 * kMi);
  EXPECT_EQ(r.score_request.milli_cpu, 2000);
}

TEST(PodResourcesTest, AnInfeasibleResizeLeavesTheSpecOut) {
  Pod pod;
  pod.containers = {Named("a", {{"cpu", "8"}})};
  pod.container_statuses = {{"a", List({{"cpu", "2"}}), List({{"cpu", "1"}})}};
  pod.conditions = {{"PodResizePending", "False", "Deferred", ""}};
  EXPECT_EQ(ComputePodResources(pod).held.milli_cpu, 8000);
  // Only the first condition of the type counts, whatever its status says.
  pod.conditions.push_back({"PodResizePending", "True", "Infeasible", ""});
  EXPECT_EQ(ComputePodResources(pod).held.milli_cpu, 8000);
  pod.conditions.Edit().erase(pod.conditions.Edit().begin());
  pod.conditions.Edit()[0].status = "False";
  EXPECT_EQ(ComputePodResources(pod).held.milli_cpu, 2000);
  EXPECT_EQ(ComputePodResources(pod).request.milli_cpu, 8000);
}

TEST(PodResourcesTest, StatusCountsForSidecarsButNotForPlainInitContainers) {
  Pod pod;
  pod.init_containers = {Sidecar("s", {{"cpu", "1"}}), Named("i", {{"cpu", "1"}})};
  pod.init_container_statuses = {{"s", List({{"cpu", "3"}}), {}}, {"i", List({{"cpu", "5"}}), {}}};
  const PodResources r = ComputePodResources(pod);
  EXPECT_EQ(r.request.milli_cpu, 2000);
  EXPECT_EQ(r.held.milli_cpu, 4000);
}

TEST(PodResourcesTest, PodLevelStatusCountsForTheNamesOfTheSpec) {
  Pod pod;
  pod.containers = {Named("a", {{"cpu", "1"}, {"memory", "10Mi"}})};
  pod.pod_requests = List({{"cpu", "2"}});
  pod.status_requests = List({{"cpu", "3"}, {"memory", "900Mi"}});
  pod.status_allocated = List({{"cpu", "4"}});
  PodResources r = ComputePodResources(pod);
  EXPECT_EQ(r.request.milli_cpu, 2000);
  EXPECT_EQ(r.held.milli_cpu, 4000);
  EXPECT_EQ(r.held.memory, 10 * kMi);
  pod.conditions = {{"PodResizePending", "True", "Infeasible", ""}};
  pod.status_requests = List({});
  pod.status_allocated = {};
  r = ComputePodResources(pod);
  EXPECT_EQ(r.held.milli_cpu, 0);  // the kubelet reports none, and the spec does not count
  EXPECT_EQ(r.request.milli_cpu, 2000);
}

TEST(PodResourcesTest, OfStatusesWithOneNameTheLastCounts) {
  Pod pod;
  pod.containers = {Named("a", {{"cpu", "1"}})};
  pod.container_statuses = {{"a", List({{"cpu", "5"}}), {}}, {"a", List({{"cpu", "2"}}), {}}};
  EXPECT_EQ(ComputePodResources(pod).held.milli_cpu, 2000);
  pod.init_container_statuses = {{"a", List({{"cpu", "3"}}), {}}};
  EXPECT_EQ(ComputePodResources(pod).held.milli_cpu, 3000);
}

// Looking for each container's status among all would take minutes; so would adding all sidecars up for each.
TEST(PodResourcesTest, APodOfAnySizeIsAddedUpAtOnce) {
  constexpr int kContainers = 200'000;
  Pod pod;
  std::vector<Container> containers, inits;
  std::vector<ContainerStatus> statuses;
  for (int i = 0; i < kContainers; ++i) {
    const std::string name = std::to_string(i);
    containers.push_back(Named(name, {{"cpu", "1m"}}));
    statuses.push_back({name, List({{"cpu", "2m"}}), {}});
  }
  ResourceList many;
  for (int i = 0; i < 4'000; ++i) {
    many.emplace_back(InternResource("example.com/many" + std::to_string(i)), Quantity::FromValue(1));
  }
  for (int i = 0; i < kContainers; ++i) {
    inits.push_back(Named("i" + std::to_string(i), {}));
    inits.back().sidecar = i % 2 == 0;
  }
  inits.front().requests = many;
  pod.containers = std::move(containers);
  pod.init_containers = std::move(inits);
  pod.container_statuses = std::move(statuses);
  pod.conditions = std::vector<PodCondition>(1'000);
  const PodResources r = ComputePodResources(pod);
  EXPECT_EQ(r.request.milli_cpu, kContainers);
  EXPECT_EQ(r.held.milli_cpu, 2 * kContainers);
  EXPECT_EQ(r.request.scalars.size(), many.size());
}

TEST(PodResourcesTest, ANegativeRequestCountsAsNoneForAPendingPod) {
  Pod pod;
  pod.containers = {Named("a", {{"cpu", "-1"}, {"memory", "-5"}, {"example.com/gpu", "-2"}})};
  const PodResources r = ComputePodResources(pod);
  EXPECT_EQ(r.request.milli_cpu, 0);
  EXPECT_EQ(r.request.memory, 0);
  EXPECT_EQ(r.request.Get(InternResource("example.com/gpu")), 0);
  EXPECT_EQ(r.held.milli_cpu, -1000);
}

// Few statuses and many are looked up differently.
RC_GTEST_PROP(PodResourcesPropertyTest, OfAnyNumberOfStatusesTheLastOfTheNameCounts, ()) {
  const auto named = rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 20), rc::gen::inRange(1, 100)));
  std::map<int, int> want;
  Pod pod;
  const auto fill = [&](const std::vector<std::pair<int, int>>& entries) {
    std::vector<ContainerStatus> statuses;
    for (const auto& [name, milli] : entries) {
      want[name] = milli;
      statuses.push_back({std::to_string(name), List({{"cpu", std::to_string(milli) + "m"}}), {}});
    }
    return statuses;
  };
  pod.container_statuses = fill(*named);
  pod.init_container_statuses = fill(*named);
  int64_t sum = 0;
  for (int i = 0; i < 20; ++i) {
    pod.containers.push_back(Named(std::to_string(i), {}));
    if (const auto it = want.find(i); it != want.end()) sum += it->second;
  }
  RC_ASSERT(ComputePodResources(pod).held.milli_cpu == sum);
}

// Against the definition: at each init container, what it needs and all sidecars up to there.
RC_GTEST_PROP(PodResourcesPropertyTest, InitContainersNeedTheirOwnAndTheSidecarsBeforeThem, ()) {
  using Amounts = std::vector<std::pair<int, int>>;
  const auto inits = *rc::gen::container<std::vector<std::pair<bool, Amounts>>>(
      rc::gen::pair(rc::gen::arbitrary<bool>(),
                    rc::gen::container<Amounts>(rc::gen::pair(rc::gen::inRange(0, 4), rc::gen::inRange(-3, 9)))));
  Pod pod;
  std::map<int, int> peak, sidecars;
  for (const auto& [sidecar, listed] : inits) {
    const std::map<int, int> amounts(listed.begin(), listed.end());
    Container c;
    c.sidecar = sidecar;
    std::map<int, int> needed = sidecars;
    for (const auto& [resource, amount] : amounts) {
      c.requests.emplace_back(InternResource("example.com/init" + std::to_string(resource)),
                              Quantity::FromValue(amount));
      needed[resource] += amount;
    }
    std::sort(c.requests.begin(), c.requests.end());
    if (sidecar) sidecars = needed;
    for (const auto& [resource, amount] : needed) {
      const auto [it, added] = peak.try_emplace(resource, amount);
      if (!added) it->second = std::max(it->second, amount);
    }
    pod.init_containers.push_back(std::move(c));
  }
  const PodResources r = ComputePodResources(pod);
  for (const auto& [resource, amount] : peak) {
    RC_ASSERT(r.held.Get(InternResource("example.com/init" + std::to_string(resource))) == amount);
  }
}

// With all init containers sidecars the pod needs the plain sum, in whatever order the containers are listed.
RC_GTEST_PROP(PodResourcesPropertyTest, TheOrderOfContainersAndSidecarsDoesNotMatter, (std::vector<uint32_t> micros)) {
  Pod pod;
  Quantity::Int128 sum = 0;
  for (size_t i = 0; i < micros.size(); ++i) {
    Container c = Named(std::to_string(i), {{"cpu", std::to_string(micros[i]) + "u"}});
    c.sidecar = i % 3 == 0;
    (c.sidecar ? pod.init_containers : pod.containers).push_back(std::move(c));
    sum += micros[i];
  }
  const PodResources forward = ComputePodResources(pod);
  RC_ASSERT(forward.request.milli_cpu == static_cast<int64_t>((sum + 999) / 1000));
  std::reverse(pod.containers.Edit().begin(), pod.containers.Edit().end());
  std::reverse(pod.init_containers.Edit().begin(), pod.init_containers.Edit().end());
  RC_ASSERT(ComputePodResources(pod) == forward);
}

}  // namespace
}  // namespace berth
