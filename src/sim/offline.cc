// SPDX-License-Identifier: Apache-2.0
// From loaded files to a cluster state, and one pod's explanation.
#include "sim/offline.h"

#include <chrono>
#include <optional>
#include <utility>

#include "berth/host/snapshot_access.h"
#include "cluster/applier.h"
#include "util/inbox.h"

namespace berth::sim {
void Fill(cluster::ClusterState& state, const LoadedObjects& objects, const framework::Engine& engine,
          const Pod* except) {
  cluster::Applier applier(state, [&](const Pod& pod) {
    const framework::Profile* profile = engine.FindProfile(pod.scheduler_name);
    return profile && !framework::FindGate(*profile, pod);
  });
  objects.ForEach([&](const ClusterObject& object) {
    if (const auto* pod = std::get_if<Ptr<Pod>>(&object))
      if (pod->get() == except || (*pod)->finished()) return;
    // Two pods of one name or uid were refused when the files were read, so this cannot fail.
    (void)applier.Add(object);
  });
}

namespace {

using framework::Advice;
using framework::ExtenderCalls;
using framework::Judgement;

// Asks extenders about one pod and waits for the answers.
class Rehearsal {
 public:
  Rehearsal(framework::Engine& engine, const framework::Profile& profile, const Snapshot& snapshot,
            const std::vector<std::shared_ptr<framework::Extender>>& extenders,
            const std::function<void(const framework::SkippedExtender&)>& skipped)
      : engine_(engine),
        profile_(profile),
        snapshot_(snapshot),
        calls_(
            extenders, [this](std::function<void()> letter) { inbox_.Post(std::move(letter)); }, skipped) {}

  Judgement Judge(const Ptr<Pod>& pod, framework::JudgeOptions options) {
    if (!calls_.AsksAboutNodes(*pod)) return Reviewed(pod, options, engine_.Judge(profile_, *pod, snapshot_, options));
    framework::JudgeOptions first = options;
    first.score = false;
    first.unrecorded = Judgement::Kind::kFits;
    Judgement judged = engine_.Judge(profile_, *pod, snapshot_, first);
    if (judged.kind != Judgement::Kind::kFits) return Reviewed(pod, options, std::move(judged));
    std::vector<Ptr<Node>> list;
    for (const Row row : judged.feasible) list.push_back(SnapshotAccess::NodeAt(snapshot_, row));
    const ExtenderCalls::Nodes nodes = std::move(list);
    advice_.about_nodes = true;
    advice_.asked = nodes;
    advice_.rows = judged.feasible;
    ExtenderCalls::Filtered filtered =
        Wait<ExtenderCalls::Filtered>([&](auto done) { calls_.Filter(pod, nodes, std::move(done)); });
    if (!filtered.error.ok()) {
      judged.kind = Judgement::Kind::kFailed;
      judged.message = filtered.error.text();
      judged.feasible.clear();
      return judged;
    }
    advice_.rejected = std::move(filtered.rejected);
    if (filtered.passed.size() >= 2 && calls_.Prioritizes(*pod)) {
      advice_.scores = Wait<std::vector<Advice::Scores>>(
          [&](auto done) { calls_.Prioritize(pod, nodes, filtered.passed, std::move(done)); });
    }
    options.advice = &advice_;
    return Reviewed(pod, options, engine_.Judge(profile_, *pod, snapshot_, options));
  }

 private:
  // With what extenders say about whom to evict.
  Judgement Reviewed(const Ptr<Pod>& pod, framework::JudgeOptions options, Judgement judged) {
    const PostFilterOutcome& outcome = judged.post_filter;
    if (judged.kind != Judgement::Kind::kRejected || !outcome.plan || outcome.plan->candidates.empty()) return judged;
    if (!outcome.verdict.fits() || !calls_.AsksAboutVictims(*pod)) return judged;
    Result<ExtenderCalls::Candidates> left = Wait<Result<ExtenderCalls::Candidates>>([&](auto done) {
      calls_.Preempt(
          pod, outcome.plan->candidates, [this](const std::string& node) { return PodsOn(node); }, std::move(done));
    });
    advice_.preemption = Advice::Preemption{judged.post_filter_plugin, std::move(left)};
    options.advice = &advice_;
    return engine_.Judge(profile_, *pod, snapshot_, options);
  }

  std::optional<std::vector<Ptr<Pod>>> PodsOn(const std::string& node) const {
    const Row row = snapshot_.FindRow(node);
    if (row == kNoRow || !snapshot_.live(row)) return std::nullopt;
    std::vector<Ptr<Pod>> pods;
    for (const PodRecord* record : snapshot_.pods(row)) pods.push_back(record->pod);
    return pods;
  }

  template <class T>
  T Wait(const std::function<void(std::function<void(T)>)>& ask) {
    std::optional<T> answer;
    ask([&answer](T given) { answer.emplace(std::move(given)); });
    while (!answer) {
      inbox_.WaitFor(std::chrono::seconds(1));
      inbox_.Drain();
    }
    return std::move(*answer);
  }

  framework::Engine& engine_;
  const framework::Profile& profile_;
  const Snapshot& snapshot_;
  util::Inbox inbox_;
  ExtenderCalls calls_;
  Advice advice_;
};

}  // namespace

framework::Explanation ExplainOffline(framework::Engine& engine, const framework::Profile& profile,
                                      const LoadedObjects& objects, const Pod& pod,
                                      const std::vector<std::shared_ptr<framework::Extender>>& extenders,
                                      const std::function<void(const framework::SkippedExtender&)>& skipped) {
  cluster::ClusterState state;
  Fill(state, objects, engine, &pod);
  auto copy = std::make_shared<Pod>(pod);
  copy->node_name.clear();
  const Ptr<Pod> asked = std::move(copy);
  framework::JudgeOptions options;
  options.pre_enqueue = true;
  options.follow_nomination = false;
  const Snapshot snapshot = state.snapshot();
  const Judgement judgement = Rehearsal(engine, profile, snapshot, extenders, skipped).Judge(asked, options);
  return framework::Explain(*asked, profile, engine.table(), snapshot, judgement);
}

std::shared_ptr<const Pod> FindPod(const LoadedObjects& objects, const std::string& name) {
  const std::string full = name.find('/') == std::string::npos ? "default/" + name : name;
  for (const auto& pod : objects.of<Pod>())
    if (FullName(*pod) == full) return pod;
  return nullptr;
}

}  // namespace berth::sim
