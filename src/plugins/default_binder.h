// SPDX-License-Identifier: Apache-2.0
// DefaultBinder: writes the binding of a pod to its node through the host's Writer.
#pragma once

#include <string_view>

#include "berth/handle.h"
#include "berth/plugin.h"

namespace berth::plugins {

class DefaultBinder final : public BindPlugin {
 public:
  static constexpr std::string_view kName = "DefaultBinder";
  explicit DefaultBinder(Handle& handle) : handle_(&handle) {}
  Depends DependsOn(Point) const override { return Depends::OnRow(0); }
  void Bind(const Placement& placement, StateSlot& state, Done done) const override;

 private:
  Handle* handle_;
};

}  // namespace berth::plugins
