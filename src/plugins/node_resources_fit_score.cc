// SPDX-License-Identifier: Apache-2.0
// Scores of NodeResourcesFit: LeastAllocated, MostAllocated and RequestedToCapacityRatio, in int64 with truncating
// divisions as noderesources/{least,most}_allocated.go and requested_to_capacity_ratio.go of v1.36.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "plugins/common/wrap.h"
#include "plugins/node_resources_fit.h"

namespace berth::plugins {
namespace {

using Strategy = NodeResourcesFit::Strategy;

constexpr size_t kChunk = 256;

struct Sums {
  std::array<int64_t, kChunk> score, weight;
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

// Adds one resource to the sums of n rows. `fn(requested, capacity)` scores a row; scores of 0 do not count when
// `skip_zero` says so.
template <bool skip_zero, class Fn>
void AddResource(const int64_t* allocatable, const int64_t* used, int64_t want, int64_t weight, size_t n, Sums& sums,
                 Fn&& fn) {
  for (size_t i = 0; i < n; ++i) {
    if (allocatable[i] == 0) continue;
    const int64_t score = fn(WrapAdd(used[i], want), allocatable[i]);
    if (skip_zero && score <= 0) continue;
    sums.score[i] = WrapAdd(sums.score[i], WrapMul(score, weight));
    sums.weight[i] += weight;
  }
}

}  // namespace

PreScoreOutcome NodeResourcesFit::PreScore(const Cycle&, std::span<const Row>) const {
  return PreScoreOutcome::Ok();  // what the pod requests was computed when it was decoded
}

Error NodeResourcesFit::Score(const Cycle& cycle, const PluginState*, const NodeBatch& nodes,
                              std::span<int64_t> scores) const {
  const Resources& request = cycle.pod().resources.score_request;
  Sums sums;
  for (size_t first = 0; first < scores.size(); first += kChunk) {
    const size_t n = std::min(kChunk, scores.size() - first);
    std::fill_n(sums.score.begin(), n, 0);
    std::fill_n(sums.weight.begin(), n, 0);
    for (const auto& [id, weight] : scored_) {
      const int64_t want = request.Get(id);
      if (want == 0 && Index(id) > Index(ResourceId::kPods)) continue;  // a scalar the pod does not ask for
      const int64_t* const allocatable = nodes.allocatable(id).data() + first;
      const std::span<const int64_t> column = id == ResourceId::kCpu      ? nodes.nonzero_cpu()
                                              : id == ResourceId::kMemory ? nodes.nonzero_memory()
                                                                          : nodes.requested(id);
      const int64_t* const used = column.data() + first;
      switch (args_.strategy) {
        case Strategy::kLeastAllocated:
          AddResource<false>(allocatable, used, want, weight, n, sums, Least);
          break;
        case Strategy::kMostAllocated:
          AddResource<false>(allocatable, used, want, weight, n, sums, Most);
          break;
        case Strategy::kRequestedToCapacityRatio:
          AddResource<true>(allocatable, used, want, weight, n, sums,
                            [&](int64_t req, int64_t cap) { return Ratio(args_.shape, req, cap); });
          break;
      }
    }
    for (size_t i = 0; i < n; ++i) {
      int64_t score = 0;
      if (sums.weight[i] != 0) {
        // std::round goes half away from zero, as Go's math.Round.
        score = args_.strategy == Strategy::kRequestedToCapacityRatio
                    ? Truncate(std::round(static_cast<double>(sums.score[i]) / static_cast<double>(sums.weight[i])))
                    : sums.score[i] / sums.weight[i];
      }
      scores[first + i] = score;
    }
  }
  return Error::Ok();
}

}  // namespace berth::plugins
