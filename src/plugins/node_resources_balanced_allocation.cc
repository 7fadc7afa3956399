// SPDX-License-Identifier: Apache-2.0
// NodeResourcesBalancedAllocation. Scores are truncated doubles, so the order of operations is upstream's
// (noderesources/balanced_allocation.go, v1.36) and must stay so.
#include "plugins/node_resources_balanced_allocation.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "berth/value.h"
#include "berth/vectorized.h"
#include "plugins/common/column_vectors.h"
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

struct BalancedColumn {
  const int64_t* allocatable;
  const int64_t* used;
  int64_t want;
};

// On vectors, two resources whose amounts doubles hold exactly. An amount above the capacity is cut before the division
// and not after it; the quotient is 1 either way.
constexpr int kBalancedBits = 52;

// REQUIRES: requested and capacity from 0 to 2^52.
inline double VectorFraction(uint64_t requested, uint64_t capacity, uint64_t none) {
  const uint64_t left = capacity - requested;
  const uint64_t cut = capacity - (left & ((left >> 63) - 1));
  return SmallToDouble(static_cast<int64_t>(cut)) / SmallToDouble(static_cast<int64_t>(capacity + none));
}

inline int32_t VectorBalance(double a, double b) {
  return static_cast<int32_t>((1 - std::fabs((a - b) / 2)) * static_cast<double>(kMaxScore));
}

BERTH_VECTORIZED void ScoreTwoOnVectors(const int64_t* __restrict a_allocatable, const int64_t* __restrict a_used,
                                        uint64_t a_want, const int64_t* __restrict b_allocatable,
                                        const int64_t* __restrict b_used, uint64_t b_want, size_t n,
                                        int64_t* __restrict scores) {
  constexpr int32_t kHalf = kMaxScore / 2, kNeutral = kHalf + kHalf / 2;
  for (size_t i = 0; i < n; ++i) {
    const auto a = static_cast<uint64_t>(a_allocatable[i]), b = static_cast<uint64_t>(b_allocatable[i]);
    const auto a_now = static_cast<uint64_t>(a_used[i]), b_now = static_cast<uint64_t>(b_used[i]);
    const uint64_t no_a = (a - 1) >> 63, no_b = (b - 1) >> 63;  // 1 without any capacity
    const int32_t with_pod =
        VectorBalance(VectorFraction(a_now + a_want, a, no_a), VectorFraction(b_now + b_want, b, no_b));
    const int32_t without_pod = VectorBalance(VectorFraction(a_now, a, no_a), VectorFraction(b_now, b, no_b));
    const int32_t score = kHalf + (kHalf + with_pod - without_pod) / 2;
    const auto counts = static_cast<int32_t>((no_a | no_b) - 1);  // all ones when both are there
    scores[i] = (score & counts) | (kNeutral & ~counts);
  }
}

void ScoreTwo(const BalancedColumn& a, const BalancedColumn& b, std::span<const uint8_t> active,
              std::span<int64_t> scores) {
  const size_t n = scores.size();
  const auto a_want = static_cast<uint64_t>(a.want), b_want = static_cast<uint64_t>(b.want);
  if (n > 1 && !Sparse(active)) {
    if (AreSmall(kBalancedBits, a.allocatable, a.used, a.want, n) &&
        AreSmall(kBalancedBits, b.allocatable, b.used, b.want, n)) {
      ScoreTwoOnVectors(a.allocatable, a.used, a_want, b.allocatable, b.used, b_want, n, scores.data());
      return;
    }
  } else if (n > 1) {
    // Few rows are brought together first.
    constexpr size_t kChunk = 256;
    std::array<uint16_t, kChunk> indices;
    std::array<int64_t, kChunk> columns[4], found;
    bool small = true;
    for (size_t first = 0; first < n && small; first += kChunk) {
      const std::span<const uint16_t> where =
          ActiveIndices(active.subspan(first, std::min(kChunk, n - first)), indices.data());
      Gather(a.allocatable + first, where, columns[0].data());
      Gather(a.used + first, where, columns[1].data());
      Gather(b.allocatable + first, where, columns[2].data());
      Gather(b.used + first, where, columns[3].data());
      small = AreSmall(kBalancedBits, columns[0].data(), columns[1].data(), a.want, where.size()) &&
              AreSmall(kBalancedBits, columns[2].data(), columns[3].data(), b.want, where.size());
      if (!small) break;
      ScoreTwoOnVectors(columns[0].data(), columns[1].data(), a_want, columns[2].data(), columns[3].data(), b_want,
                        where.size(), found.data());
      for (size_t k = 0; k < where.size(); ++k) scores[first + where[k]] = found[k];
    }
    if (small) return;
  }
  for (size_t i = 0; i < n; ++i) {
    if (!active[i]) continue;
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

void ScoreMany(const std::vector<BalancedColumn>& columns, std::span<const uint8_t> active, std::span<int64_t> scores) {
  std::vector<double> with_pod, without_pod;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (!active[i]) continue;
    with_pod.clear();
    without_pod.clear();
    for (const BalancedColumn& c : columns) {
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
  std::vector<BalancedColumn> columns;
  columns.reserve(resources_.size());
  for (const ResourceId id : resources_) {
    const int64_t want = cycle.pod().resources.held.Get(id);
    if (want == 0 && Index(id) > Index(ResourceId::kPods)) continue;  // a scalar the pod does not ask for
    columns.push_back({nodes.allocatable(id).data(), nodes.requested(id).data(), want});
  }
  if (columns.size() == 2) {
    ScoreTwo(columns[0], columns[1], nodes.active(), scores);
  } else {
    ScoreMany(columns, nodes.active(), scores);
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
