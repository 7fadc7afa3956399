// SPDX-License-Identifier: Apache-2.0
// ClusterFeed: what an extender knows of the cluster and how it binds: a thread that keeps a ClusterMirror.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "berth/annotations.h"
#include "berth/clock.h"
#include "berth/error.h"
#include "client/cluster_api.h"
#include "client/pod_binder.h"
#include "extender/cluster_mirror.h"
#include "extender/extender_service.h"
#include "util/inbox.h"
#include "util/log.h"
#include "util/run_loop.h"
#include "util/timer_queue.h"

namespace berth::extender {

// Thread safety: all methods of NodeSource and Binder; the rest belongs to the owner.
class ClusterFeed final : public NodeSource, public Binder {
 public:
  // Opens the door to the cluster; its callbacks come through the inbox.
  using Connect = std::function<Result<std::unique_ptr<client::ClusterApi>>(util::Inbox&)>;
  // REQUIRES: clock and log outlive the feed; the clock does not step when somebody sets the machine's (SteadyClock),
  // or nothing would be tried again until it has caught up.
  static Result<std::unique_ptr<ClusterFeed>> Make(const Connect& connect, const Clock& clock, util::Log& log);
  ~ClusterFeed() override;

  // The thread begins to list and watch, or with no kinds waits for bindings alone. Call once. Of pods and nodes
  // the annotations of the given keys are kept. REQUIRES: the indexes are read within Read alone, and outlive Stop.
  void Start(const std::vector<Kind>& kinds, const std::vector<PluginIndex*>& indexes,
             const AnnotationKeys& annotations = {});
  // Ends the thread. Answers that are still to come never will, and what waits for them is dropped here: REQUIRES that
  // those who asked are still there.
  void Stop();

  Error Read(const std::function<void(const Snapshot&)>& read) override;
  Error ReadWith(std::span<const std::shared_ptr<const Node>> nodes, bool keep,
                 const std::function<void(const Snapshot&)>& read) override;
  bool ready() const override { return synced_; }
  // As ClusterMirror::Ages; none when it is stopped. Waits for no reader: what has come since somebody began to read is
  // heard when he is done. Thread safety: any thread.
  std::vector<std::pair<Kind, Duration>> Ages() const;

  // Both fail, and send nothing, once the deadline is over: the thread, the bounded rate of requests or the API server
  // may be slow.
  void FindPod(const std::string& ns, const std::string& name, util::Deadline until,
               std::function<void(Result<std::shared_ptr<const Pod>>)> done) override;
  // A binding whose answer was lost is looked up before it is called a failure.
  void Bind(const Pod& pod, const std::string& node, util::Deadline until, std::function<void(Verdict)> done) override;

 private:
  ClusterFeed(const Clock& clock, util::Log& log);
  void Run();
  void Post(std::function<void()> letter);
  Error NotReady();
  void NoteAges();
  // On the thread, once the cluster may be read by others again.
  void Later(std::function<void()> call) { later_.push_back(std::move(call)); }

  const Clock& clock_;
  util::Log& log_;
  std::mutex door_;  // for inbox_ itself, which ends with Stop
  std::unique_ptr<util::Inbox> inbox_ = std::make_unique<util::Inbox>();
  util::RunLoop loop_{*inbox_, clock_};
  util::TimerQueue timers_;                   // of the thread
  std::vector<std::function<void()>> later_;  // of the thread
  std::unique_ptr<client::ClusterApi> api_;
  std::unique_ptr<client::PodBinder> binder_;
  std::mutex mutex_;  // held by the thread while it applies news, by others while they read
  std::unique_ptr<ClusterMirror> mirror_;
  std::atomic<bool> synced_ = false;
  mutable std::mutex heard_mutex_;            // for a moment only, whoever holds mutex_
  std::vector<std::pair<Kind, Time>> heard_;  // when the API server last said anything of a kind
  std::thread thread_;
};

}  // namespace berth::extender
