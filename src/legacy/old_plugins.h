// SPDX-License-Identifier: Apache-2.0
// The `plugins` and `pluginConfig` of an old KubeSchedulerConfiguration, read by that version's rules, and what becomes
// of them in v1.
#pragma once

#include <string>
#include <vector>

#include "berth/args.h"
#include "berth/plugin.h"
#include "legacy/draft.h"

namespace berth::legacy {

// A name in a list. Without a path it is there by default.
struct Listed {
  std::string name;
  int32_t weight = 0;
  std::string path;
};

struct OldSet {
  std::vector<Listed> enabled, disabled;
  std::string path;  // empty: not given
  bool Disables(std::string_view name) const;
};

// By today's points: v1alpha1's postFilter is at preScore, unreserve at reserve.
struct OldPlugins {
  OldSet at[kPointCount];
  OldSet multi_point;
  OldSet& operator[](Point point) { return at[static_cast<size_t>(point)]; }
  const OldSet& operator[](Point point) const { return at[static_cast<size_t>(point)]; }
};

// What a whole file says that counts for a profile.
struct ProfileContext {
  bool defaults = true;         // profiles get the version's default plugins
  bool most_allocated = false;  // ClusterAutoscalerProvider
  bool disable_preemption = false;
};

// Reads `plugins` of the reader's object; complaints go to the reader's errors, remarks to the draft.
OldPlugins ReadOldPlugins(ArgsReader& in, Draft& draft);
// The same for pluginConfig: arguments as they are, without a kind of their own.
ArgsList ReadOldArgs(ArgsReader& in, Draft& draft);

// Refuses names that a list enables twice.
void CheckTwice(const OldSet& set, Draft& draft);

// v1beta3's lists.
void RenameBeta3(const OldPlugins& old, const ProfileContext& context, Draft& draft, ProfileDraft& profile);
// The plugins and arguments of v1 that do the same. `old_args` is what ReadOldArgs gave.
void ConvertPlugins(const OldPlugins& old, const ArgsList& old_args, const ProfileContext& context, Draft& draft,
                    ProfileDraft& profile);

}  // namespace berth::legacy
