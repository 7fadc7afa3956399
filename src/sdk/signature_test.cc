// SPDX-License-Identifier: Apache-2.0
// Signatures: what was added can be told apart.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "berth/depends.h"

namespace berth {
namespace {

using Part = std::variant<std::string, int64_t>;

std::string TextOf(const std::vector<Part>& parts) {
  Signature signature;
  for (const Part& part : parts) std::visit([&](const auto& value) { signature.Add(value); }, part);
  return signature.text();
}

TEST(SignatureTest, PartsThatLookAlikeDiffer) {
  const std::vector<std::vector<Part>> all = {
      {},
      {""},
      {int64_t{0}},
      {"", ""},
      {"a", "b"},
      {"ab"},
      {"", "ab"},
      {int64_t{1}, int64_t{2}},
      {int64_t{63}},
      {int64_t{64}},
      {int64_t{-1}},
      {std::string(1, '\x80')},
      {std::string(127, 'x')},
      {std::string(128, 'x')},
      {std::string(127, 'x'), "x"},
      {std::string(1000, 'x')},
  };
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t j = 0; j < all.size(); ++j) EXPECT_EQ(TextOf(all[i]) == TextOf(all[j]), i == j) << i << ", " << j;
}

RC_GTEST_PROP(SignatureTest, EqualTextsAreEqualParts, ()) {
  // Few letters and numbers, so that what could be mistaken for each other is drawn often.
  const auto part = rc::gen::oneOf(
      rc::gen::cast<Part>(rc::gen::container<std::string>(rc::gen::elementOf(std::string("\x00\x01\x80\xC2", 4)))),
      rc::gen::cast<Part>(rc::gen::elementOf(std::vector<int64_t>{0, 1, 63, 64, 0x80, -1})));
  const auto a = *rc::gen::container<std::vector<Part>>(part);
  const auto b = *rc::gen::container<std::vector<Part>>(part);
  RC_ASSERT((TextOf(a) == TextOf(b)) == (a == b));
}

TEST(SignatureTest, PluginsAreKeptApart) {
  const auto text = [](const std::vector<std::string>& first, const std::vector<std::string>& second) {
    Signature signature;
    for (const std::string& part : first) signature.Add(part);
    signature.EndPlugin(true);
    for (const std::string& part : second) signature.Add(part);
    signature.EndPlugin(true);
    return std::move(signature).Take();
  };
  EXPECT_EQ(text({"a"}, {"b"}), text({"a"}, {"b"}));
  EXPECT_NE(text({"a"}, {"b"}), text({"a", "b"}, {}));
  EXPECT_NE(text({"a"}, {}), text({}, {"a"}));
  EXPECT_NE(text({""}, {}), text({}, {""}));
}

TEST(SignatureTest, WhoHasNotSignedLeavesNothing) {
  const auto text = [](const std::string& part, bool has_signed) {
    Signature signature;
    signature.Add("before");
    signature.EndPlugin(true);
    signature.Add(part);
    signature.EndPlugin(has_signed);
    signature.Add("after");
    signature.EndPlugin(true);
    return std::move(signature).Take();
  };
  EXPECT_EQ(text("a", false), text("b", false));
  EXPECT_NE(text("a", true), text("b", true));
  EXPECT_NE(text("", true), text("", false));
}

}  // namespace
}  // namespace berth
