// SPDX-License-Identifier: Apache-2.0
#include "framework/one_verdict.h"

#include <gtest/gtest.h>

#include <vector>

namespace berth::framework {
namespace {

TEST(OneVerdictTest, IsTheOneOfAllThatDoNotFit) {
  const auto one = [](const std::vector<VerdictId>& verdicts) { return OneVerdict(verdicts); };
  EXPECT_EQ(one({}), kFitsId);
  EXPECT_EQ(one(std::vector<VerdictId>(100, kFitsId)), kFitsId);
  EXPECT_EQ(one({kFitsId, 3, kFitsId, 3}), 3u);
  EXPECT_EQ(one({1, 3, kFitsId}), kNotJudged) << "together their bits are 3";
  EXPECT_EQ(one({1, kFitsId, 2}), kNotJudged);
  EXPECT_EQ(one({kFitsId, kNotJudged}), kNotJudged);
  EXPECT_EQ(one({kNotJudged, 1}), kNotJudged);
  // Wherever the other one stands in what is looked at together.
  for (size_t at = 0; at < 70; ++at) {
    std::vector<VerdictId> verdicts(70, 5);
    EXPECT_EQ(one(verdicts), 5u);
    verdicts[at] = 4;
    EXPECT_EQ(one(verdicts), kNotJudged) << at;
  }
}

}  // namespace
}  // namespace berth::framework
