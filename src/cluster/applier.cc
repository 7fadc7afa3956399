// SPDX-License-Identifier: Apache-2.0
// From transitions of objects to a ClusterState.
#include "cluster/applier.h"

#include <type_traits>

namespace berth::cluster {

Error Applier::Add(const ClusterObject& after) {
  return std::visit(
      [&]<class T>(const std::shared_ptr<const T>& object) {
        if constexpr (std::is_same_v<T, Pod>) {
          return AddPod(nullptr, object);
        } else if constexpr (std::is_same_v<T, Node>) {
          state_.PutNode(object);
          if (listener_) listener_->NodeChanged(nullptr, object);
        } else {
          state_.PutObject<T>(object);
          if (listener_) listener_->ObjectChanged(KindOf(after), action::kAdd, {Ptr<T>(), object});
        }
        return Error::Ok();
      },
      after);
}

Error Applier::Update(const ClusterObject& before, const ClusterObject& after) {
  return std::visit(
      [&]<class T>(const std::shared_ptr<const T>& now) {
        const Ptr<T>& old = std::get<Ptr<T>>(before);
        if constexpr (std::is_same_v<T, Pod>) {
          return UpdatePod(old, now);
        } else if constexpr (std::is_same_v<T, Node>) {
          state_.PutNode(now);
          if (listener_) listener_->NodeChanged(old, now);
        } else {
          state_.PutObject<T>(now);
          if (listener_) listener_->ObjectChanged(KindOf(after), action::kUpdate, {old, now});
        }
        return Error::Ok();
      },
      after);
}

Error Applier::Delete(const ClusterObject& before) {
  return std::visit(
      [&]<class T>(const std::shared_ptr<const T>& object) {
        if constexpr (std::is_same_v<T, Pod>) {
          return DeletePod(object);
        } else if constexpr (std::is_same_v<T, Node>) {
          if (listener_) listener_->NodeChanged(object, nullptr);
          return state_.RemoveNode(object->name());
        } else {
          state_.RemoveObject<T>(object->meta.namespace_, object->meta.name);
          if (listener_) listener_->ObjectChanged(KindOf(before), action::kDelete, {object, Ptr<T>()});
          return Error::Ok();
        }
      },
      before);
}

// `before` is null, or the pod without its node.
Error Applier::AddPod(const Ptr<Pod>& before, const Ptr<Pod>& after) {
  if (after->node_name.empty()) {
    ChangePending(before, after);
    return Error::Ok();
  }
  Error error = state_.AddPod(after);
  if (listener_) listener_->AssignedPodChanged(before, after);
  return error;
}

Error Applier::UpdatePod(const Ptr<Pod>& before, const Ptr<Pod>& after) {
  if (before->node_name.empty()) return AddPod(before, after);
  if (after->node_name.empty()) {  // no API server does that; believe it all the same
    const Error removed = DeletePod(before);
    const Error added = AddPod(nullptr, after);
    return removed.ok() ? added : removed;
  }
  Error error = state_.UpdatePod(after);
  if (listener_) listener_->AssignedPodChanged(before, after);
  return error;
}

Error Applier::DeletePod(const Ptr<Pod>& pod) {
  if (pod->node_name.empty()) {
    ChangePending(pod, nullptr);
    return Error::Ok();
  }
  state_.ClearNomination(pod->uid());  // the binding and the deletion may be one piece of news
  // So the last state may have a node that we had not heard of.
  Error error = state_.FindPod(pod->uid()) ? state_.RemovePod(pod->uid()) : Error::Ok();
  if (listener_) listener_->AssignedPodChanged(pod, nullptr);
  return error;
}

void Applier::ChangePending(const Ptr<Pod>& before, const Ptr<Pod>& after) {
  if (listener_) return listener_->PendingPodChanged(before, after);
  if (!after) {
    state_.ClearNomination(before->uid());
    if (state_.FindPod(before->uid())) (void)state_.RemovePod(before->uid());
    return;
  }
  const bool counts = !after->nominated_node_name.empty() && (!nomination_counts_ || nomination_counts_(*after));
  if (counts) {
    state_.Nominate(after, after->nominated_node_name);
  } else {
    state_.ClearNomination(after->uid());
  }
}

}  // namespace berth::cluster
