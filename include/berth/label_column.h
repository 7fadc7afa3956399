// SPDX-License-Identifier: Apache-2.0
// LabelColumn: the values of one label, one small integer per node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "berth/row.h"
#include "berth/text_hash.h"

namespace berth {
inline namespace v1 {

// One label key over all rows. Value 0: the node lacks the label; ids are dense, so an array of distinct() + 1 slots
// indexed by id counts per value.
class LabelColumn {
 public:
  static constexpr uint32_t kAbsent = 0;
  std::span<const uint32_t> values() const { return values_; }
  uint32_t operator[](Row row) const { return row < values_.size() ? values_[row] : kAbsent; }
  // The id of a value, or kAbsent when no node has it.
  uint32_t Find(std::string_view value) const;
  const std::string& text(uint32_t id) const { return texts_[id]; }
  // Upper bound of ids in use; some below it may be free at the moment.
  size_t distinct() const { return texts_.empty() ? 0 : texts_.size() - 1; }

 private:
  friend class LabelColumnWriter;  // berth/host/snapshot_data.h
  void Assign(Row row, const std::string* value);
  std::vector<uint32_t> values_;
  std::vector<std::string> texts_{std::string()};  // [0] is unused
  std::vector<uint32_t> uses_{0};
  std::vector<uint32_t> free_;
  std::unordered_map<std::string, uint32_t, TextHash, std::equal_to<>> ids_;
};

}  // namespace v1
}  // namespace berth
