// SPDX-License-Identifier: Apache-2.0
// One patch at a time per pod.
#include "cycle/status_writer.h"

#include <cassert>
#include <utility>

namespace berth::cycle {
namespace {

bool Empty(const client::PodStatusPatch& patch) { return !patch.condition && !patch.nominated_node_name; }

}  // namespace

void StatusWriter::Write(const Pod& pod, std::optional<PodCondition> condition,
                         const std::optional<std::string>& nominated_node) {
  if (core_.halted) return;
  auto it = pods_.find(pod.uid());
  if (it == pods_.end()) {
    // With something under way the status we see is old, so only then may "no change" be believed.
    const PodCondition* had = condition ? pod.FindCondition(condition->type) : nullptr;
    const bool same_condition = !condition || (had && *had == *condition);
    const bool same_nomination = !nominated_node || *nominated_node == pod.nominated_node_name;
    if (same_condition && same_nomination) return;
    it = pods_.try_emplace(pod.uid()).first;
    it->second.sent.pod = client::NameOf(pod);
  }
  Entry& entry = it->second;
  if (condition) {
    // What is under way is what the server will have, unless it fails.
    const bool in_flight = entry.under_way && entry.sent.condition && entry.sent.condition->type == condition->type;
    const PodCondition* had = in_flight ? &*entry.sent.condition : pod.FindCondition(condition->type);
    entry.wish.transition = had == nullptr || had->status != condition->status;
    entry.wish.condition = std::move(condition);
    entry.wish.generation = pod.meta.generation;
  }
  if (nominated_node) entry.wish.nominated_node_name = nominated_node;
  entry.forgotten = false;
  entry.tries = entry.under_way ? 1 : 0;  // what is under way counts as a try of the new wish
  if (!entry.under_way) Send(*it);
}

void StatusWriter::Forget(const std::string& uid) {
  const auto it = pods_.find(uid);
  if (it == pods_.end()) return;
  if (it->second.under_way) {
    it->second.wish.condition.reset();
    it->second.wish.nominated_node_name.reset();
    it->second.forgotten = true;
  } else {
    pods_.erase(it);
  }
}

void StatusWriter::Send(Pods::value_type& pod) {
  Entry& entry = pod.second;
  entry.sent.condition = std::exchange(entry.wish.condition, std::nullopt);
  entry.sent.nominated_node_name = std::exchange(entry.wish.nominated_node_name, std::nullopt);
  entry.sent.transition = std::exchange(entry.wish.transition, true);
  entry.sent.generation = std::exchange(entry.wish.generation, 0);
  entry.under_way = true;
  ++entry.tries;
  core_.api.PatchPodStatus(entry.sent,
                           core_.Counted([this, &pod](const client::ApiStatus& status) { OnAnswer(pod, status); }));
}

void StatusWriter::OnAnswer(Pods::value_type& pod, const client::ApiStatus& status) {
  Entry& entry = pod.second;
  assert(entry.under_way);
  entry.under_way = false;
  if (status.ok() || status.not_found() || entry.forgotten || core_.halted) {
    if (!status.ok() || core_.halted || Empty(entry.wish)) return Erase(pod);
    entry.tries = 0;
    return Send(pod);
  }
  if (entry.tries >= kTries || status.code == 400 || status.code == 403 || status.code == 422) {
    core_.Tell(&Observer::OnStatusLost, entry.sent.pod, std::to_string(status.code) + " " + status.message);
    return Erase(pod);
  }
  // What was wished for meanwhile wins over what failed.
  if (!entry.wish.condition) {
    entry.wish.condition = std::move(entry.sent.condition);
    entry.wish.transition = entry.sent.transition;
    entry.wish.generation = entry.sent.generation;
  } else if (entry.sent.condition && entry.sent.transition) {
    entry.wish.transition = true;  // it would have been one; nobody may know whether it was
  }
  if (!entry.wish.nominated_node_name) entry.wish.nominated_node_name = std::move(entry.sent.nominated_node_name);
  // Until then it may be forgotten, and even be there anew: looked up by uid.
  core_.timers.At(core_.clock.Now() + Duration::Seconds(int64_t{1} << (entry.tries - 1)), [this, uid = pod.first] {
    const auto again = pods_.find(uid);
    if (again == pods_.end() || again->second.under_way) return;
    if (core_.halted) {
      pods_.erase(again);
    } else {
      Send(*again);
    }
  });
}

}  // namespace berth::cycle
