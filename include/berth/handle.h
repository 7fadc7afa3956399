// SPDX-License-Identifier: Apache-2.0
// Handle: what a plugin may ask of the framework that hosts it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/clock.h"
#include "berth/log.h"
#include "berth/pod.h"
#include "berth/verdict.h"

namespace berth {
inline namespace v1 {

// A pod that some Permit plugins asked to wait.
class WaitingPod {
 public:
  virtual ~WaitingPod() = default;
  virtual const Pod& pod() const = 0;
  // Names of the plugins that still have to allow it.
  virtual std::vector<std::string> pending_plugins() const = 0;
  virtual void Allow(const std::string& plugin) = 0;
  virtual void Reject(const std::string& plugin, const std::string& message) = 0;
};

// The pods waiting at Permit. Thread safety: all methods.
class WaitingPods {
 public:
  virtual ~WaitingPods() = default;
  virtual void ForEach(const std::function<void(WaitingPod&)>& fn) = 0;
  // Null when no pod of that uid waits.
  virtual std::shared_ptr<WaitingPod> Find(const std::string& uid) = 0;
};

// The way out to the cluster, asynchronous only: a cycle never waits for the network. `done` is called exactly once, on
// the scheduling thread.
class Writer {
 public:
  virtual ~Writer() = default;
  virtual void Bind(const Pod& pod, const std::string& node, std::function<void(Verdict)> done) = 0;
};

// Lives longer than every plugin made with it.
class Handle {
 public:
  virtual ~Handle() = default;
  virtual const std::string& profile_name() const = 0;
  virtual const Clock& clock() const = 0;
  // Writes lines that bear the plugin's name to the program's log: that of `berth extender`, standard error of
  // `explain`, `sim` and `bench`, where `-v` opens it. Made once and kept. Answers that are remembered are not logged
  // again, since the plugin is not asked.
  virtual Logger log() const { return {}; }
  // A random number; seeded, so that a run can be repeated.
  virtual uint64_t Random() = 0;
  virtual WaitingPods& waiting() = 0;
  virtual Writer& writer() = 0;
  // True while evictions that this pod asked for are still being sent: another attempt would be too early.
  virtual bool preempting(std::string_view) const { return false; }
  // Asks the queue to try these pods again at once. Takes effect when the running cycle is over.
  virtual void Activate(const std::vector<std::shared_ptr<const Pod>>&) {}
  // Extended resources that the configured extenders manage and the scheduler is to ignore.
  virtual const std::vector<std::string>& extender_ignored_resources() const = 0;
};

}  // namespace v1
}  // namespace berth
