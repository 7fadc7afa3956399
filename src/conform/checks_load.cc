// SPDX-License-Identifier: Apache-2.0
// Size, number, speed: large bodies, many clients, slow ones, ones that vanish.
#include <algorithm>
#include <chrono>
#include <memory>
#include <unordered_set>
#include <utility>

#include "conform/checks.h"
#include "util/secret_hash.h"

namespace berth::conform {
namespace {

using std::chrono::steady_clock;

constexpr size_t kBigRequests = 3;
constexpr size_t kLatencyRequests = 100;
constexpr auto kLatencyTime = std::chrono::seconds(2);
constexpr size_t kSlices = 8, kSliceNodes = 8, kRequests = 64;
constexpr size_t kSlowClients = 16;

std::string Megabytes(size_t bytes) {
  const size_t tenths = (bytes * 10 + 500'000) / 1'000'000;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " MB";
}

// Different questions in turn, all at once; `expected` has the decisions of each asked alone.
void JudgeConcurrent(Trial& trial, Target target) {
  Session& session = trial.session;
  const std::string verb(ToString(target.verb));
  const std::vector<SampleNode> pool = session.ManyNodes(kSlices * kSliceNodes);
  std::vector<std::string> bodies, expected;
  std::vector<std::unordered_set<std::string, SecretStringHash>> own(kSlices);
  for (size_t i = 0; i < kSlices; ++i) {
    Question question = session.PlainQuestion(target);
    question.nodes = std::span(pool).subspan(i * kSliceNodes, kSliceNodes);
    for (const SampleNode& node : question.nodes) own[i].insert(node.name);
    bodies.push_back(WriteQuestion(question));
    const Asked asked = session.Ask(target, bodies.back());
    // A filter may well have an Error for some nodes; it must have the same for them in a crowd.
    if (asked.exchange.status == 0) return trial.Fail(verb + " " + asked.problem, asked);
    expected.push_back(asked.problem.empty() ? Decision(target, asked.reply)
                                             : "status " + std::to_string(asked.exchange.status));
  }
  std::vector<std::string> crowd;
  for (size_t i = 0; i < kRequests; ++i) crowd.push_back(bodies[i % kSlices]);
  std::vector<Exchange> exchanges = session.caller().PostAll(session.path(target.verb), crowd);
  for (size_t i = 0; i < exchanges.size(); ++i) {
    const size_t slice = i % kSlices;
    const Asked asked = session.Judge(target, std::move(exchanges[i]));
    const std::string decision =
        asked.problem.empty() ? Decision(target, asked.reply) : "status " + std::to_string(asked.exchange.status);
    const std::string among = " (one of " + std::to_string(kRequests) + " requests at once)";
    if (!asked.problem.empty() && decision != expected[slice]) {
      return trial.Fail(verb + " " + asked.problem + among, asked);
    }
    for (const std::string& name : NodesNamed(target, asked.reply)) {
      if (own[slice].contains(name)) continue;
      return trial.Fail(verb + " speaks of \"" + Excerpt(name, 80) + "\", which another request asked about" + among,
                        &asked.exchange);
    }
    if (decision != expected[slice] && !session.varies(target)) {
      return trial.Fail(verb + " decides otherwise in a crowd: " + Difference(expected[slice], decision) + among,
                        &asked.exchange);
    }
  }
}

// Connections that have sent a part of a request. Fewer than asked for when the server takes no more.
std::vector<std::unique_ptr<net::RawConnection>> Stall(Caller& caller, const std::string& bytes, size_t count) {
  std::vector<std::unique_ptr<net::RawConnection>> stalled;
  for (size_t i = 0; i < count; ++i) {
    Result<std::unique_ptr<net::RawConnection>> connection = caller.Connect();
    // Every other one stops within the body, the rest within the header.
    const size_t part = i % 2 == 0 ? bytes.size() - bytes.size() / 4 : bytes.find("Content-Length") + 5;
    if (!connection.ok() || !(*connection)->Send(std::string_view(bytes).substr(0, part), caller.Deadline()).ok())
      break;
    stalled.push_back(std::move(connection).value());
  }
  return stalled;
}

}  // namespace

void CheckBig(Trial& trial) {
  Session& session = trial.session;
  const std::vector<SampleNode> nodes = session.BigNodes(trial.target.shape);
  Question question = session.PlainQuestion(trial.target);
  question.nodes = nodes;
  const std::string body = WriteQuestion(question);
  std::vector<double> times;
  for (size_t i = 0; i < kBigRequests; ++i) {
    const Asked asked = session.Ask(trial.target, body);
    if (!asked.problem.empty()) {
      return trial.Fail(
          "asked about " + Count(nodes.size(), "node") + " (" + Megabytes(body.size()) + "), it " + asked.problem,
          asked);
    }
    times.push_back(asked.exchange.milliseconds);
    if (i > 0) continue;
    if (trial.target.verb == Verb::kFilter) {
      JudgeSubset(trial, asked, nodes);
      JudgeComplete(trial, asked, nodes);
    } else {
      JudgeHosts(trial, asked, nodes);
    }
  }
  trial.Say(Count(nodes.size(), "node") + ", " + Megabytes(body.size()));
  session.latencies().push_back(MakeLatency(ToString(trial.target), nodes.size(), std::move(times)));
}

void CheckLatency(Trial& trial) {
  Session& session = trial.session;
  const std::string body = WriteQuestion(session.PlainQuestion(trial.target));
  const auto end = steady_clock::now() + kLatencyTime;
  std::vector<double> times;
  while (times.size() < kLatencyRequests && (times.empty() || steady_clock::now() < end)) {
    const Asked asked = session.Ask(trial.target, body);
    if (!asked.problem.empty()) {
      return trial.Fail("after " + Count(times.size(), "good answer") + " it " + asked.problem, asked);
    }
    times.push_back(asked.exchange.milliseconds);
  }
  const Latency latency =
      MakeLatency(ToString(trial.target), session.nodes(trial.target.verb).size(), std::move(times));
  session.latencies().push_back(latency);
  const double half = static_cast<double>(session.options().timeout.ns) / 2e6;
  if (latency.p99 > half) {
    trial.Warn(
        "one answer in a hundred takes more than half of the timeout; kube-scheduler schedules nothing meanwhile");
  }
}

void CheckConcurrency(Trial& trial) {
  for (const Target target : trial.session.ServedVerbs()) JudgeConcurrent(trial, target);
}

void CheckSlowClient(Trial& trial) {
  Session& session = trial.session;
  const Target target = session.ServedVerbs().front();
  const std::string body = WriteQuestion(session.PlainQuestion(target));
  const std::string bytes = session.caller().Bytes(session.path(target.verb), body);
  std::vector<std::unique_ptr<net::RawConnection>> first = Stall(session.caller(), bytes, 1);
  if (first.empty()) return trial.Fail("takes no further connection");
  // Several at once: one of them may be lucky.
  for (const Exchange& exchange : session.caller().PostAll(session.path(target.verb), {body, body, body, body})) {
    const Asked asked = session.Judge(target, exchange);
    if (asked.problem.empty()) continue;
    return trial.Fail("while one client is slow to send its request, it " + asked.problem, asked);
  }
  const std::vector<std::unique_ptr<net::RawConnection>> more = Stall(session.caller(), bytes, kSlowClients);
  for (const Exchange& exchange : session.caller().PostAll(session.path(target.verb), {body, body, body, body})) {
    const Asked asked = session.Judge(target, exchange);
    if (asked.problem.empty()) continue;
    return trial.Warn(
        "while " + Count(kSlowClients + 1, "client") + " are slow to send their requests, it " + asked.problem,
        &asked.exchange);
  }
  // The slow one gets its answer, or is told that it was too slow, or finds itself cut off.
  const std::string_view rest = std::string_view(bytes).substr(bytes.size() - bytes.size() / 4);
  if (!first.front()->Send(rest, session.caller().Deadline()).ok()) return;
  const net::Deadline deadline = session.caller().Deadline();
  const Result<std::string> answer = first.front()->Receive(deadline);
  if (!answer.ok() && std::chrono::steady_clock::now() >= deadline) {
    trial.Warn("does not answer a request that came in two pieces");
  }
}

void CheckVanishingClient(Trial& trial) {
  Session& session = trial.session;
  const Target target = session.ServedVerbs().front();
  const std::string body = WriteQuestion(session.PlainQuestion(target));
  const std::string bytes = session.caller().Bytes(session.path(target.verb), body);
  for (std::unique_ptr<net::RawConnection>& connection : Stall(session.caller(), bytes, kSlowClients)) {
    connection->Vanish();
  }
  // And one that does not wait for its answer.
  Result<std::unique_ptr<net::RawConnection>> connection = session.caller().Connect();
  if (connection.ok() && (*connection)->Send(bytes, session.caller().Deadline()).ok()) (*connection)->Vanish();
  for (int i = 0; i < 4; ++i) {
    const Asked asked = session.Ask(target, body);
    if (!asked.problem.empty()) {
      return trial.Fail("after clients have gone in mid-request, it " + asked.problem, asked);
    }
  }
}

}  // namespace berth::conform
