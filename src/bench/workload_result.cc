// SPDX-License-Identifier: Apache-2.0
// Counting, and results as JSON.
#include "bench/workload_result.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include "bench/cpu_time.h"

namespace berth::bench {
namespace {

double ResidentMegabytes() {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/self/statm", "r"), &std::fclose);
  long size = 0, resident = 0;
  if (!file || std::fscanf(file.get(), "%ld %ld", &size, &resident) != 2) return 0;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1024.0 * 1024.0);
}

// Two digits behind the point: more would be noise.
Value Rounded(double number) {
  char text[64];
  std::snprintf(text, sizeof text, "%.2f", number);
  return Value::Number(text);
}

Value Count(uint64_t number) { return Value::Int(static_cast<int64_t>(number)); }

void SetTimes(const WorkloadResult& result, Value& out) {
  out.Set("pods_per_s", Rounded(result.PodsPerSecond()));
  out.Set("cpu_us_per_pod", Rounded(result.CpuMicrosPerPod()));
  out.Set("event_us_per_pod", Rounded(result.EventMicrosPerPod()));
  out.Set("process_cpu_us_per_pod", Rounded(result.ProcessMicrosPerPod()));
  out.Set("attempts", Count(result.attempts));
  Value attempt = Value::Object();
  attempt.Set("p50", Rounded(result.p50));
  attempt.Set("p90", Rounded(result.p90));
  attempt.Set("p99", Rounded(result.p99));
  out.Set("attempt_us", std::move(attempt));
  out.Set("rss_mb", Rounded(result.rss_mb));
}

void SetLive(const WorkloadResult& result, Value& out) {
  const LiveFigures& live = *result.live;
  out.Set("pods_per_s", Rounded(result.PodsPerSecond()));
  out.Set("window_s", Rounded(live.window_s));
  out.Set("first_binding_s", Rounded(live.first_binding_s));
  out.Set("last_binding_s", Rounded(live.last_binding_s));
  if (live.throughput) {
    Value throughput = Value::Object();
    throughput.Set("average", Rounded(live.throughput->average));
    throughput.Set("p50", Rounded(live.throughput->p50));
    throughput.Set("p90", Rounded(live.throughput->p90));
    throughput.Set("p95", Rounded(live.throughput->p95));
    throughput.Set("p99", Rounded(live.throughput->p99));
    out.Set("throughput", std::move(throughput));
  }
  if (live.peak_mb) {
    out.Set("process_cpu_us_per_pod", Rounded(result.ProcessMicrosPerPod()));
    out.Set("peak_rss_mb", Rounded(*live.peak_mb));
  }
}

}  // namespace

double WorkloadResult::PodsPerSecond() const {
  if (live) return live->window_s > 0 ? static_cast<double>(live->bound) / live->window_s : 0;
  const int64_t ns = attempt_ns + event_ns;
  return ns > 0 ? static_cast<double>(scheduled) * 1e9 / static_cast<double>(ns) : 0;
}

Value ToValue(const std::vector<WorkloadResult>& results) {
  Value out = Value::Array();
  for (const WorkloadResult& result : results) {
    Value one = Value::Object();
    one.Set("case", Value::String(result.test_case));
    one.Set("workload", Value::String(result.workload));
    one.Set("mode", Value::String(result.live ? "live" : "engine"));
    one.Set("nodes", Count(result.nodes));
    one.Set("pods", Count(result.pods));
    one.Set("scheduled", Count(result.scheduled));
    one.Set("unschedulable", Count(result.unschedulable));
    Value nodes_by_pods = Value::Object();
    for (const auto& [pods, nodes] : result.nodes_by_pods) nodes_by_pods.Set(std::to_string(pods), Count(nodes));
    one.Set("nodes_by_pods", std::move(nodes_by_pods));
    if (result.comparison) {
      one.Set("decisions", Count(result.comparison->decisions));
      one.Set("differences", Count(result.comparison->differences));
    } else if (result.live) {
      SetLive(result, one);
    } else {
      SetTimes(result, one);
    }
    out.Append(std::move(one));
  }
  return out;
}

Error Measurement::Start(InstantCluster& cluster, PodSelector selector) {
  if (on()) return Error("metrics are being collected already");
  selector_ = std::move(selector);
  process_began_ = ProcessCpuNs() - making_ns_;
  for (PodEntry* entry : cluster.AllPods())
    if (entry->paced && entry->pod->node_name.empty()) Created(*entry);
  return Error::Ok();
}

Error Measurement::Stop(const InstantCluster& cluster) {
  if (!on()) return Error("no metrics are being collected");
  selector_.reset();
  result_.process_ns += ProcessCpuNs() - making_ns_ - process_began_;
  result_.nodes = cluster.nodes();
  result_.rss_mb = ResidentMegabytes();
  return Error::Ok();
}

void Measurement::Created(PodEntry& entry) {
  if (entry.measured || !selector_ || !selector_->Matches(*entry.pod)) return;
  entry.measured = true;
  ++result_.pods;
  result_.scheduled += !entry.pod->node_name.empty();  // it came with its node
}

void Measurement::Attempted(PodEntry* entry, const std::string& rejection, int64_t cpu_ns) {
  if (entry && entry->measured && !rejection.empty()) entry->message = rejection;
  if (!on()) return;
  ++result_.attempts;
  result_.attempt_ns += cpu_ns;
  samples_.push_back(static_cast<float>(cpu_ns) / 1000.0f);
}

WorkloadResult Measurement::Finish(InstantCluster& cluster) {
  if (on()) (void)Stop(cluster);
  std::map<std::string, size_t> pods_by_node;
  for (const PodEntry* entry : cluster.AllPods()) {
    if (!entry->pod->node_name.empty()) ++pods_by_node[entry->pod->node_name];
    GivenUp(*entry);
    if (Open(*entry) && result_.unscheduled.empty())
      result_.unscheduled = FullName(*entry->pod) + (entry->message.empty() ? " was not tried" : ": " + entry->message);
  }
  for (const auto& [node, pods] : pods_by_node) ++result_.nodes_by_pods[pods];
  if (cluster.nodes() > pods_by_node.size()) result_.nodes_by_pods[0] = cluster.nodes() - pods_by_node.size();
  std::sort(samples_.begin(), samples_.end());
  const auto at = [&](size_t percent) {
    return samples_.empty() ? 0.0 : static_cast<double>(samples_[(samples_.size() - 1) * percent / 100]);
  };
  result_.p50 = at(50);
  result_.p90 = at(90);
  result_.p99 = at(99);
  if (result_.nodes == 0) result_.nodes = cluster.nodes();
  return std::move(result_);
}

}  // namespace berth::bench
