// SPDX-License-Identifier: Apache-2.0
#include "net/hpack_encoder.h"

#include <algorithm>

namespace berth::net {
namespace {

// Of the static table (RFC 7541, appendix A).
constexpr size_t kAuthority = 1, kMethod = 2, kMethodPost = 3, kPath = 4, kSchemeHttps = 7, kContentLength = 28;
constexpr size_t kStaticEntries = 61;
// What an entry of the table counts beside its text.
constexpr size_t kEntryOverhead = 32;
// The representations' first bits, and how many bits of the first byte are left for the number.
constexpr uint8_t kIndexed = 0x80, kKept = 0x40, kNotKept = 0x00, kTableSize = 0x20;
constexpr int kIndexedBits = 7, kKeptBits = 6, kNotKeptBits = 4, kTableSizeBits = 5, kLengthBits = 7;
// Fields that have no room in the table before it begins anew, which costs every head that is in use one long form.
constexpr size_t kPatience = 64;
constexpr size_t kMostWritten = 8;

void AppendNumber(uint8_t first, int bits, size_t number, std::string& out) {
  const size_t most = (size_t{1} << bits) - 1;
  if (number < most) {
    out += static_cast<char>(first | number);
    return;
  }
  out += static_cast<char>(first | most);
  for (number -= most; number >= 0x80; number >>= 7) out += static_cast<char>(0x80 | (number & 0x7f));
  out += static_cast<char>(number);
}

// Not in Huffman's code: it would save a quarter of a path's bytes, and cost more than the whole head otherwise does.
void AppendText(std::string_view text, std::string& out) {
  AppendNumber(0, kLengthBits, text.size(), out);
  out += text;
}

size_t SizeOf(std::string_view name, std::string_view value) { return name.size() + value.size() + kEntryOverhead; }

}  // namespace

void HpackEncoder::set_table_size(uint32_t bytes) {
  const size_t most = std::min(bytes, kMostBytes);
  if (most == most_) return;
  most_ = most;
  Begin();
}

void HpackEncoder::Begin() {
  entries_.clear();
  written_.clear();
  used_ = 0;
  left_out_ = 0;
  update_ = true;
}

// Empties the table, and makes it as large as it may be.
void HpackEncoder::AppendUpdate(std::string& out) {
  AppendNumber(kTableSize, kTableSizeBits, 0, out);
  if (most_ > 0) AppendNumber(kTableSize, kTableSizeBits, most_, out);
  update_ = false;
}

void HpackEncoder::Append(const RequestHead& head, std::string& out) {
  if (left_out_ >= kPatience) Begin();
  if (update_) AppendUpdate(out);
  if (head.method == "POST" || head.method == "GET") {
    out += static_cast<char>(kIndexed | (head.method == "POST" ? kMethodPost : kMethod));
  } else {
    AppendNumber(kNotKept, kNotKeptBits, kMethod, out);
    AppendText(head.method, out);
  }
  out += static_cast<char>(kIndexed | kSchemeHttps);
  AppendField(":authority", head.authority, out);
  AppendNumber(kNotKept, kNotKeptBits, kPath, out);
  AppendNumber(0, kLengthBits, head.prefix.size() + head.path.size(), out);
  out.append(head.prefix).append(head.path);
  if (head.common) AppendCommon(head.common, out);
  for (const auto& [name, value] : head.further.list()) {
    const std::string lower = LowerName(name);
    if (!IsClientsOwn(lower)) AppendField(lower, value, out);
  }
  if (!head.content_length.empty()) {
    AppendNumber(kNotKept, kNotKeptBits, kContentLength, out);
    AppendText(head.content_length, out);
  }
}

void HpackEncoder::AppendCommon(const std::shared_ptr<const CommonHeaders>& common, std::string& out) {
  auto known = std::ranges::find(written_, common, &Written::common);
  // Every new entry moves the numbers of those that are there.
  if (known != written_.end() && known->entries == entries_.size()) {
    out += known->bytes;
    return;
  }
  const size_t before = entries_.size(), left_out = left_out_, begin = out.size();
  for (const CommonHeaders::Field& field : common->fields()) AppendField(field.lower_name, field.value, out);
  // Only what is nothing but numbers is said in the same way the next time.
  if (entries_.size() != before || left_out_ != left_out) return;
  if (known == written_.end()) {
    if (written_.size() == kMostWritten) written_.clear();
    known = written_.insert(written_.end(), Written{common, 0, {}});
  }
  known->entries = entries_.size();
  known->bytes.assign(out, begin);
}

void HpackEncoder::AppendField(std::string_view name, std::string_view value, std::string& out) {
  const auto found =
      std::ranges::find_if(entries_, [&](const auto& entry) { return entry.second == value && entry.first == name; });
  if (found != entries_.end()) {
    // The newest entry has the first number after those of the static table.
    return AppendNumber(kIndexed, kIndexedBits, kStaticEntries + static_cast<size_t>(entries_.end() - found), out);
  }
  const size_t size = SizeOf(name, value);
  const bool kept = size <= most_ - used_;
  if (!kept && size <= most_) ++left_out_;
  const size_t known = name == ":authority" ? kAuthority : 0;
  AppendNumber(kept ? kKept : kNotKept, kept ? kKeptBits : kNotKeptBits, known, out);
  if (known == 0) AppendText(name, out);
  AppendText(value, out);
  if (!kept) return;
  used_ += size;
  entries_.emplace_back(name, value);
}

}  // namespace berth::net
