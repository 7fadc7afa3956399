// SPDX-License-Identifier: Apache-2.0
#include "api/validate_names.h"

#include <gtest/gtest.h>

#include <string>

namespace berth {
namespace {

TEST(ValidateNamesTest, EachFormAcceptsAndRejectsAsTheApiServerDoes) {
  const std::string a63(63, 'a'), a64(64, 'a'), a253 = a63 + "." + a63 + "." + a63 + "." + std::string(61, 'a');
  const struct {
    Complaints (*check)(std::string_view);
    std::string text;
    bool good;
  } cases[] = {
      {CheckDnsLabel, "a", true},
      {CheckDnsLabel, "a-1", true},
      {CheckDnsLabel, "1a", true},
      {CheckDnsLabel, a63, true},
      {CheckDnsLabel, a64, false},
      {CheckDnsLabel, "", false},
      {CheckDnsLabel, "a.b", false},
      {CheckDnsLabel, "-a", false},
      {CheckDnsLabel, "a-", false},
      {CheckDnsLabel, "A", false},
      {CheckDnsLabel, "a_b", false},
      {CheckDnsSubdomain, "a.b-c.d", true},
      {CheckDnsSubdomain, a253, true},
      {CheckDnsSubdomain, a253 + "a", false},
      {CheckDnsSubdomain, "a..b", false},
      {CheckDnsSubdomain, ".a", false},
      {CheckDnsSubdomain, "a.", false},
      {CheckQualifiedName, "a", true},
      {CheckQualifiedName, "A_b.c-d", true},
      {CheckQualifiedName, "example.com/A", true},
      {CheckQualifiedName, a63, true},
      {CheckQualifiedName, a64, false},
      {CheckQualifiedName, "", false},
      {CheckQualifiedName, "/a", false},
      {CheckQualifiedName, "a/", false},
      {CheckQualifiedName, "a/b/c", false},
      {CheckQualifiedName, "Example.com/a", false},
      {CheckQualifiedName, "-a", false},
      {CheckQualifiedName, "a b", false},
      {CheckLabelValue, "", true},
      {CheckLabelValue, "A_b.c-1", true},
      {CheckLabelValue, a64, false},
      {CheckLabelValue, "a/b", false},
      {CheckLabelValue, "a-", false},
      {CheckPathSegment, "Any Thing", true},
      {CheckPathSegment, "..", false},
      {CheckPathSegment, "a/b", false},
      {CheckPathSegment, "a%b", false},
      {CheckPortName, "http-1", true},
      {CheckPortName, "80", false},
      {CheckPortName, "http--1", false},
      {CheckPortName, "-http", false},
      {CheckPortName, "abcdefghijklmnop", false},
      {CheckDeclaredFeature, "GuestFeature", true},
      {CheckDeclaredFeature, "A/b2", true},
      {CheckDeclaredFeature, "a", false},
      {CheckDeclaredFeature, "A/2", false},
      {CheckDeclaredFeature, "A/", false},
      {CheckDeclaredFeature, "", false},
  };
  for (const auto& c : cases) EXPECT_EQ(c.check(c.text).empty(), c.good) << c.text;
}

TEST(ValidateNamesTest, ComplaintsAreInTheApiServersWords) {
  EXPECT_EQ(Join(CheckDnsLabel("a.b"), "; "), "must not contain dots");
  EXPECT_EQ(Join(CheckQualifiedName("/"), "; ").substr(0, 59),
            "prefix part must be non-empty; name part must be non-empty;");
  EXPECT_EQ(Join(CheckLabelValue(std::string(64, 'a')), "; "), "must be no more than 63 bytes");
}

}  // namespace
}  // namespace berth
