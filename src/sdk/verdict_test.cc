// SPDX-License-Identifier: Apache-2.0
// Codes, verdicts and the table that interns them.
#include "berth/verdict.h"

#include <gtest/gtest.h>

#include <thread>

#include "berth/rejections.h"

namespace berth {
namespace {

TEST(VerdictTest, CodesHaveUpstreamsNamesAndValues) {
  const std::vector<std::pair<Code, std::string>> want = {
      {Code::kSuccess, "Success"},
      {Code::kError, "Error"},
      {Code::kUnschedulable, "Unschedulable"},
      {Code::kUnschedulableAndUnresolvable, "UnschedulableAndUnresolvable"},
      {Code::kWait, "Wait"},
      {Code::kSkip, "Skip"},
      {Code::kPending, "Pending"}};
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(static_cast<size_t>(want[i].first), i);
    EXPECT_EQ(ToString(want[i].first), want[i].second);
  }
}

TEST(VerdictTest, RejectedMeansUnschedulableUnresolvableOrPending) {
  for (const Code code : {Code::kUnschedulable, Code::kUnschedulableAndUnresolvable, Code::kPending})
    EXPECT_TRUE(IsRejected(code)) << ToString(code);
  for (const Code code : {Code::kSuccess, Code::kError, Code::kWait, Code::kSkip})
    EXPECT_FALSE(IsRejected(code)) << ToString(code);
}

TEST(VerdictTest, AReasonsRemedyIsItsCode) {
  constexpr Reason kEvict{"full"};
  constexpr Reason kHopeless{"wrong", Remedy::kNone};
  EXPECT_EQ(Verdict(kEvict), Verdict(Code::kUnschedulable, "full"));
  EXPECT_EQ(Verdict(kHopeless), Verdict(Code::kUnschedulableAndUnresolvable, "wrong"));
  EXPECT_TRUE(Verdict(kFits).fits());
  EXPECT_TRUE(Verdict(kFits).reasons().empty());
}

TEST(VerdictTest, TheMessageJoinsReasonsByComma) {
  EXPECT_EQ(Verdict().message(), "");
  EXPECT_EQ(Verdict(Code::kUnschedulable, std::vector<std::string>{"a", "b"}).message(), "a, b");
}

TEST(VerdictTableTest, EqualVerdictsShareAnIdAndFittingIsZero) {
  VerdictTable table;
  EXPECT_EQ(table.Intern(Verdict()), kFitsId);
  const VerdictId full = table.Intern(Verdict(Code::kUnschedulable, "full"));
  EXPECT_EQ(table.Intern(Verdict(Code::kUnschedulable, "full")), full);
  EXPECT_NE(table.Intern(Verdict(Code::kUnschedulableAndUnresolvable, "full")), full);
  EXPECT_NE(table.Intern(Verdict(Code::kUnschedulable, std::vector<std::string>{"full", "full"})), full);
  EXPECT_EQ(table.size(), 4u);
  EXPECT_EQ(table.Get(full).message(), "full");
}

TEST(VerdictTableTest, WordsHaveTheIdOfTheirVerdict) {
  VerdictTable table;
  const std::vector<std::string_view> two = {"full", "hot"};
  const VerdictId both = table.Intern(Code::kUnschedulable, two);
  EXPECT_EQ(table.Get(both), Verdict(Code::kUnschedulable, std::vector<std::string>{"full", "hot"}));
  EXPECT_EQ(table.Intern(Verdict(Code::kUnschedulable, std::vector<std::string>{"full", "hot"})), both);
  EXPECT_EQ(table.Intern(Code::kUnschedulable, two), both);
  const VerdictId one = table.Intern(Verdict(Code::kUnschedulable, "full"));
  EXPECT_EQ(table.Intern(Code::kUnschedulable, std::span(two).first(1)), one);
  EXPECT_NE(table.Intern(Code::kPending, std::span(two).first(1)), one);
  EXPECT_EQ(table.Intern(Code::kSuccess, {}), kFitsId);
  EXPECT_EQ(table.size(), 4u);
}

TEST(VerdictTableTest, ReferencesStayValidAsTheTableGrows) {
  VerdictTable table;
  const Verdict& first = table.Get(table.Intern(Verdict(Code::kUnschedulable, "first")));
  for (int i = 0; i < 10'000; ++i) table.Intern(Verdict(Code::kUnschedulable, std::to_string(i)));
  EXPECT_EQ(first.message(), "first");
}

TEST(VerdictTableTest, ThreadsThatInternTheSameVerdictsAgreeOnTheIds) {
  VerdictTable table;
  std::vector<std::vector<VerdictId>> ids(4);
  std::vector<std::thread> threads;
  for (auto& mine : ids)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) mine.push_back(table.Intern(Verdict(Code::kUnschedulable, std::to_string(i))));
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& other : ids) EXPECT_EQ(other, ids[0]);
  EXPECT_EQ(table.size(), 501u);
}

TEST(RejectionsTest, SlotsHoldWhatWasWritten) {
  VerdictTable table;
  std::vector<VerdictId> slots(2, kFitsId);
  Rejections out(slots, table);
  out.Reject(1, out.Intern(Reason{"full"}));
  EXPECT_EQ(slots[0], kFitsId);
  EXPECT_EQ(table.Get(slots[1]), Verdict(Code::kUnschedulable, "full"));
  EXPECT_EQ(out.Intern(kFits), kFitsId);
}

}  // namespace
}  // namespace berth
