// SPDX-License-Identifier: Apache-2.0
#include "conform/run.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "conform/checks.h"

namespace berth::conform {
namespace {

// "filter.nodes.big" is meant by its name, by "filter", by "filter.nodes" and by "big".
bool IsMeant(const std::string& name, const std::string& word) {
  return name == word || name.starts_with(word + ".") || name.ends_with("." + word);
}

bool IsSkipped(const std::string& name, const Options& options) {
  return std::ranges::any_of(options.skip, [&](const std::string& word) { return IsMeant(name, word); });
}

Error CheckOptions(const Options& options) {
  for (const std::string& word : options.skip) {
    const bool known = std::ranges::any_of(AllChecks(), [&](const Check& check) { return IsMeant(check.name, word); });
    if (!known) return Error("no check is named \"" + word + "\"; --list-checks names them all");
  }
  if (options.filter_verb.empty() && options.prioritize_verb.empty() && options.preempt_verb.empty() &&
      options.bind_verb.empty()) {
    return Error("no verb is to be checked");
  }
  return Error::Ok();
}

bool IsWanted(Target target, const Options& options) {
  if (target.verb == Verb::kBind) return target.shape == Shape::kNodes;
  return options.shapes != (target.shape == Shape::kNodes ? Shapes::kNames : Shapes::kNodes);
}

// Whether anybody is there: any answer counts.
std::string WhyUnreachable(Session& session, const std::vector<Target>& asked) {
  std::string failure;
  for (const Target target : asked) {
    const Exchange& exchange = session.base(target)->exchange;
    if (exchange.status != 0) return "";
    if (failure.empty()) failure = exchange.failure;
  }
  net::ClientRequest request;
  const Exchange exchange = session.caller().Send(std::move(request));
  if (exchange.status != 0) return "";
  return failure.empty() ? exchange.failure : failure;
}

// Why a check cannot be made; empty: it can.
std::string WhySkipped(const Check& check, const Session& session) {
  if (IsSkipped(check.name, session.options())) return "as asked";
  if (check.server) return session.ServedVerbs().empty() ? "no verb is served" : "";
  if (session.base(check.target) == nullptr) return "as asked";
  const bool answers = check.name == ToString(check.target) + ".answers";
  if (!answers && !session.served(check.target)) return ToString(check.target) + " is not served";
  return "";
}

// What whoever reads of these failures may not know; empty: nothing.
std::string HintFor(const Session& session, const std::vector<Target>& asked) {
  const Options& options = session.options();
  if (!options.nodes.empty() || !options.node_labels.empty()) return "";
  const bool refused = std::ranges::any_of(asked, [&](Target target) {
    const Asked* base = session.base(target);
    return target.shape == Shape::kNodes && base->exchange.status == 200 && !base->problem.empty();
  });
  if (!refused) return "";
  return "the nodes were made up: an extender that wants a label needs --node-label KEY=VALUE, one that knows its "
         "cluster's nodes alone --nodes-file";
}

}  // namespace

Result<Report> Run(const Options& options) {
  if (const Error error = CheckOptions(options); !error.ok()) return error;
  Result<std::unique_ptr<Caller>> caller = Caller::Create(options);
  if (!caller.ok()) return caller.error();
  Session session(options, **caller);
  Report report;
  report.url = options.url;

  std::vector<Target> asked;
  for (const Check& check : AllChecks()) {
    const Target target = check.target;
    if (check.server || !check.name.ends_with(".answers") || session.path(target.verb).empty()) continue;
    if (!IsWanted(target, options) || IsSkipped(check.name, options)) continue;
    session.Prepare(target);
    asked.push_back(target);
  }
  if (!asked.empty()) report.unreachable = WhyUnreachable(session, asked);
  if (!report.unreachable.empty()) return report;

  for (const Check& check : AllChecks()) {
    if (!check.server && (session.path(check.target.verb).empty() || !IsWanted(check.target, options))) continue;
    CheckResult& result = report.checks.emplace_back();
    result.name = check.name;
    result.verdict = WhySkipped(check, session);
    result.skipped = !result.verdict.empty();
    if (result.skipped) continue;
    result.verdict = check.about;
    Trial trial{session, check.target, result};
    check.run(trial);
  }
  report.latencies = session.latencies();
  if (report.failed() > 0) report.hint = HintFor(session, asked);
  return report;
}

}  // namespace berth::conform
