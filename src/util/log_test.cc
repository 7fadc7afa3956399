// SPDX-License-Identifier: Apache-2.0
#include "util/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <thread>
#include <vector>

namespace berth::util {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class FixedClock final : public Clock {
 public:
  Time Now() const override { return {1'700'000'000'123'456'789}; }
};

TEST(LogTest, ALineHasLevelTimeAndSpeaker) {
  std::ostringstream out;
  const FixedClock clock;
  Log log(out, "extender", LogLevel::kInfo, clock);
  log.Info("hello");
  EXPECT_THAT(out.str(), MatchesRegex("I111[45] ..:13:20\\.123456 +[0-9]+ extender\\] hello\n"));
}

TEST(LogTest, LinesBelowTheLevelAreNotWritten) {
  std::ostringstream out;
  const FixedClock clock;
  Log log(out, "x", LogLevel::kWarn, clock);
  log.Debug("debug");
  log.Info("info");
  EXPECT_EQ(out.str(), "");
  EXPECT_FALSE(log.enabled(LogLevel::kInfo));
  log.Warn("warn");
  log.Error("error");
  EXPECT_THAT(out.str(), HasSubstr("x] warn\nE"));
}

TEST(LogTest, NobodyCanForgeALine) {
  std::ostringstream out;
  const FixedClock clock;
  Log log(out, "x", LogLevel::kInfo, clock);
  log.Info("pod a\nI1115 forged\r\x1b[31m\x7f");
  const std::string text = out.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_THAT(text, HasSubstr("pod a\\nI1115 forged\\r\\x1b[31m\\x7f\n"));
}

TEST(LogTest, ValuesAreQuoted) {
  std::string line;
  AppendPair(line, "pod", "a \"b\" \\ c\n");
  EXPECT_EQ(line, " pod=\"a \\\"b\\\" \\\\ c\\n\"");
}

TEST(LogTest, LevelsAreReadInAnyCase) {
  EXPECT_EQ(ParseLogLevel("DEBUG"), LogLevel::kDebug);
  EXPECT_EQ(ParseLogLevel("warn"), LogLevel::kWarn);
  EXPECT_EQ(ParseLogLevel("Warning"), LogLevel::kWarn);
  EXPECT_EQ(ParseLogLevel("Error"), LogLevel::kError);
  EXPECT_EQ(ToString(*ParseLogLevel("info")), "INFO");
  for (const char* text : {"", "INFOO", "1", " INFO", "WARNINGS"}) EXPECT_FALSE(ParseLogLevel(text)) << text;
}

TEST(LogTest, LinesOfSeveralThreadsStayWhole) {
  std::ostringstream out;
  const FixedClock clock;
  Log log(out, "x", LogLevel::kInfo, clock);
  std::vector<std::thread> threads;
  for (char c = 'a'; c < 'e'; ++c) {
    threads.emplace_back([&log, c] {
      for (int i = 0; i < 200; ++i) log.Info(std::string(50, c));
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::istringstream in(out.str());
  std::string line;
  size_t lines = 0;
  while (std::getline(in, line)) {
    ++lines;
    const std::string text = line.substr(line.find("] ") + 2);
    EXPECT_EQ(text, std::string(50, text[0]));
  }
  EXPECT_EQ(lines, 800u);
}

}  // namespace
}  // namespace berth::util
