// SPDX-License-Identifier: Apache-2.0
// Plugins that read more than they declare are named; honest ones are not.
#include "framework/read_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "berth/host/snapshot_access.h"
#include "berth/testing.h"
#include "config/load.h"
#include "framework/engine.h"
#include "plugins/builtin.h"

namespace berth::framework {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// What a plugin says and what it does.
struct Script {
  Depends pre_filter = Depends::OnRow(0), filter = Depends::OnRow(0), pre_score = Depends::OnRow(0),
          score = Depends::OnRow(0);
  std::function<void(const Cycle&)> in_pre_filter, in_pre_score, in_normalize;
  std::function<void(const NodeBatch&)> in_filter, in_score;
  std::optional<Epochs> holds_while;
  AnnotationKeys annotations;
  Normalization normalization = Normalization::kNone;
};

class Reader final : public PreFilterPlugin, public FilterPlugin, public PreScorePlugin, public ScorePlugin {
 public:
  explicit Reader(Script script) : script_(std::move(script)) {}
  AnnotationKeys Annotations() const override { return script_.annotations; }
  PreFilterOutcome PreFilter(const Cycle& cycle) const override {
    if (script_.in_pre_filter) script_.in_pre_filter(cycle);
    PreFilterOutcome outcome = PreFilterOutcome::Ok();
    outcome.holds_while = script_.holds_while;
    return outcome;
  }
  Error Filter(const Cycle&, const PluginState*, const NodeBatch& nodes, Rejections&) const override {
    if (script_.in_filter) script_.in_filter(nodes);
    return Error::Ok();
  }
  PreScoreOutcome PreScore(const Cycle& cycle, std::span<const Row>) const override {
    if (script_.in_pre_score) script_.in_pre_score(cycle);
    return PreScoreOutcome::Ok();
  }
  Error Score(const Cycle&, const PluginState*, const NodeBatch& nodes, std::span<int64_t> scores) const override {
    std::fill(scores.begin(), scores.end(), 0);
    if (script_.in_score) script_.in_score(nodes);
    return Error::Ok();
  }
  Normalization normalization() const override { return script_.normalization; }
  Error Normalize(const Cycle& cycle, const PluginState*, std::span<const Row>, std::span<int64_t>) const override {
    if (script_.in_normalize) script_.in_normalize(cycle);
    return Error::Ok();
  }
  Depends DependsOn(Point point) const override {
    switch (point) {
      case Point::kPreFilter:
        return script_.pre_filter;
      case Point::kFilter:
        return script_.filter;
      case Point::kPreScore:
        return script_.pre_score;
      default:
        return script_.score;
    }
  }
  bool Sign(const Pod&, Signature&) const override { return true; }

 private:
  const Script script_;
};

// What verify mode says of the built-in plugins and this one, over a few decisions.
std::vector<std::string> Said(const Script& script) {
  Registry registry;
  plugins::RegisterBuiltinPlugins(registry);
  PluginDescriptor descriptor;
  descriptor.name = "Reader";
  descriptor.points = Bit(Point::kPreFilter) | Bit(Point::kFilter) | Bit(Point::kPreScore) | Bit(Point::kScore);
  descriptor.complete_args = [](const Value*, const std::string&, std::vector<FieldError>&) { return Value(); };
  descriptor.make = [&](const Value*, Handle&) -> Result<std::unique_ptr<Plugin>> {
    return std::unique_ptr<Plugin>(std::make_unique<Reader>(script));
  };
  registry.Add(std::move(descriptor));
  const config::Loaded loaded = config::LoadConfiguration(
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
      "profiles: [{plugins: {multiPoint: {enabled: [{name: Reader}]}}}]\n",
      registry);
  EXPECT_TRUE(loaded.ok());
  const ManualClock clock;
  const auto reference = std::move(Engine::Make(loaded.config, registry, clock)).value();
  const auto engine = std::move(Engine::Make(loaded.config, registry, clock)).value();
  std::vector<std::string> said;
  engine->Remember();
  engine->Verify(*reference, [&](const std::string& text) { said.push_back(text); });

  TestCluster cluster;
  for (const char* name : {"a", "b", "c"}) cluster.Add(MakeNode(name).Label("disk", "ssd"));
  cluster.Add(MakePod("waiting").Nominated("a").Priority(5));
  for (int i = 0; i < 3; ++i) {
    const Pod pod = MakePod("p" + std::to_string(i)).Request({{"cpu", "1"}});
    EXPECT_EQ(engine->Decide(engine->first_profile(), pod, cluster.snapshot()).kind, Judgement::Kind::kFits);
  }
  EXPECT_EQ(engine->memory_stats().decisions, 3u);
  return said;
}

TEST(ReadCheckTest, AFilterThatReadsAnotherColumnOfTheRowIsNamedOnce) {
  Script script;
  script.filter = Depends::OnRow(row_field::kName);
  script.in_filter = [](const NodeBatch& nodes) { nodes.labels(nodes.snapshot().labels("disk")); };
  EXPECT_THAT(Said(script), ElementsAre("plugin Reader read node labels in Filter, which it does not declare"));
}

TEST(ReadCheckTest, AScoreThatReadsAnotherColumnOfTheRowIsNamed) {
  Script script;
  script.score = Depends::OnRow(row_field::kAllocatable);
  script.in_score = [](const NodeBatch& nodes) {
    nodes.allocatable(ResourceId::kCpu);
    nodes.view(0).requested(ResourceId::kCpu);
  };
  EXPECT_THAT(Said(script), ElementsAre("plugin Reader read requested amounts in Score, which it does not declare"));
}

TEST(ReadCheckTest, APreFilterThatReadsWhatNoEpochOfItsSpeaksOfIsNamed) {
  Script script;
  script.pre_filter = {row_field::kAll, epoch::kNodeSet};
  script.in_pre_filter = [](const Cycle& cycle) {
    cycle.snapshot().node_count();
    cycle.snapshot().objects<Service>();
    cycle.snapshot().pods(0);
  };
  EXPECT_THAT(Said(script),
              ElementsAre("plugin Reader read pods of other nodes in PreFilter, which it does not declare",
                          "plugin Reader read services or controllers in PreFilter, which it does not declare"));
}

TEST(ReadCheckTest, AnOutcomeIsHeldToWhatItHoldsWhile) {
  Script script;
  script.pre_filter = {0, epoch::kNodeSet};
  script.in_pre_filter = [](const Cycle& cycle) { cycle.snapshot().order(); };
  script.holds_while = epoch::kNodeLabels;
  EXPECT_THAT(Said(script), ElementsAre("plugin Reader read the set of nodes in PreFilter, which it does not declare"));
  script.holds_while = epoch::kNodeLabels | epoch::kNodeSet;
  EXPECT_THAT(Said(script), IsEmpty());
}

TEST(ReadCheckTest, AnnotationsThatAreNotDeclaredAreNamedByTheirKeys) {
  Script script;
  script.filter = Depends::Everything();  // which covers columns, but declares no key
  script.annotations = {{"declared"}, {"declared", "for-nodes"}};
  script.in_pre_filter = [](const Cycle& cycle) {
    cycle.pod().Annotation("declared");
    cycle.pod().Annotation("for-nodes");
  };
  script.in_filter = [](const NodeBatch& nodes) {
    nodes.view(0).Annotation("declared");
    nodes.view(0).Annotation("\"other\"");
  };
  EXPECT_THAT(Said(script),
              UnorderedElementsAre(
                  "plugin Reader read the pod annotation \"for-nodes\" in PreFilter, which it does not declare",
                  "plugin Reader read the node annotation \"\\\"other\\\"\" in Filter, which it does not declare"));
}

TEST(ReadCheckTest, AnnotationsOfNodesAreAColumnOfTheRow) {
  Script script;
  script.annotations = {{}, {"k"}};
  script.filter = Depends::OnRow(row_field::kLabels);
  constexpr char kNamed[] = "plugin Reader read node annotations in Filter, which it does not declare";
  script.in_filter = [](const NodeBatch& nodes) { nodes.view(0).Annotation("k"); };
  EXPECT_THAT(Said(script), ElementsAre(kNamed));
  script.in_filter = [](const NodeBatch& nodes) { nodes.view(0).node().Annotation("k"); };
  EXPECT_THAT(Said(script), ElementsAre(kNamed));
  script.filter = Depends::OnRow(row_field::kAnnotations);
  EXPECT_THAT(Said(script), IsEmpty());
}

TEST(ReadCheckTest, PreScoreAndNormalizeAreWatchedToo) {
  Script script;
  script.in_pre_score = [](const Cycle& cycle) { cycle.now(); };
  script.normalization = Normalization::kOwn;
  script.in_normalize = [](const Cycle& cycle) { cycle.snapshot().node(0); };
  EXPECT_THAT(Said(script),
              UnorderedElementsAre("plugin Reader read the clock or priority classes in PreScore, "
                                   "which it does not declare",
                                   "plugin Reader read Node objects in Normalize, which it does not declare"));
}

TEST(ReadCheckTest, ARowThatIsSeenThroughAnOverlayIsWatchedToo) {
  Script script;
  // Node a is asked about a second time, as if the pod that is nominated to it were there.
  script.in_filter = [](const NodeBatch& nodes) {
    if (nodes.overlay() != nullptr) nodes.ports(0);
  };
  EXPECT_THAT(Said(script), ElementsAre("plugin Reader read host ports in Filter, which it does not declare"));
}

TEST(ReadCheckTest, AnHonestPluginIsNotMentioned) {
  Script script;
  script.pre_filter = {0, epoch::kNodeSet | epoch::kNodeLabels | epoch::kDevices};
  script.in_pre_filter = [](const Cycle& cycle) {
    cycle.snapshot().ranks();
    cycle.snapshot().labels("disk");
    cycle.snapshot().objects<DeviceClass>();
  };
  script.filter = {row_field::kLabels | row_field::kRequested, epoch::kNodeSet};
  script.in_filter = [](const NodeBatch& nodes) {
    nodes.labels(nodes.snapshot().labels("disk"));
    nodes.requested(ResourceId::kCpu);
    nodes.view(0).node();
    nodes.snapshot().live(nodes.row(0));
    nodes.snapshot().node_count();
  };
  script.score = {row_field::kTaints, 0};
  script.in_score = [](const NodeBatch& nodes) {
    nodes.snapshot().taint_sets();
    nodes.taint_set();
  };
  EXPECT_THAT(Said(script), IsEmpty());
}

TEST(ReadCheckTest, WhoDependsOnEverythingMayReadAnything) {
  Script script;
  script.filter = Depends::Everything();
  script.in_filter = [](const NodeBatch& nodes) {
    nodes.snapshot().requested(ResourceId::kCpu);
    nodes.snapshot().objects<PodDisruptionBudget>();
  };
  EXPECT_THAT(Said(script), IsEmpty());
}

// One read, what it is called, and the least that covers it.
struct Case {
  const char* what;
  std::function<void(const Snapshot&)> read;
  RowFields row;
  Epochs epochs;
};

TEST(ReadCheckTest, EveryReadIsCoveredByItsFieldOrItsEpochOnly) {
  TestCluster cluster;
  for (const char* name : {"a", "b"}) cluster.Add(MakeNode(name).Image("img", 5));
  constexpr Row kJudged = 1, kOther = 0;
  const auto judged = [](const Snapshot& s) {
    static constexpr uint8_t kOne = 1;
    return NodeBatch(s, kJudged, std::span<const uint8_t>(&kOne, 1));
  };
  namespace row = row_field;
  const std::vector<Case> cases = {
      // Of the judged row.
      {"node names", [](const Snapshot& s) { s.view(kJudged).name(); }, row::kName, epoch::kNodeSet},
      {"node labels", [](const Snapshot& s) { s.view(kJudged).Label("k"); }, row::kLabels, epoch::kNodeLabels},
      {"allocatable amounts", [&](const Snapshot& s) { judged(s).allocatable(ResourceId::kCpu); }, row::kAllocatable,
       epoch::kOtherRows},
      {"requested amounts", [&](const Snapshot& s) { judged(s).nonzero_cpu(); }, row::kRequested, epoch::kOtherRows},
      {"pod counts", [&](const Snapshot& s) { judged(s).pod_count(); }, row::kPodCount, epoch::kOtherRows},
      {"node taints", [&](const Snapshot& s) { judged(s).taint_set(); }, row::kTaints, epoch::kSets},
      {"unschedulable marks", [&](const Snapshot& s) { judged(s).unschedulable(); }, row::kUnschedulable,
       epoch::kOtherRows},
      {"node images", [&](const Snapshot& s) { judged(s).image_set(); }, row::kImages, epoch::kSets},
      {"declared features", [&](const Snapshot& s) { judged(s).feature_set(); }, row::kFeatures, epoch::kSets},
      {"host ports", [&](const Snapshot& s) { judged(s).ports(0); }, row::kPorts, epoch::kOtherRows},
      {"pods", [&](const Snapshot& s) { judged(s).pods(0); }, row::kPods, epoch::kOwnIndex},
      {"nominated pods", [](const Snapshot& s) { s.nominated(kJudged); }, row::kNominated, epoch::kOtherRows},
      {"Node objects", [](const Snapshot& s) { s.node(kJudged); }, row::kUnschedulable, epoch::kNodeLabels},
      // What ids mean.
      {"node names", [](const Snapshot& s) { s.FindRow("a"); }, row::kName, epoch::kNodeSet},
      {"node labels", [](const Snapshot& s) { s.labels("k"); }, row::kLabels, epoch::kNodeLabels},
      {"node images", [](const Snapshot& s) { s.image_sets(); }, row::kImages, epoch::kSets},
      {"declared features", [](const Snapshot& s) { s.feature_sets(); }, row::kFeatures, epoch::kSets},
      // Elsewhere: no field of the judged row helps.
      {"node names of other nodes", [](const Snapshot& s) { s.view(kOther).name(); }, 0, epoch::kNodeSet},
      {"node labels of other nodes", [](const Snapshot& s) { s.view(kOther).Label("k"); }, 0, epoch::kNodeLabels},
      {"Node objects of other nodes", [](const Snapshot& s) { s.node(kOther); }, 0, epoch::kNodeLabels},
      {"pods of other nodes", [](const Snapshot& s) { s.pods(kOther); }, 0, epoch::kOwnIndex},
      {"requested amounts of other nodes", [](const Snapshot& s) { s.requested(ResourceId::kCpu); }, 0,
       epoch::kOtherRows},
      {"node taints of other nodes", [](const Snapshot& s) { s.taint_set(); }, 0, epoch::kSets},
      {"nominated pods of other nodes", [](const Snapshot& s) { SnapshotAccess::Nominated(s); }, 0, epoch::kOtherRows},
      // No columns at all.
      {"the set of nodes", [](const Snapshot& s) { s.live(kOther); }, 0, epoch::kNodeSet},
      {"the set of nodes", [](const Snapshot& s) { s.rows(); }, 0, epoch::kOtherRows},
      {"the spread of images", [](const Snapshot& s) { s.image(s.FindImage("img")); }, 0, epoch::kImageSpread},
      {"pods with pod affinity", [](const Snapshot& s) { s.anti_affinity_pods(kOther); }, 0, epoch::kAffinityPods},
      {"pods with pod affinity", [](const Snapshot& s) { s.affinity_rows(); }, 0, epoch::kOwnIndex},
      {"the change log", [](const Snapshot& s) { SnapshotAccess::Changes(s); }, 0, epoch::kOtherRows},
      {"namespaces", [](const Snapshot& s) { s.objects<Namespace>(); }, 0, epoch::kNamespaces},
      {"services or controllers", [](const Snapshot& s) { s.objects<ReplicaSet>(); }, 0, epoch::kWorkloads},
      {"resource claims, slices or device classes", [](const Snapshot& s) { s.objects<ResourceClaim>(); }, 0,
       epoch::kDevices},
      {"volumes, claims or storage objects", [](const Snapshot& s) { s.objects<CsiNode>(); }, 0, epoch::kVolumes},
      {"disruption budgets", [](const Snapshot& s) { s.objects<PodDisruptionBudget>(); }, 0, epoch::kBudgets},
      {"the clock or priority classes", [](const Snapshot& s) { s.objects<PriorityClass>(); }, 0,
       epoch::kUnrememberable},
  };
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(std::to_string(i) + " " + cases[i].what);
    ReadSet reads;
    reads.begin = kJudged;
    reads.end = kJudged + 1;
    cases[i].read(Snapshot(cluster.snapshot(), reads));
    EXPECT_THAT(Undeclared(reads, Depends::OnRow(0), true), ElementsAre(cases[i].what));
    EXPECT_THAT(Undeclared(reads, {0, cases[i].epochs}, true), IsEmpty());
    EXPECT_THAT(Undeclared(reads, Depends::Everything(), true), IsEmpty());
    // Objects are watched only if they are named, remembered or not.
    const bool object = (cases[i].epochs & epoch::kObjects) != 0;
    EXPECT_THAT(Undeclared(reads, {0, epoch::kUnrememberable}, true), SizeIs(object ? 1 : 0));
    EXPECT_THAT(Undeclared(reads, {row::kAll, cases[i].epochs}, false), IsEmpty());
    EXPECT_THAT(Undeclared(reads, Depends::OnRow(row::kAll), false), ElementsAre(cases[i].what));
    if (cases[i].row != 0) {
      EXPECT_THAT(Undeclared(reads, Depends::OnRow(cases[i].row), true), IsEmpty());
    } else {
      EXPECT_THAT(Undeclared(reads, Depends::OnRow(row::kAll), true), ElementsAre(cases[i].what));
    }
  }
}

}  // namespace
}  // namespace berth::framework
