// SPDX-License-Identifier: Apache-2.0
#include "bench/live_measurement.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace berth::bench {
namespace {

constexpr Duration kSample = Duration::Seconds(1);

}  // namespace

std::vector<double> ThroughputSamples(const std::vector<Time>& bindings, Time began, Time ended) {
  std::vector<double> samples;
  size_t bound = 0, counted = 0;  // by now; in samples, or in the second that is left out
  int64_t skipped = 0;
  bool started = false;
  for (Time now = began + kSample; now <= ended; now = now + kSample) {
    while (bound < bindings.size() && bindings[bound] <= now) ++bound;
    if (bound == 0) continue;
    if (!std::exchange(started, true)) {
      counted = bound;
      continue;
    }
    if (bound == counted) {
      ++skipped;
      continue;
    }
    const double rate = static_cast<double>(bound - counted) / static_cast<double>(skipped + 1);
    samples.insert(samples.end(), static_cast<size_t>(skipped + 1), rate);
    counted = bound;
    skipped = 0;
  }
  return samples;
}

std::optional<Throughput> Summarize(std::vector<double> samples) {
  if (samples.empty()) return std::nullopt;
  std::sort(samples.begin(), samples.end());
  const auto at = [&](size_t percent) { return samples[(samples.size() * percent + 99) / 100 - 1]; };
  Throughput out;
  out.average = std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
  out.p50 = at(50);
  out.p90 = at(90);
  out.p95 = at(95);
  out.p99 = at(99);
  return out;
}

Error LiveMeasurement::Start(Time now, Pods& pods, PodSelector selector) {
  if (on()) return Error("metrics are being collected already");
  if (pid_) {
    const Result<ProcessUse> use = ReadProcess(*pid_);
    if (!use.ok()) return use.error();
    use_ = *use;
  }
  selector_ = std::move(selector);
  began_ = now;
  bindings_.clear();
  for (auto& [key, pod] : pods)
    if (pod.paced && pod.node.empty()) Created(pod);
  return Error::Ok();
}

Error LiveMeasurement::Stop(Time now, size_t nodes) {
  if (!on()) return Error("no metrics are being collected");
  selector_.reset();
  LiveFigures& live = *result_.live;
  live.window_s += (now - began_).seconds();
  live.bound += bindings_.size();
  if (!bindings_.empty()) {
    live.first_binding_s = (bindings_.front() - began_).seconds();
    live.last_binding_s = (bindings_.back() - began_).seconds();
  }
  const std::vector<double> samples = ThroughputSamples(bindings_, began_, now);
  samples_.insert(samples_.end(), samples.begin(), samples.end());
  result_.nodes = nodes;
  if (!pid_) return Error::Ok();
  const Result<ProcessUse> use = ReadProcess(*pid_);
  if (!use.ok()) return use.error();
  if (use->began != use_->began)
    return Error("process " + std::to_string(*pid_) + " has ended, and another one has its number");
  result_.process_ns += use->cpu_ns - use_->cpu_ns;
  live.peak_mb = use->peak_mb;
  return Error::Ok();
}

void LiveMeasurement::Created(LivePod& pod) {
  if (pod.measured || !selector_ || !selector_->Matches(pod.ns, pod.labels)) return;
  pod.measured = true;
  ++result_.pods;
  result_.scheduled += !pod.node.empty();  // it came with its node
}

void LiveMeasurement::Bound(const LivePod& pod, Time now) {
  if (!pod.measured) return;
  ++result_.scheduled;
  if (on()) bindings_.push_back(now);
}

Result<WorkloadResult> LiveMeasurement::Finish(Time now, const Pods& pods, const std::vector<std::string>& nodes) {
  if (on())
    if (const Error error = Stop(now, nodes.size()); !error.ok()) return error;
  std::map<std::string, size_t> pods_by_node;
  for (const std::string& node : nodes) pods_by_node[node] = 0;
  for (const auto& [key, pod] : pods) {
    if (!pod.node.empty()) ++pods_by_node[pod.node];
    GivenUp(pod);
    if (pod.measured && pod.node.empty() && result_.unscheduled.empty())
      result_.unscheduled = pod.ns + "/" + pod.name + (pod.message.empty() ? " was not tried" : ": " + pod.message);
  }
  for (const auto& [node, count] : pods_by_node) ++result_.nodes_by_pods[count];
  result_.live->throughput = Summarize(samples_);
  if (result_.nodes == 0) result_.nodes = nodes.size();
  return result_;
}

}  // namespace berth::bench
