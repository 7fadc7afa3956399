// SPDX-License-Identifier: Apache-2.0
// The walk over a profile's plugins.
#include "framework/reads.h"

#include "framework/guard.h"

namespace berth::framework {
namespace {

// Calls fn(plugin) for each plugin at the point.
template <class Fn>
void ForEachAt(const Profile& profile, Point point, const Fn& fn) {
  const auto each = [&](const auto& entries) {
    for (const auto& entry : entries) fn(*entry.plugin);
  };
  switch (point) {
    case Point::kPreEnqueue:
      return each(profile.pre_enqueue);
    case Point::kQueueSort:
      return each(profile.queue_sort);
    case Point::kPreFilter:
      return each(profile.pre_filter);
    case Point::kFilter:
      return each(profile.filter);
    case Point::kPostFilter:
      return each(profile.post_filter);
    case Point::kPreScore:
      return each(profile.pre_score);
    case Point::kScore:
      return each(profile.score);
    case Point::kReserve:
      return each(profile.reserve);
    case Point::kPermit:
      return each(profile.permit);
    case Point::kPreBind:
      return each(profile.pre_bind);
    case Point::kBind:
      return each(profile.bind);
    case Point::kPostBind:
      return each(profile.post_bind);
  }
}

}  // namespace

Depends DependsAt(const Profile& profile, std::span<const Point> points) {
  Depends all{0, 0};
  for (const Point point : points) {
    const bool judges_rows = point != Point::kPreFilter && point != Point::kPreScore;
    ForEachAt(profile, point, [&](const Plugin& plugin) {
      const Depends depends = plugin.DependsOn(point);
      if (judges_rows) all.row |= depends.row;
      all.epochs |= depends.epochs;
    });
  }
  return all;
}

std::vector<std::unique_ptr<PluginIndex>> MakeIndexes(const Profile& profile) {
  std::vector<std::unique_ptr<PluginIndex>> all;
  for (const ProfilePlugin& plugin : profile.plugins)
    all.push_back(Guard([&] { return plugin.plugin->MakeIndex(); }, [](const std::string&) { return nullptr; }));
  return all;
}

}  // namespace berth::framework
