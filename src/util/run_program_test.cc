// SPDX-License-Identifier: Apache-2.0
#include "util/run_program.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace berth::util {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::StartsWith;

ProgramCall Shell(const std::string& script) {
  ProgramCall call;
  call.program = "sh";
  call.args = {"-c", script, "name", "a b"};
  call.environment = {"PATH=/usr/bin:/bin", "X=y z"};
  return call;
}

TEST(RunProgramTest, OutputAndCodeAreReturned) {
  const ProgramResult result = RunProgram(Shell("printf '%s|%s|' \"$1\" \"$X\"; cat; echo $HOME; exit 3"));
  EXPECT_EQ(result.end, ProgramEnd::kExited);
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.output, "a b|y z|\n");  // nothing to read, and no HOME
}

TEST(RunProgramTest, ASignalIsNoCode) {
  const ProgramResult result = RunProgram(Shell("kill -9 $$"));
  EXPECT_EQ(result.end, ProgramEnd::kExited);
  EXPECT_EQ(result.code, -1);
}

TEST(RunProgramTest, WhereNobodyIsToldOfChildrenTheOutputHasToDo) {
  const auto before = ::signal(SIGCHLD, SIG_IGN);
  const ProgramResult result = RunProgram(Shell("echo fine; exit 3"));
  ::signal(SIGCHLD, before);
  EXPECT_EQ(result.end, ProgramEnd::kExited);
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.output, "fine\n");
}

TEST(RunProgramTest, WhatIsNotThereIsMissing) {
  for (const char* program : {"no-such-program-of-berth", "/no/such/program", "/etc/passwd", "/etc/passwd/x"}) {
    ProgramCall call;
    call.program = program;
    const ProgramResult result = RunProgram(call);
    EXPECT_EQ(result.end, ProgramEnd::kMissing) << program;
    EXPECT_NE(result.problem, "") << program;
  }
}

TEST(RunProgramTest, OneThatDoesNotEndIsEndedWithAllItHasStarted) {
  for (const char* script : {"sleep 1000", "exec >&-; sleep 1000", "sleep 1000 & exit 0", "trap '' TERM; sleep 1000"}) {
    ProgramCall call = Shell(script);
    call.timeout = Duration::Millis(200);
    EXPECT_EQ(RunProgram(call).end, ProgramEnd::kLate) << script;
  }
}

TEST(RunProgramTest, OutputIsBounded) {
  ProgramCall call = Shell("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxx; done");
  call.max_output = 100'000;
  EXPECT_EQ(RunProgram(call).end, ProgramEnd::kTooMuch);
  call = Shell("printf 12345");
  call.max_output = 5;
  EXPECT_EQ(RunProgram(call).output, "12345");
}

TEST(RunProgramTest, ItCanBeStopped) {
  std::atomic<bool> stop{false};
  ProgramCall call = Shell("echo begun; sleep 1000");
  call.timeout = Duration{0};  // none
  call.stop = &stop;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stop = true;
  });
  EXPECT_EQ(RunProgram(call).end, ProgramEnd::kStopped);
  other.join();
}

TEST(RunProgramTest, SomethingElseCanBeDoneMeanwhile) {
  for (const char* script : {"sleep 1000", "exec >&-; sleep 1000"}) {
    std::atomic<bool> stop{false};
    int looks = 0;
    ProgramCall call = Shell(script);
    call.stop = &stop;
    call.meanwhile = [&] { stop = ++looks == 5; };
    EXPECT_EQ(RunProgram(call).end, ProgramEnd::kStopped) << script;
    EXPECT_EQ(looks, 5) << script;
  }
}

TEST(RunProgramTest, ItInheritsNoFilesAndNoIgnoredSignals) {
  const int leaky = ::open("/dev/null", O_RDONLY);  // NOLINT: not O_CLOEXEC, on purpose
  ASSERT_GE(leaky, 3);
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  const ProgramResult result = RunProgram(Shell("ls /proc/self/fd; grep SigIgn /proc/self/status"));
  ::signal(SIGPIPE, before);
  ::close(leaky);
  const std::string files = "0\n1\n2\n3\nSigIgn:\t";  // ls has the folder itself open
  ASSERT_THAT(result.output, StartsWith(files));
  const uint64_t ignored = std::stoull(result.output.substr(files.size()), nullptr, 16);
  EXPECT_EQ(ignored & 0x7fffffff, 0u) << "what is above is the C library's own";
}

TEST(EnvironmentTest, GivenVariablesReplaceOurs) {
  ASSERT_EQ(::setenv("BERTH_TEST_A", "1", 1), 0);
  ASSERT_EQ(::setenv("BERTH_TEST_AB", "2", 1), 0);
  std::vector<std::string> environment =
      EnvironmentWith({{"BERTH_TEST_A", "x"}, {"BERTH_TEST_C", "first"}, {"BERTH_TEST_C", "=last"}});
  ::unsetenv("BERTH_TEST_A");
  ::unsetenv("BERTH_TEST_AB");
  EXPECT_THAT(environment, Contains(StartsWith("PATH=")));
  std::erase_if(environment, [](const std::string& one) { return !one.starts_with("BERTH_TEST_"); });
  EXPECT_THAT(environment, ElementsAre("BERTH_TEST_A=x", "BERTH_TEST_AB=2", "BERTH_TEST_C==last"));
  EXPECT_THAT(EnvironmentWith({}), Not(Contains(StartsWith("BERTH_TEST_"))));
}

}  // namespace
}  // namespace berth::util
