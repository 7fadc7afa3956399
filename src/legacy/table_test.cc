// SPDX-License-Identifier: Apache-2.0
#include "legacy/table.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "legacy/default_lists.h"
#include "plugins/builtin.h"

namespace berth::legacy {
namespace {

TEST(TableTest, EveryRowHasItsPlaceOnceAndSaysWhyNothingIsLeft) {
  std::set<std::pair<RowKind, std::string_view>> seen;
  for (const Row& row : Rows()) {
    EXPECT_TRUE(seen.insert({row.kind, row.name}).second) << row.name;
    EXPECT_FALSE(row.name.empty());
    if (row.fate == Fate::kDropped || row.fate == Fate::kRefused) {
      EXPECT_FALSE(row.text.empty()) << row.name;
    }
    for (const std::string_view text : {row.name, row.when, row.today, row.text})
      EXPECT_EQ(text.find('|'), std::string_view::npos) << row.name;
    if (row.kind != RowKind::kPredicate && row.kind != RowKind::kPriority) continue;
    for (const std::string& plugin : TodaysPlugins(row)) EXPECT_NE(TodaysPoints(plugin), 0u) << plugin;
  }
}

TEST(TableTest, TodaysPointsAreThoseOfThePluginsThatThereAre) {
  Registry registry;
  plugins::RegisterBuiltinPlugins(registry);
  for (const auto& [name, plugin] : registry.all()) {
    if (TodaysPoints(name) == 0) continue;
    EXPECT_EQ(plugin.points, TodaysPoints(name)) << name;
  }
}

TEST(TableTest, ThePageIsMadeFromTheTable) {
  std::ifstream in(BERTH_OBSERVED "/../../docs/old-configurations.md");
  std::ostringstream page;
  page << in.rdbuf();
  EXPECT_EQ(page.str(), TablePage()) << "berth config convert --table > docs/old-configurations.md";
}

}  // namespace
}  // namespace berth::legacy
