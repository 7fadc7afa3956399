// SPDX-License-Identifier: Apache-2.0
// Informers over a socket: a reflector, the door, and a server that cuts, forgets, repeats and lies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "client/live_cluster_test_util.h"
#include "client/reflector.h"
#include "util/random.h"

namespace berth::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Diary final : public ObjectHandler {
 public:
  std::vector<std::string> entries;
  std::vector<std::string> Take() { return std::exchange(entries, {}); }
  void OnAdd(const ClusterObject& after) override { entries.push_back("add " + Text(after)); }
  void OnUpdate(const ClusterObject& before, const ClusterObject& after) override {
    entries.push_back("update " + Text(before) + " " + Text(after));
  }
  void OnDelete(const ClusterObject& before) override { entries.push_back("delete " + Text(before)); }
  static std::string Text(const ClusterObject& object) {
    return MetaOf(object).name + "@" + MetaOf(object).resource_version;
  }
};

class LiveReflectorTest : public LiveClusterTest {
 protected:
  ~LiveReflectorTest() override { reflector_ = nullptr; }
  void Start(FakeApiServer::Answer answer) {
    Serve(std::move(answer));
    if (stream_) server_->StreamLists();
    reflector_ = std::make_unique<Reflector>(Kind::kPod, *api_, diary_, timers_, clock_, [] { return uint64_t{7}; });
    reflector_->Start();
  }
  // With one list that does not change.
  void StartWith(const std::string& list) {
    Start([list](const FakeRequest&) -> FakeReply { return {200, list, ""}; });
  }
  // As Until, for what no timer has to bring about.
  void Await(const std::function<bool()>& done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!done() && std::chrono::steady_clock::now() < end) {
      if (inbox_.Drain() == 0) inbox_.WaitFor(std::chrono::milliseconds(5));
    }
    EXPECT_TRUE(done()) << "it does not come";
  }
  std::vector<std::string> Told(size_t count) {
    Until([&] { return diary_.entries.size() >= count; });
    return diary_.Take();
  }
  // The n-th watch, once the reflector has asked for it.
  std::shared_ptr<FakeWatch> WatchNumber(size_t n) {
    Until([&] { return reflector_->watches() > n; });
    return server_->WaitForWatch(n);
  }
  static std::string From(const FakeWatch& watch) {
    const std::string& target = watch.request().target;
    const size_t begin = target.find("resourceVersion=") + 16;
    return target.substr(begin, target.find('&', begin) - begin);
  }

  bool stream_ = false;  // the server streams lists
  Diary diary_;
  std::unique_ptr<Reflector> reflector_;
};

TEST_F(LiveReflectorTest, ListsAndWatches) {
  StartWith(ListJson("PodList", "10", {PodJson("a", 3)}));
  EXPECT_THAT(Told(1), ElementsAre("add a@3"));
  const auto watch = WatchNumber(0);
  EXPECT_EQ(watch->request().target,
            "/api/v1/pods?fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed&watch=true&"
            "allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds=342");
  watch->Event("ADDED", PodJson("b", 11));
  watch->Event("MODIFIED", PodJson("a", 12));
  watch->Event("DELETED", PodJson("b", 13));
  EXPECT_THAT(Told(3), ElementsAre("add b@11", "update a@3 a@12", "delete b@13"));
}

TEST_F(LiveReflectorTest, ServersThatStreamListsAreNotListed) {
  stream_ = true;
  StartWith("none");
  auto watch = server_->WaitForWatch(0);
  EXPECT_EQ(watch->request().target,
            "/api/v1/pods?fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed&watch=true&"
            "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=342");
  watch->Event("ADDED", PodJson("a", 3));
  watch->Event("ADDED", PodJson("b", 4));
  watch->Event("BOOKMARK", InitialEndJson("Pod", 10));
  watch->Event("MODIFIED", PodJson("a", 12));
  Await([&] { return diary_.entries.size() >= 3; });
  EXPECT_THAT(diary_.Take(), ElementsAre("add a@3", "add b@4", "update a@3 a@12"));

  // Too old: not older than what was seen; that is not there any more either: whatever is there.
  watch->Event("ERROR", StatusJson(410, "too old resource version: 12 (20)", "Expired"));
  Await([&] { return reflector_->lists() == 2; });
  watch = server_->WaitForWatch(1);
  EXPECT_THAT(watch->request().target, HasSubstr("&sendInitialEvents=true&"));
  EXPECT_EQ(From(*watch), "12");
  watch->Event("ERROR", StatusJson(504, "Too large resource version: 12, current: 5"));
  Await([&] { return reflector_->lists() == 3; });
  watch = server_->WaitForWatch(2);
  EXPECT_THAT(watch->request().target, HasSubstr("&sendInitialEvents=true&"));
  EXPECT_THAT(watch->request().target, Not(HasSubstr("resourceVersion=")));
  watch->Event("ADDED", PodJson("b", 4));
  watch->Event("BOOKMARK", InitialEndJson("Pod", 5));
  watch->Event("ADDED", PodJson("c", 6));
  Await([&] { return diary_.entries.size() >= 2; });
  EXPECT_THAT(diary_.Take(), ElementsAre("delete a@12", "add c@6"));
  watch->End();
  Await([&] { return reflector_->watches() == 1; });
  watch = server_->WaitForWatch(3);
  EXPECT_EQ(From(*watch), "6");
  EXPECT_THAT(watch->request().target, Not(HasSubstr("sendInitialEvents")));
  EXPECT_THAT(server_->targets(), IsEmpty());
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(LiveReflectorTest, AServerThatDoesNotStreamListsIsAskedOnce) {
  StartWith(ListJson("PodList", "10", {PodJson("a", 3)}));
  EXPECT_THAT(Told(1), ElementsAre("add a@3"));
  WatchNumber(0)->Event("ERROR", StatusJson(410, "too old resource version"));
  WatchNumber(1);
  EXPECT_EQ(reflector_->lists(), 2u);
  EXPECT_EQ(server_->refused_streams(), 1u);
}

TEST_F(LiveReflectorTest, StreamedListsCanBeSwitchedOff) {
  options_.streamed_lists = false;
  StartWith(ListJson("PodList", "10", {PodJson("a", 3)}));
  EXPECT_THAT(Told(1), ElementsAre("add a@3"));
  EXPECT_EQ(server_->refused_streams(), 0u);
}

TEST_F(LiveReflectorTest, AStreamedListThatLiesIsReplacedByAList) {
  const std::vector<std::string> lies = {
      "garbage\n", "[]\n", "{\"type\":\"WHAT\",\"object\":{}}\n",
      "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Node\",\"metadata\":{\"name\":\"a\"}}}\n",
      "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\",\"metadata\":{\"annotations\":"
      "{\"k8s.io/initial-events-end\":\"true\"}}}}\n"};
  stream_ = true;
  for (const std::string& lie : lies) {
    reflector_ = nullptr;
    StartWith(ListJson("PodList", "10", {PodJson("b", 4)}));
    const auto say = [&](size_t number) {
      const auto watch = server_->WaitForWatch(number);
      watch->Event("ADDED", PodJson("a", 3));
      watch->Send(lie);
    };
    say(0);
    Await([&] { return !reflector_->problem().empty(); });
    Until([&] { return reflector_->lists() == 2; });  // the retry
    say(1);
    Await([&] { return !server_->targets().empty(); });
    EXPECT_THAT(Told(1), ElementsAre("add b@4")) << lie;
  }
}

TEST_F(LiveReflectorTest, ALineThatIsBrokenEveryTimeLeadsToANewList) {
  options_.max_line_bytes = 1000;
  StartWith(ListJson("PodList", "10", {PodJson("a", 3)}));
  EXPECT_THAT(Told(1), ElementsAre("add a@3"));
  size_t watches = 0;
  for (const std::string& line : {std::string("{\"type\":"), std::string(2000, 'x')}) {
    const uint64_t lists = reflector_->lists();
    for (int i = 0; i < 2; ++i) {
      const auto watch = WatchNumber(watches++);
      EXPECT_EQ(From(*watch), "10");
      watch->Send(line + "\n");
    }
    Until([&] { return reflector_->lists() == lists + 1; });
  }
  WatchNumber(watches)->Event("ADDED", PodJson("b", 11));
  EXPECT_THAT(Told(1), ElementsAre("add b@11"));
}

TEST_F(LiveReflectorTest, ACutWatchIsResumedWhereItEnded) {
  StartWith(ListJson("PodList", "10", {}));
  auto watch = WatchNumber(0);
  watch->Event("ADDED", PodJson("a", 11));
  EXPECT_THAT(Told(1), ElementsAre("add a@11"));
  watch->Send(R"({"type":"MODIFIED","object":{"kind":"Pod","meta)");  // cut in the middle of an event
  watch->Cut();
  watch = WatchNumber(1);
  EXPECT_EQ(From(*watch), "11");
  watch->Event("MODIFIED", PodJson("a", 12));
  watch->Send(R"({"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"40"}}})"
              "\n");
  watch->End();
  EXPECT_EQ(From(*WatchNumber(2)), "40");
  EXPECT_THAT(diary_.Take(), ElementsAre("update a@11 a@12"));
  EXPECT_EQ(reflector_->lists(), 1u);
}

TEST_F(LiveReflectorTest, AVersionThatIsTooOldLeadsToAListThatTellsTheDifferences) {
  std::string list = ListJson("PodList", "10", {PodJson("gone", 3), PodJson("same", 4), PodJson("old", 5)});
  Start([&](const FakeRequest&) -> FakeReply { return {200, list, ""}; });
  EXPECT_THAT(Told(3), ElementsAre("add gone@3", "add same@4", "add old@5"));
  const auto watch = WatchNumber(0);
  list = ListJson("PodList", "30", {PodJson("same", 4), PodJson("old", 21), PodJson("new", 22)});
  watch->Event("ERROR", StatusJson(410, "too old resource version: 10 (20)", "Expired"));
  EXPECT_THAT(Told(3), ElementsAre("delete gone@3", "update old@5 old@21", "add new@22"));
  EXPECT_EQ(From(*WatchNumber(1)), "30");
  EXPECT_EQ(server_->targets().back().substr(server_->targets().back().rfind('&') + 1), "resourceVersion=10");
}

TEST_F(LiveReflectorTest, AWatchRefusedWith410LeadsToAListToo) {
  StartWith(ListJson("PodList", "10", {}));
  Until([&] { return reflector_->synced(); });
  const auto watch = WatchNumber(0);
  server_->RefuseWatches({410, StatusJson(410, "too old"), ""});
  watch->Event("ADDED", PodJson("a", 11));
  watch->Cut();
  Until([&] { return reflector_->lists() >= 2; });
  server_->RefuseWatches({0, "", ""});
  Until([&] { return server_->watches() >= 2; });
}

TEST_F(LiveReflectorTest, DuplicatesAndDisorderTellNothingTwice) {
  StartWith(ListJson("PodList", "10", {PodJson("a", 3)}));
  EXPECT_THAT(Told(1), ElementsAre("add a@3"));
  const auto watch = WatchNumber(0);
  watch->Event("ADDED", PodJson("a", 3));
  watch->Event("MODIFIED", PodJson("a", 12));
  watch->Event("MODIFIED", PodJson("a", 11));
  watch->Event("MODIFIED", PodJson("a", 12));
  watch->Event("DELETED", PodJson("b", 15));
  watch->Event("ADDED", PodJson("b", 14));
  watch->Event("ADDED", PodJson("end", 20));
  EXPECT_THAT(Told(2), ElementsAre("update a@3 a@12", "add end@20"));
}

TEST_F(LiveReflectorTest, LiesAreWithstoodAndTheTruthIsLearnt) {
  const std::vector<std::string> lies = {
      "garbage\n", "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Node\",\"metadata\":{\"name\":\"a\"}}}\n",
      "{\"type\":\"WHAT\",\"object\":{}}\n", "[]\n"};
  StartWith(ListJson("PodList", "10", {}));
  for (size_t i = 0; i < lies.size(); ++i) WatchNumber(i)->Send(lies[i]);
  WatchNumber(lies.size())->Event("ADDED", PodJson("a", 11));
  EXPECT_THAT(Told(1), ElementsAre("add a@11"));
}

TEST_F(LiveReflectorTest, AnEndlessLineIsCut) {
  options_.max_line_bytes = 100'000;
  StartWith(ListJson("PodList", "10", {}));
  auto watch = WatchNumber(0);
  std::thread flood([&] {
    while (watch->Send(std::string(10'000, 'x'))) {
    }
  });
  const auto next = WatchNumber(1);  // the flood does not hinder it
  flood.join();                      // the connection is closed
  next->Event("ADDED", PodJson("a", 11));
  EXPECT_THAT(Told(1), ElementsAre("add a@11"));
}

TEST_F(LiveReflectorTest, ServersThatFailAreAskedAgain) {
  int asked = 0;
  Start([&](const FakeRequest&) -> FakeReply {
    switch (++asked) {
      case 1:
        return {500, "broken", ""};
      case 2:
        return {200, "{\"kind\":\"PodList\",\"metadata\":{}}", ""};  // no version
      case 3:
        return {0, "", ""};
      case 4:
        return {429, "", ""};
      default:
        return {200, ListJson("PodList", "10", {PodJson("a", 3)}), ""};
    }
  });
  EXPECT_THAT(Told(1), ElementsAre("add a@3"));
  const auto watch = WatchNumber(0);
  server_->RefuseWatches({500, "broken", ""});
  watch->Cut();
  Until([&] { return reflector_->watches() >= 4; });
  server_->RefuseWatches({0, "", ""});
  Until([&] { return server_->watches() >= 2; });
  // The third answer was asked for anew by the HTTP client; and a server that is ill need not list again.
  EXPECT_EQ(reflector_->lists(), 4u);
  server_->WaitForWatch(1)->Event("ADDED", PodJson("b", 11));
  EXPECT_THAT(Told(1), ElementsAre("add b@11"));
}

TEST_F(LiveReflectorTest, EndingAReflectorEndsItsConnection) {
  StartWith(ListJson("PodList", "10", {}));
  const auto watch = WatchNumber(0);
  reflector_ = nullptr;
  EXPECT_TRUE(watch->Gone());
  inbox_.Drain();
  EXPECT_THAT(diary_.entries, IsEmpty());
}

// A store with a history, from which watches are served as a server does it, but cut, repeated, and forgotten at
// random: whatever is told, told in order it makes the store.
TEST_F(LiveReflectorTest, WhateverIsCutOrForgottenTheCopyBecomesTheStore) {
  struct Change {
    uint64_t version;
    std::string type, name;
  };
  util::Random random(2026);
  std::map<std::string, uint64_t> store;  // name -> version
  std::vector<Change> history;
  uint64_t version = 10, forgotten = 0;
  Start([&](const FakeRequest&) -> FakeReply {
    std::vector<std::string> items;
    for (const auto& [name, at] : store) items.push_back(PodJson(name, at, "u" + name));
    return {200, ListJson("PodList", std::to_string(version), items), ""};
  });
  std::map<std::string, uint64_t> told;
  const auto apply = [&] {
    for (const std::string& entry : diary_.Take()) {
      const std::string last = entry.substr(entry.rfind(' ') + 1);
      const std::string name = last.substr(0, last.find('@'));
      const uint64_t at = VersionNumber(last.substr(last.find('@') + 1));
      if (entry.starts_with("add")) {
        EXPECT_TRUE(told.emplace(name, at).second) << entry;
      } else if (entry.starts_with("update")) {
        EXPECT_LT(std::exchange(told.at(name), at), at) << entry;
      } else {
        EXPECT_EQ(told.erase(name), 1u) << entry;
      }
    }
  };
  Until([&] { return reflector_->synced(); });
  for (size_t round = 0; round < 40; ++round) {
    Until([&] { return server_->watches() > round; });
    const auto watch = server_->WaitForWatch(round);
    ASSERT_NE(watch, nullptr);
    const uint64_t from = VersionNumber(From(*watch));
    if (from < forgotten) {
      watch->Event("ERROR", StatusJson(410, "too old resource version"));
      continue;
    }
    const auto send = [&](const Change& change) {
      watch->Event(change.type, PodJson(change.name, change.version, "u" + change.name));
    };
    for (const Change& change : history) {
      if (change.version > from) send(change);
    }
    for (int64_t i = random.Below(12); i > 0; --i) {
      const std::string name = "p" + std::to_string(random.Below(8));
      const bool there = store.contains(name);
      const bool remove = there && random.Chance(40);
      const Change change{++version, remove ? "DELETED" : there ? "MODIFIED" : "ADDED", name};
      if (remove) {
        store.erase(name);
      } else {
        store[name] = version;
      }
      history.push_back(change);
      send(change);
      if (random.Chance(20)) send(change);
    }
    if (random.Chance(30)) {
      // Changes that this watch does not live to tell, and that may be forgotten before the next.
      store["late"] = ++version;
      history.push_back({version, history.empty() ? "ADDED" : "MODIFIED", "late"});
      if (random.Chance(50)) forgotten = version;
    }
    random.Chance(50) ? watch->End() : watch->Cut();
  }
  Until([&] { return server_->watches() > 40; });
  const auto last = server_->WaitForWatch(40);
  ASSERT_NE(last, nullptr);
  const uint64_t from = VersionNumber(From(*last));
  for (const Change& change : history) {
    if (change.version > from) last->Event(change.type, PodJson(change.name, change.version, "u" + change.name));
  }
  store["end"] = ++version;
  last->Event("ADDED", PodJson("end", version, "uend"));
  Until([&] {
    apply();
    return told.contains("end");
  });
  EXPECT_EQ(told, store);
  EXPECT_GT(reflector_->lists(), 1u);
}

}  // namespace
}  // namespace berth::client
