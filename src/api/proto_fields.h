// SPDX-License-Identifier: Apache-2.0
// ProtoFields: the fields of a protobuf message, one after another, as they lie on the wire.
#pragma once

#include <cstdint>
#include <protozero/exception.hpp>
#include <protozero/varint.hpp>
#include <string_view>

namespace berth {

enum class ProtoWire : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Walks over one message. What is not a field ends it, with broken(); nothing is read beyond the message's end. Groups,
// which Kubernetes does not have, are no fields.
class ProtoFields {
 public:
  explicit ProtoFields(std::string_view message) : at_(message.data()), end_(message.data() + message.size()) {}

  // To the next field; false at the end.
  bool Next() {
    start_ = at_;
    if (broken_ || at_ == end_) return false;
    try {  // how protozero says that bytes are missing
      const uint64_t key = protozero::decode_varint(&at_, end_);
      if (key >> 3 == 0 || key >> 32 != 0) return Break();
      number_ = static_cast<uint32_t>(key >> 3);
      wire_ = static_cast<ProtoWire>(key & 7);
      switch (wire_) {
        case ProtoWire::kVarint:
          varint_ = protozero::decode_varint(&at_, end_);
          bytes_ = {};
          return true;
        case ProtoWire::kBytes:
          return Take(protozero::decode_varint(&at_, end_));
        case ProtoWire::kFixed64:
          return Take(8);
        case ProtoWire::kFixed32:
          return Take(4);
      }
    } catch (const protozero::exception&) {
    }
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
