// SPDX-License-Identifier: Apache-2.0
#include "berth/resources.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace berth {
namespace {

Quantity Q(const char* text) { return *Quantity::Parse(text); }

TEST(ResourceIdTest, TheNativeNamesHaveFixedIds) {
  EXPECT_EQ(InternResource("cpu"), ResourceId::kCpu);
  EXPECT_EQ(InternResource("memory"), ResourceId::kMemory);
  EXPECT_EQ(InternResource("ephemeral-storage"), ResourceId::kEphemeralStorage);
  EXPECT_EQ(InternResource("pods"), ResourceId::kPods);
  EXPECT_EQ(ResourceName(ResourceId::kEphemeralStorage), "ephemeral-storage");
}

TEST(ResourceIdTest, ANameKeepsItsIdAndItsAddress) {
  const ResourceId gpu = InternResource("example.com/gpu");
  const std::string* address = &ResourceName(gpu);
  for (int i = 0; i < 1000; ++i) InternResource("example.com/fill-" + std::to_string(i));
  EXPECT_EQ(InternResource(std::string("example.com/") + "gpu"), gpu);
  EXPECT_EQ(&ResourceName(gpu), address);
  EXPECT_EQ(*address, "example.com/gpu");
}

TEST(ResourceIdTest, ThreadsAgreeOnIds) {
  constexpr int kThreads = 4, kNames = 500;
  std::vector<std::vector<ResourceId>> ids(kThreads, std::vector<ResourceId>(kNames));
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&ids, t] {
      for (int i = 0; i < kNames; ++i) {
        const int n = t % 2 == 0 ? i : kNames - 1 - i;  // half of them in the other order
        const std::string name = "threads.example/" + std::to_string(n);
        const ResourceId id = InternResource(name);
        ids[static_cast<size_t>(t)][static_cast<size_t>(n)] = id;
        EXPECT_EQ(ResourceName(id), name);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 1; t < kThreads; ++t) EXPECT_EQ(ids[static_cast<size_t>(t)], ids[0]);
}

TEST(ResourceNameTest, KindsAreUpstreams) {
  const std::string long_name(63, 'a'), too_long_name(64, 'a');
  const struct {
    std::string name;
    bool extended, scalar;
  } cases[] = {
      {"cpu", false, false},
      {"memory", false, false},
      {"storage", false, false},
      {"gpu", false, false},
      {"", false, false},
      {"example.com/gpu", true, true},
      {"nvidia.com/gpu", true, true},
      {"a/b", true, true},
      {"example.com/GPU_v1.2-x", true, true},
      {"Example.com/gpu", false, false},   // the prefix is a lower case domain
      {"example.com/-gpu", false, false},  // the name starts and ends with a letter or digit
      {"example.com/gpu.", false, false},
      {"example.com/", false, false},
      {"/gpu", false, false},
      {"example..com/gpu", false, false},
      {"-example.com/gpu", false, false},
      {"example-.com/gpu", false, false},
      {"example.com/a/b", false, false},
      {"example com/gpu", false, false},
      {"example.com/" + long_name, true, true},
      {"example.com/" + too_long_name, false, false},
      {std::string(244, 'a') + "/gpu", true, true},    // with "requests." in front 253 characters
      {std::string(245, 'a') + "/gpu", false, false},  // and 254
      {"requests.example.com/gpu", false, false},
      {"requests/gpu", true, true},
      {"kubernetes.io/thing", false, true},
      {"node.kubernetes.io/thing", false, true},
      {"mykubernetes.io/thing", false, true},  // upstream looks for the text anywhere
      {"kubernetes.io", false, false},
      {"deviceclass.resource.kubernetes.io/gpus", false, true},
      {"hugepages-2Mi", false, true},
      {"hugepages-", false, true},
      {"hugepages", false, false},
      {"attachable-volumes-aws-ebs", false, true},
      {"attachable-volumes", false, false},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(IsExtendedResource(c.name), c.extended) << c.name;
    EXPECT_EQ(IsScalarResource(c.name), c.scalar) << c.name;
  }
}

TEST(ResourcesTest, KeepsTheNamesTheSchedulerKnowsAndRoundsUp) {
  const ResourceId gpu = InternResource("resources.test/gpu");
  const ResourceId pages = InternResource("hugepages-1Gi");
  const ResourceId unknown = InternResource("bogomips");
  ResourceList list = {{ResourceId::kCpu, Q("1500100u")},
                       {ResourceId::kMemory, Q("1.5Ki")},
                       {ResourceId::kEphemeralStorage, Q("0.1")},
                       {ResourceId::kPods, Q("110")}};
  // The list is sorted by id; which of the others comes first depends on what was interned before.
  std::vector<std::pair<ResourceId, Quantity>> others = {{gpu, Q("0")}, {pages, Q("2Gi")}, {unknown, Q("7")}};
  std::sort(others.begin(), others.end());
  list.insert(list.end(), others.begin(), others.end());

  const Resources r = ToResources(list);
  EXPECT_EQ(r.milli_cpu, 1501);
  EXPECT_EQ(r.memory, 1536);
  EXPECT_EQ(r.ephemeral_storage, 1);
  EXPECT_EQ(r.pods, 110);
  EXPECT_EQ(r.scalars.size(), 2u);
  EXPECT_EQ(r.Get(gpu), 0);
  EXPECT_EQ(r.Get(pages), int64_t{2} << 30);
  EXPECT_EQ(r.Get(unknown), 0);
  EXPECT_EQ(r.Get(ResourceId::kCpu), 1501);
  EXPECT_EQ(r.Get(ResourceId::kMemory), 1536);
  EXPECT_EQ(r.Get(ResourceId::kEphemeralStorage), 1);
  EXPECT_EQ(r.Get(ResourceId::kPods), 110);
}

TEST(ResourcesTest, AHugeCpuRequestDoesNotWrapAround) {
  const Resources r = ToResources({{ResourceId::kCpu, Q("9e18")}, {ResourceId::kMemory, Q("9e18")}});
  EXPECT_EQ(r.milli_cpu, std::numeric_limits<int64_t>::max());
  EXPECT_EQ(r.memory, 9'000'000'000'000'000'000);
}

}  // namespace
}  // namespace berth
