// SPDX-License-Identifier: Apache-2.0
// ProtoFields: the fields of a protobuf message, one after another, as they lie on the wire.
#pragma once

#include <cstdint>
#include <string_view>

namespace berth {

enum class ProtoWire : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Walks over one message. What is not a field ends it, with broken(); nothing is read beyond the message's end. Groups,
// which Kubernetes does not have, are no fields.
class ProtoFields {
 public:
  explicit ProtoFields(std::string_view message) : at_(message.data()), end_(message.data() + message.size()) {}

  // To the next field; false at the end. Part of every loop over fields: half the time of reading a message is spent
  // here.
  [[gnu::always_inline]] bool Next() {
    start_ = at_;
    if (broken_ || at_ == end_) return false;
    if (end_ - at_ >= 2) {
      // What most fields are: bytes, of a number that fits into the first byte and a size that fits into the second.
      const auto key = static_cast<unsigned char>(at_[0]), size = static_cast<unsigned char>(at_[1]);
      if ((key & 0x87) == static_cast<unsigned char>(ProtoWire::kBytes) && key >= 8 && size < 0x80) {
        number_ = key >> 3;
        wire_ = ProtoWire::kBytes;
        at_ += 2;
        return Take(size);
      }
    }
    uint64_t key = 0;
    if (!Varint(key) || key >> 3 == 0 || key >> 32 != 0) return Break();
    number_ = static_cast<uint32_t>(key >> 3);
    wire_ = static_cast<ProtoWire>(key & 7);
    if (wire_ == ProtoWire::kBytes) {
      uint64_t size = 0;
      return Varint(size) ? Take(size) : Break();
    }
    bytes_ = {};
    if (wire_ == ProtoWire::kVarint) return Varint(varint_) || Break();
    if (wire_ == ProtoWire::kFixed64) return Take(8);
    if (wire_ == ProtoWire::kFixed32) return Take(4);
    return Break();
  }

  uint32_t number() const { return number_; }
  ProtoWire wire() const { return wire_; }
  uint64_t varint() const { return varint_; }        // of kVarint
  std::string_view bytes() const { return bytes_; }  // of all others
  // The field as a whole, and with everything behind it.
  std::string_view field() const { return {start_, static_cast<size_t>(at_ - start_)}; }
  std::string_view from_here() const { return {start_, static_cast<size_t>(end_ - start_)}; }
  bool broken() const { return broken_; }

 private:
  // False: it is cut off, or none. Nearly all of them are of one byte or two.
  [[gnu::always_inline]] bool Varint(uint64_t& out) {
    if (end_ - at_ >= 2) {
      const auto low = static_cast<unsigned char>(at_[0]), high = static_cast<unsigned char>(at_[1]);
      if (low < 0x80) {
        out = low;
        at_ += 1;
        return true;
      }
      if (high < 0x80) {
        out = (low & 0x7fU) | uint64_t{high} << 7;
        at_ += 2;
        return true;
      }
    }
    const Number number = LongVarint(at_, end_);
    if (number.end == nullptr) return false;
    out = number.value;
    at_ = number.end;
    return true;
  }
  struct Number {
    uint64_t value;
    const char* end;  // behind it; null: it is none
  };
  static Number LongVarint(const char* at, const char* end);
  bool Take(uint64_t size) {
    if (size > static_cast<uint64_t>(end_ - at_)) return Break();
    bytes_ = {at_, static_cast<size_t>(size)};
    at_ += size;
    return true;
  }
  bool Break() {
    broken_ = true;
    return false;
  }

  const char* at_;
  const char* const end_;
  const char* start_ = at_;
  uint32_t number_ = 0;
  ProtoWire wire_ = ProtoWire::kVarint;
  bool broken_ = false;
  uint64_t varint_ = 0;
  std::string_view bytes_;
};

}  // namespace berth
