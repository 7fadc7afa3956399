// SPDX-License-Identifier: Apache-2.0
// A plugin that crashes in the program: who, at what, about whom, in one line; then the signal as usual.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "berth/main.h"
#include "berth/sdk.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace berth {
namespace {

using ::testing::KilledBySignal;

void Crash() {
  int* volatile nowhere = nullptr;
  *nowhere = 1;
}

class PerNode final : public NodePlugin {
 public:
  static constexpr std::string_view kName = "PerNode";
  Verdict FilterNode(const Pod&, NodeView node) const override {
    if (node.name() == "b") Crash();
    return kFits;
  }
};

class Batched final : public FilterPlugin {
 public:
  static constexpr std::string_view kName = "Batched";
  Error Filter(const Cycle&, const PluginState*, const NodeBatch&, Rejections&) const override {
    Crash();
    return Error::Ok();
  }
};

class Aborts final : public PreFilterPlugin {
 public:
  static constexpr std::string_view kName = "Aborts";
  PreFilterOutcome PreFilter(const Cycle&) const override { std::abort(); }
};

class CrashDeathTest : public ::testing::Test {
 protected:
  CrashDeathTest() : dir_(::testing::TempDir() + "/berth_crash_test." + std::to_string(::getpid())) {
    std::filesystem::create_directories(dir_);
    std::ofstream cluster(dir_ + "/cluster.yaml");
    for (const char* node : {"a", "b", "c"})
      cluster << "apiVersion: v1\nkind: Node\nmetadata: {name: " << node
              << "}\nstatus: {allocatable: {cpu: \"8\", memory: 16Gi, pods: \"110\"}}\n---\n";
    cluster << "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop}\n"
               "spec: {containers: [{name: c, image: i}]}\n";
  }
  ~CrashDeathTest() override { std::filesystem::remove_all(dir_); }

  template <class P>
  int Explain() const {
    std::ofstream(dir_ + "/config.yaml")
        << "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
           "profiles: [{plugins: {multiPoint: {enabled: [{name: "
        << P::kName << "}]}}}]\n";
    std::vector<std::string> args = {
        "berth", "explain", "--offline", "-f", dir_ + "/cluster.yaml", "--config", dir_ + "/config.yaml",
        "--pod", "shop/web"};
    std::vector<char*> argv;
    for (std::string& arg : args) argv.push_back(arg.data());
    argv.push_back(nullptr);
    return Main(static_cast<int>(args.size()), argv.data(), [](Registry& registry) { registry.Add<P>(); });
  }

  const std::string dir_;
};

TEST_F(CrashDeathTest, APluginThatJudgesNodesOneByOneIsBlamedWithPodAndNode) {
  EXPECT_EXIT(Explain<PerNode>(), KilledBySignal(SIGSEGV),
              "(^|\n)berth: SIGSEGV in plugin PerNode, Filter: pod shop/web, node b\n");
}

TEST_F(CrashDeathTest, OneThatJudgesABatchIsBlamedWithTheBatch) {
  EXPECT_EXIT(Explain<Batched>(), KilledBySignal(SIGSEGV),
              "(^|\n)berth: SIGSEGV in plugin Batched, Filter: pod shop/web, one of 3 nodes, the first is a\n");
}

TEST_F(CrashDeathTest, OneThatAbortsIsBlamedToo) {
  EXPECT_EXIT(Explain<Aborts>(), KilledBySignal(SIGABRT),
              "(^|\n)berth: SIGABRT in plugin Aborts, PreFilter: pod shop/web\n");
}

}  // namespace
}  // namespace berth

#endif
