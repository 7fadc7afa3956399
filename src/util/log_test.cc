// SPDX-License-Identifier: Apache-2.0
#include "util/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <thread>
#include <vector>

#include "util/log_pipe_test_util.h"

namespace berth::util {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class FixedClock final : public Clock {
 public:
  Time Now() const override { return {1'700'000'000'123'456'789}; }
};

// Any object with metadata.
struct Thing {
  struct {
    std::string namespace_, name;
  } meta;
};

class LogTest : public ::testing::Test {
 protected:
  // What comes after the head of the text form.
  std::string Tail() const { return out_.str().substr(out_.str().find("] ") + 2); }

  std::ostringstream out_;
  FixedClock clock_;
};

TEST_F(LogTest, ALineOfTextHasSeverityTimeProcessAndPlace) {
  Log log(out_, {}, clock_);
  log.Info("hello");
  const std::string place = "log_test\\.cc:" + std::to_string(__LINE__ - 1);
  EXPECT_THAT(out_.str(), MatchesRegex("I111[45] ..:13:20\\.123456 +[0-9]+ " + place + "\\] \"hello\"\n"));
}

TEST_F(LogTest, ValuesAreWrittenAsKlogDoes) {
  Log log(out_, {}, clock_);
  log.Info("Served", {{"text", "a \"b\" \\ c\n"},
                      {"string", std::string("s")},
                      {"pod", Thing{{"shop", "web-1"}}},
                      {"node", Thing{{"", "n1"}}},
                      {"int", -3},
                      {"size", size_t{18'446'744'073'709'551'615u}},
                      {"ms", 0.25},
                      {"yes", true},
                      {"body", LogValue::Verbatim("{\"a\":\n1}")}});
  EXPECT_EQ(Tail(),
            R"("Served" text="a \"b\" \\ c\n" string="s" pod="shop/web-1" node="n1" int=-3 size=18446744073709551615)"
            R"( ms=0.25 yes=true body={"a":\n1})"
            "\n");
}

TEST_F(LogTest, ALineOfJsonIsKlogs) {
  Log log(out_, {.format = LogFormat::kJson}, clock_);
  log.Info("a \"b\"\n", {{"pod", Thing{{"shop", "web\x01"}}},
                         {"node", Thing{{"", "n1"}}},
                         {"n", 5},
                         {"ms", 0.25},
                         {"no", false},
                         {"body", LogValue::Verbatim("{}")}});
  const std::string line = std::to_string(__LINE__ - 6);
  EXPECT_EQ(out_.str(), R"({"ts":1700000000123.4568,"caller":"util/log_test.cc:)" + line +
                            R"(","msg":"a \"b\"\n","v":0,"pod":{"name":"web\u0001","namespace":"shop"},)"
                            R"("node":{"name":"n1"},"n":5,"ms":0.25,"no":false,"body":"{}"})"
                            "\n");
}

TEST_F(LogTest, AValueOfSeveralLinesIsIndentedWhereThatIsWanted) {
  Log log(out_, {.several_lines = true}, clock_);
  log.Info("m", {{"config", "a: 1\nI1115 b\r\n\n"}, {"n", 1}, {"text", "x\ny"}});
  EXPECT_EQ(Tail(), "\"m\" config=<\n\ta: 1\n\tI1115 b\\r\n\t\n > n=1 text=<\n\tx\n\ty\n >\n");
  out_.str("");
  Log json(out_, {.format = LogFormat::kJson, .several_lines = true}, clock_);
  json.Info("m", {{"config", "a\nb"}});
  EXPECT_THAT(out_.str(), HasSubstr(R"("config":"a\nb"})"));
}

TEST_F(LogTest, AnObjectIsAnObjectInBothForms) {
  Log log(out_, {}, clock_);
  log.Info("m", {{"list", LogValue::Json(R"(["a",{"b":1}])")}});
  EXPECT_EQ(Tail(), "\"m\" list=[\"a\",{\"b\":1}]\n");
  out_.str("");
  Log json(out_, {.format = LogFormat::kJson}, clock_);
  json.Info("m", {{"list", LogValue::Json(R"(["a",{"b":1}])")}});
  EXPECT_THAT(out_.str(), HasSubstr(R"("list":["a",{"b":1}]})"));
}

// The forms that a recorded kube-scheduler v1.36.4 wrote.
TEST_F(LogTest, LinesOfKubeSchedulerReadTheSame) {
  Log json(out_, {.verbosity = 2, .format = LogFormat::kJson}, clock_);
  const Logger two = Logger(json, clock_).V(2);
  two.Info("Added node to NodeTree", {{"node", Thing{{"", "n1"}}}, {"zone", ""}});
  EXPECT_THAT(out_.str(), HasSubstr(R"("msg":"Added node to NodeTree","v":2,"node":{"name":"n1"},"zone":""})"));
  two.Info("Start the preemption asynchronously",
           {{"preemptor", Thing{{"default", "urgent"}}}, {"node", "n1"}, {"numVictims", 1}, {"numVictimsToDelete", 1}});
  EXPECT_THAT(out_.str(), HasSubstr(R"("msg":"Start the preemption asynchronously","v":2,)"
                                    R"("preemptor":{"name":"urgent","namespace":"default"},"node":"n1",)"
                                    R"("numVictims":1,"numVictimsToDelete":1})"));
  json.Say(LogSeverity::kError, "The manifest file is empty, ignoring.");
  EXPECT_THAT(out_.str(), HasSubstr(R"("msg":"The manifest file is empty, ignoring."})"));
  json.Say(LogSeverity::kWarning, "No authorization-kubeconfig provided");
  EXPECT_THAT(out_.str(), HasSubstr(R"("msg":"No authorization-kubeconfig provided","v":0})"));
}

TEST_F(LogTest, FilesMayHaveAVerbosityOfTheirOwn) {
  Log log(out_, {.verbosity = 1, .files = {{"log_t?st", 3}, {"log*", 9}, {"other", 5}}}, clock_);
  const Logger logger(log, clock_);
  logger.V(3).Info("three");
  EXPECT_EQ(Tail(), "\"three\"\n");
  out_.str("");
  logger.V(4).Info("four");  // the first pattern that fits counts
  logger.V(2).Info("elsewhere", {}, {"src/cycle/scheduler.cc", 1});
  EXPECT_EQ(out_.str(), "");
  logger.V(5).Info("other", {}, {"src/cycle/other.cc", 1});
  logger.V(1).Info("one", {}, {"src/cycle/scheduler.cc", 1});
  EXPECT_EQ(Tail(), "\"other\"\n" + out_.str().substr(out_.str().find('\n') + 1));
  EXPECT_THAT(out_.str(), HasSubstr("scheduler.cc:1] \"one\"\n"));
  EXPECT_FALSE(logger.V(10).enabled());
  EXPECT_TRUE(logger.V(9).enabled()) << "some file may want it";
  EXPECT_EQ(log.verbosity(), 1);
}

TEST_F(LogTest, TheVerbosityMayChangeWhileOthersWrite) {
  Log log(out_, {}, clock_);
  std::thread writer([&] {
    const Logger logger(log, clock_);
    for (int i = 0; i < 1'000; ++i) logger.V(i % 5).Info("m");
  });
  for (int i = 0; i < 1'000; ++i) ChangeVerbosity(log, std::to_string(i % 5));
  writer.join();
  EXPECT_EQ(ChangeVerbosity(log, "4").value, "successfully set klog.logging.verbosity to 4");
  EXPECT_TRUE(Logger(log, clock_).V(4).enabled());
  EXPECT_EQ(ChangeVerbosity(log, "x").error, "strconv.ParseUint: parsing \"x\": invalid syntax");
  EXPECT_EQ(ChangeVerbosity(log, "-1").error, "strconv.ParseUint: parsing \"-1\": invalid syntax");
  EXPECT_EQ(log.verbosity(), 4);
}

TEST_F(LogTest, AnErrorInJsonHasNoVerbosity) {
  Log log(out_, {.format = LogFormat::kJson}, clock_);
  log.Error("failed", {{"err", "why"}});
  EXPECT_THAT(out_.str(), HasSubstr(R"("msg":"failed","err":"why"})"));
}

TEST_F(LogTest, ALoggerNamesWhoSpeaksAndHowLoud) {
  Log log(out_, {.verbosity = 4}, clock_);
  const Logger plugin(log, clock_, "RackTemperature");
  plugin.V(4).Info("Rack is hot", {{"celsius", 40}});
  EXPECT_EQ(Tail(), "\"Rack is hot\" logger=\"RackTemperature\" celsius=40\n");
  out_.str("");
  Log json(out_, {.verbosity = 4, .format = LogFormat::kJson}, clock_);
  Logger(json, clock_, "R").V(3).V(1).Info("m");
  EXPECT_THAT(out_.str(), HasSubstr(R"("logger":"R","caller":"util/log_test.cc:)"));
  EXPECT_THAT(out_.str(), HasSubstr(R"("msg":"m","v":4})"));
}

TEST_F(LogTest, LinesBelowTheLevelAreNotWritten) {
  Log log(out_, {.verbosity = log_level::kWarn}, clock_);
  const Logger logger(log, clock_);
  log.Info("info");
  log.Say(LogSeverity::kInfo, "a sentence");
  log.Add(LogSeverity::kInfo, 0, "added", {});
  logger.Info("info");
  EXPECT_EQ(out_.str(), "");
  EXPECT_FALSE(logger.enabled());
  log.Warn("warn");
  log.Error("error");
  EXPECT_THAT(out_.str(), HasSubstr("] \"warn\"\nE"));
  out_.str("");
  log.SetVerbosity(log_level::kError);
  log.Warn("warn");
  EXPECT_EQ(out_.str(), "");
  log.Error("error");
  EXPECT_EQ(Tail(), "\"error\"\n");
}

TEST_F(LogTest, VerbosityOpensInfoLinesStepByStep) {
  Log log(out_, {.verbosity = 2}, clock_);
  const Logger logger(log, clock_);
  EXPECT_TRUE(logger.V(2).enabled());
  EXPECT_FALSE(logger.V(3).enabled());
  logger.V(3).Info("three");
  EXPECT_EQ(out_.str(), "");
  log.SetVerbosity(3);
  logger.V(3).Info("three");
  EXPECT_EQ(Tail(), "\"three\"\n");
}

TEST_F(LogTest, NobodyCanForgeALine) {
  Log log(out_, {}, clock_);
  log.Say(LogSeverity::kInfo, "pod a\nI1115 forged\r\x1b[31m\x7f");
  const std::string text = out_.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_THAT(text, HasSubstr("pod a\\nI1115 forged\\r\\x1b[31m\\x7f\n"));
}

TEST_F(LogTest, AServersLogTellsOfLinesThatItDoesNotHave) {
  TestPipe pipe;
  const std::string before = pipe.Fill();
  Log log(pipe.in(), {.max_waiting_bytes = 500}, clock_);
  EXPECT_EQ(log.dropped(), 0u);
  for (int i = 0; i < 100; ++i) log.Info("hello");
  const uint64_t dropped = log.dropped();
  EXPECT_GT(dropped, 80u);
  ASSERT_TRUE(pipe.ReadUntil("lines=" + std::to_string(dropped) + "\n")) << pipe.text();
  EXPECT_THAT(pipe.text(), HasSubstr("\"Log lines were dropped: nobody read them in time\" lines="));
  log.Print("berth: the end");
  log.Close(std::chrono::seconds(20));
  const std::string text = pipe.ReadAll();
  EXPECT_THAT(text, testing::EndsWith("\nberth: the end\n"));
  const auto lines = static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n'));
  EXPECT_EQ(lines, 100 - dropped + 2);
}

TEST_F(LogTest, AServersLogRationsWhatIsRepeatedAndTellsHowOften) {
  for (const LogFormat format : {LogFormat::kText, LogFormat::kJson}) {
    TestPipe pipe;
    Log log(pipe.in(), {.verbosity = log_level::kWarn, .format = format}, clock_);
    std::thread reader([&] { pipe.ReadUntil("the end\n"); });
    for (int i = 0; i < 5'000; ++i) log.Warn("No such route", {{"path", "/wrong"}});
    const std::string place = std::to_string(__LINE__ - 1);
    log.Error("something else");
    EXPECT_GE(log.left_out(), 4'000u);
    const std::string left_out = std::to_string(log.left_out());
    log.Close(std::chrono::seconds(20));
    pipe.CloseWriter();
    reader.join();
    const std::string text = pipe.ReadAll();
    EXPECT_THAT(text, HasSubstr("something else"));
    EXPECT_THAT(text,
                HasSubstr(format == LogFormat::kText
                              ? "\"Log lines were left out: too many of their kind\" lines=" + left_out +
                                    " from=\"log_test.cc:" + place + "\" saying=\"No such route\"\n"
                              : R"("msg":"Log lines were left out: too many of their kind","v":0,"lines":)" + left_out +
                                    R"(,"from":"log_test.cc:)" + place + R"(","saying":"No such route"})"));
    EXPECT_EQ(log.dropped(), 0u);
  }
}

TEST_F(LogTest, ACommandsLogHasEveryLine) {
  Log log(out_, {}, clock_);
  for (int i = 0; i < 5'000; ++i) log.Warn("again");
  log.Print("berth: the end");
  const std::string text = out_.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5'001);
  EXPECT_THAT(text, testing::EndsWith("\nberth: the end\n"));
  EXPECT_EQ(log.dropped() + log.left_out(), 0u);
}

TEST_F(LogTest, LevelsAreReadInAnyCase) {
  EXPECT_EQ(ParseLogLevel("DEBUG"), log_level::kDebug);
  EXPECT_EQ(ParseLogLevel("warn"), log_level::kWarn);
  EXPECT_EQ(ParseLogLevel("Warning"), log_level::kWarn);
  EXPECT_EQ(ParseLogLevel("Error"), log_level::kError);
  EXPECT_EQ(LogLevelName(*ParseLogLevel("info")), "INFO");
  EXPECT_EQ(LogLevelName(3), "INFO");
  EXPECT_EQ(LogLevelName(9), "DEBUG");
  EXPECT_EQ(LogLevelName(-1), "WARN");
  EXPECT_EQ(LogLevelName(-2), "ERROR");
  for (const char* text : {"", "INFOO", "1", " INFO", "WARNINGS"}) EXPECT_FALSE(ParseLogLevel(text)) << text;
}

TEST_F(LogTest, LinesOfSeveralThreadsStayWhole) {
  Log log(out_, {}, clock_);
  std::vector<std::thread> threads;
  for (char c = 'a'; c < 'e'; ++c) {
    threads.emplace_back([&log, c] {
      for (int i = 0; i < 200; ++i) log.Say(LogSeverity::kInfo, std::string(50, c));
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::istringstream in(out_.str());
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
