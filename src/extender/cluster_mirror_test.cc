// SPDX-License-Identifier: Apache-2.0
// Whatever happens in a cluster, the mirror and a copy of it show what is there.
#include "extender/cluster_mirror.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "berth/testing.h"

namespace berth::extender {
namespace {
using client::WatchEvent;

// Lists are empty and answered when the test says so; watches are the test's to speak through.
class QuietApi final : public client::ClusterApi {
 public:
  std::map<Kind, std::function<void(client::ListAnswer)>> lists;
  std::map<Kind, client::WatchCallbacks> watches;

  void List(Kind kind, std::function<void(client::ListAnswer)> done) override { lists[kind] = std::move(done); }
  std::unique_ptr<client::Watch> StartWatch(Kind kind, const std::string&, client::WatchCallbacks callbacks) override {
    watches[kind] = std::move(callbacks);
    return std::make_unique<client::Watch>();
  }
  void GetPod(const std::string&, const std::string&,
              std::function<void(const client::ApiStatus&, Ptr<Pod>)>) override {}
  void Bind(const client::ObjectName&, const std::string&, client::Answer) override {}
  void PatchPodStatus(const client::PodStatusPatch&, client::Answer) override {}
  void DeletePod(const client::ObjectName&, client::Answer) override {}
  void PostEvent(const client::EventRecord&, client::Answer) override {}
  void PatchEvent(const client::EventRecord&, client::Answer) override {}
  void GetLease(const std::string&, const std::string&,
                std::function<void(const client::ApiStatus&, const client::Lease&)>) override {}
  void PutLease(const client::Lease&, std::function<void(const client::ApiStatus&, const client::Lease&)>) override {}
};

struct Mirrored {
  explicit Mirrored(size_t max_cells = kMaxCells)
      : mirror(
            api, timers, clock, [this](const std::string& text) { complaints.push_back(text); }, max_cells) {
    mirror.Start({Kind::kNode, Kind::kPod, Kind::kNamespace}, {});
    for (const Kind kind : {Kind::kNode, Kind::kPod, Kind::kNamespace}) {
      client::ListAnswer answer;
      answer.resource_version = "1";
      api.lists[kind](answer);
    }
  }
  void Send(WatchEvent::Type type, ClusterObject object) {
    ObjectMeta meta = MetaOf(object);
    meta.resource_version = std::to_string(++version);
    object = WithMeta(object, meta);
    api.watches[KindOf(object)].event({type, object, meta.resource_version});
  }

  QuietApi api;
  util::TimerQueue timers;
  ManualClock clock;
  std::vector<std::string> complaints;
  ClusterMirror mirror;
  uint64_t version = 1;
};

// Node to the names of its pods, with `+` in front of those that are nominated to it.
std::map<std::string, std::set<std::string>> Shown(const cluster::ClusterState& state) {
  std::map<std::string, std::set<std::string>> shown;
  const Snapshot snapshot = state.snapshot();
  for (const Row row : snapshot.order()) {
    std::set<std::string>& pods = shown[snapshot.node(row).name()];
    for (const PodRecord* record : snapshot.pods(row)) pods.insert(record->pod->name());
    for (const PodRecord* record : snapshot.nominated(row)) pods.insert("+" + record->pod->name());
  }
  return shown;
}

RC_GTEST_PROP(ClusterMirrorTest, ShowsWhatIsThereAfterAnyChanges, ()) {
  Mirrored world;
  struct PodModel {
    std::string uid, node, nominated;
  };
  std::set<std::string> nodes;
  std::map<std::string, PodModel> pods;
  int uids = 0;
  const auto name = [](const char* kind) { return kind + std::to_string(*rc::gen::inRange(0, 4)); };
  const auto build = [](const std::string& pod, const PodModel& model) {
    MakePod made(pod);
    made.Uid(model.uid);
    if (!model.node.empty()) made.OnNode(model.node);
    if (!model.nominated.empty()) made.Nominated(model.nominated);
    return std::make_shared<const Pod>(made.Build());
  };
  for (int step = 0, steps = *rc::gen::inRange(0, 60); step < steps; ++step) {
    // Somebody knows other versions of some nodes, and nodes that we do not know; for this one question they count.
    if (*rc::gen::inRange(0, 6) == 0) {
      std::vector<Ptr<Node>> lent;
      std::set<std::string> shown = nodes;
      for (int i = 0, count = *rc::gen::inRange(0, 3); i < count; ++i) {
        lent.push_back(std::make_shared<const Node>(MakeNode(name("n")).Label("lent", std::to_string(step)).Build()));
        shown.insert(lent.back()->name());
      }
      const Snapshot snapshot = world.mirror.With(lent).snapshot();
      RC_ASSERT(snapshot.node_count() == shown.size());
      for (const std::string& node : shown) {
        const bool is_lent = std::any_of(lent.begin(), lent.end(), [&](const auto& l) { return l->name() == node; });
        const std::string* label = snapshot.view(snapshot.FindRow(node)).Label("lent");
        RC_ASSERT((label == nullptr ? "" : *label) == (is_lent ? std::to_string(step) : ""));
      }
    }
    const bool of_node = *rc::gen::inRange(0, 3) == 0;
    if (of_node) {
      const std::string node = name("n");
      const auto object = std::make_shared<const Node>(MakeNode(node).Build());
      if (nodes.erase(node) == 0) {
        nodes.insert(node);
        world.Send(WatchEvent::Type::kAdded, object);
      } else if (*rc::gen::arbitrary<bool>()) {
        nodes.insert(node);
        world.Send(WatchEvent::Type::kModified, object);
      } else {
        world.Send(WatchEvent::Type::kDeleted, object);
      }
      continue;
    }
    const std::string pod = name("p");
    const auto known = pods.find(pod);
    if (known == pods.end() || *rc::gen::inRange(0, 8) == 0) {  // also: another one of that name
      PodModel model{"u" + std::to_string(++uids), "", ""};
      if (*rc::gen::arbitrary<bool>()) (*rc::gen::arbitrary<bool>() ? model.node : model.nominated) = name("n");
      pods[pod] = model;
      world.Send(WatchEvent::Type::kAdded, build(pod, model));
    } else if (*rc::gen::inRange(0, 3) == 0) {
      // A deletion may tell of a binding that nobody had heard of.
      if (known->second.node.empty() && *rc::gen::arbitrary<bool>()) known->second.node = name("n");
      world.Send(WatchEvent::Type::kDeleted, build(pod, known->second));
      pods.erase(known);
    } else {
      PodModel& model = known->second;
      if (model.node.empty()) (*rc::gen::arbitrary<bool>() ? model.node : model.nominated) = name("n");
      world.Send(WatchEvent::Type::kModified, build(pod, model));
    }
  }
  std::map<std::string, std::set<std::string>> want;
  for (const std::string& node : nodes) want[node];
  for (const auto& [pod, model] : pods) {
    const std::string& node = model.node.empty() ? model.nominated : model.node;
    if (nodes.contains(node)) want[node].insert((model.node.empty() ? "+" : "") + pod);
  }
  RC_ASSERT(Shown(world.mirror.state()) == want);
  RC_ASSERT(Shown(world.mirror.With({})) == want);
  RC_ASSERT(world.complaints.empty());
}

TEST(ClusterMirrorTest, OtherObjectsAreThereToo) {
  Mirrored world;
  Namespace object;
  object.meta.name = "shop";
  const auto has = [](const cluster::ClusterState& state) {
    return state.snapshot().objects<Namespace>().Find("", "shop") != nullptr;
  };
  world.Send(WatchEvent::Type::kAdded, std::make_shared<const Namespace>(object));
  EXPECT_TRUE(has(world.mirror.state()));
  EXPECT_TRUE(has(world.mirror.With({})));
  world.Send(WatchEvent::Type::kModified, std::make_shared<const Namespace>(object));
  world.Send(WatchEvent::Type::kDeleted, std::make_shared<const Namespace>(object));
  EXPECT_FALSE(has(world.mirror.state()));
  EXPECT_FALSE(has(world.mirror.With({})));
}

Ptr<Node> Version(const std::string& name, const std::string& version, const std::string& rank) {
  Node node = MakeNode(name).Label("rank", rank);
  node.meta.resource_version = version;
  node.meta.uid = "uid-" + name;
  return std::make_shared<const Node>(std::move(node));
}

TEST(ClusterMirrorTest, AnotherVersionOfANodeCostsThatNodeAndNotACopyOfAll) {
  Mirrored world;
  for (const char* name : {"a", "b", "c"}) world.Send(WatchEvent::Type::kAdded, Version(name, "", "1"));
  const auto rank = [](const cluster::ClusterState& state, const char* node) {
    const Snapshot snapshot = state.snapshot();
    return *snapshot.view(snapshot.FindRow(node)).Label("rank");
  };
  const Ptr<Node> newer = Version("a", "90", "2");
  const cluster::ClusterState* first = &world.mirror.With(std::vector{newer});
  EXPECT_EQ(rank(*first, "a"), "2");
  // The same version again: nothing is put anywhere.
  const cluster::ClusterState* again = &world.mirror.With(std::vector{Version("a", "90", "2")});
  EXPECT_EQ(again, first);
  EXPECT_EQ(&again->snapshot().node(again->snapshot().FindRow("a")), newer.get());
  // News reach the copy, but not where a request knows better; what it no longer speaks of is as we know it.
  world.Send(WatchEvent::Type::kModified, Version("a", "", "3"));
  world.Send(WatchEvent::Type::kModified, Version("b", "", "3"));
  const cluster::ClusterState& more = world.mirror.With(std::vector{Version("a", "90", "2"), Version("c", "91", "4")});
  EXPECT_EQ(&more, first);
  EXPECT_EQ(rank(more, "a"), "2");
  EXPECT_EQ(rank(more, "b"), "3");
  EXPECT_EQ(rank(more, "c"), "4");
  world.Send(WatchEvent::Type::kDeleted, Version("c", "", "1"));
  const cluster::ClusterState& less = world.mirror.With({});
  EXPECT_EQ(rank(less, "a"), "3");
  EXPECT_EQ(less.snapshot().FindRow("c"), kNoRow);
  // Nobody keeps what was dropped.
  world.mirror.With(std::vector{newer});
  EXPECT_GT(newer.use_count(), 1);
  world.mirror.DropCopy();
  EXPECT_EQ(newer.use_count(), 1);
  EXPECT_EQ(rank(world.mirror.With({}), "a"), "3");
}

TEST(ClusterMirrorTest, ResourcesOfRequestsThatHaveGoneDoNotAddUpInTheCopy) {
  Mirrored world(/*max_cells=*/20);
  world.Send(WatchEvent::Type::kAdded, Version("a", "", "1"));
  for (int round = 0; round < 30; ++round) {
    const std::string resource = "example.com/r" + std::to_string(round);
    const Ptr<Node> sent = std::make_shared<const Node>(MakeNode("a").Capacity({{resource, "7"}}));
    const cluster::ClusterState& with = world.mirror.With(std::vector{sent});
    const Snapshot snapshot = with.snapshot();
    EXPECT_EQ(snapshot.view(snapshot.FindRow("a")).allocatable(InternResource(resource)), 7);
    const auto& columns = with.columns().data().allocatable;
    EXPECT_LE(std::count_if(columns.begin(), columns.end(), [](const auto& column) { return !column.empty(); }),
              4 + 10);
  }
}

TEST(ClusterMirrorTest, ACopyThatNobodyAsksForIsGivenUp) {
  Mirrored world;
  world.Send(WatchEvent::Type::kAdded, Version("a", "", "1"));
  world.mirror.With(std::vector{Version("a", "90", "2")});
  for (int i = 0; i < 11'000; ++i) world.Send(WatchEvent::Type::kModified, Version("a", "", "3"));
  EXPECT_FALSE(world.mirror.has_copy());
  const Snapshot snapshot = world.mirror.With({}).snapshot();
  EXPECT_EQ(*snapshot.view(snapshot.FindRow("a")).Label("rank"), "3");
}

}  // namespace
}  // namespace berth::extender
