// SPDX-License-Identifier: Apache-2.0
// Deciding waiting pods.
#include "framework/waiting_pods.h"

#include <algorithm>
#include <utility>

#include "berth/args.h"

namespace berth::framework {

WaitingPodEntry::WaitingPodEntry(std::shared_ptr<const Pod> pod, std::map<std::string, Time> deadlines, Time since)
    : pod_(std::move(pod)), since_(since), pending_(std::move(deadlines)) {}

std::vector<std::string> WaitingPodEntry::pending_plugins() const {
  std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, deadline] : pending_) names.push_back(name);
  return names;
}

void WaitingPodEntry::Allow(const std::string& plugin) {
  {
    std::lock_guard lock(mutex_);
    pending_.erase(plugin);
    if (!pending_.empty()) return;
  }
  Decide(Verdict(), "");
}

void WaitingPodEntry::Reject(const std::string& plugin, const std::string& message) {
  Decide(Verdict(Code::kUnschedulable, message), plugin);
}

void WaitingPodEntry::Expire(Time now) {
  std::string plugin;
  Time deadline;
  {
    std::lock_guard lock(mutex_);
    if (pending_.empty()) return;
    auto first = std::min_element(pending_.begin(), pending_.end(),
                                  [](const auto& a, const auto& b) { return a.second < b.second; });
    if (first->second > now) return;
    plugin = first->first;
    deadline = first->second;
  }
  Reject(plugin, "rejected due to timeout after waiting " + FormatDuration(deadline - since_) + " at plugin " + plugin);
}

Time WaitingPodEntry::deadline() const {
  std::lock_guard lock(mutex_);
  Time first{INT64_MAX};
  for (const auto& [name, deadline] : pending_) first = std::min(first, deadline);
  return first;
}

void WaitingPodEntry::OnDone(std::function<void(Verdict, std::string)> done) {
  {
    std::lock_guard lock(mutex_);
    if (!decided_) {
      done_ = std::move(done);
      return;
    }
  }
  done(verdict_, plugin_);
}

bool WaitingPodEntry::Decide(Verdict verdict, std::string plugin) {
  std::function<void(Verdict, std::string)> done;
  {
    std::lock_guard lock(mutex_);
    if (decided_) return false;
    decided_ = true;
    verdict_ = std::move(verdict);
    plugin_ = std::move(plugin);
    done = std::move(done_);
  }
  if (done) done(verdict_, plugin_);
  return true;
}

void WaitingPodsMap::Add(std::shared_ptr<WaitingPodEntry> entry) {
  std::lock_guard lock(mutex_);
  const std::string uid = entry->pod().uid();
  earliest_ = std::min(earliest_, entry->deadline());
  by_uid_[uid] = std::move(entry);
}

void WaitingPodsMap::Remove(const std::string& uid) {
  std::lock_guard lock(mutex_);
  by_uid_.erase(uid);
  if (by_uid_.empty()) earliest_ = {INT64_MAX};
}

std::vector<std::shared_ptr<WaitingPodEntry>> WaitingPodsMap::Copy() const {
  std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<WaitingPodEntry>> all;
  for (const auto& [uid, entry] : by_uid_) all.push_back(entry);
  return all;
}

void WaitingPodsMap::ForEach(const std::function<void(WaitingPod&)>& fn) {
  for (const auto& entry : Copy()) fn(*entry);
}

std::shared_ptr<WaitingPodEntry> WaitingPodsMap::FindEntry(const std::string& uid) {
  std::lock_guard lock(mutex_);
  auto it = by_uid_.find(uid);
  return it == by_uid_.end() ? nullptr : it->second;
}

Time WaitingPodsMap::NextDeadline() const {
  std::lock_guard lock(mutex_);
  return earliest_;
}

void WaitingPodsMap::Expire(Time now) {
  for (const auto& entry : Copy()) entry->Expire(now);
  // Those that were decided are still listed until their owner removes them; they wait for nobody.
  std::lock_guard lock(mutex_);
  earliest_ = {INT64_MAX};
  for (const auto& [uid, entry] : by_uid_)
    if (entry->deadline() > now) earliest_ = std::min(earliest_, entry->deadline());
}

}  // namespace berth::framework
