// SPDX-License-Identifier: Apache-2.0
// ImageLocality: prefers nodes that hold the pod's images already, the more so the larger and the wider spread they
// are.
#pragma once

#include <string>
#include <string_view>

#include "berth/plugin.h"

namespace berth::plugins {

class ImageLocality final : public ScorePlugin {
 public:
  static constexpr std::string_view kName = "ImageLocality";

  Error Score(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes,
              std::span<int64_t> scores) const override;
  Depends DependsOn(Point) const override { return {row_field::kImages, epoch::kNodeSet | epoch::kImageSpread}; }
  bool Sign(const Pod& pod, Signature& out) const override;
};

// `:latest` is added to a name without a tag. Public for tests.
std::string NormalizedImageName(const std::string& name);

}  // namespace berth::plugins
