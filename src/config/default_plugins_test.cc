// SPDX-License-Identifier: Apache-2.0
// Merging a profile's plugin lists into the defaults.
#include "config/default_plugins.h"

#include <gtest/gtest.h>

namespace berth::config {
namespace {

std::string Show(const PluginSet& set) {
  std::string text;
  for (const PluginRef& ref : set.enabled) text += ref.name + std::to_string(ref.weight) + " ";
  text += "|";
  for (const PluginRef& ref : set.disabled) text += " " + ref.name + std::to_string(ref.weight);
  return text;
}

TEST(DefaultPluginsTest, MergeKeepsPlacesAndCarriesWhatIsDisabled) {
  const PluginSet defaults = {{{"A", 1}, {"B", 2}, {"C"}}, {}};
  const struct {
    const char* name;
    PluginSet custom;
    const char* want;
  } cases[] = {
      {"nothing asked", {}, "A1 B2 C0 |"},
      {"replaced in place", {{{"B", 7}}, {}}, "A1 B7 C0 |"},
      {"replaced without weight", {{{"A"}}, {}}, "A0 B2 C0 |"},
      {"appended", {{{"X", 3}}, {}}, "A1 B2 C0 X3 |"},
      {"disabled", {{}, {{"B", 9}}}, "A1 C0 | B0"},
      {"disabled and enabled", {{{"B", 4}}, {{"B"}}}, "A1 C0 B4 | B0"},
      {"all disabled", {{{"X"}, {"B", 5}}, {{"*"}}}, "X0 B5 | *0"},
      {"listed twice: the last replaces", {{{"A", 5}, {"A", 6}}, {}}, "A6 B2 C0 A5 |"},
  };
  for (const auto& c : cases) EXPECT_EQ(Show(MergePluginSet(defaults, c.custom)), c.want) << c.name;
}

TEST(DefaultPluginsTest, OnlyMultiPointHasDefaults) {
  const Plugins merged = MergePlugins({});
  EXPECT_EQ(merged.multi_point.enabled, DefaultMultiPoint());
  for (const PluginSet& set : merged.at) EXPECT_EQ(set, PluginSet{});
}

TEST(DefaultPluginsTest, EightPluginsHaveAnArgsKind) {
  int count = 0;
  for (const PluginRef& ref : DefaultMultiPoint()) count += HasArgsKind(ref.name) ? 1 : 0;
  EXPECT_EQ(count, 8);
  EXPECT_FALSE(HasArgsKind("NodePorts"));
}

}  // namespace
}  // namespace berth::config
