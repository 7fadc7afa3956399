// SPDX-License-Identifier: Apache-2.0
// The feed against a cluster whose answers the test gives.
#include "extender/cluster_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>

#include "berth/testing.h"
#include "extender/extender_server.h"
#include "extender/preset_plugins.h"
#include "extender/presets.h"
#include "net/http_test_util.h"
#include "util/steady_clock.h"

namespace berth::extender {
namespace {

using client::ApiStatus;
using client::WatchEvent;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// What the test and the feed's thread share.
struct World {
  util::Inbox* inbox = nullptr;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<Kind, std::vector<ClusterObject>> objects;
  std::map<Kind, client::WatchCallbacks> watches;
  std::map<std::string, Pod> pods;  // for GetPod, by namespace/name
  std::vector<std::string> bound;
  util::Deadline bind_by;  // of the last one
  ApiStatus bind_status, get_status;
  std::function<void()> before_get;  // called when a pod is asked for
  std::vector<Kind> listed;
  size_t started = 0;  // watches
  // A binding is not answered before the door is closed, and then as one that was lost.
  bool hold_binds = false;
  std::vector<client::Answer> held;
  bool answer_lists = true;
  ApiStatus list_status;

  // The watch of this kind sends an event. Waits for the watch.
  void Send(Kind kind, WatchEvent event) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return watches.contains(kind); });
    inbox->Post([callbacks = watches[kind], event = std::move(event)] { callbacks.event(event); });
  }
};

class FakeApi final : public client::ClusterApi {
 public:
  explicit FakeApi(World& world) : world_(world) {}
  ~FakeApi() override {
    for (client::Answer& done : world_.held) world_.inbox->Post([done = std::move(done)] { done({0, "cancelled"}); });
    world_.held.clear();
  }

  void List(Kind kind, std::function<void(client::ListAnswer)> done) override {
    const std::lock_guard lock(world_.mutex);
    world_.listed.push_back(kind);
    if (!world_.answer_lists) return;
    client::ListAnswer answer;
    answer.status = world_.list_status;
    answer.objects = world_.objects[kind];
    answer.resource_version = "100";
    world_.inbox->Post([done = std::move(done), answer = std::move(answer)] { done(answer); });
  }
  std::unique_ptr<client::Watch> StartWatch(Kind kind, const std::string&, client::WatchCallbacks callbacks) override {
    const std::lock_guard lock(world_.mutex);
    world_.watches[kind] = std::move(callbacks);
    ++world_.started;
    world_.changed.notify_all();
    return std::make_unique<client::Watch>();
  }
  void GetPod(const std::string& ns, const std::string& name,
              std::function<void(const ApiStatus&, Ptr<Pod>)> done) override {
    const std::lock_guard lock(world_.mutex);
    if (world_.before_get) world_.before_get();
    const auto it = world_.pods.find(ns + "/" + name);
    ApiStatus status = world_.get_status;
    Ptr<Pod> pod;
    if (it == world_.pods.end()) status = {404, "pods \"" + name + "\" not found"};
    if (status.ok()) pod = std::make_shared<const Pod>(it->second);
    world_.inbox->Post([done = std::move(done), status, pod] { done(status, pod); });
  }
  void BindBy(util::Deadline until, const client::ObjectName& pod, const std::string& node,
              client::Answer done) override {
    world_.bind_by = until;
    Bind(pod, node, std::move(done));
  }
  void Bind(const client::ObjectName& pod, const std::string& node, client::Answer done) override {
    const std::lock_guard lock(world_.mutex);
    world_.bound.push_back(pod.namespace_ + "/" + pod.name + " (" + pod.uid + ") to " + node);
    world_.changed.notify_all();
    if (world_.hold_binds) return world_.held.push_back(std::move(done));
    world_.inbox->Post([done = std::move(done), status = world_.bind_status] { done(status); });
  }
  void PatchPodStatus(const client::PodStatusPatch&, client::Answer) override {}
  void DeletePod(const client::ObjectName&, client::Answer) override {}
  void PostEvent(const client::EventRecord&, client::Answer) override {}
  void PatchEvent(const client::EventRecord&, client::Answer) override {}
  void GetLease(const std::string&, const std::string&,
                std::function<void(const ApiStatus&, const client::Lease&)>) override {}
  void PutLease(const client::Lease&, std::function<void(const ApiStatus&, const client::Lease&)>) override {}

 private:
  World& world_;
};

template <class T>
std::shared_ptr<const T> Versioned(T object, const std::string& version, const std::string& uid) {
  object.meta.resource_version = version;
  object.meta.uid = uid;
  return std::make_shared<const T>(std::move(object));
}
Ptr<Node> NodeOf(const std::string& name, const std::string& version, const std::string& rank = "") {
  MakeNode node(name);
  if (!rank.empty()) node.Label("rank", rank);
  return Versioned<Node>(node, version, "uid-" + name);
}
Ptr<Pod> PodOn(const std::string& name, const std::string& version, const std::string& node) {
  MakePod pod(name);
  if (!node.empty()) pod.OnNode(node);
  return Versioned<Pod>(pod, version, "uid-" + name);
}

// Time that passes as ever, and can be let pass.
class HastenedClock final : public Clock {
 public:
  Time Now() const override { return clock_.Now() + Duration{skipped_}; }
  void Skip(Duration span) { skipped_ += span.ns; }

 private:
  util::SteadyClock clock_;
  std::atomic<int64_t> skipped_ = 0;
};

class ClusterFeedTest : public ::testing::Test {
 protected:
  ClusterFeedTest() {
    auto made = ClusterFeed::Make(
        [this](util::Inbox& inbox) -> Result<std::unique_ptr<client::ClusterApi>> {
          world_.inbox = &inbox;
          return std::unique_ptr<client::ClusterApi>(std::make_unique<FakeApi>(world_));
        },
        clock_, log_);
    EXPECT_TRUE(made.ok());
    feed_ = std::move(made).value();
  }
  void StartAndWait(const std::vector<Kind>& kinds) {
    feed_->Start(kinds, {});
    Until([&] { return feed_->ready(); });
  }
  // The feed's thread needs a moment; a test that waits forever is ended by its time limit.
  template <class Fn>
  static void Until(Fn&& fn) {
    while (!fn()) std::this_thread::yield();
  }
  // Reads until `fn` of the snapshot is true.
  template <class Fn>
  void UntilSeen(Fn&& fn) {
    Until([&] {
      bool seen = false;
      EXPECT_TRUE(feed_->Read([&](const Snapshot& snapshot) { seen = fn(snapshot); }).ok());
      return seen;
    });
  }
  static size_t PodsOn(const Snapshot& snapshot, const char* node) {
    const Row row = snapshot.FindRow(node);
    return row == kNoRow ? 0 : snapshot.pods(row).size();
  }
  std::string BindNow(const Pod& pod, const std::string& node, util::Deadline until = util::kNoDeadline) {
    std::promise<std::string> said;
    feed_->Bind(pod, node, until,
                [&](const Verdict& verdict) { said.set_value(verdict.fits() ? "" : verdict.message()); });
    return said.get_future().get();
  }
  Result<std::shared_ptr<const Pod>> Find(const std::string& name, util::Deadline until = util::kNoDeadline) {
    std::promise<Result<std::shared_ptr<const Pod>>> said;
    feed_->FindPod("default", name, until,
                   [&](Result<std::shared_ptr<const Pod>> pod) { said.set_value(std::move(pod)); });
    return said.get_future().get();
  }
  static void WaitFor(util::Deadline deadline) {
    while (!util::IsOver(deadline)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  HastenedClock clock_;
  std::ostringstream text_;
  util::Log log_{text_, {}, clock_};
  World world_;
  std::unique_ptr<ClusterFeed> feed_;
};

TEST_F(ClusterFeedTest, ListsAndWatchesTheKindsThatAreAskedFor) {
  world_.objects[Kind::kNode] = {NodeOf("a", "1"), NodeOf("b", "2")};
  world_.objects[Kind::kPod] = {PodOn("p", "3", "a"), PodOn("waiting", "4", "")};
  EXPECT_FALSE(feed_->ready());
  StartAndWait({Kind::kNode, Kind::kPod});
  UntilSeen([&](const Snapshot& s) { return s.node_count() == 2 && PodsOn(s, "a") == 1; });

  world_.Send(Kind::kNode, {WatchEvent::Type::kAdded, NodeOf("c", "101"), "101"});
  UntilSeen([&](const Snapshot& s) { return s.node_count() == 3; });
  world_.Send(Kind::kPod, {WatchEvent::Type::kModified, PodOn("waiting", "102", "b"), "102"});
  UntilSeen([&](const Snapshot& s) { return PodsOn(s, "b") == 1; });
  world_.Send(Kind::kPod, {WatchEvent::Type::kDeleted, PodOn("p", "103", "a"), "103"});
  UntilSeen([&](const Snapshot& s) { return PodsOn(s, "a") == 0; });
  world_.Send(Kind::kNode, {WatchEvent::Type::kDeleted, NodeOf("a", "104"), "104"});
  UntilSeen([&](const Snapshot& s) { return s.FindRow("a") == kNoRow; });
  EXPECT_THAT(world_.listed, ElementsAre(Kind::kNode, Kind::kPod));
}

TEST_F(ClusterFeedTest, APodThatWaitsCountsWhereItIsNominated) {
  world_.objects[Kind::kNode] = {NodeOf("a", "1")};
  world_.objects[Kind::kPod] = {Versioned<Pod>(MakePod("p").Nominated("a"), "2", "u")};
  StartAndWait({Kind::kNode, Kind::kPod});
  UntilSeen([&](const Snapshot& s) { return s.nominated(s.FindRow("a")).size() == 1; });
  world_.Send(Kind::kPod, {WatchEvent::Type::kModified, Versioned<Pod>(MakePod("p").OnNode("a"), "101", "u"), "101"});
  UntilSeen([&](const Snapshot& s) { return s.nominated(s.FindRow("a")).empty() && PodsOn(s, "a") == 1; });
  world_.Send(Kind::kPod, {WatchEvent::Type::kDeleted, Versioned<Pod>(MakePod("p").OnNode("a"), "102", "u"), "102"});
  UntilSeen([&](const Snapshot& s) { return PodsOn(s, "a") == 0; });
}

TEST_F(ClusterFeedTest, UntilEverythingIsListedReadingSaysWhatIsMissing) {
  world_.answer_lists = false;
  feed_->Start({Kind::kNode, Kind::kPod}, {});
  EXPECT_FALSE(feed_->ready());
  const Error error = feed_->Read([](const Snapshot&) { FAIL(); });
  EXPECT_EQ(error.text(), "the cluster has not been read yet: waiting for the list of Node, Pod");
}

TEST_F(ClusterFeedTest, TellsHowOldItsNewsIs) {
  EXPECT_TRUE(feed_->Ages().empty());
  StartAndWait({Kind::kNode});
  const auto age = [&] {
    const auto ages = feed_->Ages();
    EXPECT_EQ(ages.size(), 1u);
    EXPECT_EQ(ages.front().first, Kind::kNode);
    return ages.front().second;
  };
  EXPECT_LT(age(), Duration::Seconds(1000));
  clock_.Skip(Duration::Seconds(1000));
  EXPECT_GE(age(), Duration::Seconds(1000));
  world_.Send(Kind::kNode, {WatchEvent::Type::kBookmark, {}, "101"});
  Until([&] { return age() < Duration::Seconds(1000); });
  feed_->Stop();
  EXPECT_TRUE(feed_->Ages().empty());
}

TEST_F(ClusterFeedTest, ItsAgeCanBeToldWhileSomebodyReads) {
  StartAndWait({Kind::kNode});
  std::future<size_t> told;
  EXPECT_TRUE(feed_
                  ->Read([&](const Snapshot&) {
                    told = std::async(std::launch::async, [&] { return feed_->Ages().size(); });
                    EXPECT_EQ(told.wait_for(std::chrono::seconds(20)), std::future_status::ready);
                  })
                  .ok());
  EXPECT_EQ(told.get(), 1u);
}

TEST_F(ClusterFeedTest, ItsAgeIsAMetricOfTheServer) {
  Registry registry;
  RegisterPresetPlugins(registry);
  const Result<Preset> preset = MakePreset("label-priority");
  ASSERT_TRUE(preset.ok());
  ExtenderServerOptions options;
  options.profile = preset->profile;
  options.service = preset->options;
  options.routes = preset->routes;
  auto server = ExtenderServer::Start(options, registry, clock_, feed_.get(), log_);
  ASSERT_TRUE(server.ok()) << server.error().text();
  Until([&] { return feed_->ready(); });
  clock_.Skip(Duration::Seconds(1000));
  net::RawClient client((*server)->port());
  client.Send("GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string text = client.ReadAll();
  EXPECT_THAT(text, HasSubstr("berth_extender_cluster_synced 1\n"));
  EXPECT_THAT(text, ContainsRegex("berth_extender_cluster_age_seconds.kind=\"Node\". 1[0-9][0-9][0-9]"));
  EXPECT_THAT(text, Not(HasSubstr("kind=\"Pod\""))) << "which nobody reads";
  (*server)->Stop(Duration::Millis(1));
  feed_->Stop();
}

TEST_F(ClusterFeedTest, AListOrWatchThatFailsIsLoggedAndTriedAgain) {
  world_.list_status = {403, "nodes is forbidden"};
  feed_->Start({Kind::kNode}, {});
  Until([&] {
    const std::lock_guard lock(world_.mutex);
    return !world_.listed.empty();
  });
  {
    const std::lock_guard lock(world_.mutex);
    world_.list_status = {};
  }
  Until([&] { return feed_->ready(); });
  world_.inbox->Post([callbacks = world_.watches[Kind::kNode]] { callbacks.closed({500, "etcd is away"}); });
  Until([&] {
    const std::lock_guard lock(world_.mutex);
    return world_.started >= 2;
  });
  feed_->Stop();
  EXPECT_THAT(text_.str(), HasSubstr("cannot list objects of kind Node, will try again: 403 nodes is forbidden\n"));
  EXPECT_THAT(text_.str(), HasSubstr("cannot watch objects of kind Node, will try again: 500 etcd is away\n"));
}

TEST_F(ClusterFeedTest, RetriesWaitOnTheFeedsOwnClock) {
  world_.list_status = {403, "nodes is forbidden"};
  const auto lists = [&] {
    const std::lock_guard lock(world_.mutex);
    return world_.listed.size();
  };
  feed_->Start({Kind::kNode}, {});
  // Each wait is longer than the one before, up to a minute; together they would take minutes.
  for (size_t i = 1; i <= 10; ++i) {
    Until([&] {
      clock_.Skip(Duration::Seconds(60));
      world_.inbox->Post([] {});  // the thread looks at the time
      return lists() > i;
    });
  }
}

TEST_F(ClusterFeedTest, NodesOfARequestTakeThePlaceOfOlderOnes) {
  world_.objects[Kind::kNode] = {NodeOf("a", "1", "1"), NodeOf("b", "2", "2")};
  world_.objects[Kind::kPod] = {PodOn("p", "3", "a")};
  StartAndWait({Kind::kNode, Kind::kPod});
  const auto rank = [](const Snapshot& s, const char* node) { return *s.view(s.FindRow(node)).Label("rank"); };
  const void* own = nullptr;
  ASSERT_TRUE(feed_->Read([&](const Snapshot& s) { own = s.cluster(); }).ok());

  // The same versions: no copy is made.
  const std::vector<Ptr<Node>> same = {NodeOf("b", "2", "9"), NodeOf("a", "1", "9")};
  ASSERT_TRUE(feed_
                  ->ReadWith(same, /*keep=*/true,
                             [&](const Snapshot& s) {
                               EXPECT_EQ(s.cluster(), own);
                               EXPECT_EQ(rank(s, "a"), "1");
                             })
                  .ok());
  // A newer version, an unknown node, one without a version.
  const std::vector<Ptr<Node>> other = {NodeOf("a", "7", "70"), NodeOf("x", "8", "80"), NodeOf("b", "", "90")};
  ASSERT_TRUE(feed_
                  ->ReadWith(other, /*keep=*/false,
                             [&](const Snapshot& s) {
                               EXPECT_EQ(s.node_count(), 3u);
                               EXPECT_EQ(rank(s, "a"), "70");
                               EXPECT_EQ(rank(s, "x"), "80");
                               EXPECT_EQ(rank(s, "b"), "90");
                               EXPECT_EQ(PodsOn(s, "a"), 1u);
                             })
                  .ok());
  ASSERT_TRUE(feed_->Read([&](const Snapshot& s) { EXPECT_EQ(rank(s, "a"), "1"); }).ok());
}

TEST_F(ClusterFeedTest, WithoutKindsItIsReadyAndBinds) {
  feed_->Start({}, {});
  EXPECT_TRUE(feed_->ready());
  world_.pods["default/p"] = *PodOn("p", "1", "");
  const auto found = Find("p");
  ASSERT_TRUE(found.ok()) << found.error().text();
  ASSERT_NE(*found, nullptr);
  EXPECT_EQ((*found)->uid(), "uid-p");
  EXPECT_EQ(BindNow(**found, "n"), "");
  EXPECT_THAT(world_.bound, ElementsAre("default/p (uid-p) to n"));
  EXPECT_EQ(Find("q").error().kind(), ErrorKind::kNotFound);
  world_.get_status = {500, "etcd is away"};
  EXPECT_EQ(Find("p").error().text(), "pod default/p cannot be read: etcd is away");
}

TEST_F(ClusterFeedTest, ABindingThatIsRefusedSaysWhy) {
  feed_->Start({}, {});
  world_.pods["default/p"] = *PodOn("p", "1", "n");
  world_.bind_status = {409, "pod p is already assigned"};
  EXPECT_EQ(BindNow(*PodOn("p", "1", ""), "n"), "pod p is already assigned");
}

TEST_F(ClusterFeedTest, ABindingWhoseAnswerIsLostIsLookedUp) {
  feed_->Start({}, {});
  world_.bind_status = {0, ""};
  world_.pods["default/p"] = *PodOn("p", "1", "n");
  EXPECT_EQ(BindNow(*PodOn("p", "1", ""), "n"), "");
  EXPECT_EQ(BindNow(*PodOn("p", "1", ""), "other"), "pod default/p is already assigned to node \"n\"");
  EXPECT_EQ(BindNow(*Versioned<Pod>(MakePod("p"), "1", "another"), "n"),
            "no answer from the API server; another pod has the name now");
  world_.pods["default/p"] = *PodOn("p", "1", "");
  EXPECT_EQ(BindNow(*PodOn("p", "1", ""), "n"), "no answer from the API server");
}

TEST_F(ClusterFeedTest, ABindingIsNotPostedWhenKubeSchedulerHasGivenUp) {
  feed_->Start({}, {});
  world_.pods["default/p"] = *PodOn("p", "1", "");
  const util::Deadline far = util::After(Duration::Seconds(600));
  EXPECT_EQ(BindNow(*PodOn("p", "1", ""), "n", far), "");
  EXPECT_EQ(world_.bind_by, far) << "the request carries it on";
  EXPECT_EQ(world_.bound.size(), 1u);

  // The thread is busy while time passes.
  std::promise<void> busy, go_on, bound, found;
  world_.inbox->Post([&] {
    busy.set_value();
    go_on.get_future().wait();
  });
  busy.get_future().wait();
  const util::Deadline soon = util::After(Duration::Millis(5));
  feed_->Bind(*PodOn("p", "1", ""), "n", soon, [&](const Verdict& verdict) {
    EXPECT_THAT(verdict.message(), HasSubstr("took too long"));
    bound.set_value();
  });
  bool asked = false;
  world_.before_get = [&] { asked = true; };
  feed_->FindPod("default", "p", soon, [&](const Result<std::shared_ptr<const Pod>>& pod) {
    EXPECT_FALSE(pod.ok());
    found.set_value();
  });
  WaitFor(soon);
  go_on.set_value();
  bound.get_future().wait();
  found.get_future().wait();
  EXPECT_EQ(world_.bound.size(), 1u);
  EXPECT_FALSE(asked);
}

TEST_F(ClusterFeedTest, APodThatIsReadTooLateIsNotFound) {
  feed_->Start({}, {});
  world_.pods["default/p"] = *PodOn("p", "1", "");
  const util::Deadline soon = util::After(Duration::Millis(20));
  world_.before_get = [soon] { WaitFor(soon); };
  const auto found = Find("p", soon);
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().text(), HasSubstr("pod default/p cannot be read: it took too long"));
  EXPECT_EQ(found.error().kind(), ErrorKind::kTimedOut);
  EXPECT_EQ(Find("q").error().kind(), ErrorKind::kNotFound);  // that is certain, however late
}

TEST_F(ClusterFeedTest, AfterStopNothingIsRead) {
  world_.objects[Kind::kNode] = {NodeOf("a", "1")};
  StartAndWait({Kind::kNode});
  feed_->Stop();
  EXPECT_FALSE(feed_->ready());
  EXPECT_THAT(feed_->Read([](const Snapshot&) { FAIL(); }).text(), HasSubstr("being stopped"));
}

TEST_F(ClusterFeedTest, StopDropsWhatWaitsForAnAnswer) {
  world_.hold_binds = true;
  feed_->Start({}, {});
  auto waits = std::make_shared<int>(0);
  const std::weak_ptr<int> waiting = waits;
  feed_->Bind(*PodOn("p", "1", ""), "n", util::kNoDeadline, [waits](const Verdict&) { ++*waits; });
  waits.reset();
  {
    std::unique_lock lock(world_.mutex);
    world_.changed.wait(lock, [&] { return !world_.bound.empty(); });
  }
  feed_->Stop();
  EXPECT_TRUE(waiting.expired());
  // Who comes later is not answered either, and harms nobody.
  feed_->Bind(*PodOn("p", "1", ""), "n", util::kNoDeadline, [](const Verdict&) { FAIL(); });
  feed_->FindPod("default", "p", util::kNoDeadline, [](const Result<std::shared_ptr<const Pod>>&) { FAIL(); });
  EXPECT_EQ(world_.bound.size(), 1u);
}

TEST(ClusterFeedMakeTest, ADoorThatCannotBeOpenedIsAnError) {
  const util::SteadyClock clock;
  std::ostringstream text;
  util::Log log(text, {}, clock);
  const auto made = ClusterFeed::Make(
      [](util::Inbox&) -> Result<std::unique_ptr<client::ClusterApi>> { return Error("no such file"); }, clock, log);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().text(), "no such file");
}

}  // namespace
}  // namespace berth::extender
