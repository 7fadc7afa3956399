// SPDX-License-Identifier: Apache-2.0
// What checks say, whatever the extender wrote.
#include "conform/trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::conform {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(TrialTest, ADifferenceIsOneShortLineWhateverTheExtenderWrote) {
  EXPECT_EQ(Difference("a\nb\n", "a\n"), "no longer \"b\"");
  EXPECT_EQ(Difference("a\n", "a\nb\n"), "now \"b\"");
  EXPECT_EQ(Difference("a\n", "a\n"), "");
  const std::string wild = "passes \x1b[2J" + std::string(10'000, 'x');
  for (const std::string& sentence : {Difference(wild, ""), Difference("", wild)}) {
    EXPECT_THAT(sentence, HasSubstr("passes"));
    EXPECT_THAT(sentence, Not(HasSubstr("\x1b")));
    EXPECT_LT(sentence.size(), 200U);
  }
}

TEST(TrialTest, AnAnswerThatCannotBeReadIsQuotedWithoutControlCharacters) {
  Options options;
  options.url = "http://127.0.0.1:1";
  const Result<std::unique_ptr<Caller>> caller = Caller::Create(options);
  ASSERT_TRUE(caller.ok());
  const Session session(options, **caller);
  Exchange exchange;
  exchange.status = 200;
  exchange.body = R"({"FailedNodes":{"\u001b[2J":7}})";
  const Asked asked = session.Judge({Verb::kFilter, Shape::kNames}, exchange);
  EXPECT_THAT(asked.problem, HasSubstr("FailedNodes"));
  EXPECT_THAT(asked.problem, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace berth::conform
