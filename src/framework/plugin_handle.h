// SPDX-License-Identifier: Apache-2.0
// PluginHandle: the Handle of a profile as one plugin has it: what the plugin logs bears its name.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/handle.h"

namespace berth::framework {

// REQUIRES: the handle outlives it.
class PluginHandle final : public Handle {
 public:
  PluginHandle(Handle& handle, std::string plugin) : handle_(handle), plugin_(std::move(plugin)) {}

  Logger log() const override { return handle_.log().Named(plugin_); }

  const std::string& profile_name() const override { return handle_.profile_name(); }
  const Clock& clock() const override { return handle_.clock(); }
  void Count(const PluginCounter& counter, const std::string& value) const override { handle_.Count(counter, value); }
  uint64_t Random() override { return handle_.Random(); }
  WaitingPods& waiting() override { return handle_.waiting(); }
  Writer& writer() override { return handle_.writer(); }
  ClusterAccess* cluster() override { return handle_.cluster(); }
  bool preempting(std::string_view uid) const override { return handle_.preempting(uid); }
  void Activate(const std::vector<std::shared_ptr<const Pod>>& pods) override { handle_.Activate(pods); }
  const std::vector<std::string>& extender_ignored_resources() const override {
    return handle_.extender_ignored_resources();
  }

 private:
  Handle& handle_;
  const std::string plugin_;
};

}  // namespace berth::framework
