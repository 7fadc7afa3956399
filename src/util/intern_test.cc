// SPDX-License-Identifier: Apache-2.0
#include "util/intern.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace berth {
namespace {

struct Length {
  Length() = default;
  explicit Length(std::string_view text) : value(text.size()) {}
  size_t value = 0;
};

TEST(InternerTest, IdsCountFromZeroInOrderOfFirstUse) {
  Interner<Length> table;
  EXPECT_EQ(table.Intern("a"), 0u);
  EXPECT_EQ(table.Intern(""), 1u);
  EXPECT_EQ(table.Intern("a"), 0u);
  EXPECT_EQ(table.size(), 2u);
}

TEST(InternerTest, StringsStayWhereTheyAreAsTheTableGrows) {
  Interner<Length> table;
  std::vector<const std::string*> addresses;
  for (uint32_t i = 0; i < 5000; ++i) {
    ASSERT_EQ(table.Intern("name-" + std::to_string(i)), i);
    addresses.push_back(&table.Name(i));
  }
  for (uint32_t i = 0; i < 5000; ++i) {
    const std::string want = "name-" + std::to_string(i);
    EXPECT_EQ(&table.Name(i), addresses[i]);
    EXPECT_EQ(table.Name(i), want);
    EXPECT_EQ(table.ExtraOf(i).value, want.size());
  }
}

TEST(InternerTest, ReadersNeedNoLockWhileTheTableGrows) {
  Interner<Length> table;
  std::atomic<bool> done{false};
  std::jthread writer([&] {
    for (int i = 0; i < 20000; ++i) table.Intern(std::to_string(i));
    done = true;
  });
  uint64_t seen = 0;
  do {
    for (uint32_t id = table.size(); id-- > 0 && seen % 1000 != 999; ++seen) {
      ASSERT_EQ(table.Name(id), std::to_string(id));
    }
    ++seen;
  } while (!done);
  writer.join();
  EXPECT_EQ(table.size(), 20000u);
}

}  // namespace
}  // namespace berth
