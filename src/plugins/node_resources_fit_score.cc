// SPDX-License-Identifier: Apache-2.0
// Scores of NodeResourcesFit: LeastAllocated, MostAllocated and RequestedToCapacityRatio, in int64 with truncating
// divisions as noderesources/{least,most}_allocated.go and requested_to_capacity_ratio.go of v1.36.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "berth/vectorized.h"
#include "plugins/common/column_vectors.h"
#include "plugins/common/wrap.h"
#include "plugins/node_resources_fit.h"

namespace berth::plugins {
namespace {

using Strategy = NodeResourcesFit::Strategy;

constexpr size_t kScoreChunk = 256;

struct Sums {
  std::array<int64_t, kScoreChunk> score, weight;
};

// Columns of one resource for a chunk of rows.
struct FitColumn {
  const int64_t* allocatable;
  const int64_t* used;
  int64_t want, weight;
};

// REQUIRES for all three: capacity != 0.
int64_t Least(int64_t requested, int64_t capacity) {
  if (requested > capacity) return 0;
  return WrapDiv(WrapMul(WrapSub(capacity, requested), kMaxScore), capacity);
}

int64_t Most(int64_t requested, int64_t capacity) {
  return WrapDiv(WrapMul(std::min(requested, capacity), kMaxScore), capacity);
}

int64_t Ratio(const std::vector<ShapePoint>& shape, int64_t requested, int64_t capacity) {
  if (requested > capacity) return ShapeAt(shape, 100);
  return ShapeAt(shape, WrapDiv(WrapMul(requested, 100), capacity));
}

// Adds one resource to the sums of the active rows. `fn(requested, capacity)` scores a row; scores of 0 do not count
// when `skip_zero` says so.
template <bool skip_zero, class Fn>
void AddResource(const FitColumn& column, std::span<const uint8_t> active, Sums& sums, Fn&& fn) {
  for (size_t i = 0; i < active.size(); ++i) {
    if (!active[i] || column.allocatable[i] == 0) continue;
    const int64_t score = fn(WrapAdd(column.used[i], column.want), column.allocatable[i]);
    if (skip_zero && score <= 0) continue;
    sums.score[i] = WrapAdd(sums.score[i], WrapMul(score, column.weight));
    sums.weight[i] += column.weight;
  }
}

void AddResource(const NodeResourcesFit::Args& args, const FitColumn& column, std::span<const uint8_t> active,
                 Sums& sums) {
  switch (args.strategy) {
    case Strategy::kLeastAllocated:
      return AddResource<false>(column, active, sums, Least);
    case Strategy::kMostAllocated:
      return AddResource<false>(column, active, sums, Most);
    case Strategy::kRequestedToCapacityRatio:
      return AddResource<true>(column, active, sums,
                               [&](int64_t req, int64_t cap) { return Ratio(args.shape, req, cap); });
  }
}

// On vectors, for Least and Most: a quotient of doubles, cut off, is the quotient of integers as long as 100 times the
// amounts are below 2^53, which is true of every amount below 2^46.
constexpr int kFitBits = 46;

// `most`: all ones for Most, else 0. REQUIRES: AreSmall.
BERTH_VECTORIZED void AddVector(const int64_t* __restrict allocatable, const int64_t* __restrict used, int64_t want,
                                int64_t weight, uint64_t most, size_t n, int64_t* __restrict score,
                                int64_t* __restrict weights) {
  for (size_t i = 0; i < n; ++i) {
    const auto capacity = static_cast<uint64_t>(allocatable[i]);
    const uint64_t left = capacity - (static_cast<uint64_t>(used[i]) + static_cast<uint64_t>(want));
    const uint64_t available = left & ((left >> 63) - 1);  // 0 when more is requested than there is
    const uint64_t part = (capacity & most) + ((available ^ most) - most);
    const uint64_t none = (capacity - 1) >> 63;  // 1 without any capacity
    const double quotient = SmallToDouble(static_cast<int64_t>(part)) * static_cast<double>(kMaxScore) /
                            SmallToDouble(static_cast<int64_t>(capacity + none));
    score[i] += int64_t{static_cast<int32_t>(quotient)} * weight;
    weights[i] += weight & (static_cast<int64_t>(none) - 1);
  }
}

// REQUIRES: what AddVector made; sums of at most a few thousands.
BERTH_VECTORIZED void Average(const int64_t* __restrict score, const int64_t* __restrict weights, size_t n,
                              int64_t* __restrict out) {
  for (size_t i = 0; i < n; ++i) {
    const uint64_t none = (static_cast<uint64_t>(weights[i]) - 1) >> 63;
    out[i] = static_cast<int32_t>(SmallToDouble(score[i]) / SmallToDouble(weights[i] + static_cast<int64_t>(none)));
  }
}

}  // namespace

PreScoreOutcome NodeResourcesFit::PreScore(const Cycle&, std::span<const Row>) const {
  return PreScoreOutcome::Ok();  // what the pod requests was computed when it was decoded
}

Error NodeResourcesFit::Score(const Cycle& cycle, const PluginState*, const NodeBatch& nodes,
                              std::span<int64_t> scores) const {
  const Resources& request = cycle.pod().resources.score_request;
  std::vector<FitColumn> columns;
  columns.reserve(scored_.size());
  for (const auto& [id, weight] : scored_) {
    const int64_t want = request.Get(id);
    if (want == 0 && Index(id) > Index(ResourceId::kPods)) continue;  // a scalar the pod does not ask for
    const std::span<const int64_t> used = id == ResourceId::kCpu      ? nodes.nonzero_cpu()
                                          : id == ResourceId::kMemory ? nodes.nonzero_memory()
                                                                      : nodes.requested(id);
    columns.push_back({nodes.allocatable(id).data(), used.data(), want, weight});
  }
  const bool ratio = args_.strategy == Strategy::kRequestedToCapacityRatio;
  const uint64_t most = args_.strategy == Strategy::kMostAllocated ? ~uint64_t{0} : 0;
  Sums sums;
  std::array<uint16_t, kScoreChunk> indices;
  std::array<int64_t, kScoreChunk> allocatable, used, averages;
  for (size_t first = 0; first < scores.size(); first += kScoreChunk) {
    const size_t n = std::min(kScoreChunk, scores.size() - first);
    const std::span<const uint8_t> active = nodes.active().subspan(first, n);
    std::fill_n(sums.score.begin(), n, 0);
    std::fill_n(sums.weight.begin(), n, 0);
    if (!ratio && n > 1) {
      // Few rows are brought together first.
      const bool sparse = Sparse(active);
      std::span<const uint16_t> where;
      if (sparse) where = ActiveIndices(active, indices.data());
      const size_t count = sparse ? where.size() : n;
      bool small = true;
      for (const FitColumn& column : columns) {
        const int64_t *capacity = column.allocatable + first, *taken = column.used + first;
        if (sparse) {
          Gather(capacity, where, allocatable.data());
          Gather(taken, where, used.data());
          capacity = allocatable.data();
          taken = used.data();
        }
        small = AreSmall(kFitBits, capacity, taken, column.want, count);
        if (!small) break;
        AddVector(capacity, taken, column.want, column.weight, most, count, sums.score.data(), sums.weight.data());
      }
      if (small) {
        int64_t* const out = sparse ? averages.data() : scores.data() + first;
        Average(sums.score.data(), sums.weight.data(), count, out);
        for (size_t k = 0; k < where.size(); ++k) scores[first + where[k]] = averages[k];
        continue;
      }
      std::fill_n(sums.score.begin(), n, 0);
      std::fill_n(sums.weight.begin(), n, 0);
    }
    for (const FitColumn& column : columns) {
      AddResource(args_, {column.allocatable + first, column.used + first, column.want, column.weight}, active, sums);
    }
    for (size_t i = 0; i < n; ++i) {
      if (!active[i]) continue;
      int64_t score = 0;
      if (sums.weight[i] != 0) {
        // std::round goes half away from zero, as Go's math.Round.
        score = ratio ? Truncate(std::round(static_cast<double>(sums.score[i]) / static_cast<double>(sums.weight[i])))
                      : sums.score[i] / sums.weight[i];
      }
      scores[first + i] = score;
    }
  }
  return Error::Ok();
}

}  // namespace berth::plugins
