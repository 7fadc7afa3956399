// SPDX-License-Identifier: Apache-2.0
// Session: one run against one extender, what every check has at hand. Trial: one check being made.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conform/caller.h"
#include "conform/options.h"
#include "conform/reply.h"
#include "conform/report.h"
#include "conform/request.h"

namespace berth::conform {

// A question, answered.
struct Asked {
  Exchange exchange;
  Reply reply;
  std::string problem;  // why the answer is of no use to kube-scheduler; empty: it is
};

// Thread safety: none.
class Session {
 public:
  // REQUIRES: options and caller outlive the session.
  Session(const Options& options, Caller& caller);

  const Options& options() const { return options_; }
  Caller& caller() { return caller_; }
  const std::string& pod() const { return pod_; }
  // Those of ordinary questions, a dozen; candidates of preemption are the first few of them.
  std::span<const SampleNode> nodes(Verb verb) const;
  // Others besides, up to so many.
  std::vector<SampleNode> ManyNodes(size_t count) const;
  // Those of the largest question. Names of a file are not joined by others: an extender that looks names up in its
  // cluster may well fail over names that no cluster has.
  std::vector<SampleNode> BigNodes(Shape shape) const;
  // Empty: not to be checked.
  const std::string& path(Verb verb) const;

  Question PlainQuestion(Target target) const;
  Asked Ask(Target target, std::string body);
  Asked Ask(const Question& question) { return Ask(question.target, WriteQuestion(question)); }
  // What kube-scheduler makes of an answer.
  Asked Judge(Target target, Exchange exchange) const;

  // Asks the plain question once, for good.
  void Prepare(Target target);
  // Null: not asked. The answer to the plain question.
  const Asked* base(Target target) const;
  bool served(Target target) const;
  // One target of each verb that is served.
  std::vector<Target> ServedVerbs() const;

  // Equal questions were answered differently.
  void SetVaries(Target target) { varying_.insert(target); }
  bool varies(Target target) const { return varying_.contains(target); }

  std::vector<Latency>& latencies() { return latencies_; }

 private:
  const Options& options_;
  Caller& caller_;
  std::string pod_;
  std::vector<SampleNode> nodes_;
  std::map<Target, Asked> bases_;
  std::set<Target> varying_;
  std::vector<Latency> latencies_;
};

struct Trial {
  Session& session;
  Target target;  // without meaning for checks of the server
  CheckResult& result;

  void Fail(const std::string& sentence, const Exchange* exchange = nullptr) { Add(Level::kError, sentence, exchange); }
  void Fail(const std::string& sentence, const Asked& asked) { Fail(sentence, &asked.exchange); }
  void Warn(const std::string& sentence, const Exchange* exchange = nullptr) {
    Add(Level::kWarning, sentence, exchange);
  }
  void Add(Level level, const std::string& sentence, const Exchange* exchange);
  // What was seen when there is nothing to complain about; without a call it is what the check is about.
  void Say(std::string sentence) { result.verdict = std::move(sentence); }
  const Asked& base() const { return *session.base(target); }
};

// `"a", "b", "c" and 7 more`
std::string Some(const std::vector<std::string>& names);
// "1 node", "2 nodes"
std::string Count(size_t number, std::string_view what);
// The first line of two decisions that only one of them has, and whose it is, fit to be shown; empty: they are equal.
std::string Difference(const std::string& before, const std::string& after);

}  // namespace berth::conform
