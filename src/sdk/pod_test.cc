// SPDX-License-Identifier: Apache-2.0
#include "berth/pod.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(TolerationTest, ToleratesWhatUpstreamTolerates) {
  const Taint taint{"dedicated", "gpu", TaintEffect::kNoSchedule};
  const TaintEffect any = TaintEffect::kNone;
  const struct {
    const char* name;
    Toleration toleration;
    bool want;
  } cases[] = {
      {"all equal", {"dedicated", TolerationOp::kEqual, "gpu", TaintEffect::kNoSchedule}, true},
      {"another value", {"dedicated", TolerationOp::kEqual, "cpu", TaintEffect::kNoSchedule}, false},
      {"another key", {"other", TolerationOp::kEqual, "gpu", TaintEffect::kNoSchedule}, false},
      {"another effect", {"dedicated", TolerationOp::kEqual, "gpu", TaintEffect::kNoExecute}, false},
      {"no effect is every effect", {"dedicated", TolerationOp::kEqual, "gpu", any}, true},
      {"Exists takes any value", {"dedicated", TolerationOp::kExists, "", any}, true},
      {"Exists does not look at its own value", {"dedicated", TolerationOp::kExists, "cpu", any}, true},
      {"Exists of another key", {"other", TolerationOp::kExists, "", any}, false},
      {"Exists without a key is everything", {"", TolerationOp::kExists, "", any}, true},
      {"Exists without a key, another effect", {"", TolerationOp::kExists, "", TaintEffect::kNoExecute}, false},
      {"Equal without a key compares the value", {"", TolerationOp::kEqual, "gpu", any}, true},
      {"Equal without a key, another value", {"", TolerationOp::kEqual, "", any}, false},
      {"an unknown operator", {"dedicated", TolerationOp::kUnknown, "gpu", any}, false},
      {"an unknown effect", {"dedicated", TolerationOp::kExists, "", TaintEffect::kUnknown}, false},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(c.toleration.Tolerates(taint), c.want) << c.name;
    EXPECT_EQ(Tolerates({{"x", TolerationOp::kExists, "", any}, c.toleration}, taint), c.want) << c.name;
  }
  EXPECT_FALSE(Tolerates({}, taint));
}

TEST(TolerationTest, TwoUnknownEffectsAreNotTakenForTheSame) {
  const Taint taint{"k", "", TaintEffect::kUnknown};
  EXPECT_FALSE((Toleration{"k", TolerationOp::kExists, "", TaintEffect::kUnknown}).Tolerates(taint));
  EXPECT_TRUE((Toleration{"k", TolerationOp::kExists, "", TaintEffect::kNone}).Tolerates(taint));
}

TEST(TolerationTest, ComparisonsNeverMatchWhileTheirGateIsOff) {
  const Taint taint{"level", "5", TaintEffect::kNoSchedule};
  for (const char* value : {"1", "5", "9"}) {
    EXPECT_FALSE((Toleration{"level", TolerationOp::kLt, value, TaintEffect::kNone}).Tolerates(taint));
    EXPECT_FALSE((Toleration{"level", TolerationOp::kGt, value, TaintEffect::kNone}).Tolerates(taint));
  }
}

TEST(PodTest, FindsTheFirstConditionOfAType) {
  Pod pod;
  EXPECT_EQ(pod.FindCondition("Ready"), nullptr);
  pod.conditions = {{"Other", "True", "", ""}, {"Ready", "False", "first", ""}, {"Ready", "True", "second", ""}};
  ASSERT_NE(pod.FindCondition("Ready"), nullptr);
  EXPECT_EQ(pod.FindCondition("Ready")->reason, "first");
  EXPECT_EQ(pod.FindCondition("ready"), nullptr);
}

}  // namespace
}  // namespace berth
