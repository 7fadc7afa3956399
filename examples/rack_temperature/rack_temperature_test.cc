// SPDX-License-Identifier: Apache-2.0
#include "rack_temperature.h"

#include <gtest/gtest.h>

#include "berth/testing.h"

namespace berth {
namespace {

constexpr char kLabel[] = "acme.example/celsius";

TEST(RackTemperatureTest, FilterRejectsOnlyHotRacks) {
  const struct {
    const char* name;
    Node node;
    Verdict want;
  } cases[] = {
      {"cool rack fits", MakeNode("n").Label(kLabel, "20"), kFits},
      {"exactly at the limit fits", MakeNode("n").Label(kLabel, "35"), kFits},
      {"above the limit is rejected", MakeNode("n").Label(kLabel, "36"), RackTemperature::kTooHot},
      {"no reading counts as cool", MakeNode("n"), kFits},
      {"unreadable reading counts as cool", MakeNode("n").Label(kLabel, "warm"), kFits},
  };
  const RackTemperature plugin({.max_celsius = 35});
  for (const auto& c : cases) {
    for (const Host host : kAllHosts) {
      SCOPED_TRACE(::testing::Message() << c.name << ", host " << ToString(host));
      EXPECT_EQ(FilterOne(host, plugin, MakePod(), c.node), c.want);
    }
  }
}

TEST(RackTemperatureTest, CoolerRacksScoreHigher) {
  TestCluster cluster;
  cluster.Add(MakeNode("cool").Label(kLabel, "18")).Add(MakeNode("warm").Label(kLabel, "30")).Add(MakeNode("mute"));
  for (const Host host : kAllHosts) {
    SCOPED_TRACE(ToString(host));
    const ScoreResult scores = ScoreAll(host, RackTemperature({}), MakePod(), cluster);
    EXPECT_EQ(scores.raw, (std::map<std::string, int64_t>{{"cool", 82}, {"warm", 70}, {"mute", 100}}));
  }
}

TEST(RackTemperatureTest, TheRegistrySeesBothExtensionPoints) {
  Registry registry;
  registry.Add<RackTemperature>();
  EXPECT_EQ(registry.Find("RackTemperature")->points, Bit(Point::kFilter) | Bit(Point::kScore));
}

TEST(RackTemperatureTest, ArgumentsOutOfRangeAreNamed) {
  Registry registry;
  registry.Add<RackTemperature>();
  Value args = Value::Object();
  args.Set("maxCelsius", Value::Int(120));
  std::vector<FieldError> errors;
  registry.Find("RackTemperature")->complete_args(&args, "profiles[0].pluginConfig[0].args", errors);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].path, "profiles[0].pluginConfig[0].args.maxCelsius");
  EXPECT_NE(errors[0].text.find("120"), std::string::npos);
}

}  // namespace
}  // namespace berth
