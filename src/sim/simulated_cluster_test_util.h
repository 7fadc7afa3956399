// SPDX-License-Identifier: Apache-2.0
// For tests of the simulated cluster: a clock, an agenda and an inbox around it, without a scheduler.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "berth/testing.h"
#include "sim/simulated_cluster.h"
#include "util/virtual_clock.h"

namespace berth::sim {

struct TestWorld {
  explicit TestWorld(const ClusterOptions& options = {}) : cluster(agenda, clock, inbox, options) {}

  // Time passes; letters are read as they come.
  void Pass(Duration time) {
    const Time end = clock.Now() + time;
    for (;;) {
      while (inbox.Drain() > 0) {
      }
      if (agenda.RunOne(clock.Now())) continue;
      if (agenda.Next() > end) break;
      clock.MoveTo(agenda.Next());
    }
    clock.MoveTo(end);
  }
  void PassUntilQuiet() {
    while (!agenda.empty() || !inbox.empty()) Pass(agenda.empty() ? Duration{} : agenda.Next() - clock.Now());
  }

  void AddNode(const std::string& name) { cluster.Create(std::make_shared<const Node>(MakeNode(name).Build())); }
  // Every incarnation gets a uid of its own from the server, unless the test gave one.
  void AddPod(const MakePod& make) {
    Pod pod = make.Build();
    if (pod.meta.uid == "pod-" + FullName(pod)) pod.meta.uid.clear();
    cluster.Create(std::make_shared<const Pod>(std::move(pod)));
  }
  Ptr<Pod> FindPod(const std::string& name) const {
    const ClusterObject* found = cluster.Find(Kind::kPod, "default", name);
    return found == nullptr ? nullptr : std::get<Ptr<Pod>>(*found);
  }
  // The code of the answer; -1: none came.
  int Bind(const std::string& pod, const std::string& node, const std::string& uid = "") {
    return Ask([&](client::Answer done) { cluster.Bind({"default", pod, uid}, node, std::move(done)); });
  }
  int Remove(const std::string& pod, const std::string& uid = "") {
    return Ask([&](client::Answer done) { cluster.DeletePod({"default", pod, uid}, std::move(done)); });
  }
  int Patch(const client::PodStatusPatch& patch) {
    return Ask([&](client::Answer done) { cluster.PatchPodStatus(patch, std::move(done)); });
  }
  client::ListAnswer List(Kind kind) {
    client::ListAnswer out;
    out.status.code = -1;
    cluster.List(kind, [&out](client::ListAnswer answer) { out = std::move(answer); });
    Pass(kLongEnough);
    return out;
  }
  template <class Fn>
  int Ask(Fn&& ask) {
    auto code = std::make_shared<int>(-1);
    ask([code, this](const client::ApiStatus& status) {
      *code = status.code;
      message = status.message;
    });
    Pass(kLongEnough);
    return *code;
  }

  static constexpr Duration kLongEnough = Duration::Millis(100);  // for a slow request, there and back

  util::VirtualClock clock{Time{1'767'225'600'000'000'000}};
  util::TimerQueue agenda;
  util::Inbox inbox;
  SimulatedCluster cluster;
  std::string message;  // of the last answer
};

// Everything a watch said, as text: "ADDED name@version", "CLOSED code".
class WatchDiary {
 public:
  client::WatchCallbacks Callbacks() {
    return {.event =
                [this](const client::WatchEvent& event) {
                  static constexpr const char* kNames[] = {"ADDED ", "MODIFIED ", "DELETED ", "BOOKMARK "};
                  entries.push_back(kNames[static_cast<size_t>(event.type)] + MetaOf(*event.object).name + "@" +
                                    event.resource_version);
                },
            .closed = [this](const client::ApiStatus& s) { entries.push_back("CLOSED " + std::to_string(s.code)); }};
  }
  std::vector<std::string> Take() { return std::exchange(entries, {}); }
  std::vector<std::string> entries;
};

}  // namespace berth::sim
