// SPDX-License-Identifier: Apache-2.0
#include "framework/reads.h"

#include <gtest/gtest.h>

#include <utility>

namespace berth::framework {
namespace {

class Declaring final : public PreFilterPlugin, public FilterPlugin {
 public:
  Declaring(Depends at_pre_filter, Depends at_filter) : at_pre_filter_(at_pre_filter), at_filter_(at_filter) {}
  Depends DependsOn(Point point) const override { return point == Point::kFilter ? at_filter_ : at_pre_filter_; }
  PreFilterOutcome PreFilter(const Cycle&) const override { return {}; }
  Error Filter(const Cycle&, const PluginState*, const NodeBatch&, Rejections&) const override { return Error::Ok(); }

 private:
  const Depends at_pre_filter_, at_filter_;
};

TEST(ReadsTest, WhatPluginsDependOnIsAddedUpOverThePointsThatCount) {
  const Declaring a({row_field::kPods, epoch::kNamespaces}, {row_field::kTaints, epoch::kNodeSet});
  const Declaring b({row_field::kPods, epoch::kWorkloads}, {row_field::kLabels, 0});
  Profile profile;
  profile.pre_filter = {{&a, 0}, {&b, 1}};
  profile.filter = {{&a, 0}, {&b, 1}};
  profile.plugins.push_back({"a", nullptr});
  profile.plugins.push_back({"b", nullptr});
  ASSERT_TRUE(TakeDeclarations(profile).ok());

  const Point before[] = {Point::kPreFilter};
  const Depends prepared = DependsAt(profile, before);
  EXPECT_EQ(prepared.row, 0u) << "no row is judged there";
  EXPECT_EQ(prepared.epochs, epoch::kNamespaces | epoch::kWorkloads);

  const Point both[] = {Point::kPreFilter, Point::kFilter};
  const Depends all = DependsAt(profile, both);
  EXPECT_EQ(all.row, row_field::kTaints | row_field::kLabels);
  EXPECT_EQ(all.epochs, epoch::kNamespaces | epoch::kWorkloads | epoch::kNodeSet);

  const Point nobody[] = {Point::kScore};
  EXPECT_EQ(DependsAt(profile, nobody).row, 0u);
  EXPECT_EQ(DependsAt(profile, nobody).epochs, 0u);
}

}  // namespace
}  // namespace berth::framework
