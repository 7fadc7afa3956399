// SPDX-License-Identifier: Apache-2.0
// What is said of a crash, and that the signal does its work all the same.
#include "util/crash_note.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <string>
#include <thread>

#include "util/log_pipe_test_util.h"
#include "util/log_writer.h"

namespace berth::util {
namespace {

class Note final : public CrashNote {
 public:
  explicit Note(const char* text) : CrashNote(&Describe), text_(text) { Begin(); }

 private:
  static void Describe(const CrashNote& note, CrashLine& line) {
    line.Add(static_cast<const Note&>(note).text_);
    if (note.step() != kNoStep) line.Add(" at ").Add(uint64_t{note.step()});
  }
  const char* const text_;
};

std::string Said() {
  if (CrashNote::current() == nullptr) return "";
  CrashLine line;
  CrashNote::current()->Say(line);
  return std::string(line.text());
}

TEST(CrashNoteTest, TheInnermostNoteOfTheThreadHolds) {
  EXPECT_EQ(Said(), "");
  CrashNote::Step(3);  // of nothing
  {
    const Note outer("outer");
    EXPECT_EQ(Said(), "outer");
    {
      const Note inner("inner");
      CrashNote::Step(12);
      EXPECT_EQ(Said(), "inner at 12");
      std::thread([] { EXPECT_EQ(Said(), ""); }).join();
    }
    EXPECT_EQ(Said(), "outer");
  }
  EXPECT_EQ(Said(), "");
}

TEST(CrashLineTest, ItIsOneLineAndHasAnEnd) {
  CrashLine line;
  line.Add("a\nb").Add(uint64_t{0}).Add(UINT64_MAX);
  EXPECT_EQ(line.text(), "a?b018446744073709551615");
  line.Add(std::string(10'000, 'x'));
  EXPECT_EQ(line.text().size(), 512u);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

using ::testing::KilledBySignal;

// At the beginning of a line, and the whole of it.
std::string Line(const std::string& text) { return "(^|\n)" + text + "\n"; }

TEST(CrashNoteDeathTest, ACrashIsBlamedInOneLineAndKillsAsUsual) {
  for (const auto& [signal, name] : {std::pair{SIGSEGV, "SIGSEGV"},
                                     {SIGBUS, "SIGBUS"},
                                     {SIGFPE, "SIGFPE"},
                                     {SIGILL, "SIGILL"},
                                     {SIGABRT, "SIGABRT"}})
    EXPECT_EXIT(
        {
          WriteCrashLines();
          const Note note("the middle of it");
          raise(signal);
        },
        KilledBySignal(signal), Line(std::string("berth: ") + name + " in the middle of it"));
}

TEST(CrashNoteDeathTest, AFaultIsBlamedToo) {
  EXPECT_EXIT(
      {
        WriteCrashLines();
        const Note note("a fault");
        int* volatile nowhere = nullptr;
        *nowhere = 1;
      },
      KilledBySignal(SIGSEGV), Line("berth: SIGSEGV in a fault"));
  EXPECT_EXIT(
      {
        WriteCrashLines();
        const Note note("abort");
        std::abort();
      },
      KilledBySignal(SIGABRT), Line("berth: SIGABRT in abort"));
}

TEST(CrashNoteDeathTest, WithoutANoteNothingIsSaid) {
  EXPECT_EXIT(
      {
        WriteCrashLines();
        raise(SIGSEGV);
      },
      KilledBySignal(SIGSEGV), "^$");
}

TEST(CrashNoteDeathTest, AStderrThatNobodyReadsHoldsNoCrashUp) {
  EXPECT_EXIT(
      {
        WriteCrashLines();
        const TestPipe pipe;
        pipe.Fill();
        dup2(pipe.in(), STDERR_FILENO);
        const Note note("a full pipe");
        raise(SIGSEGV);
      },
      KilledBySignal(SIGSEGV), "");
}

TEST(CrashNoteDeathTest, WhatWasLoggedBeforeACrashIsWritten) {
  EXPECT_EXIT(
      {
        WriteCrashLines();
        LogWriter log(STDERR_FILENO, {});
        for (int i = 0; i < 1'000; ++i) log.Add("a line\n");
        log.Add("the last line\n");
        const Note note("a crash");
        raise(SIGSEGV);
      },
      KilledBySignal(SIGSEGV), "\nthe last line\nberth: SIGSEGV in a crash\n");
}

TEST(CrashNoteDeathTest, ANoteThatCrashesItselfEndsTheProcessOnce) {
  EXPECT_EXIT(
      {
        WriteCrashLines();
        const Note note(nullptr);
        std::abort();
      },
      [](int status) { return WIFSIGNALED(status); }, "");
}

// Goes on until the stack is used up: the depth that it stops at is out of reach.
int Deep(volatile int* depth) {
  if (*depth < 0) return 0;
  volatile char room[4096];
  room[0] = static_cast<char>(*depth);
  *depth = *depth + 1;
  return Deep(depth) + room[0];
}

TEST(CrashNoteDeathTest, AStackThatIsUsedUpIsBlamedOnAnyThreadThatHasRoomForIt) {
  for (const bool here : {true, false})
    EXPECT_EXIT(
        {
          WriteCrashLines();
          const auto run = [] {
            const CrashStack stack;
            const Note note("the deep");
            volatile int depth = 0;
            (void)Deep(&depth);
          };
          if (here) {
            run();
          } else {
            std::thread(run).join();
          }
        },
        KilledBySignal(SIGSEGV), Line("berth: SIGSEGV in the deep"));
}

#endif

}  // namespace
}  // namespace berth::util
