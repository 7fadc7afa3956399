// SPDX-License-Identifier: Apache-2.0
// NodeResourcesBalancedAllocation. Scores are truncated doubles, so the order of operations is upstream's
// (noderesources/balanced_allocation.go, v1.36) and must stay so.
#include "plugins/node_resources_balanced_allocation.h"

#include <algorithm>
#include <cmath>

#include "plugins/common/label_syntax.h"
#include "plugins/common/signing.h"
#include "plugins/common/wrap.h"

namespace berth::plugins {
namespace {

double Fraction(int64_t requested, int64_t allocatable) {
  const double fraction = static_cast<double>(requested) / static_cast<double>(allocatable);
  return fraction > 1 ? 1 : fraction;
}

int64_t Balance(double deviation) { return Truncate((1 - deviation) * static_cast<double>(kMaxScore)); }

int64_t BalanceOfTwo(double a, double b) { return Balance(std::fabs((a - b) / 2)); }

int64_t BalanceOf(const std::vector<double>& fractions) {
  if (fractions.size() < 2) return Balance(0);
  if (fractions.size() == 2) return BalanceOfTwo(fractions[0], fractions[1]);
  double total = 0;
  for (const double fraction : fractions) total += fraction;
  const double mean = total / static_cast<double>(fractions.size());
  double sum = 0;
  for (const double fraction : fractions) sum = sum + (fraction - mean) * (fraction - mean);
  return Balance(std::sqrt(sum / static_cast<double>(fractions.size())));
}

// What the pod improves, moved to [50, 100].
int64_t Combine(int64_t with_pod, int64_t without_pod) {
  return kMaxScore / 2 + WrapSub(WrapAdd(kMaxScore / 2, with_pod), without_pod) / 2;
}

struct Column {
  const int64_t* allocatable;
  const int64_t* used;
  int64_t want;
};

void ScoreTwo(const Column& a, const Column& b, std::span<int64_t> scores) {
  for (size_t i = 0; i < scores.size(); ++i) {
    if (a.allocatable[i] == 0 || b.allocatable[i] == 0) {
      scores[i] = Combine(kMaxScore, kMaxScore);
      continue;
    }
    const int64_t with_pod = BalanceOfTwo(Fraction(WrapAdd(a.used[i], a.want), a.allocatable[i]),
                                          Fraction(WrapAdd(b.used[i], b.want), b.allocatable[i]));
    const int64_t without_pod =
        BalanceOfTwo(Fraction(a.used[i], a.allocatable[i]), Fraction(b.used[i], b.allocatable[i]));
    scores[i] = Combine(with_pod, without_pod);
  }
}

void ScoreMany(const std::vector<Column>& columns, std::span<int64_t> scores) {
  std::vector<double> with_pod, without_pod;
  for (size_t i = 0; i < scores.size(); ++i) {
    with_pod.clear();
    without_pod.clear();
    for (const Column& c : columns) {
      if (c.allocatable[i] == 0) continue;
      with_pod.push_back(Fraction(WrapAdd(c.used[i], c.want), c.allocatable[i]));
      without_pod.push_back(Fraction(c.used[i], c.allocatable[i]));
    }
    scores[i] = Combine(BalanceOf(with_pod), BalanceOf(without_pod));
  }
}

}  // namespace

void NodeResourcesBalancedAllocation::Args::Read(ArgsReader& in) {
  ReadResourceSpecs(in, resources);
  for (size_t i = 0; i < resources.size(); ++i) {
    const auto same_name = [&](const ResourceSpec& other) { return other.name == resources[i].name; };
    if (std::any_of(resources.begin(), resources.begin() + static_cast<std::ptrdiff_t>(i), same_name)) {
      in.Complain("resources[" + std::to_string(i) + "].name", "Duplicate value: " + Quote(resources[i].name));
    }
    if (resources[i].weight != 1) ComplainOfWeight(in, i, resources[i].weight, "must be 1");
  }
}

Value NodeResourcesBalancedAllocation::Args::Write() const {
  return Value::Object({{"kind", Value::String("NodeResourcesBalancedAllocationArgs")},
                        {"apiVersion", Value::String("kubescheduler.config.k8s.io/v1")},
                        {"resources", WriteResourceSpecs(resources)}});
}

NodeResourcesBalancedAllocation::NodeResourcesBalancedAllocation(const Args& args) {
  for (const ResourceSpec& spec : args.resources) {
    const ResourceId id = InternResource(spec.name);
    if (IsScored(id)) resources_.push_back(id);
  }
}

// `held` and not `request`: upstream reads the pod with its status here, pending or not.
bool NodeResourcesBalancedAllocation::RequestsNothing(const Pod& pod) const {
  return std::all_of(resources_.begin(), resources_.end(),
                     [&](ResourceId id) { return pod.resources.held.Get(id) == 0; });
}

PreScoreOutcome NodeResourcesBalancedAllocation::PreScore(const Cycle& cycle, std::span<const Row>) const {
  return RequestsNothing(cycle.pod()) ? PreScoreOutcome::Skip() : PreScoreOutcome::Ok();
}

Error NodeResourcesBalancedAllocation::Score(const Cycle& cycle, const PluginState*, const NodeBatch& nodes,
                                             std::span<int64_t> scores) const {
  if (RequestsNothing(cycle.pod())) {  // only when PreScore is disabled
    std::fill(scores.begin(), scores.end(), 0);
    return Error::Ok();
  }
  std::vector<Column> columns;
  columns.reserve(resources_.size());
  for (const ResourceId id : resources_) {
    const int64_t want = cycle.pod().resources.held.Get(id);
    if (want == 0 && Index(id) > Index(ResourceId::kPods)) continue;  // a scalar the pod does not ask for
    columns.push_back({nodes.allocatable(id).data(), nodes.requested(id).data(), want});
  }
  if (columns.size() == 2) {
    ScoreTwo(columns[0], columns[1], scores);
  } else {
    ScoreMany(columns, scores);
  }
  return Error::Ok();
}

Depends NodeResourcesBalancedAllocation::DependsOn(Point point) const {
  return Depends::OnRow(point == Point::kScore ? row_field::kAllocatable | row_field::kRequested : 0);
}

bool NodeResourcesBalancedAllocation::Sign(const Pod& pod, Signature& out) const {
  SignResources(pod.resources.held, out);
  return true;
}

}  // namespace berth::plugins
