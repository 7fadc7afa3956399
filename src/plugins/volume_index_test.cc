// SPDX-License-Identifier: Apache-2.0
// VolumeRestrictions and NodeVolumeLimits with an index must say what they say without one, on clusters that change.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "cluster/cluster_state.h"
#include "framework/judge.h"
#include "plugins/node_volume_limits.h"
#include "plugins/volume_restrictions.h"
#include "plugins/volume_test_util.h"
#include "util/random.h"

namespace berth::plugins {
namespace {

class VolumeStory {
 public:
  explicit VolumeStory(uint64_t seed) : random_(seed) {}

  size_t Below(size_t n) { return static_cast<size_t>(random_.Next() % n); }
  bool Chance(size_t percent) { return Below(100) < percent; }
  cluster::ClusterState& state() { return state_; }

  void Change() {
    const size_t what = Below(100);
    if (what < 10) {
      const std::string name = NodeName();
      if (Chance(70)) {
        state_.PutNode(std::make_shared<const Node>(MakeNode(name).Build()));
      } else {
        (void)state_.RemoveNode(name);
      }
    } else if (what < 35) {
      uids_.push_back("u" + std::to_string(made_++));
      ASSERT_TRUE(state_.AddPod(NewPod(uids_.back(), NodeName())).ok());
    } else if (what < 50 && !uids_.empty()) {
      const size_t i = Below(uids_.size());
      ASSERT_TRUE(state_.RemovePod(uids_[i]).ok());
      uids_[i] = uids_.back();
      uids_.pop_back();
    } else if (what < 55) {
      const std::string uid = "nominated" + std::to_string(Below(2));
      if (Chance(50)) {
        state_.Nominate(NewPod(uid, ""), NodeName());
      } else {
        state_.ClearNomination(uid);
      }
    } else if (what < 70) {
      ChangeClaim();
    } else if (what < 80) {
      ChangeVolume();
    } else if (what < 85) {
      const std::string name = "s" + std::to_string(Below(3));
      Put(MakeClass(name, Chance(50) ? Driver() : Chance(50) ? "kubernetes.io/aws-ebs" : ""));
    } else if (what < 92) {
      std::map<std::string, std::optional<int32_t>> limits;
      for (const char* driver : {"d0", "d1", "ebs.csi.aws.com"}) {
        if (Chance(60)) limits[driver] = Chance(90) ? std::optional<int32_t>(Below(5)) : std::nullopt;
      }
      Put(MakeCsiNode(NodeName(), limits));
    } else {
      Put(Attach("a" + std::to_string(Below(6)), NodeName(), Chance(95) ? Driver() : "", VolumeName()));
    }
  }

  std::shared_ptr<const Pod> NewPod(const std::string& uid, const std::string& node) {
    std::vector<PodVolume> volumes;
    for (size_t i = Below(4); i > 0; --i) {
      const size_t what = Below(100);
      if (what < 50) {
        volumes.push_back(ClaimVolume(Chance(98) ? ClaimName() : ""));
      } else if (what < 60) {
        volumes.push_back(EphemeralVolume(ClaimName()));
      } else if (what < 75) {
        volumes.push_back(Disk(VolumeKind::kAwsEbs, Chance(95) ? "vol-" + std::to_string(Below(3)) : "aws://z/x"));
      } else if (what < 85) {
        volumes.push_back(Disk(VolumeKind::kGcePd, "g" + std::to_string(Below(3)), Chance(50)));
      } else {
        volumes.push_back(Rbd({"m" + std::to_string(Below(2))}, "p", "i", Chance(50)));
      }
    }
    MakePod pod = WithVolumes(uid, std::move(volumes));
    pod.Namespace(Chance(70) ? "default" : "other").Priority(static_cast<int32_t>(Below(3)));
    if (!node.empty()) pod.OnNode(node);
    return std::make_shared<const Pod>(pod.Build());
  }

 private:
  std::string NodeName() { return "n" + std::to_string(Below(6)); }
  std::string ClaimName() { return "c" + std::to_string(Below(8)); }
  std::string VolumeName() { return "pv" + std::to_string(Below(6)); }
  std::string Driver() { return Chance(80) ? "d" + std::to_string(Below(2)) : "ebs.csi.aws.com"; }

  // Puts the object, or takes the one of its name away.
  template <class T>
  void Put(T object) {
    if (Chance(75)) {
      state_.PutObject<T>(std::make_shared<const T>(std::move(object)));
    } else {
      state_.RemoveObject<T>(object.meta.namespace_, object.meta.name);
    }
  }
  void ChangeClaim() {
    PersistentVolumeClaim claim = MakeClaim(ClaimName(), Chance(60) ? VolumeName() : "");
    if (Chance(60)) claim.storage_class = "s" + std::to_string(Below(3));
    if (Chance(30)) claim.access_modes = {"ReadWriteOncePod"};
    if (Chance(30)) claim.meta.namespace_ = "other";
    if (Chance(60))
      claim.meta.owners = {
          {"v1", "Pod", "x", Chance(80) && !uids_.empty() ? uids_[Below(uids_.size())] : "incoming", true}};
    Put(std::move(claim));
  }
  void ChangeVolume() {
    const std::string name = VolumeName();
    switch (Below(4)) {
      case 0:
        return Put(DiskVolume(name, VolumeKind::kAwsEbs, Chance(80) ? "vol-" + std::to_string(Below(3)) : "aws://z/x"));
      case 1:
        return Put(MakeVolume(name));
      default:
        return Put(CsiVolume(name, Driver(), "h" + std::to_string(Below(4))));
    }
  }

  util::Random random_;
  cluster::ClusterState state_;
  std::vector<std::string> uids_;
  size_t made_ = 0;
};

// Verdicts as text.
template <class P>
std::string Rulings(const P& plugin, const Pod& pod, const Snapshot& snapshot) {
  framework::Profile profile;
  profile.scheduler_name = "test";
  profile.plugins.push_back({"test", nullptr});
  profile.pre_filter.push_back({&plugin, 0});
  profile.filter.push_back({&plugin, 0});
  EXPECT_TRUE(framework::TakeDeclarations(profile).ok());
  VerdictTable table;
  const ManualClock clock;
  const framework::Judgement found = framework::Judge(profile, table, clock).Run(pod, snapshot);
  std::string text = std::to_string(static_cast<int>(found.kind)) + found.message;
  for (Row row = 0; row < found.verdicts.size(); ++row) {
    const VerdictId id = found.verdicts[row];
    text += " " + std::to_string(row) + ":" + (id == kNotJudged ? "-" : table.Get(id).message());
  }
  return text;
}

template <class P>
void CompareWithIndex(const char* reason) {
  const std::string fits = std::to_string(static_cast<int>(framework::Judgement::Kind::kFits));
  size_t rejected = 0, mixed = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    VolumeStory story(seed);
    P plain, indexed;
    const std::unique_ptr<PluginIndex> index = indexed.MakeIndex();
    for (size_t i = story.Below(60); i > 0; --i) ASSERT_NO_FATAL_FAILURE(story.Change());
    story.state().AddIndex(index.get());
    for (int step = 0; step < 200; ++step) {
      ASSERT_NO_FATAL_FAILURE(story.Change());
      const std::shared_ptr<const Pod> pod = story.NewPod("incoming", "");
      const std::string want = Rulings(plain, *pod, story.state().snapshot());
      ASSERT_EQ(Rulings(indexed, *pod, story.state().snapshot()), want) << "step " << step;
      const bool rejects = want.find(reason) != std::string::npos;
      rejected += rejects;
      mixed += rejects && want.rfind(fits, 0) == 0;
    }
    story.state().RemoveIndex(index.get());
  }
  EXPECT_GT(rejected, 300u);
  EXPECT_GT(mixed, 100u);
}

TEST(VolumeIndexTest, VolumeRestrictionsSaysTheSameWithAnIndex) {
  CompareWithIndex<VolumeRestrictions>("node(s) had no available disk");
}

TEST(VolumeIndexTest, NodeVolumeLimitsSaysTheSameWithAnIndex) {
  CompareWithIndex<NodeVolumeLimits>("node(s) exceed max volume count");
}

}  // namespace
}  // namespace berth::plugins
