// SPDX-License-Identifier: Apache-2.0
// A reflector, and a server that says whatever the test wants it to say.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/reflector.h"
#include "util/timer_queue.h"
#include "util/virtual_clock.h"

namespace berth::client {

// Keeps the questions; the test answers them.
class ScriptedApi final : public ClusterApi {
 public:
  struct OpenWatch {
    std::string from;
    WatchCallbacks callbacks;
    std::shared_ptr<bool> alive;
  };
  std::vector<std::function<void(ListAnswer)>> lists;
  std::vector<OpenWatch> watches;  // streamed lists as well, from "everything"
  bool streams_lists = false;

  void List(Kind, std::function<void(ListAnswer)> done) override { lists.push_back(std::move(done)); }
  std::unique_ptr<Watch> StartStreamedList(Kind kind, WatchCallbacks callbacks) override {
    return streams_lists ? StartWatch(kind, "everything", std::move(callbacks)) : nullptr;
  }
  std::unique_ptr<Watch> StartWatch(Kind, const std::string& from, WatchCallbacks callbacks) override {
    struct Handle final : Watch {
      explicit Handle(std::shared_ptr<bool> a) : alive(std::move(a)) {}
      ~Handle() override { *alive = false; }
      std::shared_ptr<bool> alive;
    };
    watches.push_back({from, std::move(callbacks), std::make_shared<bool>(true)});
    return std::make_unique<Handle>(watches.back().alive);
  }
  void GetPod(const std::string&, const std::string&, std::function<void(const ApiStatus&, Ptr<Pod>)>) override {}
  void Bind(const ObjectName&, const std::string&, Answer) override {}
  void PatchPodStatus(const PodStatusPatch&, Answer) override {}
  void DeletePod(const ObjectName&, Answer) override {}
  void PostEvent(const EventRecord&, Answer) override {}
  void PatchEvent(const EventRecord&, Answer) override {}
  void GetLease(const std::string&, const std::string&, std::function<void(const ApiStatus&, const Lease&)>) override {}
  void PutLease(const Lease&, std::function<void(const ApiStatus&, const Lease&)>) override {}
};

inline ClusterObject MakeObject(const std::string& name, uint64_t version, const std::string& uid = "u") {
  auto pod = std::make_shared<Pod>();
  pod->meta.namespace_ = "ns";
  pod->meta.name = name;
  pod->meta.uid = uid;
  pod->meta.resource_version = std::to_string(version);
  return Ptr<Pod>(std::move(pod));
}

inline std::string VersionedName(const ClusterObject& object) {
  return MetaOf(object).name + "/" + MetaOf(object).uid + "@" + MetaOf(object).resource_version;
}

class ScriptedDiary final : public ObjectHandler {
 public:
  std::vector<std::string> entries;
  std::vector<std::string> Take() { return std::exchange(entries, {}); }
  void OnAdd(const ClusterObject& after) override { entries.push_back("add " + VersionedName(after)); }
  void OnUpdate(const ClusterObject& before, const ClusterObject& after) override {
    entries.push_back("update " + VersionedName(before) + " " + VersionedName(after));
  }
  void OnDelete(const ClusterObject& before) override { entries.push_back("delete " + VersionedName(before)); }
};

class ReflectorTest : public ::testing::Test {
 protected:
  ReflectorTest() { Remake(); }
  void Remake(Kind kind = Kind::kPod, std::vector<std::string>* complaints = nullptr) {
    reflector_ = nullptr;
    api_.lists.clear();
    reflector_ = std::make_unique<Reflector>(kind, api_, diary_, timers_, clock_, [this] { return random_; });
    if (complaints) {
      reflector_->Complain([complaints](const std::string& sentence) { complaints->push_back(sentence); });
    }
    reflector_->Start();
  }
  // Answers the newest list.
  void Listed(const std::string& version, std::vector<ClusterObject> objects) {
    const auto done = std::exchange(api_.lists.back(), nullptr);
    ListAnswer answer;
    answer.objects = std::move(objects);
    answer.resource_version = version;
    done(std::move(answer));
  }
  void ListFails(int code, const std::string& message = "no") {
    const auto done = std::exchange(api_.lists.back(), nullptr);
    ListAnswer answer;
    answer.status = {code, message};
    done(std::move(answer));
  }
  void Event(WatchEvent::Type type, const ClusterObject& object, uint64_t version = 0) {
    ASSERT_FALSE(api_.watches.empty());
    const auto watch = api_.watches.back();
    ASSERT_TRUE(*watch.alive);
    watch.callbacks.event({type, object, version == 0 ? MetaOf(object).resource_version : std::to_string(version)});
  }
  void Added(const ClusterObject& object) { Event(WatchEvent::Type::kAdded, object); }
  void Modified(const ClusterObject& object) { Event(WatchEvent::Type::kModified, object); }
  void Deleted(const ClusterObject& last, uint64_t version) { Event(WatchEvent::Type::kDeleted, last, version); }
  void Closed(int code) {
    const auto watch = api_.watches.back();
    ASSERT_TRUE(*watch.alive);
    watch.callbacks.closed({code, ""});
  }
  void Opened() { api_.watches.back().callbacks.opened(); }
  void Pass(Duration time) {
    clock_.MoveTo(clock_.Now() + time);
    while (timers_.RunOne(clock_.Now())) {
    }
  }
  // How long until the next retry; it is run.
  int64_t MillisToRetry() {
    EXPECT_EQ(timers_.size(), 1u);
    const Duration wait = timers_.Next() - clock_.Now();
    Pass(wait);
    return wait.ns / 1'000'000;
  }

  util::VirtualClock clock_{Time{1'000'000'000}};
  util::TimerQueue timers_;
  ScriptedApi api_;
  ScriptedDiary diary_;
  uint64_t random_ = 0;  // no jitter
  std::unique_ptr<Reflector> reflector_;
};

}  // namespace berth::client
