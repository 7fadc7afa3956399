// SPDX-License-Identifier: Apache-2.0
// PodTopologySpread and InterPodAffinity with an index must say what they say without one, on clusters that change.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "berth/testing.h"
#include "cluster/cluster_state.h"
#include "framework/judge.h"
#include "plugins/inter_pod_affinity.h"
#include "plugins/pod_topology_spread.h"
#include "util/random.h"

namespace berth::plugins {
namespace {

class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}
  size_t Below(size_t n) { return static_cast<size_t>(random_.Next() % n); }
  bool Chance(size_t percent) { return Below(100) < percent; }

 private:
  util::Random random_;
};

const char* const kTopologyKeys[] = {"zone", "kubernetes.io/hostname", "rack", "nowhere"};
const char* const kNamespaces[] = {"x", "y", "z"};

class Story {
 public:
  Story(uint64_t seed, size_t nodes) : nodes_(nodes), dice_(seed) {}

  // Every node gets labels, and pods go anywhere.
  void Fill(size_t pods) {
    for (size_t i = 0; i < nodes_; ++i) PutNode("n" + std::to_string(i));
    for (size_t i = 0; i < pods; ++i) AddPod("n" + std::to_string(dice_.Below(nodes_)));
  }
  void Change() {
    const std::string node = "n" + std::to_string(dice_.Below(nodes_));
    const size_t what = dice_.Below(100);
    if (what < 25) {
      PutNode(node);
    } else if (what < 32) {
      (void)state_.RemoveNode(node);
    } else if (what < 50 && !uids_.empty()) {
      const size_t i = dice_.Below(uids_.size());
      ASSERT_TRUE(state_.RemovePod(uids_[i]).ok());
      uids_[i] = uids_.back();
      uids_.pop_back();
    } else if (what < 60 && !uids_.empty()) {
      const std::string uid = uids_[dice_.Below(uids_.size())];
      (void)state_.UpdatePod(NewPod(uid, state_.FindPod(uid)->pod->node_name));
    } else if (what < 70) {
      Namespace ns;
      ns.meta.name = kNamespaces[dice_.Below(3)];
      ns.meta.labels = Labels({{"env", dice_.Chance(50) ? "prod" : "test"}});
      if (dice_.Chance(80)) {
        state_.PutObject<Namespace>(std::make_shared<const Namespace>(ns));
      } else {
        state_.RemoveObject<Namespace>("", ns.meta.name);
      }
    } else {
      AddPod(node);
    }
  }

  std::shared_ptr<const Pod> NewPod(const std::string& uid, const std::string& node) {
    MakePod pod(uid);
    pod.Uid(uid).Namespace(kNamespaces[dice_.Below(3)]).Label("app", "a" + std::to_string(dice_.Below(3)));
    if (!node.empty()) pod.OnNode(node);
    if (dice_.Chance(20)) pod.Label("hash", "h" + std::to_string(dice_.Below(2)));
    if (!node.empty() && dice_.Chance(15)) pod.Terminating();
    if (dice_.Chance(10)) pod.NodeSelector("zone", "z0");
    if (dice_.Chance(30)) pod.Tolerate({"t", TolerationOp::kExists, "", TaintEffect::kNoSchedule});
    for (size_t i = dice_.Below(3); i > 0; --i) {
      switch (dice_.Below(5)) {
        case 0:
          pod.PodAffinity(Term());
          break;
        case 1:
          pod.PodAntiAffinity(Term());
          break;
        case 2:
          pod.PreferPodAffinity(static_cast<int32_t>(dice_.Below(4)), Term());
          break;
        case 3:
          pod.PreferPodAntiAffinity(static_cast<int32_t>(dice_.Below(4)), Term());
          break;
        default:
          pod.Spread(Constraint());
      }
    }
    return std::make_shared<const Pod>(pod.Build());
  }

  cluster::ClusterState& state() { return state_; }
  Dice& dice() { return dice_; }

 private:
  void PutNode(const std::string& node) {
    // On large clusters a zone is mostly known of every node.
    const bool large = nodes_ > 100;
    MakeNode made(node);
    if (dice_.Chance(large ? zoned_percent_ : 80)) made.Label("zone", "z" + std::to_string(dice_.Below(3)));
    if (dice_.Chance(90)) made.Label("kubernetes.io/hostname", dice_.Chance(95) ? node : "");
    if (dice_.Chance(50)) made.Label("rack", dice_.Chance(20) ? "" : "r" + std::to_string(dice_.Below(4)));
    if (dice_.Chance(30)) made.Taint("t", "", TaintEffect::kNoSchedule);
    state_.PutNode(std::make_shared<const Node>(made.Build()));
  }
  void AddPod(const std::string& node) {
    uids_.push_back("u" + std::to_string(made_++));
    ASSERT_TRUE(state_.AddPod(NewPod(uids_.back(), node)).ok());
  }
  std::optional<LabelSelector> Selector() {
    if (dice_.Chance(4)) return std::nullopt;
    if (dice_.Chance(6)) return LabelSelector();
    if (dice_.Chance(10)) return LabelSelector{{Require("app", SelectorOp::kNotIn, {"a0"})}, ""};
    return SelectLabels({{"app", "a" + std::to_string(dice_.Below(3))}});
  }
  PodAffinityTerm Term() {
    PodAffinityTerm term;
    term.selector = Selector();
    term.topology_key = kTopologyKeys[dice_.Below(4)];
    if (dice_.Chance(30)) term.namespaces = {kNamespaces[dice_.Below(3)]};
    if (dice_.Chance(20)) {
      term.namespace_selector = LabelSelector();
      if (dice_.Chance(70))
        term.namespace_selector->requirements = {
            Require("env", dice_.Chance(70) ? SelectorOp::kIn : SelectorOp::kNotIn, {"prod"})};
    }
    if (dice_.Chance(2)) term.namespace_selector = LabelSelector{{}, "bad one"};
    return term;
  }
  TopologySpreadConstraint Constraint() {
    TopologySpreadConstraint constraint;
    constraint.max_skew = static_cast<int32_t>(1 + dice_.Below(3));
    constraint.topology_key = kTopologyKeys[dice_.Below(3)];
    constraint.when_unsatisfiable =
        dice_.Chance(50) ? WhenUnsatisfiable::kDoNotSchedule : WhenUnsatisfiable::kScheduleAnyway;
    constraint.selector = Selector();
    if (dice_.Chance(20)) constraint.min_domains = static_cast<int32_t>(1 + dice_.Below(4));
    if (dice_.Chance(30)) constraint.match_label_keys = {"hash"};
    if (dice_.Chance(30)) constraint.node_affinity_policy = NodeInclusionPolicy::kIgnore;
    if (dice_.Chance(30)) constraint.node_taints_policy = NodeInclusionPolicy::kHonor;
    return constraint;
  }

  const size_t nodes_;
  Dice dice_;
  const size_t zoned_percent_ = dice_.Chance(50) ? 100 : 99;
  cluster::ClusterState state_;
  std::vector<std::string> uids_;
  size_t made_ = 0;
};

// Verdicts and scores as text.
template <class P>
std::string Told(const P& plugin, const Pod& pod, const Snapshot& snapshot, bool filter) {
  framework::Profile profile;
  profile.scheduler_name = "test";
  profile.plugins.push_back({"test", nullptr});
  if (filter) {
    profile.pre_filter.push_back({&plugin, 0});
    profile.filter.push_back({&plugin, 0});
  }
  profile.pre_score.push_back({&plugin, 0});
  profile.score.push_back({&plugin, 0, 1});
  EXPECT_TRUE(framework::TakeDeclarations(profile).ok());
  VerdictTable table;
  const ManualClock clock;
  const framework::Judgement found = framework::Judge(profile, table, clock).Run(pod, snapshot);
  std::string text = std::to_string(static_cast<int>(found.kind)) + found.message;
  for (Row row = 0; row < found.verdicts.size(); ++row) {
    const VerdictId id = found.verdicts[row];
    text += " " + std::to_string(row) + ":" + (id == kNotJudged ? "-" : table.Get(id).message());
  }
  for (const framework::PluginScores& scores : found.scores)
    for (size_t i = 0; i < found.feasible.size(); ++i)
      text += " " + std::to_string(found.feasible[i]) + "=" + std::to_string(scores.raw[i]) + "/" +
              std::to_string(scores.normalized[i]);
  return text;
}

// Few rows have a count at first, and then most: that is kept, and summed up, in another way.
struct Size {
  size_t nodes, pods, steps;
  uint64_t stories;
  size_t least;  // answers of interest
};
constexpr Size kSmall{8, 0, 150, 60, 100}, kLarge{200, 2000, 40, 6, 3};

template <class P>
void Compare(const typename P::Args& args, const Size& size) {
  size_t rejected = 0, scored = 0;
  for (uint64_t seed = 1; seed <= size.stories; ++seed) {
    SCOPED_TRACE(seed);
    Story story(seed, size.nodes);
    if (size.pods > 0) {
      ASSERT_NO_FATAL_FAILURE(story.Fill(size.pods));
    }
    P plain(args), indexed(args);
    const std::unique_ptr<PluginIndex> index = indexed.MakeIndex();
    for (size_t i = story.dice().Below(40); i > 0; --i) story.Change();
    story.state().AddIndex(index.get());
    for (int step = 0; step < static_cast<int>(size.steps); ++step) {
      ASSERT_NO_FATAL_FAILURE(story.Change());
      if (story.dice().Chance(30)) continue;
      const std::shared_ptr<const Pod> pod = story.NewPod("incoming", "");
      for (const bool filter : {true, false}) {
        const std::string want = Told(plain, *pod, story.state().snapshot(), filter);
        ASSERT_EQ(Told(indexed, *pod, story.state().snapshot(), filter), want) << "step " << step;
        rejected += filter && want.find("node(s)") != std::string::npos;
        scored += want.find('=') != std::string::npos;
      }
    }
    story.state().RemoveIndex(index.get());
  }
  EXPECT_GT(rejected, size.least);
  EXPECT_GT(scored, size.least);
}

TEST(PodIndexTest, PodTopologySpreadSaysTheSameWithAnIndex) {
  Compare<PodTopologySpread>({}, kSmall);
  Compare<PodTopologySpread>({}, kLarge);
}

// Where few values are on many rows, and every node counts, pods are summed up by value.
TEST(PodIndexTest, PodTopologySpreadSumsUpTheSameDomains) {
  constexpr size_t kNodes = 150;
  const std::string zone = "topology.kubernetes.io/zone";
  // By what is left of a node's number: a zone, none at all, one without a name.
  const std::vector<std::vector<std::string>> patterns = {{"a", "b", "c"},     {"a", "b", "-"}, {"a", "", "b"},
                                                          {"", "-", "a", "b"}, {"-", "-"},      {"", "-"}};
  for (const std::vector<std::string>& pattern : patterns) {
    for (const bool removed : {false, true}) {
      for (const bool by_service : {false, true}) {
        SCOPED_TRACE(::testing::PrintToString(pattern) + (removed ? " with ghosts" : "") +
                     (by_service ? " by default" : ""));
        cluster::ClusterState state;
        PodTopologySpread plain, indexed;
        const std::unique_ptr<PluginIndex> index = indexed.MakeIndex();
        state.AddIndex(index.get());
        for (size_t i = 0; i < kNodes; ++i) {
          MakeNode node("n" + std::to_string(i));
          node.Label("kubernetes.io/hostname", "n" + std::to_string(i));
          const std::string& value = pattern[i % pattern.size()];
          if (value != "-") node.Label(zone, value);
          state.PutNode(std::make_shared<const Node>(node.Build()));
          for (size_t k = 0; k < 1 + i % 4; ++k) {
            const std::string uid = "u" + std::to_string(i) + "-" + std::to_string(k);
            ASSERT_TRUE(state
                            .AddPod(std::make_shared<const Pod>(
                                MakePod(uid).Uid(uid).Label("app", "a").OnNode("n" + std::to_string(i)).Build()))
                            .ok());
          }
        }
        if (removed) (void)state.RemoveNode("n7");
        MakePod pod("incoming");
        pod.Label("app", "a");
        if (by_service) {
          Service service;
          service.meta.name = "s";
          service.meta.namespace_ = "default";
          service.selector = Labels({{"app", "a"}});
          state.PutObject<Service>(std::make_shared<const Service>(service));
        } else {
          TopologySpreadConstraint constraint;
          constraint.max_skew = 3;
          constraint.topology_key = zone;
          constraint.when_unsatisfiable = WhenUnsatisfiable::kScheduleAnyway;
          constraint.selector = SelectLabels({{"app", "a"}});
          pod.Spread(constraint);
        }
        const Pod incoming = pod.Build();
        const std::string want = Told(plain, incoming, state.snapshot(), false);
        EXPECT_NE(want.find('='), std::string::npos) << want;
        EXPECT_EQ(Told(indexed, incoming, state.snapshot(), false), want);
        state.RemoveIndex(index.get());
      }
    }
  }
}

TEST(PodIndexTest, InterPodAffinitySaysTheSameWithAnIndex) {
  Compare<InterPodAffinity>({}, kSmall);
  Compare<InterPodAffinity>({}, kLarge);
  InterPodAffinity::Args args;
  args.hard_pod_affinity_weight = 0;
  Compare<InterPodAffinity>(args, kSmall);
}

}  // namespace
}  // namespace berth::plugins
