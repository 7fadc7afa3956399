// SPDX-License-Identifier: Apache-2.0
// A reader that is slow, stopped, gone and back: nobody waits for it, nothing is lost without a word.
#include "util/log_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <sstream>
#include <thread>
#include <vector>

#include "util/log_pipe_test_util.h"

namespace berth::util {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

std::string Dropped(uint64_t lines) { return "(" + std::to_string(lines) + " dropped)\n"; }

TEST(LogWriterTest, LinesAreWrittenInOrder) {
  TestPipe pipe;
  std::string want;
  {
    LogWriter writer(pipe.in(), {});
    std::thread reader([&] { pipe.ReadUntil("line 9999\n"); });
    for (int i = 0; i < 10'000; ++i) {
      const std::string line = "line " + std::to_string(i) + "\n";
      writer.Add(line);
      want += line;
    }
    writer.Close(seconds(20));
    EXPECT_EQ(writer.dropped(), 0u);
    reader.join();
  }
  EXPECT_EQ(pipe.ReadAll(), want);
}

TEST(LogWriterTest, WhatNobodyReadsIsDroppedAndToldOfOnceSomebodyDoes) {
  TestPipe pipe;
  const std::string before = pipe.Fill();
  LogWriter writer(pipe.in(), {.max_bytes = 1'000, .dropped_line = Dropped});
  const std::string line = std::string(99, 'a') + "\n";
  for (int i = 0; i < 25; ++i) writer.Add(line);  // ten have room
  EXPECT_EQ(writer.dropped(), 15u);
  ASSERT_TRUE(pipe.ReadUntil("dropped)\n")) << pipe.text();
  std::string want = before;
  for (int i = 0; i < 10; ++i) want += line;
  EXPECT_EQ(pipe.text(), want + "(15 dropped)\n");
  writer.Add("back\n");
  ASSERT_TRUE(pipe.ReadUntil("back\n"));
  EXPECT_EQ(pipe.text(), want + "(15 dropped)\nback\n");
  EXPECT_EQ(writer.dropped(), 15u);
}

TEST(LogWriterTest, OneLineThatIsTooLongIsDroppedAlone) {
  TestPipe pipe;
  LogWriter writer(pipe.in(), {.max_bytes = 1'000, .dropped_line = Dropped});
  writer.Add(std::string(1'000, 'a') + "\n");
  writer.Add("short\n");
  writer.Close(seconds(20));
  EXPECT_EQ(pipe.ReadAll(), "(1 dropped)\nshort\n");
}

TEST(LogWriterTest, ClosingDoesNotWaitForAReaderThatDoesNotRead) {
  TestPipe pipe;
  pipe.Fill();
  LogWriter writer(pipe.in(), {.dropped_line = Dropped});
  for (int i = 0; i < 7; ++i) writer.Add("line\n");
  writer.Close(milliseconds(50));  // returns
  EXPECT_EQ(writer.dropped(), 7u);
  writer.Add("late\n");
  EXPECT_EQ(writer.dropped(), 8u);
  EXPECT_THAT(pipe.ReadAll(), testing::Not(HasSubstr("line")));
}

TEST(LogWriterTest, ClosingWritesWhatAReaderTakes) {
  TestPipe pipe;
  const std::string before = pipe.Fill();
  LogWriter writer(pipe.in(), {});
  std::string want;
  for (int i = 0; i < 5'000; ++i) {
    writer.Add("line\n");
    want += "line\n";
  }
  std::thread reader([&] { pipe.ReadUntil("the last\n"); });
  writer.Add("the last\n");
  writer.Close(seconds(20));
  reader.join();
  EXPECT_EQ(pipe.ReadAll(), before + want + "the last\n");
  EXPECT_EQ(writer.dropped(), 0u);
}

TEST(LogWriterTest, AReaderThatHasGoneEndsNothing) {
  const auto before = std::signal(SIGPIPE, SIG_DFL);  // which ends the process
  TestPipe pipe;
  LogWriter writer(pipe.in(), {.max_bytes = 1'000});
  writer.Add("read\n");
  ASSERT_TRUE(pipe.ReadUntil("read\n"));
  pipe.CloseReader();
  for (int i = 0; i < 500; ++i) writer.Add("nobody\n");
  EXPECT_GT(writer.dropped(), 0u);
  writer.Close(seconds(20));  // does not take that long: nobody will come
  EXPECT_EQ(writer.dropped(), 500u);
  std::signal(SIGPIPE, before);
}

TEST(LogWriterTest, ADescriptorThatIsNoneEndsNothing) {
  LogWriter writer(1'000'000, {});
  writer.Add("line\n");
  writer.Close(seconds(20));
  EXPECT_EQ(writer.dropped(), 1u);
}

TEST(LogWriterTest, WhatARemindAskedForIsWrittenByItself) {
  TestPipe pipe;
  std::atomic<int> asked = 0;
  LogWriter writer(pipe.in(), {.reminder = [&] { return "asked " + std::to_string(++asked) + "\n"; }});
  writer.Remind(milliseconds(1));
  writer.Remind(milliseconds(1));  // one is enough
  ASSERT_TRUE(pipe.ReadUntil("asked 1\n"));
  writer.Remind(seconds(3600));
  writer.Close(seconds(20));
  EXPECT_THAT(pipe.ReadAll(), testing::EndsWith("\nasked " + std::to_string(asked) + "\n"));
}

TEST(LogWriterTest, ManyThreadsLoseNothingWithoutACount) {
  constexpr int kThreads = 8, kEach = 2'000;
  TestPipe pipe;
  std::atomic<uint64_t> told = 0;
  LogWriter writer(pipe.in(), {.max_bytes = 2'000, .dropped_line = [&](uint64_t lines) {
                                 told += lines;
                                 return "dropped\n";
                               }});
  std::thread reader([&] { pipe.ReadUntil("the end\n"); });
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&writer, t] {
      const std::string line = std::string(20, static_cast<char>('a' + t)) + "\n";
      for (int i = 0; i < kEach; ++i) writer.Add(line);
    });
  }
  for (std::thread& thread : threads) thread.join();
  uint64_t before = 0;
  do {  // the last line itself may find no room
    before = writer.dropped();
    writer.Add("the end\n");
  } while (writer.dropped() != before);
  writer.Close(seconds(20));
  reader.join();
  size_t lines = 0, notes = 0, tries = 0;
  std::istringstream text(pipe.ReadAll());
  for (std::string line; std::getline(text, line);) {
    if (line == "dropped") {
      ++notes;
    } else if (line == "the end") {
      ++tries;
    } else {
      ++lines;
      EXPECT_EQ(line, std::string(20, line.front()));  // in one piece
    }
  }
  EXPECT_EQ(tries, 1u);
  EXPECT_EQ(writer.dropped(), told);
  EXPECT_GE(lines + writer.dropped(), size_t{kThreads} * kEach);
  EXPECT_EQ(notes > 0, told > 0);
}

TEST(LogWriterTest, WhoCrashesCanWaitForWhatIsOnItsWay) {
  TestPipe pipe;
  LogWriter writer(pipe.in(), {});
  writer.Add("before the crash\n");
  LogWriter::AwaitAll(seconds(20));
  EXPECT_TRUE(pipe.ReadUntil("before the crash\n"));
  pipe.Fill();
  writer.Add("nobody reads this\n");
  LogWriter::AwaitAll(milliseconds(20));  // returns
  writer.Close(milliseconds(0));
  LogWriter::AwaitAll(seconds(3600));  // nothing waits any more
}

}  // namespace
}  // namespace berth::util
