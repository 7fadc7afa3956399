// SPDX-License-Identifier: Apache-2.0
// WaitingPodsMap: pods that Permit plugins asked to wait, until everybody allows them, somebody rejects or time is up.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "berth/clock.h"
#include "berth/handle.h"

namespace berth::framework {

// One waiting pod. `done` is called exactly once: Success when the last plugin allowed it, else the rejection.
// Thread safety: all methods. `done` runs on the thread that decided, outside of any lock.
class WaitingPodEntry final : public WaitingPod {
 public:
  // `deadlines`: plugin name to the time at which its patience ends.
  WaitingPodEntry(std::shared_ptr<const Pod> pod, std::map<std::string, Time> deadlines, Time since);

  const Pod& pod() const override { return *pod_; }
  std::vector<std::string> pending_plugins() const override;
  void Allow(const std::string& plugin) override;
  void Reject(const std::string& plugin, const std::string& message) override;
  // Ends the waiting with any verdict; false when it was decided before.
  bool Stop(Verdict verdict, const std::string& plugin) { return Decide(std::move(verdict), plugin); }
  // Rejects on behalf of the plugin whose patience ended first, if that is at or before `now`.
  void Expire(Time now);
  // The earliest deadline.
  Time deadline() const;
  // Called at once if the pod was decided already. REQUIRES: called once.
  void OnDone(std::function<void(Verdict, std::string plugin)> done);

 private:
  bool Decide(Verdict verdict, std::string plugin);

  const std::shared_ptr<const Pod> pod_;
  const Time since_;
  mutable std::mutex mutex_;
  std::map<std::string, Time> pending_;
  bool decided_ = false;
  Verdict verdict_;
  std::string plugin_;
  std::function<void(Verdict, std::string)> done_;
};

// Thread safety: all methods.
class WaitingPodsMap final : public WaitingPods {
 public:
  void Add(std::shared_ptr<WaitingPodEntry> entry);
  void Remove(const std::string& uid);
  void ForEach(const std::function<void(WaitingPod&)>& fn) override;
  std::shared_ptr<WaitingPod> Find(const std::string& uid) override { return FindEntry(uid); }
  std::shared_ptr<WaitingPodEntry> FindEntry(const std::string& uid);
  // No deadline is earlier; INT64_MAX when nobody waits. Exact after Expire.
  Time NextDeadline() const;
  // Times out whoever waited too long. The owner of the clock calls it.
  void Expire(Time now);

 private:
  std::vector<std::shared_ptr<WaitingPodEntry>> Copy() const;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<WaitingPodEntry>> by_uid_;
  Time earliest_{INT64_MAX};
};

}  // namespace berth::framework
