// SPDX-License-Identifier: Apache-2.0
// Giving a pod back when nobody settled it.
#include "queue/pod_ticket.h"

#include "queue/scheduling_queue.h"

namespace berth::queue {

void PodTicket::StopRecording() {
  if (info_ && queue_) queue_.get()->StopRecording(*info_);
}

void PodTicket::Refresh(std::shared_ptr<const Pod> pod) {
  if (info_) info_->newer = std::move(pod);
}

void PodTicket::Done() {
  if (info_ && queue_) queue_.get()->Finish(std::move(info_));
  info_ = nullptr;
}

Place PodTicket::Return(const Rejectors& rejectors) {
  if (!info_ || !queue_) {
    info_ = nullptr;
    return Place::kNone;
  }
  return queue_.get()->TakeBack(std::move(info_), rejectors);
}

}  // namespace berth::queue
