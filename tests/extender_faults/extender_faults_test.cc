// SPDX-License-Identifier: Apache-2.0
// The faulty extenders that `berth conform` finds out, from the other side: what our client makes of each, which is
// what kube-scheduler makes of it unless COMPATIBILITY.md says otherwise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/source_text.h"
#include "berth/testing.h"
#include "conform/faulty_extender_test_util.h"
#include "extender_client/http_extender.h"
#include "framework/extender_calls.h"

namespace berth {
namespace {

using conform::Fault;
using framework::Extender;

template <class T>
T Answer(const std::function<void(std::function<void(T)>)>& ask) {
  auto promise = std::make_shared<std::promise<std::optional<T>>>();
  ask([promise](T answer) { promise->set_value(std::move(answer)); });
  return *promise->get_future().get();
}

class FaultyClient {
 public:
  FaultyClient(const std::string& url, bool names) {
    config::Extender config;
    config.url_prefix = url;
    config.filter_verb = "filter";
    config.prioritize_verb = "prioritize";
    config.preempt_verb = "preempt";
    config.bind_verb = "bind";
    config.weight = 1;
    config.http_timeout = Duration::Seconds(20);
    config.node_cache_capable = names;
    auto made = extender_client::HttpExtender::Make(config);
    EXPECT_TRUE(made.ok()) << made.error().text();
    extender_ = std::move(made).value();
    for (int i = 0; i < 5; ++i) {
      const std::string name = "n" + std::to_string(i);
      nodes_.push_back(WithSource<Node>(MakeNode(name), R"({"metadata":{"name":")" + name + R"("},"spec":{}})"));
    }
    for (int i = 0; i < 3; ++i) {
      PreemptionCandidate& candidate = candidates_.emplace_back();
      candidate.node = nodes_.at(static_cast<size_t>(i))->name();
      candidate.pdb_violations = i + 1;
      for (const char* which : {"a", "b"}) {
        const std::string uid = candidate.node + which;
        candidate.victims.push_back(WithSource(MakePod(uid).Uid(uid).OnNode(candidate.node).Build(),
                                               R"({"metadata":{"name":")" + uid + R"(","uid":")" + uid + R"("}})"));
      }
    }
  }

  // "n0 n1 n2 n4 | n3=ends in 3", or "error: …".
  std::string Filter() {
    const auto answer =
        Answer<Result<Extender::Filtered>>([&](auto done) { extender_->Filter(pod_, nodes_, std::move(done)); });
    if (!answer.ok()) return "error: " + answer.error().text();
    std::string text;
    for (const size_t place : answer->passed) text += nodes_[place]->name() + " ";
    text += "|";
    for (const auto& [name, why] : answer->failed) text.append(" ").append(name).append("=").append(why);
    return text;
  }
  // "n0=0 n1=1 …", or "error".
  std::string Prioritize() {
    const auto answer =
        Answer<Result<Extender::Scores>>([&](auto done) { extender_->Prioritize(pod_, nodes_, std::move(done)); });
    if (!answer.ok()) return "error: " + answer.error().text();
    std::string text;
    for (const auto& [place, score] : *answer)
      text.append(text.empty() ? "" : " ").append(nodes_[place]->name()).append("=").append(std::to_string(score));
    return text;
  }
  // What is left of the candidates: "n0(1): n0a n0b; …", or "error: …".
  std::string Preempt() {
    framework::ExtenderCalls calls({extender_}, [](const std::function<void()>& letter) { letter(); });
    const auto left = Answer<Result<framework::ExtenderCalls::Candidates>>([&](auto done) {
      calls.Preempt(
          pod_, candidates_,
          [&](const std::string& node) -> std::optional<std::vector<Ptr<Pod>>> {
            for (const auto& candidate : candidates_)
              if (candidate.node == node) return candidate.victims;
            return std::nullopt;
          },
          std::move(done));
    });
    if (!left.ok()) return "error: " + left.error().text();
    std::string text;
    for (const PreemptionCandidate& candidate : *left) {
      text += (text.empty() ? "" : "; ") + candidate.node + "(" + std::to_string(candidate.pdb_violations) + "):";
      for (const auto& victim : candidate.victims) text += " " + victim->uid();
    }
    return text;
  }
  std::string Bind() {
    const Error error = Answer<Error>([&](auto done) { extender_->Bind(pod_, "n1", std::move(done)); });
    return error.ok() ? "bound" : "error: " + error.text();
  }
  std::string Ask(const std::string& verb) {
    return verb == "filter" ? Filter() : verb == "prioritize" ? Prioritize() : verb == "preempt" ? Preempt() : Bind();
  }

 private:
  const Ptr<Pod> pod_ = WithSource(MakePod("p").Uid("u-p").Build(), R"({"metadata":{"name":"p"}})");
  std::vector<Ptr<Node>> nodes_;
  std::vector<PreemptionCandidate> candidates_;
  std::shared_ptr<extender_client::HttpExtender> extender_;
};

constexpr char kRightFilter[] = "n0 n1 n2 n4 | n3=ends in 3";
constexpr char kRightScores[] = "n0=0 n1=1 n2=2 n3=3 n4=4";
constexpr char kRightVictims[] = "n0(1): n0a n0b; n2(3): n2a n2b";

struct OtherSide {
  Fault fault;
  const char* verb;
  std::string names,
      nodes;  // what comes of it, by what is sent; @ stands for the extender's URL, a * at the end for more
};

class OtherSideTest : public ::testing::TestWithParam<OtherSide> {};
void PrintTo(const OtherSide& c, std::ostream* out) {
  *out << "fault " << static_cast<int>(c.fault) << " of " << c.verb;
}

TEST_P(OtherSideTest, ComesToWhatKubeSchedulerMakesOfIt) {
  const OtherSide& param = GetParam();
  for (const bool names : {true, false}) {
    SCOPED_TRACE(names ? "names" : "complete nodes");
    const conform::FaultyExtender server(param.fault);
    FaultyClient client(server.url(), names);
    std::string want = names ? param.names : param.nodes;
    if (const size_t at = want.find('@'); at != std::string::npos) want.replace(at, 1, server.url());
    const bool part = want.ends_with('*');
    if (part) want.pop_back();
    for (int i = 0; i < 2; ++i) {  // the same again: nothing is left of the first
      const std::string got = client.Ask(param.verb);
      EXPECT_EQ(part ? got.substr(0, want.size()) : got, want);
    }
  }
}

OtherSide Both(Fault fault, const char* verb, const std::string& want) { return {fault, verb, want, want}; }

INSTANTIATE_TEST_SUITE_P(
    AnyVerb, OtherSideTest,
    ::testing::Values(Both(Fault::kNone, "filter", kRightFilter), Both(Fault::kNone, "prioritize", kRightScores),
                      Both(Fault::kNone, "preempt", kRightVictims), Both(Fault::kNone, "bind", "error: no such pod"),
                      Both(Fault::kNotFound, "filter", "error: failed filter with extender at URL @/filter, code 404"),
                      Both(Fault::kFails, "prioritize",
                           "error: failed prioritize with extender at URL @/prioritize, code 500"),
                      Both(Fault::kFails, "preempt", "error: failed preempt with extender at URL @/preempt, code 500"),
                      Both(Fault::kFails, "bind", "error: failed bind with extender at URL @/bind, code 500"),
                      Both(Fault::kNotJson, "filter", "error: *"), Both(Fault::kNotJson, "bind", "error: *"),
                      Both(Fault::kWrongTop, "filter", "error: *"), Both(Fault::kWrongTop, "prioritize", "error: *"),
                      Both(Fault::kWrongTop, "preempt", "error: *"), Both(Fault::kSaysNothing, "filter", "|"),
                      Both(Fault::kSaysNothing, "prioritize", ""), Both(Fault::kSaysNothing, "preempt", ""),
                      Both(Fault::kSaysNothing, "bind", "bound"),
                      OtherSide{Fault::kNodesOnly, "filter",
                                "error: failed filter with extender at URL @/filter, code 500", kRightFilter},
                      Both(Fault::kGzip, "filter", kRightFilter),  // which nobody asked for
                      Both(Fault::kBrokenGzip, "filter", "error: *"), Both(Fault::kOddCoding, "filter", kRightFilter)));

INSTANTIATE_TEST_SUITE_P(
    Filter, OtherSideTest,
    ::testing::Values(
        Both(Fault::kError, "filter", "error: not today"),
        Both(Fault::kInventsNode, "filter",
             "error: extender \"@\" claims a filtered node \"a-node-of-mine\" which is not found in the input node "
             "list"),
        Both(Fault::kRepeatsNode, "filter", kRightFilter),
        OtherSide{Fault::kOtherKind, "filter", kRightFilter, "| n3=ends in 3"},
        Both(Fault::kForgetsNode, "filter", "n0 n1 n2 n4 |"),
        Both(Fault::kPassesAndFails, "filter", "n0 n1 n2 n4 | n0=or not n3=ends in 3"),
        Both(Fault::kGivesNoReason, "filter", "n0 n1 n2 n4 | n3="),
        Both(Fault::kFailsStranger, "filter", "n0 n1 n2 n4 | a-node-of-mine=mine n3=ends in 3"),
        Both(Fault::kLatin1, "filter", "n0 n1 n2 n4 | n3=endet auf 3 f\uFFFDr immer"),
        Both(Fault::kHalfCharacter, "filter", "n0 n1 n2 n4 | n3=ends in \uFFFD"),
        Both(Fault::kStripsNode, "filter", kRightFilter)));

INSTANTIATE_TEST_SUITE_P(Prioritize, OtherSideTest,
                         ::testing::Values(Both(Fault::kTextScore, "prioritize", "error: *"),
                                           Both(Fault::kFractionalScore, "prioritize", "error: *"),
                                           Both(Fault::kForgetsHost, "prioritize", "n0=0 n1=1 n2=2 n3=3"),
                                           Both(Fault::kRepeatsHost, "prioritize", "n0=0 n0=0 n1=1 n2=2 n3=3 n4=4"),
                                           Both(Fault::kInventsHost, "prioritize", kRightScores),
                                           Both(Fault::kHighScore, "prioritize", "n0=100 n1=100 n2=100 n3=100 n4=100"),
                                           Both(Fault::kHugeScore, "prioritize",
                                                "n0=9223372036854775807 n1=9223372036854775807 *")));

INSTANTIATE_TEST_SUITE_P(
    Preempt, OtherSideTest,
    ::testing::Values(
        Both(Fault::kInventsCandidate, "preempt", "error: nodeinfo not found for node name \"a-node-of-mine\""),
        Both(Fault::kNullCandidate, "preempt", "error: *"), Both(Fault::kOtherMap, "preempt", ""),
        Both(Fault::kNullVictim, "preempt", "error: *"),
        Both(Fault::kNoVictims, "preempt", "error: expected at least one victim pod on node \"n0\""),
        Both(Fault::kInventsVictim, "preempt",
             "error: extender: @ claims to preempt pod (UID: &{mine}) on node: n0, but the pod is not found on that "
             "node"),
        Both(Fault::kRepeatsVictim, "preempt", "n0(1): n0a n0b n0a; n2(3): n2a n2b n2a"),
        Both(Fault::kReordersVictims, "preempt", "n0(1): n0b n0a; n2(3): n2b n2a"),
        Both(Fault::kForgetsBudgets, "preempt", "n0(0): n0a n0b; n2(0): n2a n2b"),
        Both(Fault::kGetsWorse, "preempt", "error: expected at least one victim pod on node \"n2\""),
        Both(Fault::kClaimsToBind, "bind", "bound")));

// Servers with one thread that close every connection, say so or not, or speak an older protocol.
TEST(OtherSideServerTest, SimpleServersAreAskedAgainAndAgain) {
  for (const Fault fault : {Fault::kOneAtATime, Fault::kOldHttp, Fault::kShouts, Fault::kHangsUp}) {
    SCOPED_TRACE(static_cast<int>(fault));
    const conform::FaultyExtender server(fault);
    FaultyClient client(server.url(), true);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(client.Ask(i % 2 == 0 ? "filter" : "prioritize"), i % 2 == 0 ? kRightFilter : kRightScores);
    }
  }
}

}  // namespace
}  // namespace berth
