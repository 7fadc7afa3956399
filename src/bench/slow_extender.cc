// SPDX-License-Identifier: Apache-2.0
#include "bench/slow_extender.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "berth/resources.h"

namespace berth::bench {

SlowExtender::SlowExtender(const config::Extender& config, util::TimerQueue& timers, const Clock& clock)
    : traits_{config.url_prefix,
              config.weight,
              !config.filter_verb.empty(),
              !config.prioritize_verb.empty(),
              !config.preempt_verb.empty(),
              /*binds=*/false,
              config.ignorable},
      timers_(timers),
      clock_(clock) {
  for (const config::ManagedResource& resource : config.managed_resources)
    managed_.insert(static_cast<uint32_t>(InternResource(resource.name)));
}

bool SlowExtender::IsInterested(const Pod& pod) const {
  if (managed_.empty()) return true;
  const auto any = [&](const auto& containers) {
    return std::any_of(containers.begin(), containers.end(), [&](const Container& container) {
      const auto has = [&](const auto& entry) { return managed_.contains(static_cast<uint32_t>(entry.first)); };
      return std::any_of(container.requests.begin(), container.requests.end(), has) ||
             std::any_of(container.limits.begin(), container.limits.end(), has);
    });
  };
  return any(pod.containers) || any(pod.init_containers);
}

void SlowExtender::Filter(framework::PodInTurn asked, Nodes nodes, std::function<void(Result<Filtered>)> done) {
  Take(std::move(asked.turn), [nodes = std::move(nodes), done = std::move(done)] {
    Filtered answer;
    answer.passed.resize(nodes.size());
    std::iota(answer.passed.begin(), answer.passed.end(), size_t{0});
    done(std::move(answer));
  });
}

void SlowExtender::Prioritize(framework::PodInTurn asked, Nodes, std::function<void(Result<Scores>)> done) {
  Take(std::move(asked.turn), [done = std::move(done)] { done(Scores()); });
}

void SlowExtender::Preempt(framework::PodInTurn asked, std::vector<PreemptionCandidate> candidates,
                           std::function<void(Result<VictimMap>)> done) {
  Take(std::move(asked.turn), [candidates = std::move(candidates), done = std::move(done)] {
    VictimMap answer;
    for (const PreemptionCandidate& candidate : candidates) {
      Victims& victims = answer[candidate.node];
      victims.pdb_violations = candidate.pdb_violations;
      for (const auto& victim : candidate.victims) victims.uids.push_back(victim->uid());
    }
    done(std::move(answer));
  });
}

void SlowExtender::Bind(std::shared_ptr<const Pod>, const std::string&, std::function<void(Error)> done) {
  done(Error("this extender does not bind"));
}

void SlowExtender::Take(framework::Turn turn, std::function<void()> answer) {
  waiting_.push_back({std::move(turn), std::move(answer)});
  Next();
}

void SlowExtender::Next() {
  if (busy_ || waiting_.empty()) return;
  busy_ = true;
  const auto number = [](const Call& call) { return call.turn ? call.turn->load() : UINT64_MAX; };
  const auto next = std::min_element(waiting_.begin(), waiting_.end(),
                                     [&](const Call& a, const Call& b) { return number(a) < number(b); });
  timers_.At(clock_.Now() + kTakes, [this, answer = std::move(next->answer)] {
    busy_ = false;
    answer();
    Next();
  });
  waiting_.erase(next);
}

}  // namespace berth::bench
