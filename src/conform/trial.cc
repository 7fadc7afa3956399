// SPDX-License-Identifier: Apache-2.0
#include "conform/trial.h"

#include <algorithm>
#include <utility>

namespace berth::conform {
namespace {

constexpr size_t kOrdinaryNodes = 12;
constexpr size_t kCandidates = 4;
constexpr size_t kDifference = 120;  // bytes of a decision that are shown
constexpr size_t kUnreadable = 400;

std::set<std::string> Lines(const std::string& text) {
  std::set<std::string> lines;
  for (size_t from = 0; from < text.size();) {
    const size_t end = std::min(text.find('\n', from), text.size());
    lines.insert(text.substr(from, end - from));
    from = end + 1;
  }
  return lines;
}

std::string StatusProblem(const Exchange& exchange) {
  const std::string code = std::to_string(exchange.status);
  if (exchange.status == 404) return "answers 404: verb and URL have to be those of kube-scheduler's configuration";
  if (exchange.status == 307 || exchange.status == 308) {
    const std::string* to = exchange.headers.Find("Location");
    return "answers " + code + ": kube-scheduler would ask at " + (to == nullptr ? "another place" : Excerpt(*to)) +
           ", so check that URL";
  }
  return "answers " + code + ", and kube-scheduler takes nothing but 200: the text of the answer is lost";
}

}  // namespace

Session::Session(const Options& options, Caller& caller)
    : options_(options), caller_(caller), pod_(options.pod.empty() ? MakePod() : options.pod) {
  nodes_ = ManyNodes(options.nodes.empty() ? kOrdinaryNodes : std::min(options.nodes.size(), kOrdinaryNodes));
}

std::span<const SampleNode> Session::nodes(Verb verb) const {
  const std::span<const SampleNode> all(nodes_);
  return verb == Verb::kPreempt ? all.first(std::min(kCandidates, all.size())) : all;
}

std::vector<SampleNode> Session::ManyNodes(size_t count) const {
  std::vector<SampleNode> nodes(
      options_.nodes.begin(), options_.nodes.begin() + static_cast<ptrdiff_t>(std::min(options_.nodes.size(), count)));
  for (size_t i = 0; nodes.size() < count; ++i) nodes.push_back(MakeNode(i, options_.node_labels));
  return nodes;
}

std::vector<SampleNode> Session::BigNodes(Shape shape) const {
  const bool known = shape == Shape::kNames && !options_.nodes.empty();
  return ManyNodes(known ? std::min(options_.big_nodes, options_.nodes.size()) : options_.big_nodes);
}

const std::string& Session::path(Verb verb) const {
  switch (verb) {
    case Verb::kFilter:
      return options_.filter_verb;
    case Verb::kPrioritize:
      return options_.prioritize_verb;
    case Verb::kPreempt:
      return options_.preempt_verb;
    case Verb::kBind:
      break;
  }
  return options_.bind_verb;
}

Question Session::PlainQuestion(Target target) const {
  Question question;
  question.target = target;
  question.pod = pod_;
  question.nodes = nodes(target.verb);
  return question;
}

Asked Session::Ask(Target target, std::string body) {
  return Judge(target, caller_.Post(path(target.verb), std::move(body)));
}

Asked Session::Judge(Target target, Exchange exchange) const {
  Asked asked;
  asked.exchange = std::move(exchange);
  const Exchange& got = asked.exchange;
  if (got.status == 0) {
    asked.problem = got.timed_out ? "does not answer within " + std::to_string(options_.timeout.ns / 1'000'000) + " ms"
                                  : "does not answer: " + got.failure;
  } else if (got.status != 200) {
    asked.problem = StatusProblem(got);
  } else if (!got.garbled.empty()) {
    asked.problem = "answers what kube-scheduler cannot read: " + got.garbled;
  } else if (Result<Reply> reply = ReadReply(target.verb, got.body); !reply.ok()) {
    asked.problem = "answers what kube-scheduler cannot read: " + Excerpt(reply.error().text(), kUnreadable);
  } else {
    asked.reply = std::move(reply).value();
    if (target.verb == Verb::kFilter && !asked.reply.error.empty()) {
      asked.problem = "answers with the Error \"" + Excerpt(asked.reply.error, 200) +
                      "\", which fails the whole attempt to schedule the pod";
    }
  }
  return asked;
}

void Session::Prepare(Target target) {
  if (target.verb == Verb::kBind) {
    bases_.emplace(target, Ask(target, WriteBinding("berth-conform-no-such-pod", "default",
                                                    "00000000-0000-4000-a000-000000000000", nodes_.front().name)));
    return;
  }
  Asked asked = Ask(PlainQuestion(target));
  if (asked.problem.empty() && target.verb != Verb::kPreempt && NodesNamed(target, asked.reply).empty()) {
    asked.problem = "says nothing about any of the " + Count(nodes(target.verb).size(), "node") +
                    (target.verb == Verb::kFilter ? ": kube-scheduler takes it that none passes, without a reason"
                                                  : ": no node gets points");
  }
  bases_.emplace(target, std::move(asked));
}

const Asked* Session::base(Target target) const {
  const auto found = bases_.find(target);
  return found == bases_.end() ? nullptr : &found->second;
}

bool Session::served(Target target) const {
  const Asked* asked = base(target);
  return asked != nullptr && asked->problem.empty();
}

std::vector<Target> Session::ServedVerbs() const {
  std::vector<Target> targets;
  for (const Verb verb : {Verb::kFilter, Verb::kPrioritize, Verb::kPreempt}) {
    for (const Shape shape : {Shape::kNodes, Shape::kNames}) {
      if (!served({verb, shape})) continue;
      targets.push_back({verb, shape});
      break;
    }
  }
  return targets;
}

void Trial::Add(Level level, const std::string& sentence, const Exchange* exchange) {
  Finding finding{level, sentence, "", ""};
  if (exchange != nullptr) {
    finding.sent = exchange->asked;
    finding.received = exchange->Received();
  }
  result.findings.push_back(std::move(finding));
}

std::string Some(const std::vector<std::string>& names) {
  constexpr size_t kShown = 3;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    text += (i == 0 ? "\"" : ", \"") + Excerpt(names[i], 80) + "\"";
  }
  return names.size() > kShown ? text + " and " + std::to_string(names.size() - kShown) + " more" : text;
}

std::string Count(size_t number, std::string_view what) {
  return std::to_string(number) + " " + std::string(what) + (number == 1 ? "" : "s");
}

std::string Difference(const std::string& before, const std::string& after) {
  const std::set<std::string> first = Lines(before), second = Lines(after);
  for (const std::string& line : first) {
    if (!second.contains(line)) return "no longer \"" + Excerpt(line, kDifference) + "\"";
  }
  for (const std::string& line : second) {
    if (!first.contains(line)) return "now \"" + Excerpt(line, kDifference) + "\"";
  }
  return before == after ? "" : "not as often";
}

}  // namespace berth::conform
