// SPDX-License-Identifier: Apache-2.0
// Bindings, and those whose answer was lost.
#include "client/pod_binder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace berth::client {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Keeps the questions; the test answers them.
class AskedApi final : public ClusterApi {
 public:
  std::vector<Answer> binds;
  std::vector<std::string> bound;  // what was asked: pod, node and time
  std::vector<std::function<void(const ApiStatus&, Ptr<Pod>)>> gets;

  void List(Kind, std::function<void(ListAnswer)>) override {}
  std::unique_ptr<Watch> StartWatch(Kind, const std::string&, WatchCallbacks) override { return nullptr; }
  void GetPod(const std::string&, const std::string&, std::function<void(const ApiStatus&, Ptr<Pod>)> done) override {
    gets.push_back(std::move(done));
  }
  void Bind(const ObjectName& pod, const std::string& node, Answer done) override {
    bound.push_back(pod.namespace_ + "/" + pod.name + "/" + pod.uid + " " + node);
    binds.push_back(std::move(done));
  }
  void BindBy(util::Deadline until, const ObjectName& pod, const std::string& node, Answer done) override {
    Bind(pod, until == util::kNoDeadline ? node : node + " in time", std::move(done));
  }
  void PatchPodStatus(const PodStatusPatch&, Answer) override {}
  void DeletePod(const ObjectName&, Answer) override {}
  void PostEvent(const EventRecord&, Answer) override {}
  void PatchEvent(const EventRecord&, Answer) override {}
  void GetLease(const std::string&, const std::string&, std::function<void(const ApiStatus&, const Lease&)>) override {}
  void PutLease(const Lease&, std::function<void(const ApiStatus&, const Lease&)>) override {}
};

class PodBinderTest : public ::testing::Test {
 protected:
  void Bind(PodBinder& binder, util::Deadline until = util::kNoDeadline) {
    binder.Bind({"ns", "p", "u"}, "n", until,
                [this](const Verdict& verdict) { said_.push_back(verdict.fits() ? "bound" : verdict.message()); });
  }
  // One whose answer is lost, and what is found instead.
  std::string Lost(const ApiStatus& read, const Ptr<Pod>& pod) {
    PodBinder binder(api_);
    Bind(binder);
    std::exchange(api_.binds, {}).at(0)({0, ""});
    EXPECT_THAT(said_, IsEmpty());
    EXPECT_EQ(binder.open(), 1u);
    std::exchange(api_.gets, {}).at(0)(read, pod);
    EXPECT_EQ(binder.open(), 0u);
    EXPECT_THAT(said_, SizeIs(1));
    return std::exchange(said_, {}).at(0);
  }
  static Ptr<Pod> Seen(const std::string& node, const std::string& uid = "u") {
    auto pod = std::make_shared<Pod>();
    pod->meta.namespace_ = "ns";
    pod->meta.name = "p";
    pod->meta.uid = uid;
    pod->node_name = node;
    return pod;
  }

  AskedApi api_;
  std::vector<std::string> said_;
};

TEST_F(PodBinderTest, AnAnswerIsAnAnswer) {
  PodBinder binder(api_);
  Bind(binder);
  Bind(binder, util::After(Duration::Seconds(7)));
  Bind(binder);
  EXPECT_THAT(api_.bound, ElementsAre("ns/p/u n", "ns/p/u n in time", "ns/p/u n"));
  EXPECT_EQ(binder.open(), 3u);
  api_.binds[0]({201, ""});
  api_.binds[1]({409, "taken"});
  api_.binds[2]({0, "no time left", ErrorKind::kUnsent});
  EXPECT_THAT(said_, ElementsAre("bound", "taken", "no time left"));
  EXPECT_EQ(binder.open(), 0u);
  EXPECT_THAT(api_.gets, IsEmpty());
}

TEST_F(PodBinderTest, ABindingWhoseAnswerWasLostIsWhatThePodSays) {
  EXPECT_EQ(Lost({}, Seen("n")), "bound");
  EXPECT_EQ(Lost({}, Seen("")), "no answer from the API server");
  EXPECT_EQ(Lost({}, Seen("m")), "pod ns/p is already assigned to node \"m\"");
  EXPECT_EQ(Lost({}, Seen("n", "other")), "no answer from the API server; another pod has the name now");
  EXPECT_EQ(Lost({404, "not found"}, nullptr), "no answer from the API server");
  // Of another pod, wherever it is, nothing follows for this one.
  auto stranger = std::make_shared<Pod>(*Seen("n"));
  stranger->meta.name = "q";
  EXPECT_EQ(Lost({}, stranger), "no answer from the API server");
  stranger->meta.name = "p";
  stranger->meta.namespace_ = "other";
  EXPECT_EQ(Lost({}, stranger), "no answer from the API server");
  EXPECT_EQ(Lost({500, "tired"}, nullptr), "no answer from the API server");  // nobody wants to ask again
}

TEST_F(PodBinderTest, WhoWantsToKnowAsksAgain) {
  std::vector<std::pair<int, int>> doubts;  // tries and codes
  std::function<void()> again;
  PodBinder binder(api_, {.watched = nullptr, .retry = [&](const PodBinder::Doubt& doubt, std::function<void()> next) {
                            doubts.emplace_back(doubt.tries, doubt.status.code);
                            again = std::move(next);
                            return true;
                          }});
  Bind(binder);
  api_.binds[0]({503, "overloaded"});
  api_.gets[0]({0, ""}, nullptr);
  again();
  api_.gets[1]({429, ""}, nullptr);
  again();
  EXPECT_THAT(doubts, ElementsAre(std::pair(1, 0), std::pair(2, 429)));
  EXPECT_THAT(said_, IsEmpty());
  api_.gets[2]({}, Seen(""));
  EXPECT_THAT(said_, ElementsAre("overloaded"));
}

TEST_F(PodBinderTest, ALookMayComeBeforeTheBinding) {
  std::vector<bool> early;
  std::function<void()> again;
  PodBinder binder(api_, {.watched = nullptr, .retry = [&](const PodBinder::Doubt& doubt, std::function<void()> next) {
                            early.push_back(doubt.early);
                            EXPECT_EQ(doubt.refusals, 0);
                            again = std::move(next);
                            return true;
                          }});
  const auto lose = [&](const ApiStatus& status) {
    api_.gets.clear();
    early.clear();
    Bind(binder);
    std::exchange(api_.binds, {}).at(0)(status);
    api_.gets.at(0)({}, Seen(""));
  };
  // It arrives after the first look.
  lose({0, "connection lost"});
  EXPECT_THAT(said_, IsEmpty());
  again();
  api_.gets.at(1)({}, Seen("n"));
  EXPECT_THAT(std::exchange(said_, {}), ElementsAre("bound"));
  EXPECT_THAT(early, ElementsAre(true));
  // It never does: two looks are enough.
  lose({0, "connection lost"});
  again();
  api_.gets.at(1)({}, Seen(""));
  EXPECT_THAT(std::exchange(said_, {}), ElementsAre("connection lost"));
  EXPECT_THAT(early, ElementsAre(true));
  // A server that gives up may still do it.
  lose({504, "timed out"});
  EXPECT_THAT(said_, IsEmpty());
  again();
  api_.gets.at(1)({}, Seen("n"));
  EXPECT_THAT(said_, ElementsAre("bound"));
}

TEST_F(PodBinderTest, WhatTheServerRefusesIsCountedAndMayEndTheSearch) {
  std::vector<int> refusals;
  std::function<void()> again;
  PodBinder binder(api_, {.watched = nullptr, .retry = [&](const PodBinder::Doubt& doubt, std::function<void()> next) {
                            refusals.push_back(doubt.refusals);
                            again = std::move(next);
                            return doubt.refusals < 3;
                          }});
  Bind(binder);
  api_.binds[0]({0, ""});
  const std::vector<ApiStatus> answers = {{0, ""},   {403, "forbidden"},
                                          {429, ""}, {0, "no pod", ErrorKind::kOther, true},
                                          {503, ""}, {0, "no credentials", ErrorKind::kUnsent}};
  for (size_t i = 0; i < answers.size(); ++i) {
    api_.gets[i](answers[i], nullptr);
    again();
  }
  EXPECT_THAT(said_, IsEmpty());
  api_.gets.back()({403, "forbidden"}, nullptr);
  EXPECT_THAT(refusals, ElementsAre(0, 1, 1, 2, 2, 2, 3));
  EXPECT_THAT(said_, ElementsAre("no answer from the API server; whether the pod was bound cannot be found out: "
                                 "forbidden"));
  EXPECT_EQ(binder.open(), 0u);
}

TEST_F(PodBinderTest, TheWatchMayKnowAlready) {
  Ptr<Pod> seen;
  PodBinder binder(api_, {.watched = [&](const ObjectName&) { return seen; }, .retry = nullptr});
  Bind(binder);
  Bind(binder);
  api_.binds[0]({0, ""});
  EXPECT_THAT(api_.gets, SizeIs(1));
  seen = Seen("n");
  api_.binds[1]({0, ""});
  EXPECT_THAT(api_.gets, SizeIs(1));
  EXPECT_THAT(said_, ElementsAre("bound"));
}

TEST_F(PodBinderTest, OnceItIsGoneAnswersAreDropped) {
  {
    PodBinder binder(api_);
    Bind(binder);
    Bind(binder);
    api_.binds[0]({0, ""});
  }
  api_.binds[1]({0, ""});
  api_.gets[0]({}, Seen("n"));
  EXPECT_THAT(said_, IsEmpty());
  EXPECT_THAT(api_.gets, SizeIs(1));
}

}  // namespace
}  // namespace berth::client
