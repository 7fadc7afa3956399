// SPDX-License-Identifier: Apache-2.0
// PluginIndexes: the indexes of one profile's plugins, as a host that keeps a cluster up to date feeds them.
#pragma once

#include <memory>
#include <vector>

#include "berth/depends.h"
#include "berth/error.h"
#include "framework/profile.h"

namespace berth::framework {

// Each index is fed through a stand-in that guards the calls. One that throws has lost count: it is told nothing more,
// and `failure` says why nobody should be judged by its plugin.
// Thread safety: that of the cluster which feeds them.
class PluginIndexes {
 public:
  // Asks the plugins for their indexes. REQUIRES: once per profile, which outlives this.
  explicit PluginIndexes(const Profile& profile);
  ~PluginIndexes();
  PluginIndexes(const PluginIndexes&) = delete;
  PluginIndexes& operator=(const PluginIndexes&) = delete;

  // To be fed; they live as long as this.
  std::vector<PluginIndex*> all() const;
  // By plugin; null where there is none.
  std::vector<const PluginIndex*> by_plugin() const;
  // Ok, or which plugin's index threw and what.
  const Error& failure() const { return failure_; }

 private:
  class Guarded;
  const Profile& profile_;
  std::vector<std::unique_ptr<Guarded>> indexes_;  // by plugin
  Error failure_ = Error::Ok();
};

}  // namespace berth::framework
