// SPDX-License-Identifier: Apache-2.0
// Indexes that throw: nobody is judged by what they counted, and nothing else happens.
#include "framework/plugin_indexes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "berth/testing.h"
#include "cluster/cluster_state.h"
#include "config/load.h"
#include "framework/engine.h"
#include "plugins/builtin.h"

namespace berth::framework {
namespace {

using ::testing::HasSubstr;

// Counts what it is told, until it is told of a pod named "bad".
class CountingIndex final : public PluginIndex {
 public:
  explicit CountingIndex(int& told) : told_(told) {}
  void PodAdded(const Snapshot&, const PodRecord& pod) override {
    ++told_;
    if (pod.pod->name() == "bad") throw std::runtime_error("boom");
  }
  void PodRemoved(const Snapshot&, const PodRecord&) override { ++told_; }
  void NodeChanged(const Snapshot&, Row, const Node*, const Node*) override { ++told_; }
  void ObjectsChanged(const Snapshot&, const ObjectChange&) override { ++told_; }
  uint64_t epoch() const override { return static_cast<uint64_t>(told_); }

 private:
  int& told_;
};

class Counting final : public FilterPlugin {
 public:
  explicit Counting(int& told) : told_(told) {}
  std::unique_ptr<PluginIndex> MakeIndex() override { return std::make_unique<CountingIndex>(told_); }
  Error Filter(const Cycle&, const PluginState*, const NodeBatch&, Rejections&) const override { return Error::Ok(); }

 private:
  int& told_;
};

class PluginIndexesTest : public ::testing::Test {
 protected:
  PluginIndexesTest() {
    plugins::RegisterBuiltinPlugins(registry_);
    PluginDescriptor descriptor;
    descriptor.name = "Counting";
    descriptor.points = Bit(Point::kFilter);
    descriptor.complete_args = [](const Value*, const std::string&, std::vector<FieldError>&) { return Value(); };
    descriptor.make = [this](const Value*, Handle&) -> Result<std::unique_ptr<Plugin>> {
      return std::unique_ptr<Plugin>(std::make_unique<Counting>(told_));
    };
    registry_.Add(std::move(descriptor));
    const config::Loaded loaded = config::LoadConfiguration(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
        "- {schedulerName: one, plugins: {multiPoint: {enabled: [{name: Counting}]}}}\n- {schedulerName: two}\n",
        registry_);
    EXPECT_TRUE(loaded.ok());
    engine_ = std::move(Engine::Make(loaded.config, registry_, clock_)).value();
    for (PluginIndex* index : engine_->Indexes()) state_.AddIndex(index);
    engine_->Remember();
    state_.PutNode(std::make_shared<const Node>(MakeNode("n")));
  }
  Decision Decide(const std::string& profile) {
    return engine_->Decide(*engine_->FindProfile(profile), MakePod("p").Build(), state_.snapshot());
  }
  void Add(const std::string& pod) {
    EXPECT_TRUE(state_.AddPod(std::make_shared<const Pod>(MakePod(pod).Uid(pod).OnNode("n").Build())).ok());
  }

  int told_ = 0;
  Registry registry_;
  ManualClock clock_;
  std::unique_ptr<Engine> engine_;
  cluster::ClusterState state_;
};

TEST_F(PluginIndexesTest, AnIndexThatThrowsFailsThePodsOfItsProfileAndNoOthers) {
  Add("good");
  EXPECT_EQ(Decide("one").kind, Judgement::Kind::kFits);
  Add("bad");
  const int told = told_;
  EXPECT_GT(told, 0);
  const Decision failed = Decide("one");
  EXPECT_EQ(failed.kind, Judgement::Kind::kFailed);
  EXPECT_EQ(failed.message, "the index of plugin \"Counting\" has lost count: plugin threw: boom");
  EXPECT_EQ(Decide("two").kind, Judgement::Kind::kFits);
  Add("later");
  EXPECT_EQ(told_, told) << "an index that lost count is not told of more";
}

TEST_F(PluginIndexesTest, IndexesAreMadeOnceAndByPlugin) {
  EXPECT_EQ(engine_->Indexes(), engine_->Indexes());
  const Profile& profile = *engine_->FindProfile("two");
  const PluginIndexes indexes(profile);
  EXPECT_EQ(indexes.by_plugin().size(), profile.plugins.size());
  EXPECT_TRUE(indexes.failure().ok());
}

}  // namespace
}  // namespace berth::framework
