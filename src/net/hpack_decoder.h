// SPDX-License-Identifier: Apache-2.0
// HpackDecoder: the heads of answers as HTTP/2 sends them (RFC 7541).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "net/hpack_field.h"

namespace berth::net {

// Reads the blocks of one connection, one after the other, in whatever pieces they come. Servers put nearly everything
// into the table, so texts are decoded where the table keeps them, and a field that is in it costs a look.
//
// What is not HPACK is an error, after which nothing of the connection can be read: also a text whose last byte is not
// filled up as it has to be, and a table that is larger than we allow, which is what RFC 7541 begins with.
//
// Memory is bounded: the table, a field that is not complete (64 KiB, more than which is an error), and the text of
// one. A byte costs no more when it comes alone. The dearest says once more a name that fills the table: a copy of it.
//
// Thread safety: none.
class HpackDecoder {
 public:
  enum class Step : uint8_t {
    kField,   // there is one
    kDone,    // the piece is read
    kBroken,  // nothing may be called any more
  };

  // What is read next; `last`: the block ends with it. REQUIRES: the piece before is read (kDone), and this one stays
  // where it is until then.
  void Give(std::string_view piece, bool last) {
    may_resize_ |= last_;
    rest_ = piece;
    last_ = last;
  }
  // The next field, whose texts stay until the next call. Others than kField leave it in any state.
  Step Next(HpackField& field);

  // Of the table, as RFC 7541 counts them.
  size_t entries() const { return count_; }
  size_t table_bytes() const { return bytes_; }
  // Of memory for a field that is not complete.
  size_t held_bytes() const { return held_.capacity(); }

 private:
  struct Entry {
    uint16_t begin = 0, name_size = 0, value_size = 0;  // the value goes after the name
    FieldKind kind = FieldKind::kOther;
  };
  struct Input;
  struct Literal;
  enum class Found : uint8_t { kField, kSize, kPart, kNothing };

  Step NextOfAnyKind(HpackField& field);
  bool Fill();
  Found Read(Input& in, HpackField& field);
  bool Find(uint32_t number, HpackField& field) const;
  bool Take(const Literal& literal, HpackField& field);
  void Keep(const HpackField& field);
  void Resize(size_t most);
  void Evict();
  char* Room(size_t bytes);

  static constexpr size_t kMostBytes = 4096, kMostEntries = kMostBytes / kHpackFieldOverhead;
  static constexpr size_t kMostInPlace = 4096;  // a field that may be longer is decoded elsewhere
  static constexpr size_t kTextBytes = kMostBytes + 2 * kMostInPlace;

  // Texts of the table, oldest first, as a ring in which each is whole: where less than kMostInPlace is left it begins
  // again. The table's texts have kMostBytes at the most, so that there is always room for kMostInPlace before the
  // oldest.
  std::array<char, kTextBytes> texts_;
  size_t texts_end_ = 0;
  std::array<Entry, kMostEntries> ring_;
  size_t oldest_ = 0, count_ = 0;
  size_t bytes_ = 0, most_ = kMostBytes;

  std::string_view rest_;
  std::string held_;   // a field that is not complete
  size_t needed_ = 0;  // bytes that it has at the least
  bool last_ = true, may_resize_ = false;
  std::unique_ptr<char[]> large_;  // the text of the field that was read last, where that may have been too long
};

}  // namespace berth::net
