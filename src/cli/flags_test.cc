// SPDX-License-Identifier: Apache-2.0
// Command lines as Go's flag and pflag packages read them.
#include "cli/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class FlagsTest : public ::testing::Test {
 protected:
  FlagsTest() {
    flags_.String("config", &config_, "a file");
    flags_.Strings("f,filename", &files_, "files");
    flags_.Bool("offline", &offline_, "no cluster");
    flags_.Bool("h,help", &help_, "help");
    flags_.Int("v", &verbosity_, "log level");
    flags_.Choice("o,output", &output_, {"table", "json"}, "format");
  }
  // The positional arguments; the test fails on an error.
  std::vector<std::string> Parse(const std::vector<std::string>& args) {
    const Result<std::vector<std::string>> rest = flags_.Parse(args);
    EXPECT_TRUE(rest.ok()) << rest.error().text();
    return rest.ok() ? *rest : std::vector<std::string>{};
  }
  std::string Complaint(const std::vector<std::string>& args) {
    const Result<std::vector<std::string>> rest = flags_.Parse(args);
    EXPECT_FALSE(rest.ok());
    return rest.ok() ? "" : rest.error().text();
  }

  Flags flags_;
  std::string config_, output_ = "table";
  std::vector<std::string> files_;
  bool offline_ = false, help_ = false;
  int64_t verbosity_ = 0;
};

TEST_F(FlagsTest, ValuesFollowAnEqualsSignOrStandAlone) {
  EXPECT_THAT(Parse({"--config=a", "--v=3"}), IsEmpty());
  EXPECT_EQ(config_, "a");
  EXPECT_EQ(verbosity_, 3);
  Parse({"--config", "b", "-v=4"});
  EXPECT_EQ(config_, "b");
  EXPECT_EQ(verbosity_, 4);
  Parse({"-v", "5", "-config=c"});
  EXPECT_EQ(verbosity_, 5);
  EXPECT_EQ(config_, "c");
}

TEST_F(FlagsTest, AnOptionalFlagKnowsWhetherItWasGiven) {
  std::optional<std::string> verb;
  std::optional<int64_t> rate;
  flags_.String("verb", &verb, "a path");
  flags_.Int("rate", &rate, "per second");
  Parse({"--config=a"});
  EXPECT_FALSE(verb);
  EXPECT_FALSE(rate);
  EXPECT_THAT(Complaint({"--rate=fast"}), HasSubstr("flag --rate: must be a whole number, got \"fast\""));
  EXPECT_FALSE(rate);
  Parse({"--verb=", "--rate=0"});
  EXPECT_EQ(verb, "");
  EXPECT_EQ(rate, 0);
}

TEST_F(FlagsTest, AValueMayHoldEqualsSignsDashesOrNothing) {
  Parse({"--config=a=b"});
  EXPECT_EQ(config_, "a=b");
  Parse({"--config", "--offline"});
  EXPECT_EQ(config_, "--offline") << "the next argument is the value, whatever it looks like";
  EXPECT_FALSE(offline_);
  Parse({"--config="});
  EXPECT_EQ(config_, "");
  Parse({"-v", "-1"});
  EXPECT_EQ(verbosity_, -1);
}

TEST_F(FlagsTest, AOneLetterFlagMayHaveItsValueBehindIt) {
  Parse({"-ojson", "-fa.yaml"});
  EXPECT_EQ(output_, "json");
  EXPECT_THAT(files_, ElementsAre("a.yaml"));
}

TEST_F(FlagsTest, ALaterValueReplacesAnEarlierOneAndListsCollect) {
  Parse({"--config=a", "--config=b", "-f", "x", "--filename=y", "-f=z"});
  EXPECT_EQ(config_, "b");
  EXPECT_THAT(files_, ElementsAre("x", "y", "z"));
}

TEST_F(FlagsTest, ABoolNeedsNoValueAndTakesNoneFromTheNextArgument) {
  EXPECT_THAT(Parse({"--offline", "false"}), ElementsAre("false"));
  EXPECT_TRUE(offline_);
  Parse({"--offline=false"});
  EXPECT_FALSE(offline_);
  Parse({"--offline=1", "-h=T"});
  EXPECT_TRUE(offline_);
  EXPECT_TRUE(help_);
  EXPECT_EQ(Complaint({"--offline=yes"}), "flag --offline: must be true or false, got \"yes\"");
}

TEST_F(FlagsTest, WhatIsNoFlagIsLeftAndEverythingAfterTwoDashesIs) {
  EXPECT_THAT(Parse({"a", "--offline", "-", "--", "--config=x", "-f"}), ElementsAre("a", "-", "--config=x", "-f"));
  EXPECT_EQ(config_, "");
}

TEST_F(FlagsTest, UnknownFlagsAreNamed) {
  EXPECT_EQ(Complaint({"--colour=red"}), "unknown flag: --colour");
  EXPECT_EQ(Complaint({"-x"}), "unknown flag: -x");
  EXPECT_EQ(Complaint({"-hx"}), "unknown flag: -hx");
  EXPECT_EQ(Complaint({"--=x"}), "unknown flag: --");
  EXPECT_EQ(Complaint({"---config=x"}), "unknown flag: ---config");
}

TEST_F(FlagsTest, AMissingArgumentIsAnError) {
  EXPECT_EQ(Complaint({"--config"}), "flag needs an argument: --config");
  EXPECT_EQ(Complaint({"--offline", "-f"}), "flag needs an argument: -f");
}

TEST_F(FlagsTest, NumbersAndChoicesAreCheckedByName) {
  for (const char* text : {"", "x", "1x", "1.5", "9223372036854775808"})
    EXPECT_EQ(Complaint({std::string("--v=") + text}),
              std::string("flag --v: must be a whole number, got \"") + text + "\"");
  EXPECT_EQ(Complaint({"-o", "yaml"}), "flag -o: must be one of table, json, got \"yaml\"");
  EXPECT_EQ(Complaint({"--output=yaml"}), "flag --output: must be one of table, json, got \"yaml\"");
}

TEST_F(FlagsTest, HelpHasALineForEveryFlag) {
  const std::string help = flags_.Help();
  EXPECT_EQ(std::count(help.begin(), help.end(), '\n'), 6);
  EXPECT_THAT(help, HasSubstr("  -f --filename           files\n"));
  EXPECT_THAT(help, HasSubstr("  --config                a file\n"));
}

}  // namespace
}  // namespace berth::cli
