// SPDX-License-Identifier: Apache-2.0
// v1beta3's plugin lists, which have v1's form already: only names change.
#include <algorithm>
#include <utility>

#include "config/decode.h"
#include "legacy/old_names.h"
#include "legacy/old_plugins.h"

namespace berth::legacy {
namespace {

// A name once per list.
void AddOnce(std::vector<config::PluginRef>& list, std::string name, int32_t weight) {
  const auto same = [&](const config::PluginRef& ref) { return ref.name == name; };
  if (std::ranges::none_of(list, same)) list.push_back({std::move(name), weight});
}

}  // namespace

void RenameBeta3(const OldPlugins& old, const ProfileContext& context, Draft& draft, ProfileDraft& profile) {
  for (size_t i = 0; i <= kPointCount; ++i) {
    const bool multi = i == kPointCount;
    const OldSet& from = multi ? old.multi_point : old.at[i];
    config::PluginSet& to = multi ? profile.plugins.multi_point : profile.plugins.at[i];
    const std::string today =
        profile.today + ".plugins." + (multi ? "multiPoint" : config::PluginsKey(static_cast<Point>(i)));
    if (!from.path.empty()) draft.ComesFrom(today, from.path);
    CheckTwice(from, draft);
    for (const Listed& one : from.enabled) {
      std::string name = one.name;
      if (IsCloudLimit(name)) name = "NodeVolumeLimits";
      if (IsSelectorSpread(name)) name = "PodTopologySpread";
      if (name != one.name) {
        draft.Remark(Fate::kChanged, one.path, today, one.name + ": " + TextOf(RowKind::kPlugin, one.name));
        // One of the default plugins, at this point or everywhere: it is there already.
        const bool listed = std::ranges::find(from.enabled, name, &Listed::name) != from.enabled.end();
        const bool by_default = context.defaults && !old.multi_point.Disables(name) && !from.Disables(name);
        if (listed || by_default) continue;
      }
      AddOnce(to.enabled, name, one.weight);
      draft.ComesFrom(today + ".enabled[" + std::to_string(to.enabled.size() - 1) + "]", one.path);
    }
    for (const Listed& one : from.disabled) {
      if (IsCloudLimit(one.name) || (one.name == "NodeVolumeLimits" && CloudLimitIsOn(old, context))) {
        KeepLimit(one, today, draft);
      } else if (!IsSelectorSpread(one.name)) {
        AddOnce(to.disabled, one.name, 0);
      }
    }
  }
}

}  // namespace berth::legacy
