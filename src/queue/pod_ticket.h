// SPDX-License-Identifier: Apache-2.0
// PodTicket: the right and the duty to schedule one popped pod.
#pragma once

#include <memory>
#include <utility>

#include "queue/queued_pod_info.h"
#include "util/owner_link.h"

namespace berth::queue {

class SchedulingQueue;

// What Pop returns. As long as the ticket lives the pod is in flight. It ends in one of three ways: Done (the pod is
// placed or gone), Return (it goes back, by the rules for rejected or failed attempts), or, when neither was called,
// the destructor, which returns it as after an error. So no path can lose a pod.
//
// A pod that was deleted while in flight is let go whatever happens to the ticket; one that was updated goes back as
// it is by then. A ticket that outlives its queue does nothing.
// Thread safety: none; used and destroyed on the thread that owns the queue.
class PodTicket {
 public:
  PodTicket(PodTicket&& other) noexcept = default;
  PodTicket& operator=(PodTicket&& other) noexcept {
    if (this != &other) {
      GiveBack();
      queue_ = std::move(other.queue_);
      info_ = std::move(other.info_);
    }
    return *this;
  }
  ~PodTicket() { GiveBack(); }

  // Neither Done nor Return was called.
  bool open() const { return info_ != nullptr; }
  // REQUIRES: open(). The pod is the one that was popped, also after an update.
  const QueuedPodInfo& info() const { return *info_; }
  const std::shared_ptr<const Pod>& pod() const { return info_->pod; }

  // The decision is made and events need no longer be recorded for this pod, although it may still come back: upstream
  // says Done after Permit, before binding. A pod that returns after this always goes to backoff. Idempotent.
  void StopRecording();
  // The pod as it is by now; it goes back like that. REQUIRES: the same uid.
  void Refresh(std::shared_ptr<const Pod> pod);
  // The queue need not care for this pod any more. Idempotent.
  void Done();
  // Where the pod went; kNone when it was let go (deleted, a pod of the same name is queued, already settled).
  Place Return(const Rejectors& rejectors);
  // After an error: the same without rejectors.
  Place ReturnFailed() { return Return({}); }

 private:
  friend class SchedulingQueue;
  using QueueLink = util::OwnerLink<SchedulingQueue>;
  PodTicket(QueueLink queue, std::unique_ptr<QueuedPodInfo> info) : queue_(std::move(queue)), info_(std::move(info)) {}
  void GiveBack() {
    if (info_) ReturnFailed();
  }

  QueueLink queue_;
  std::unique_ptr<QueuedPodInfo> info_;  // null when settled or moved from
};

}  // namespace berth::queue
