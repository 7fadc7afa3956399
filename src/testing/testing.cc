// SPDX-License-Identifier: Apache-2.0
// TestCluster and the questions to one plugin, answered by production code.
#include "berth/testing.h"

#include <iostream>
#include <limits>
#include <mutex>
#include <sstream>

#include "berth/host/annotations.h"
#include "cluster/applier.h"
#include "cluster/cluster_state.h"
#include "framework/host.h"
#include "framework/judge.h"
#include "testing/answers.h"
#include "util/log.h"
#include "util/system_clock.h"

namespace berth {
inline namespace v1 {

struct TestCluster::Impl {
  cluster::ClusterState state;
  // As they were added, with all their annotations; those without any are not here.
  std::vector<std::shared_ptr<const Node>> nodes;
  std::vector<std::shared_ptr<const Pod>> pods;
};

TestCluster::TestCluster() : impl_(std::make_unique<Impl>()) {}
TestCluster::~TestCluster() = default;

TestCluster& TestCluster::Add(Node node) { return AddObject(std::move(node)); }

TestCluster& TestCluster::Add(Pod pod) { return AddObject(std::move(pod)); }

TestCluster& TestCluster::Put(const ClusterObject& object) {
  const bool annotated = !MetaOf(object).annotations.empty();
  if (const auto* node = std::get_if<Ptr<Node>>(&object)) {
    std::erase_if(impl_->nodes, [&](const Ptr<Node>& old) { return old->name() == (*node)->name(); });
    if (annotated) impl_->nodes.push_back(*node);
  }
  if (const auto* pod = std::get_if<Ptr<Pod>>(&object)) {
    std::erase_if(impl_->pods, [&](const Ptr<Pod>& old) { return old->uid() == (*pod)->uid(); });
    if (annotated && !(*pod)->node_name.empty()) impl_->pods.push_back(*pod);
  }
  (void)cluster::Applier(impl_->state).Add(object);
  return *this;
}

void TestCluster::Show(const AnnotationKeys& keys) const {
  for (const auto& node : impl_->nodes) impl_->state.PutNode(Shown(node, keys));
  for (const auto& pod : impl_->pods) (void)impl_->state.UpdatePod(Shown(pod, keys));
}

Snapshot TestCluster::snapshot() const { return impl_->state.snapshot(); }

namespace {

Pod WithAnnotations(Pod pod, const AnnotationKeys& keys) {
  pod.meta.annotations = Kept(pod.meta.annotations, keys.pods);
  return pod;
}

// A profile of just this plugin, at every point it can serve and the test wants.
framework::Profile OnlyPlugin(const Plugin& plugin) {
  framework::Profile profile;
  profile.scheduler_name = "test";
  profile.plugins.push_back({"test", nullptr});
  if (auto* p = dynamic_cast<const PreFilterPlugin*>(&plugin)) profile.pre_filter.push_back({p, 0});
  if (auto* p = dynamic_cast<const FilterPlugin*>(&plugin)) profile.filter.push_back({p, 0});
  if (auto* p = dynamic_cast<const PreScorePlugin*>(&plugin)) profile.pre_score.push_back({p, 0});
  if (auto* p = dynamic_cast<const ScorePlugin*>(&plugin)) profile.score.push_back({p, 0, 1});
  return profile;
}

}  // namespace

std::map<std::string, Verdict> FilterAll(const Plugin& plugin, const Pod& asked, const TestCluster& cluster) {
  const AnnotationKeys keys = plugin.Annotations();
  const Pod pod = WithAnnotations(asked, keys);
  cluster.Show(keys);
  framework::Profile profile = OnlyPlugin(plugin);
  profile.pre_score.clear();
  profile.score.clear();
  const Error declared = framework::TakeDeclarations(profile);
  VerdictTable table;
  const ManualClock clock;
  const Snapshot snapshot = cluster.snapshot();
  if (!declared.ok()) {
    std::map<std::string, Verdict> verdicts;
    for (Row row = 0; row < snapshot.rows(); ++row)
      if (snapshot.live(row)) verdicts[snapshot.node(row).name()] = Verdict::Fail(declared.text());
    return verdicts;
  }
  const framework::Judgement found = framework::Judge(profile, table, clock).Run(pod, snapshot);
  return testing::VerdictsOf(found, snapshot, table);
}

Verdict FilterOne(const Plugin& plugin, const Pod& pod, const Node& node) {
  TestCluster cluster;
  cluster.Add(node);
  return FilterAll(plugin, pod, cluster).begin()->second;
}

ScoreResult ScoreAll(const Plugin& plugin, const Pod& asked, const TestCluster& cluster) {
  const AnnotationKeys keys = plugin.Annotations();
  const Pod pod = WithAnnotations(asked, keys);
  cluster.Show(keys);
  framework::Profile profile = OnlyPlugin(plugin);
  profile.pre_filter.clear();
  profile.filter.clear();
  ScoreResult result;
  if (const Error declared = framework::TakeDeclarations(profile); !declared.ok()) {
    result.error = declared.text();
    return result;
  }
  VerdictTable table;
  const ManualClock clock;
  const Snapshot snapshot = cluster.snapshot();
  const framework::Judgement found = framework::Judge(profile, table, clock).Run(pod, snapshot);
  return testing::ScoresOf(found, snapshot);
}

namespace {

LogSink& StandardError() {
  static const util::SystemClock clock;
  static util::Log log(std::cerr, {}, clock);
  return log;
}

class TestHandle final : public Handle {
 public:
  TestHandle(std::vector<std::string> ignored, LogSink* log)
      : host_({"test", 1, std::move(ignored), log ? log : &StandardError()}, clock_, writer_, services_) {}
  Logger log() const override { return host_.log(); }
  const std::string& profile_name() const override { return host_.profile_name(); }
  const Clock& clock() const override { return clock_; }
  uint64_t Random() override { return host_.Random(); }
  WaitingPods& waiting() override { return host_.waiting(); }
  Writer& writer() override { return writer_; }
  const std::vector<std::string>& extender_ignored_resources() const override {
    return host_.extender_ignored_resources();
  }

 private:
  ManualClock clock_;
  framework::NoWriter writer_;
  framework::HostServices services_;
  framework::Host host_;
};

}  // namespace

struct TestLog::Impl {
  const ManualClock clock;
  std::ostringstream text;  // of one line
  util::Log log{text, {}, clock};
  mutable std::mutex mutex;
  std::vector<std::string> lines;
};

TestLog::TestLog() : LogSink(std::numeric_limits<int>::max()), impl_(std::make_unique<Impl>()) {}
TestLog::~TestLog() = default;

void TestLog::Write(const LogRecord& record) {
  const std::lock_guard lock(impl_->mutex);
  impl_->text.str("");
  impl_->log.Write(record);
  std::string line = impl_->text.str();
  line.pop_back();
  const size_t head = line.find("] ");
  impl_->lines.push_back(line.substr(0, 1) + line.substr(head + 1));
}

std::vector<std::string> TestLog::lines() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->lines;
}

void PrintTo(const Verdict& verdict, std::ostream* out) {
  if (verdict.fits()) {
    *out << "fits";
  } else {
    *out << ToString(verdict.code()) << ": " << verdict.message();
  }
}

void PrintTo(const Reason& reason, std::ostream* out) { PrintTo(Verdict(reason), out); }

std::unique_ptr<Handle> MakeTestHandle(std::vector<std::string> extender_ignored_resources, LogSink* log) {
  return std::make_unique<TestHandle>(std::move(extender_ignored_resources), log);
}

}  // namespace v1
}  // namespace berth
