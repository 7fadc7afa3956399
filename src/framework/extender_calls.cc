// SPDX-License-Identifier: Apache-2.0
// Upstream: schedule_one.go, findNodesThatPassExtenders, prioritizeNodes and extendersBinding; preemption.go,
// callExtenders; scheduler.go, buildExtenders (v1.36.4).
#include "framework/extender_calls.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "util/answer_once.h"
#include "util/text.h"

namespace berth::framework {
namespace {

using VictimMap = Extender::VictimMap;

constexpr size_t kMaxName = 253;  // of what an extender names

// Those at these places.
Extender::Nodes At(const Extender::Nodes& nodes, const std::vector<size_t>& places) {
  if (places.size() == nodes.size()) return nodes;
  std::vector<std::shared_ptr<const Node>> some;
  some.reserve(places.size());
  for (const size_t place : places) some.push_back(nodes[place]);
  return some;
}

Error Lost() { return Error("the extender gave no answer"); }

int64_t Sum(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }

const PreemptionCandidate* Find(const std::vector<PreemptionCandidate>& candidates, const std::string& node) {
  const auto it = std::find_if(candidates.begin(), candidates.end(),
                               [&](const PreemptionCandidate& candidate) { return candidate.node == node; });
  return it == candidates.end() ? nullptr : &*it;
}

// The answer as candidates. `asked`: what the extender was sent.
Result<std::vector<PreemptionCandidate>> Resolve(const ExtenderTraits& extender, const VictimMap& answer,
                                                 const std::vector<PreemptionCandidate>& asked,
                                                 const ExtenderCalls::PodsOn& pods_on) {
  std::vector<PreemptionCandidate> out;
  for (const auto& [node, victims] : answer) {
    const PreemptionCandidate* sent = Find(asked, node);
    const auto pods = pods_on(node);
    if (!pods && sent) continue;  // it went meanwhile
    if (!pods) return Error("nodeinfo not found for node name \"" + util::Shortened(node, kMaxName) + "\"");
    PreemptionCandidate candidate{node, {}, victims.pdb_violations};
    for (const std::string& uid : victims.uids) {
      const auto is = [&](const std::shared_ptr<const Pod>& pod) { return pod->uid() == uid; };
      if (const auto pod = std::find_if(pods->begin(), pods->end(), is); pod != pods->end()) {
        candidate.victims.push_back(*pod);
      } else if (!sent || std::none_of(sent->victims.begin(), sent->victims.end(), is)) {
        return Error("extender: " + extender.name + " claims to preempt pod (UID: &{" + util::Shortened(uid, kMaxName) +
                     "}) on node: " + node + ", but the pod is not found on that node");
      }
    }
    if (victims.uids.empty() && !extender.ignorable)
      return Error("expected at least one victim pod on node \"" + node + "\"");
    if (!candidate.victims.empty()) out.push_back(std::move(candidate));
  }
  return out;
}

}  // namespace

ExtenderCalls::ExtenderCalls(std::vector<std::shared_ptr<Extender>> extenders, Post post,
                             std::function<void(const SkippedExtender&)> skipped)
    : extenders_(std::move(extenders)), post_(std::move(post)), skipped_(std::move(skipped)) {
  std::stable_partition(extenders_.begin(), extenders_.end(),
                        [](const auto& extender) { return !extender->traits().ignorable; });
}

bool ExtenderCalls::AsksAboutNodes(const Pod& pod) const {
  return std::any_of(extenders_.begin(), extenders_.end(), [&](const auto& extender) {
    return (extender->traits().filters || extender->traits().prioritizes) && extender->IsInterested(pod);
  });
}

bool ExtenderCalls::Prioritizes(const Pod& pod) const {
  return std::any_of(extenders_.begin(), extenders_.end(), [&](const auto& extender) {
    return extender->traits().prioritizes && extender->IsInterested(pod);
  });
}

bool ExtenderCalls::AsksAboutVictims(const Pod& pod) const {
  return std::any_of(extenders_.begin(), extenders_.end(),
                     [&](const auto& extender) { return extender->traits().preempts && extender->IsInterested(pod); });
}

Extender* ExtenderCalls::BinderOf(const Pod& pod) const {
  for (const auto& extender : extenders_)
    if (extender->traits().binds && extender->IsInterested(pod)) return extender.get();
  return nullptr;
}

void ExtenderCalls::Skip(const Extender& extender, const char* verb, const Pod& pod, const Error& error) const {
  if (skipped_) skipped_({extender.traits().name, verb, pod, error.text()});
}

template <class T>
std::function<void(Result<T>)> ExtenderCalls::ByLetter(std::function<void(Result<T>)> then) const {
  auto shared = std::make_shared<std::function<void(Result<T>)>>(std::move(then));
  const auto give = [post = post_, shared](Result<T> result) {
    post([shared, result = std::move(result)]() mutable { (*shared)(std::move(result)); });
  };
  return util::AnswerOnce<Result<T>>(give, [](const auto& answer) { answer(Lost()); });
}

struct ExtenderCalls::FilterRound {
  PodInTurn asked;
  Nodes nodes;
  Filtered so_far;
  std::function<void(Filtered)> done;
};

void ExtenderCalls::Filter(PodInTurn pod, Nodes nodes, std::function<void(Filtered)> done) {
  auto round = std::make_shared<FilterRound>(FilterRound{std::move(pod), std::move(nodes), {}, std::move(done)});
  round->so_far.passed.resize(round->nodes.size());
  std::iota(round->so_far.passed.begin(), round->so_far.passed.end(), size_t{0});
  post_([this, round] { FilterFrom(round, 0); });
}

void ExtenderCalls::FilterFrom(const std::shared_ptr<FilterRound>& round, size_t from) {
  Filtered& so_far = round->so_far;
  for (; from < extenders_.size() && !so_far.passed.empty(); ++from) {
    Extender& extender = *extenders_[from];
    if (!extender.traits().filters || !extender.IsInterested(*round->asked.pod)) continue;
    const auto then = [this, round, from](Result<Extender::Filtered> answer) {
      const Extender& asked = *extenders_[from];
      if (answer.ok()) {
        TakeFilter(*round, answer.value());
      } else if (asked.traits().ignorable) {
        Skip(asked, "filter", *round->asked.pod, answer.error());
      } else {
        round->so_far.error = answer.error();
        return round->done(std::move(round->so_far));
      }
      FilterFrom(round, from + 1);
    };
    return extender.Filter(round->asked, At(round->nodes, so_far.passed), ByLetter<Extender::Filtered>(then));
  }
  round->done(std::move(so_far));
}

void ExtenderCalls::TakeFilter(FilterRound& round, const Extender::Filtered& said) const {
  std::vector<uint8_t> passed(round.so_far.passed.size(), 0);  // by place in what this one was asked about
  for (const size_t place : said.passed) passed.at(place) = 1;
  std::vector<size_t> left;
  left.reserve(said.passed.size());
  for (size_t asked = 0; asked < passed.size(); ++asked) {
    const size_t place = round.so_far.passed[asked];
    if (passed[asked]) {
      left.push_back(place);
      continue;
    }
    const std::string& name = round.nodes[place]->name();
    // Without a word about it nothing can be done for it, says upstream.
    Verdict verdict(Code::kUnschedulableAndUnresolvable, std::vector<std::string>{});
    if (const auto hopeless = said.unresolvable.find(name); hopeless != said.unresolvable.end()) {
      verdict = Verdict(Code::kUnschedulableAndUnresolvable, hopeless->second);
    } else if (const auto failed = said.failed.find(name); failed != said.failed.end()) {
      verdict = Verdict(Code::kUnschedulable, failed->second);
    }
    round.so_far.rejected.insert_or_assign(name, std::move(verdict));
  }
  round.so_far.passed = std::move(left);
}

void ExtenderCalls::Prioritize(const PodInTurn& asked, const Nodes& nodes, const std::vector<size_t>& places,
                               std::function<void(std::vector<Advice::Scores>)> done) {
  struct Round {
    Nodes nodes;  // that are asked about
    std::vector<size_t> places;
    size_t size;  // of what these are places in
    std::vector<std::optional<Advice::Scores>> by_extender;
    size_t left = 1;  // this call itself
    std::function<void(std::vector<Advice::Scores>)> done;
    void Take(Advice::Scores& scores, const Extender::Scores& answer) const {
      scores.raw.resize(size);
      for (const auto& [place, score] : answer) {
        std::optional<int64_t>& sum = scores.raw[places.at(place)];
        sum = Sum(sum.value_or(0), score);
      }
    }
    void End() {
      if (--left > 0) return;
      std::vector<Advice::Scores> all;
      for (auto& scores : by_extender)
        if (scores) all.push_back(std::move(*scores));
      done(std::move(all));
    }
  };
  const std::shared_ptr<const Pod>& pod = asked.pod;
  auto round = std::make_shared<Round>();
  round->nodes = At(nodes, places);
  round->places = places;
  round->size = nodes.size();
  round->by_extender.resize(extenders_.size());
  round->done = std::move(done);
  for (size_t i = 0; i < extenders_.size(); ++i) {
    Extender& extender = *extenders_[i];
    if (!extender.traits().prioritizes || !extender.IsInterested(*pod)) continue;
    ++round->left;
    extender.Prioritize(asked, round->nodes,
                        ByLetter<Extender::Scores>([this, round, pod, i](Result<Extender::Scores> answer) {
                          const ExtenderTraits& traits = extenders_[i]->traits();
                          if (answer.ok()) {
                            Advice::Scores& scores = round->by_extender[i].emplace();
                            scores.name = traits.name;
                            scores.weight = traits.weight;
                            round->Take(scores, answer.value());
                          } else {
                            Skip(*extenders_[i], "prioritize", *pod, answer.error());
                          }
                          round->End();
                        }));
  }
  post_([round] { round->End(); });
}

struct ExtenderCalls::PreemptRound {
  PodInTurn asked;
  Candidates candidates;
  PodsOn pods_on;
  std::function<void(Result<Candidates>)> done;
};

void ExtenderCalls::Preempt(PodInTurn pod, Candidates candidates, PodsOn pods_on,
                            std::function<void(Result<Candidates>)> done) {
  auto round = std::make_shared<PreemptRound>(
      PreemptRound{std::move(pod), std::move(candidates), std::move(pods_on), std::move(done)});
  post_([this, round] { PreemptFrom(round, 0); });
}

void ExtenderCalls::PreemptFrom(const std::shared_ptr<PreemptRound>& round, size_t from) {
  for (; from < extenders_.size() && !round->candidates.empty(); ++from) {
    Extender& extender = *extenders_[from];
    if (!extender.traits().preempts || !extender.IsInterested(*round->asked.pod)) continue;
    const auto then = [this, round, from](const Result<VictimMap>& answer) {
      const Extender& asked = *extenders_[from];
      Result<Candidates> left = answer.ok() ? Resolve(asked.traits(), answer.value(), round->candidates, round->pods_on)
                                            : Result<Candidates>(answer.error());
      if (left.ok()) {
        round->candidates = std::move(left).value();
      } else if (asked.traits().ignorable) {
        Skip(asked, "preempt", *round->asked.pod, left.error());
      } else {
        return round->done(std::move(left));
      }
      PreemptFrom(round, from + 1);
    };
    return extender.Preempt(round->asked, round->candidates, ByLetter<VictimMap>(then));
  }
  round->done(std::move(round->candidates));
}

void ExtenderCalls::Bind(Extender& binder, std::shared_ptr<const Pod> pod, const std::string& node,
                         std::function<void(Error)> done) {
  const auto then = [this, &binder, pod, done = std::move(done)](const Result<bool>& answer) {
    if (!answer.ok() && binder.traits().ignorable) Skip(binder, "bind", *pod, answer.error());
    done(answer.ok() ? Error::Ok() : answer.error());
  };
  binder.Bind(pod, node, [answer = ByLetter<bool>(then)](Error error) {
    if (error.ok()) return answer(true);
    answer(std::move(error));
  });
}

}  // namespace berth::framework
