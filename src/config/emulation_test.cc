// SPDX-License-Identifier: Apache-2.0
#include "config/emulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Read(const std::vector<std::string>& values) {
  const Result<std::string> version = ReadVersionFlag(values);
  return version.ok() ? *version : "error: " + version.error().text();
}

TEST(EmulationTest, FlagsAreReadAsUpstreamReadsThem) {
  EXPECT_EQ(Read({}), "");
  EXPECT_EQ(Read({"1.36"}), "1.36");
  EXPECT_EQ(Read({" kube = v1.36 "}), "1.36");
  EXPECT_EQ(Read({"x"}), "error: could not parse \"x\" as version");
  EXPECT_EQ(Read({"1"}), "error: illegal version string \"1\"");
  EXPECT_EQ(Read({"01.36"}), "error: illegal zero-prefixed version component \"01\" in \"01.36\"");
  EXPECT_EQ(Read({"1.36.2"}), "error: patch version not allowed, got: kube=1.36.2");
  EXPECT_EQ(Read({"1.36", "1.35"}), "error: duplicate version flag, kube=1.36 and kube=1.35");
  EXPECT_EQ(Read({"wardle=1.35"}), "error: component not registered: wardle");
}

TEST(EmulationTest, OnlyTheReleaseThatIsMatchedCanBeEmulated) {
  EXPECT_THAT(CheckEmulation("", ""), IsEmpty());
  EXPECT_THAT(CheckEmulation("1.36", ""), IsEmpty());
  EXPECT_THAT(CheckEmulation("", "1.33"), IsEmpty());
  EXPECT_THAT(CheckEmulation("1.36", "1.36"), IsEmpty());
  EXPECT_THAT(CheckEmulation("1.35", ""), ElementsAre("--emulated-version kube=1.35 is not supported: Berth decides as "
                                                      "kube-scheduler 1.36 does"));
  EXPECT_THAT(CheckEmulation("1.37", ""), ElementsAre("emulation version 1.37 is not between [1.33, 1.36.0]"));
  EXPECT_THAT(CheckEmulation("1.20", ""),
              ElementsAre("emulation version 1.20 is not between [1.33, 1.36.0]",
                          "minCompatibilityVersion version 1.33 is not between [1.33, 1.20]"));
  EXPECT_THAT(CheckEmulation("", "1.30"),
              ElementsAre("minCompatibilityVersion version 1.30 is not between [1.33, 1.36]"));
}

TEST(EmulationTest, TheReportedVersionIsThatOfTheRelease) {
  EXPECT_EQ(CheckReportedVersion("v1.36.4"), "");
  EXPECT_EQ(CheckReportedVersion("v1.36.4-foo"), "");
  EXPECT_EQ(CheckReportedVersion("v1.36.4-rc.1+build.7"), "");
  EXPECT_EQ(CheckReportedVersion("v1.36.4+build"), "");
  EXPECT_EQ(CheckReportedVersion("v1.36.5"),
            "version \"v1.36.5\" must match major/minor/patch of default version \"v1.36.4\"");
  EXPECT_EQ(CheckReportedVersion("v1.36"), "illegal version string \"v1.36\"");
  EXPECT_EQ(CheckReportedVersion("v1.36.4-"), "could not parse pre-release/metadata (-) in version \"v1.36.4-\"");
  EXPECT_EQ(CheckReportedVersion("v1.36.4-01"), "illegal zero-prefixed version component \"01\" in \"v1.36.4-01\"");
  EXPECT_EQ(CheckReportedVersion("vx"), "could not parse \"vx\" as version");
}

}  // namespace
}  // namespace berth::config
