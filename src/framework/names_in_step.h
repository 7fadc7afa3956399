// SPDX-License-Identifier: Apache-2.0
// NamesInStep: finds names in a list that comes in the same order, mostly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "util/secret_hash.h"

namespace berth::framework {

// What extenders answer names hundreds of nodes, as a rule in the order in which they were asked about: then a name
// costs one comparison. `name_at(place)` is the name at a place; it must not change meanwhile.
template <class NameAt>
class NamesInStep {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  NamesInStep(size_t size, NameAt name_at) : size_(size), name_at_(std::move(name_at)) {}

  // The first place of this name; kNone when the list lacks it.
  size_t Find(std::string_view name) {
    if (!places_ && next_ < size_ && name_at_(next_) == name) return next_++;
    if (!places_) {
      places_.emplace();
      places_->reserve(size_);
      for (size_t place = 0; place < size_; ++place) places_->emplace(name_at_(place), place);
    }
    const auto found = places_->find(name);
    return found == places_->end() ? kNone : found->second;
  }

 private:
  const size_t size_;
  const NameAt name_at_;
  size_t next_ = 0;
  // Made when somebody falls out of step.
  std::optional<std::unordered_map<std::string_view, size_t, SecretStringHash, std::equal_to<>>> places_;
};

}  // namespace berth::framework
