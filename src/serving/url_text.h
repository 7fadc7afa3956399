// SPDX-License-Identifier: Apache-2.0
// Paths and queries of requests, decoded as Go's net/url does it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::serving {

// No value: a percent sign is not followed by two hexadecimal digits.
std::optional<std::string> DecodePath(std::string_view raw);

class Query {
 public:
  // What cannot be read is left out: a pair with a semicolon in it, or with a broken escape.
  explicit Query(std::string_view raw);
  bool Has(std::string_view key) const;
  // The first of that key, empty without one; all of them.
  std::string Get(std::string_view key) const;
  std::vector<std::string> All(std::string_view key) const;

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

}  // namespace berth::serving
