// SPDX-License-Identifier: Apache-2.0
// Upstream: pkg/scheduler/metrics/resources/resources.go (v1.36.4).
#include "live/resource_metrics.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "berth/host/cluster_object.h"
#include "berth/host/pod_amounts.h"
#include "serving/health.h"

namespace berth::live {
namespace {

// "request" and "limit" alike.
constexpr char kHelpEnd[] =
    "workloads on the cluster, broken down by pod. This shows the resource usage the scheduler and kubelet expect per "
    "pod for resources along with the unit for the resource if any.\n";

std::string_view UnitOf(std::string_view resource) {
  if (resource == "cpu") return "cores";
  if (resource == "memory" || resource == "storage" || resource == "ephemeral-storage" ||
      resource.starts_with("hugepages-")) {
    return "bytes";
  }
  return resource.starts_with("attachable-volumes-") ? "integer" : "";
}

double Approximate(Quantity quantity) {
  constexpr int64_t kUnit = 1'000'000'000;
  const Quantity::Int128 nano = quantity.nano();
  const Quantity::Int128 whole = nano / kUnit;
  return static_cast<double>(whole) + static_cast<double>(nano % kUnit) / kUnit;
}

void AppendLabel(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append("=\"");
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  out += '"';
}

// A line for each amount but 0, by the name of the resource.
void AppendPod(std::string& out, std::string_view metric, const Pod& pod, const ResourceList& amounts) {
  std::vector<std::pair<std::string_view, Quantity>> by_name;
  for (const auto& [id, quantity] : amounts)
    if (!quantity.IsZero()) by_name.emplace_back(ResourceName(id), quantity);
  std::sort(by_name.begin(), by_name.end());
  const std::string priority = std::to_string(pod.priority);
  for (const auto& [resource, quantity] : by_name) {
    out.append(metric);
    AppendLabel(out, "{namespace", pod.namespace_());
    AppendLabel(out, ",node", pod.node_name);
    AppendLabel(out, ",pod", pod.name());
    AppendLabel(out, ",priority", priority);
    AppendLabel(out, ",resource", resource);
    AppendLabel(out, ",scheduler", pod.scheduler_name);
    AppendLabel(out, ",unit", UnitOf(resource));
    out.append("} ").append(serving::GoFloat(Approximate(quantity))).append("\n");
  }
}

bool Ended(const Pod& pod) { return !pod.node_name.empty() && pod.finished(); }

}  // namespace

std::string ResourceText(std::vector<Ptr<Pod>> pods) {
  std::erase_if(pods, [](const Ptr<Pod>& pod) { return Ended(*pod); });
  std::sort(pods.begin(), pods.end(), [](const Ptr<Pod>& a, const Ptr<Pod>& b) {
    return std::tie(a->namespace_(), a->node_name, a->name()) < std::tie(b->namespace_(), b->node_name, b->name());
  });
  std::string limits, requests;
  for (const Ptr<Pod>& pod : pods) {
    AppendPod(limits, "kube_pod_resource_limit", *pod, PodLimitAmounts(*pod));
    AppendPod(requests, "kube_pod_resource_request", *pod, PodRequestAmounts(*pod));
  }
  std::string text;
  text.reserve(limits.size() + requests.size() + 1024);
  if (!limits.empty())
    text.append("# HELP kube_pod_resource_limit [STABLE] Resources limit for ")
        .append(kHelpEnd)
        .append("# TYPE kube_pod_resource_limit gauge\n")
        .append(limits);
  if (!requests.empty())
    text.append("# HELP kube_pod_resource_request [STABLE] Resources requested by ")
        .append(kHelpEnd)
        .append("# TYPE kube_pod_resource_request gauge\n")
        .append(requests);
  return text;
}

ResourceMetrics::~ResourceMetrics() {
  if (!waiting_.empty()) timers_.Cancel(timer_);
}

void ResourceMetrics::Ask(Give give) {
  waiting_.push_back(std::move(give));
  if (waiting_.size() > 1) return;
  Begin();
  Step();
}

void ResourceMetrics::Stop() {
  if (waiting_.empty()) return;
  timers_.Cancel(timer_);
  collected_.clear();
  for (const Give& give : std::exchange(waiting_, {})) give(nullptr);
}

void ResourceMetrics::Begin() {
  collected_.clear();
  next_ = 0;
  layout_ = pods_.layout();
}

void ResourceMetrics::Step() {
  // The store has grown: where we were is no place any more. That happens when the number of pods has doubled.
  if (layout_ != pods_.layout()) Begin();
  next_ = pods_.ForSome(next_, kAtATime,
                        [&](const ClusterObject& object) { collected_.push_back(std::get<Ptr<Pod>>(object)); });
  if (next_ != 0) {
    timer_ = timers_.At(clock_.Now() + kPause, [this] { Step(); });
    return;
  }
  const auto pods = std::make_shared<const std::vector<Ptr<Pod>>>(std::move(collected_));
  collected_ = {};
  for (const Give& give : std::exchange(waiting_, {})) give([pods] { return ResourceText(*pods); });
}

}  // namespace berth::live
