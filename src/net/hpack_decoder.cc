// SPDX-License-Identifier: Apache-2.0
#include "net/hpack_decoder.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "net/hpack_huffman.h"

namespace berth::net {
namespace {

constexpr size_t kMostOfAField = size_t{64} << 10;  // as it is sent
constexpr size_t kMostKept = 4096;                  // of memory for what comes in pieces, while nothing does
// What a field's first byte says, from the first bits on, and the largest number that fits into the others.
constexpr uint8_t kFromTable = 0x80, kIntoTable = 0x40, kNewSize = 0x20;
constexpr uint8_t kMostFromTable = 0x7f, kMostIntoTable = 0x3f, kMostNewSize = 0x1f, kMostElse = 0x0f;
constexpr uint8_t kIsHuffman = 0x80, kMostLength = 0x7f;

// A text as it is sent.
struct CodedText {
  std::string_view bytes;
  bool huffman = false;

  size_t MostText() const { return huffman ? MostHuffmanText(bytes.size()) : bytes.size(); }
};

char* AppendBytes(std::string_view bytes, char* to) {
  if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  return to + bytes.size();
}

// Its end; null: it is none.
char* AppendDecoded(const CodedText& text, char* to) {
  return text.huffman ? DecodeHuffman(text.bytes, to) : AppendBytes(text.bytes, to);
}

// The end of a number's further bytes (null: some are missing), and the number, too large where there are more than
// five.
struct RestOfNumber {
  const uint8_t* end;
  uint64_t number;
};
RestOfNumber ReadRestOfNumber(const uint8_t* at, const uint8_t* end, uint64_t number) {
  for (int shift = 0; shift < 35; shift += 7) {
    if (at == end) return {nullptr, 0};
    const uint8_t byte = *at++;
    number += uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return {at, number};
  }
  return {at, UINT64_MAX};
}

}  // namespace

// A field's bytes. What returns false has found that some are missing (then it knows how many there are at the least),
// or that they are wrong.
struct HpackDecoder::Input {
  explicit Input(std::string_view bytes)
      : begin(reinterpret_cast<const uint8_t*>(bytes.data())), at(begin), end(at + bytes.size()) {}

  size_t used() const { return static_cast<size_t>(at - begin); }

  bool Lacks(size_t bytes) {
    needed = static_cast<size_t>(end - begin) + bytes;
    return false;
  }

  bool Number(uint8_t most, uint32_t& number) {
    if (at == end) return Lacks(1);
    number = *at++ & most;
    if (number < most) return true;
    const RestOfNumber rest = ReadRestOfNumber(at, end, number);
    if (rest.end == nullptr) return Lacks(1);
    at = rest.end;
    number = static_cast<uint32_t>(rest.number);
    return rest.number <= UINT32_MAX;
  }

  bool Text(CodedText& text) {
    uint32_t size;
    if (at == end) return Lacks(1);
    text.huffman = (*at & kIsHuffman) != 0;
    if (!Number(kMostLength, size) || used() + size > kMostOfAField) return false;
    const auto there = static_cast<size_t>(end - at);
    if (size > there) return Lacks(size - there);
    text.bytes = {reinterpret_cast<const char*>(at), size};
    at += size;
    return true;
  }

  const uint8_t* const begin;
  const uint8_t* at;
  const uint8_t* const end;
  size_t needed = 0;
};

// A field that is not in the table.
struct HpackDecoder::Literal {
  uint32_t name_from = 0;  // number of the entry whose name it has; 0: it says `name`
  CodedText name, value;
  bool kept = false;
};

HpackDecoder::Step HpackDecoder::Next(HpackField& field) {
  if (!held_.empty() || large_) return NextOfAnyKind(field);
  if (rest_.empty()) return Step::kDone;
  // Most fields are in the table, and have a number of one byte.
  const auto first = static_cast<uint8_t>(rest_.front());
  if (first < kFromTable || first == (kFromTable | kMostFromTable)) return NextOfAnyKind(field);
  may_resize_ = false;
  rest_.remove_prefix(1);
  return Find(first & kMostFromTable, field) ? Step::kField : Step::kBroken;
}

HpackDecoder::Step HpackDecoder::NextOfAnyKind(HpackField& field) {
  if (large_) large_.reset();
  for (;;) {
    const bool in_pieces = !held_.empty();
    if (in_pieces && !Fill()) return last_ ? Step::kBroken : Step::kDone;
    const std::string_view bytes = in_pieces ? std::string_view(held_) : rest_;
    if (bytes.empty()) return Step::kDone;
    Input in(bytes);
    const Found found = Read(in, field);
    if (found == Found::kNothing) return Step::kBroken;
    if (found == Found::kPart) {
      needed_ = in.needed;
      if (!in_pieces) held_ = std::exchange(rest_, {});
    } else if (in_pieces) {
      // It was given no byte more than it has.
      held_.clear();
      if (held_.capacity() > kMostKept) held_.shrink_to_fit();
    } else {
      rest_.remove_prefix(in.used());
    }
    if (found == Found::kField) return Step::kField;
  }
}

// Whether the field may be complete by now.
bool HpackDecoder::Fill() {
  const size_t count = std::min(rest_.size(), needed_ - held_.size());
  held_.append(rest_, 0, count);
  rest_.remove_prefix(count);
  return held_.size() == needed_;
}

// REQUIRES: there is a byte.
inline HpackDecoder::Found HpackDecoder::Read(Input& in, HpackField& field) {
  const auto missing = [&in] { return in.needed > 0 ? Found::kPart : Found::kNothing; };
  const uint8_t first = *in.at;
  uint32_t number;
  if ((first & kFromTable) != 0) {
    may_resize_ = false;
    if (!in.Number(kMostFromTable, number)) return missing();
    return Find(number, field) ? Found::kField : Found::kNothing;
  }
  if ((first & (kIntoTable | kNewSize)) == kNewSize) {
    if (!may_resize_) return Found::kNothing;
    if (!in.Number(kMostNewSize, number)) return missing();
    if (number > kMostBytes) return Found::kNothing;
    Resize(number);
    return Found::kSize;
  }
  may_resize_ = false;
  Literal literal;
  literal.kept = (first & kIntoTable) != 0;
  if (!in.Number(literal.kept ? kMostIntoTable : kMostElse, literal.name_from)) return missing();
  if (literal.name_from == 0 && !in.Text(literal.name)) return missing();
  if (!in.Text(literal.value)) return missing();
  return Take(literal, field) ? Found::kField : Found::kNothing;
}

inline bool HpackDecoder::Find(uint32_t number, HpackField& field) const {
  const size_t place = size_t{number} - 1;  // far away for 0
  if (place < kHpackStaticTable.size()) {
    field = kHpackStaticTable[place];
    return true;
  }
  const size_t age = place - kHpackStaticTable.size();
  if (age >= count_) return false;
  const Entry& entry = ring_[(oldest_ + count_ - 1 - age) % kMostEntries];
  const char* const text = texts_.data() + entry.begin;
  field = {{text, entry.name_size}, {text + entry.name_size, entry.value_size}, entry.kind};
  return true;
}

// Where a field's text goes, which has so many bytes at the most.
char* HpackDecoder::Room(size_t bytes) {
  if (bytes <= kMostInPlace) return texts_.data() + texts_end_;
  large_ = std::make_unique_for_overwrite<char[]>(bytes);
  return large_.get();
}

inline bool HpackDecoder::Take(const Literal& literal, HpackField& field) {
  if (texts_end_ > kTextBytes - kMostInPlace) texts_end_ = 0;
  if (literal.name_from != 0 && !Find(literal.name_from, field)) return false;
  const size_t most_of_name = literal.name_from != 0 ? field.name.size() : literal.name.MostText();
  char* const text = Room(most_of_name + literal.value.MostText());
  char* const value = literal.name_from != 0 ? AppendBytes(field.name, text) : AppendDecoded(literal.name, text);
  if (value == nullptr) return false;
  const char* const end = AppendDecoded(literal.value, value);
  if (end == nullptr) return false;
  field.name = {text, static_cast<size_t>(value - text)};
  field.value = {value, static_cast<size_t>(end - value)};
  if (literal.name_from == 0) field.kind = KindOfField(field.name);
  if (literal.kept) Keep(field);
  return true;
}

// The field's text is where Room was.
inline void HpackDecoder::Keep(const HpackField& field) {
  const size_t text = field.name.size() + field.value.size(), size = text + kHpackFieldOverhead;
  while (count_ > 0 && bytes_ + size > most_) Evict();
  if (size > most_) return;  // not an error: it leaves an empty table
  if (large_) std::memcpy(texts_.data() + texts_end_, field.name.data(), text);
  assert(count_ < kMostEntries);
  ring_[(oldest_ + count_) % kMostEntries] = {static_cast<uint16_t>(texts_end_),
                                              static_cast<uint16_t>(field.name.size()),
                                              static_cast<uint16_t>(field.value.size()), field.kind};
  ++count_;
  bytes_ += size;
  texts_end_ += text;
}

inline void HpackDecoder::Evict() {
  const Entry& entry = ring_[oldest_];
  bytes_ -= entry.name_size + entry.value_size + kHpackFieldOverhead;
  oldest_ = (oldest_ + 1) % kMostEntries;
  --count_;
}

void HpackDecoder::Resize(size_t most) {
  most_ = most;
  while (bytes_ > most_) Evict();
}

}  // namespace berth::net
