// SPDX-License-Identifier: Apache-2.0
// What is repeated is rationed; what is said for the first time is not lost in it.
#include "util/log_ration.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace berth::util {
namespace {

using std::chrono::seconds;

class LogRationTest : public ::testing::Test {
 protected:
  static LogRecord Record(LogSeverity severity, std::string_view message, int line = 1) {
    LogRecord record;
    record.severity = severity;
    record.message = message;
    record.place = {"some/file.cc", line};
    return record;
  }
  // How many of `count` equal lines are admitted at one time.
  size_t Admitted(const LogRecord& record, size_t count) {
    size_t admitted = 0;
    for (size_t i = 0; i < count; ++i) admitted += ration_.Admit(record, now_);
    return admitted;
  }

  LogRation ration_;
  LogRation::TimePoint now_{seconds(1'000)};
};

TEST_F(LogRationTest, AWarningThatIsRepeatedComesInABurstAndThenAtARate) {
  const LogRecord warning = Record(LogSeverity::kWarning, "No such route");
  EXPECT_EQ(Admitted(warning, 200'000), 100u);
  now_ += seconds(5);
  EXPECT_EQ(Admitted(warning, 200'000), 50u);
  EXPECT_EQ(ration_.left_out(), 400'000u - 150);
  now_ += seconds(3600);
  EXPECT_EQ(Admitted(warning, 200'000), 100u);
}

TEST_F(LogRationTest, InfoLinesHaveALargerRation) {
  LogRecord debug = Record(LogSeverity::kInfo, "Request");
  debug.verbosity = 4;
  EXPECT_EQ(Admitted(debug, 100'000), 10'000u);
  now_ += seconds(2);
  EXPECT_EQ(Admitted(debug, 100'000), 2'000u);
}

TEST_F(LogRationTest, KindsDoNotTakeFromEachOther) {
  const LogRecord flood = Record(LogSeverity::kError, "flood");
  EXPECT_EQ(Admitted(flood, 1'000), 100u);
  EXPECT_EQ(Admitted(Record(LogSeverity::kError, "another message"), 1'000), 100u);
  EXPECT_EQ(Admitted(Record(LogSeverity::kError, "flood", 2), 1'000), 100u) << "another place";
  EXPECT_EQ(Admitted(Record(LogSeverity::kWarning, "flood"), 1'000), 100u) << "another severity";
  LogRecord plugin = flood;
  plugin.logger = "Plugin";
  EXPECT_EQ(Admitted(plugin, 1'000), 100u) << "another logger";
}

TEST_F(LogRationTest, AProblemThatIsNewIsWrittenInAFloodOfOldOnes) {
  std::string path = "/wrong";
  std::vector<LogField> fields = {{"path", path}, {"ms", 0.25}};
  LogRecord warning = Record(LogSeverity::kWarning, "No such route");
  warning.fields = fields;
  Admitted(warning, 1'000);
  fields[1].value = 0.5;
  EXPECT_FALSE(ration_.Admit(warning, now_)) << "a number makes nothing new";
  const std::string other = "/fliter";
  fields[0].value = other;
  EXPECT_TRUE(ration_.Admit(warning, now_));
  EXPECT_FALSE(ration_.Admit(warning, now_));
  LogRecord sentence = Record(LogSeverity::kWarning, "a sentence", 3);
  sentence.plain = true;
  EXPECT_EQ(Admitted(sentence, 1'000), 100u);
  sentence.message = "another sentence";
  EXPECT_TRUE(ration_.Admit(sentence, now_));
  EXPECT_FALSE(ration_.Admit(sentence, now_));
}

TEST_F(LogRationTest, NewOnesWithoutEndAreRationedToo) {
  size_t admitted = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::string path = "/" + std::to_string(i);
    const LogField fields[] = {{"path", path}};
    LogRecord warning = Record(LogSeverity::kWarning, "No such route");
    warning.fields = fields;
    admitted += ration_.Admit(warning, now_);
  }
  EXPECT_EQ(admitted, 1'100u);
  admitted = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::string message = "message " + std::to_string(i);
    admitted += ration_.Admit(Record(LogSeverity::kInfo, message, 7), now_);
  }
  EXPECT_LT(admitted, 12'000u) << "messages that are different every time";
}

TEST_F(LogRationTest, WhatIsLeftOutIsToldByKind) {
  EXPECT_TRUE(ration_.Take().empty());
  LogRecord warning = Record(LogSeverity::kWarning, "No such route", 17);
  warning.logger = "Plugin";
  Admitted(warning, 103);
  LogRecord sentence = Record(LogSeverity::kError, "a sentence", 18);
  sentence.plain = true;
  Admitted(sentence, 101);
  const std::vector<LogRation::LeftOut> told = ration_.Take();
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].severity, LogSeverity::kWarning);
  EXPECT_EQ(told[0].place.line, 17);
  EXPECT_EQ(told[0].logger, "Plugin");
  EXPECT_EQ(told[0].message, "No such route");
  EXPECT_EQ(told[0].lines, 3u);
  EXPECT_EQ(told[1].message, "");
  EXPECT_EQ(told[1].lines, 1u);
  EXPECT_TRUE(ration_.Take().empty());
  EXPECT_EQ(ration_.left_out(), 4u);
}

TEST_F(LogRationTest, ThreadsShareOneRation) {
  std::vector<std::thread> threads;
  std::atomic<size_t> admitted = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] { admitted += Admitted(Record(LogSeverity::kWarning, "w"), 1'000); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(admitted, 100u);
  EXPECT_EQ(ration_.left_out(), 3'900u);
}

}  // namespace
}  // namespace berth::util
