// SPDX-License-Identifier: Apache-2.0
// ResourceMetrics: /metrics/resources, what every pod asks for and may use, without keeping decisions waiting.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "berth/clock.h"
#include "berth/pod.h"
#include "client/reflector.h"
#include "util/timer_queue.h"

namespace berth::live {

// kube_pod_resource_request and kube_pod_resource_limit of these pods, as kube-scheduler v1.36.4 writes them. Pods that
// have ended are left out. Thread safety: any thread.
std::string ResourceText(std::vector<Ptr<Pod>> pods);

// Collects all pods, pending ones too, a few at a time with pauses between; the text is made elsewhere. A pod that
// changes, comes or goes meanwhile is there as it was or as it is.
//
// Thread safety: scheduling thread.
class ResourceMetrics {
 public:
  // What makes the text, for another thread; null: there is none.
  using MakeText = std::function<std::string()>;
  using Give = std::function<void(MakeText)>;

  // Of which so many are copied at once: a fraction of a millisecond.
  static constexpr size_t kAtATime = 500;
  static constexpr Duration kPause = Duration::Millis(1);

  // REQUIRES: pods, timers (of this thread) and clock outlive it.
  ResourceMetrics(const client::Reflector& pods, util::TimerQueue& timers, const Clock& clock)
      : pods_(pods), timers_(timers), clock_(clock) {}
  ~ResourceMetrics();
  ResourceMetrics(const ResourceMetrics&) = delete;
  ResourceMetrics& operator=(const ResourceMetrics&) = delete;

  // Calls `give` once, later. Those who ask while pods are being collected share them.
  void Ask(Give give);
  // Whoever waits is given nothing: we do not lead any more.
  void Stop();

 private:
  void Begin();
  void Step();

  const client::Reflector& pods_;
  util::TimerQueue& timers_;
  const Clock& clock_;
  std::vector<Give> waiting_;
  // While somebody waits.
  std::vector<Ptr<Pod>> collected_;
  size_t next_ = 0, layout_ = 0;
  util::TimerQueue::Id timer_{};
};

}  // namespace berth::live
