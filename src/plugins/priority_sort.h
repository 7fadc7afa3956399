// SPDX-License-Identifier: Apache-2.0
// PrioritySort: pods of higher priority first; among equals the one that has been in the queue for longer.
#pragma once

#include <string_view>

#include "berth/plugin.h"

namespace berth::plugins {

class PrioritySort final : public QueueSortPlugin {
 public:
  static constexpr std::string_view kName = "PrioritySort";
  Depends DependsOn(Point) const override { return Depends::OnRow(0); }
  bool Less(const QueuedPod& a, const QueuedPod& b) const override;
};

}  // namespace berth::plugins
