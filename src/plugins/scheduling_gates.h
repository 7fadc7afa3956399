// SPDX-License-Identifier: Apache-2.0
// SchedulingGates: keeps a pod out of the active queue while it has scheduling gates.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "berth/plugin.h"

namespace berth::plugins {

class SchedulingGates final : public PreEnqueuePlugin {
 public:
  static constexpr std::string_view kName = "SchedulingGates";
  Depends DependsOn(Point) const override { return Depends::OnRow(0); }
  Verdict PreEnqueue(const Pod& pod) const override;
  std::optional<std::vector<EventRegistration>> EventsToRegister() const override;
};

}  // namespace berth::plugins
