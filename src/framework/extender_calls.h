// SPDX-License-Identifier: Apache-2.0
// ExtenderCalls: all extenders of a configuration, asked in kube-scheduler's order and by its rules.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/extender.h"
#include "framework/judge.h"

namespace berth::framework {

// An extender that failed and whose failure does not count. Valid during the call only.
struct SkippedExtender {
  const std::string& extender;
  const char* verb;
  const Pod& pod;
  const std::string& error;
};

// Answers come on the caller's thread, through `post`, each once and never within the call, unless `post` drops what it
// is given. An extender that loses a question has failed.
// Thread safety: one thread.
class ExtenderCalls {
 public:
  // From any thread: runs a letter on the caller's thread, or drops it when nobody waits for it any more.
  using Post = std::function<void(std::function<void()> letter)>;
  // `extenders` in the configuration's order. `skipped` may be null.
  ExtenderCalls(std::vector<std::shared_ptr<Extender>> extenders, Post post,
                std::function<void(const SkippedExtender&)> skipped = nullptr);

  bool empty() const { return extenders_.empty(); }
  // Whether somebody filters or prioritizes nodes for this pod; has a say about preemption's victims.
  bool AsksAboutNodes(const Pod& pod) const;
  bool AsksAboutVictims(const Pod& pod) const;
  bool Prioritizes(const Pod& pod) const;
  // Who binds it; null: the Bind plugins.
  Extender* BinderOf(const Pod& pod) const;

  using Nodes = Extender::Nodes;
  struct Filtered {
    Error error = Error::Ok();                             // of an extender that is not ignorable: nothing else counts
    std::vector<size_t> passed;                            // by place in what was asked, ascending
    std::map<std::string, Verdict, std::less<>> rejected;  // every node that did not pass, whether or not with a reason
  };
  // In turn, each with what the one before has left.
  void Filter(PodInTurn pod, Nodes nodes, std::function<void(Filtered)> done);
  // All at the same time, about those of `nodes` that are at `places`; who fails gives no scores. Scores are as
  // `nodes`.
  void Prioritize(const PodInTurn& asked, const Nodes& nodes, const std::vector<size_t>& places,
                  std::function<void(std::vector<Advice::Scores>)> done);

  using Candidates = std::vector<PreemptionCandidate>;
  // The pods on a node at present; no value: there is no such node.
  using PodsOn = std::function<std::optional<std::vector<std::shared_ptr<const Pod>>>(const std::string& node)>;
  // In turn, each with what the one before has left. What went meanwhile (a node, a victim) is left out and is nobody's
  // fault. `pods_on` is called on the caller's thread.
  void Preempt(PodInTurn pod, Candidates candidates, PodsOn pods_on, std::function<void(Result<Candidates>)> done);
  // REQUIRES: `binder` is BinderOf(pod).
  void Bind(Extender& binder, std::shared_ptr<const Pod> pod, const std::string& node, std::function<void(Error)> done);

 private:
  struct FilterRound;
  struct PreemptRound;
  void FilterFrom(const std::shared_ptr<FilterRound>& round, size_t from);
  void PreemptFrom(const std::shared_ptr<PreemptRound>& round, size_t from);
  void TakeFilter(FilterRound& round, const Extender::Filtered& said) const;
  void Skip(const Extender& extender, const char* verb, const Pod& pod, const Error& error) const;
  // `then` as a callback for an extender: by letter, and also if it is lost.
  template <class T>
  std::function<void(Result<T>)> ByLetter(std::function<void(Result<T>)> then) const;

  std::vector<std::shared_ptr<Extender>> extenders_;  // those that are ignorable last
  Post post_;
  std::function<void(const SkippedExtender&)> skipped_;
};

}  // namespace berth::framework
