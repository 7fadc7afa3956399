// SPDX-License-Identifier: Apache-2.0
// The walk over a profile's plugins.
#include "framework/reads.h"

namespace berth::framework {
namespace {

// Calls fn(depends) for each plugin at the point.
template <class Fn>
void ForEachAt(const Profile& profile, Point point, const Fn& fn) {
  const auto each = [&](const auto& entries) {
    for (const auto& entry : entries) fn(entry.depends);
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
    ForEachAt(profile, point, [&](const Depends& depends) {
      if (judges_rows) all.row |= depends.row;
      all.epochs |= depends.epochs;
    });
  }
  return all;
}

}  // namespace berth::framework
