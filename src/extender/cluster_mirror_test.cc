// SPDX-License-Identifier: Apache-2.0
// Whatever happens in a cluster, the mirror and a copy of it show what is there.
#include "extender/cluster_mirror.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "berth/testing.h"

namespace berth::extender {
namespace {

using client::ClusterObject;
using client::Kind;
using client::Ptr;
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
  void PostEvent(const client::EventRecord&) override {}
  void GetLease(const std::string&, const std::string&,
                std::function<void(const client::ApiStatus&, const client::Lease&)>) override {}
  void PutLease(const client::Lease&, std::function<void(const client::ApiStatus&, const client::Lease&)>) override {}
};

struct Mirrored {
  Mirrored() {
    mirror.Start({Kind::kNode, Kind::kPod, Kind::kNamespace}, {});
    for (const Kind kind : {Kind::kNode, Kind::kPod, Kind::kNamespace}) {
      client::ListAnswer answer;
      answer.resource_version = "1";
      api.lists[kind](answer);
    }
  }
  void Send(WatchEvent::Type type, ClusterObject object) {
    ObjectMeta meta = client::MetaOf(object);
    meta.resource_version = std::to_string(++version);
    object = client::WithMeta(object, meta);
    api.watches[client::KindOf(object)].event({type, object, meta.resource_version});
  }

  QuietApi api;
  util::TimerQueue timers;
  ManualClock clock;
  std::vector<std::string> complaints;
  ClusterMirror mirror{api, timers, clock, [this](const std::string& text) { complaints.push_back(text); }};
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
  RC_ASSERT(Shown(*world.mirror.CopyWith({})) == want);
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
  EXPECT_TRUE(has(*world.mirror.CopyWith({})));
  world.Send(WatchEvent::Type::kModified, std::make_shared<const Namespace>(object));
  world.Send(WatchEvent::Type::kDeleted, std::make_shared<const Namespace>(object));
  EXPECT_FALSE(has(world.mirror.state()));
  EXPECT_FALSE(has(*world.mirror.CopyWith({})));
}

}  // namespace
}  // namespace berth::extender
