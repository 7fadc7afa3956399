// SPDX-License-Identifier: Apache-2.0
// ImageLocality; formulas of imagelocality/image_locality.go (v1.36), where image volumes add to the sum of sizes but
// not to the number of containers.
#include "plugins/image_locality.h"

#include <algorithm>
#include <vector>

#include "plugins/common/set_memo.h"
#include "plugins/common/wrap.h"

namespace berth::plugins {
namespace {

constexpr int64_t kMiB = 1024 * 1024;
constexpr int64_t kMinThreshold = 23 * kMiB;
constexpr int64_t kMaxContainerThreshold = 1000 * kMiB;

// In upstream's order, repeats included.
template <class Fn>
void ForEachImage(const Pod& pod, Fn&& fn) {
  for (const Container& container : pod.init_containers) fn(container.image);
  for (const Container& container : pod.containers) fn(container.image);
  for (const PodVolume& volume : pod.volumes) {
    if (volume.kind == VolumeKind::kImage) fn(volume.source);
  }
}

struct ImageScore {
  uint32_t image;
  int64_t score;
};

int64_t Priority(int64_t sum, size_t containers) {
  const int64_t max = kMaxContainerThreshold * static_cast<int64_t>(containers);
  if (sum < kMinThreshold) {
    sum = kMinThreshold;
  } else if (sum > max) {
    sum = max;
  }
  return kMaxScore * (sum - kMinThreshold) / (max - kMinThreshold);
}

}  // namespace

std::string NormalizedImageName(const std::string& name) {
  // Positions compare as Go's LastIndex does: -1 when absent.
  const auto last = [&](char c) { return static_cast<int64_t>(name.rfind(c)); };
  return last(':') <= last('/') ? name + ":latest" : name;
}

Error ImageLocality::Score(const Cycle& cycle, const PluginState*, const NodeBatch& nodes,
                           std::span<int64_t> scores) const {
  const Snapshot& snapshot = nodes.snapshot();
  const Pod& pod = cycle.pod();
  std::vector<ImageScore> wanted;
  ForEachImage(pod, [&](const std::string& name) {
    const uint32_t image = snapshot.FindImage(NormalizedImageName(name));
    if (image == kNoImage) return;
    const ImageState& state = snapshot.image(image);
    const double spread = static_cast<double>(state.nodes) / static_cast<double>(snapshot.node_count());
    wanted.push_back({image, Truncate(static_cast<double>(state.size_bytes) * spread)});
  });
  const size_t containers = pod.init_containers.size() + pod.containers.size();
  if (wanted.empty()) {
    std::fill(scores.begin(), scores.end(), Priority(0, containers));
    return Error::Ok();
  }
  const auto sets = snapshot.image_sets();
  const std::span<const uint32_t> set_of = nodes.image_set();
  SetMemo<int64_t> memo(sets.size(), nodes.size());
  for (size_t i = 0; i < scores.size(); ++i) {
    scores[i] = memo.Get(set_of[i], [&](uint32_t set) {
      int64_t sum = 0;
      for (const auto& [image, score] : wanted) {
        if (std::binary_search(sets[set].begin(), sets[set].end(), image)) sum = WrapAdd(sum, score);
      }
      return Priority(sum, containers);
    });
  }
  return Error::Ok();
}

bool ImageLocality::Sign(const Pod& pod, Signature& out) const {
  out.Add(static_cast<int64_t>(pod.init_containers.size() + pod.containers.size()));
  int64_t images = 0;
  ForEachImage(pod, [&](const std::string&) { ++images; });
  out.Add(images);
  ForEachImage(pod, [&](const std::string& name) { out.Add(name); });
  return true;
}

}  // namespace berth::plugins
