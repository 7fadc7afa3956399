// SPDX-License-Identifier: Apache-2.0
// LivePods: the pods of a run, as the watch tells of them, and who is waited for.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "bench/live_measurement.h"
#include "berth/clock.h"
#include "berth/pod.h"
#include "berth/value.h"
#include "client/reflector.h"

namespace berth::bench {

// REQUIRES: measurement and clock outlive it.
// Thread safety: none.
class LivePods final : public client::ObjectHandler {
 public:
  LivePods(LiveMeasurement& measurement, const Clock& clock) : measurement_(measurement), clock_(clock) {}

  // Before a pod is posted: the watch may be faster than the answer. `paced`: by a createPods op; awaited, until it is
  // bound, unless it comes with its node. The error: there is one of that name.
  Error Expect(const Value& body, bool paced, bool awaited);
  // It was not posted after all.
  void Forget(const std::string& ns, const std::string& name);
  // The run deletes it.
  void Deleting(const std::string& ns, const std::string& name);
  // Those that are not being deleted.
  std::vector<std::string> NamesIn(const std::string& ns, const PodSelector& selector) const;

  // Pods of createPods ops that match and are not where they should be are waited for.
  void Await(const PodSelector& selector, bool attempt_is_enough);
  size_t awaited() const { return awaited_; }
  // How many that is, with one of them and what is known of it.
  std::string AwaitedText() const;

  LiveMeasurement::Pods& all() { return pods_; }
  // A pod was bound; may be empty.
  std::function<void(const LivePod&)> on_bound;

 private:
  void OnAdd(const ClusterObject& after) override { See(*std::get<Ptr<Pod>>(after)); }
  void OnUpdate(const ClusterObject&, const ClusterObject& after) override { See(*std::get<Ptr<Pod>>(after)); }
  void OnDelete(const ClusterObject& before) override;
  void See(const Pod& pod);
  void Settle(LivePod& pod);

  LiveMeasurement& measurement_;
  const Clock& clock_;
  LiveMeasurement::Pods pods_;  // by namespace/name
  size_t awaited_ = 0;
  bool attempt_is_enough_ = false;
};

}  // namespace berth::bench
