// SPDX-License-Identifier: Apache-2.0
// Protobuf as the decoders read JSON: members by name, typed values, errors with the path of the field. A table of
// field numbers (proto_schema.h) says which field is which member, so one decoder serves both encodings. Include it in
// decoder .cc files only: it pulls in simdjson.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json_reader.h"
#include "api/proto_fields.h"

namespace berth {

class ProtoMessage;

enum class ProtoForm : uint8_t {
  kOne,
  kList,    // `repeated`
  kMap,     // entries of key (1) and value (2)
  kInline,  // a message whose members are, in JSON, those of the message that holds it
};

// A field that is read: its number, its name in JSON and, if it is a message with members, which.
struct ProtoField {
  uint32_t number = 0;
  std::string_view name;
  const ProtoMessage* message = nullptr;
  ProtoForm form = ProtoForm::kOne;
  bool micros = false;  // a MicroTime: fractions of a second count
};

// The fields of a message that are read; others are ignored.
class ProtoMessage {
 public:
  static constexpr size_t kMaxNumber = 63;

  constexpr ProtoMessage() = default;
  template <size_t N>
  explicit constexpr ProtoMessage(const ProtoField (&fields)[N]) : fields_(fields) {
    static_assert(N < 64);  // one bit each, while a message is read
    for (size_t i = 0; i < N; ++i) places_.at(fields[i].number) = static_cast<uint8_t>(i + 1);
  }

  [[gnu::always_inline]] const ProtoField* Find(uint32_t number) const {
    if (number > kMaxNumber || places_[number] == 0) return nullptr;
    return fields_ + (places_[number] - 1);
  }
  size_t Place(const ProtoField& field) const { return static_cast<size_t>(&field - fields_); }

 private:
  const ProtoField* fields_ = nullptr;
  std::array<uint8_t, kMaxNumber + 1> places_{};  // of a field's number; 0: not read
};

// One value, or all values of a repeated field. Views the bytes it was made of.
struct ProtoValue {
  std::string_view bytes;  // of a list or map: its message from the first item on
  uint64_t varint = 0;
  const ProtoMessage* message = nullptr;
  uint32_t number = 0;  // of a list or map
  ProtoWire wire = ProtoWire::kBytes;
  ProtoForm form = ProtoForm::kOne;
  bool micros = false;

  // A message that stands for itself.
  static ProtoValue Of(std::string_view bytes, const ProtoMessage& message) {
    ProtoValue value;
    value.bytes = bytes;
    value.message = &message;
    return value;
  }
  static ProtoValue Of(const ProtoFields& at, const ProtoField& field) {
    const bool one = field.form == ProtoForm::kOne || field.form == ProtoForm::kInline;
    return {one ? at.bytes() : at.from_here(),
            at.varint(),
            field.message,
            field.number,
            at.wire(),
            field.form,
            field.micros};
  }
};

// The value is of another type.
void WrongType(Context& context, std::string_view expected, const ProtoValue& value);
void BrokenMessage(Context& context);

// As for JSON (json_reader.h). Strings that are not UTF-8 read as Go writes them in JSON, a U+FFFD for each wrong byte.
bool Read(Context& context, const ProtoValue& value, std::string& out);
bool Read(Context& context, const ProtoValue& value, std::optional<std::string>& out);
bool Read(Context& context, const ProtoValue& value, bool& out);
bool Read(Context& context, const ProtoValue& value, std::optional<bool>& out);
bool Read(Context& context, const ProtoValue& value, int32_t& out);
bool Read(Context& context, const ProtoValue& value, std::optional<int32_t>& out);
bool Read(Context& context, const ProtoValue& value, int64_t& out);
bool Read(Context& context, const ProtoValue& value, std::optional<Time>& out);
bool Read(Context& context, const ProtoValue& value, Quantity& out);
bool Read(Context& context, const ProtoValue& value, std::vector<std::string>& out);
// A string as it lies there, in any encoding. Valid while the message is.
bool ReadBytes(Context& context, const ProtoValue& value, std::string_view& out);
inline bool Read(Context& context, const ProtoValue& value, List<std::string>& out) {
  return Read(context, value, out.Edit());
}
// Nothing is null: what there is none of is not written.
inline bool IsNull(Context& context, const ProtoValue&) { return context.broken(); }

namespace proto_internal {

// The members of a message, and of those within it that are inline. `fn` is called for a list or map once, with all of
// it.
template <class Fn>
bool WalkMembers(Context& context, std::string_view bytes, const ProtoMessage& message, Fn& fn) {
  ProtoFields fields(bytes);
  uint64_t seen = 0;  // lists and maps, by place
  while (fields.Next()) {
    const ProtoField* field = message.Find(fields.number());
    if (field == nullptr) continue;
    const ProtoValue item = ProtoValue::Of(fields, *field);
    if (field->form == ProtoForm::kInline) {
      if (item.wire != ProtoWire::kBytes) return WrongType(context, "a message", item), false;
      if (!WalkMembers(context, item.bytes, *field->message, fn)) return false;
      continue;
    }
    if (field->form != ProtoForm::kOne) {
      const uint64_t bit = uint64_t{1} << message.Place(*field);
      if ((seen & bit) != 0) continue;
      seen |= bit;
    }
    const At at(context, field->name);
    fn(MemberName(field->name), item);
    if (context.broken()) return false;
  }
  if (fields.broken()) return BrokenMessage(context), false;
  return true;
}

// The items of a list or the entries of a map, as fn(bytes, wire, varint).
template <class Fn>
bool WalkRepeated(Context& context, const ProtoValue& value, Fn&& fn) {
  ProtoFields fields(value.bytes);
  while (fields.Next()) {
    if (fields.number() != value.number) continue;
    ProtoValue item = value;
    item.form = ProtoForm::kOne;
    item.bytes = fields.bytes();
    item.wire = fields.wire();
    item.varint = fields.varint();
    if (!fn(item) || context.broken()) return false;
  }
  // What is wrong behind the last item is said where the message is read; here it is known that some may be missing.
  if (fields.broken()) return BrokenMessage(context), false;
  return true;
}

// Key and value of a map's entry; either may be left out, and is empty then.
bool ReadEntry(Context& context, const ProtoValue& entry, std::string& key, ProtoValue& value);

}  // namespace proto_internal

template <class Fn>
bool ForEachMember(Context& context, const ProtoValue& value, Fn&& fn, bool /*bracketed*/ = false) {
  if (context.broken()) return false;
  if (value.form == ProtoForm::kMap) {
    size_t size = 0;
    std::string key;
    return proto_internal::WalkRepeated(context, value, [&](const ProtoValue& entry) {
      ProtoValue item;
      if (!proto_internal::ReadEntry(context, entry, key, item)) return false;
      const At at(context, key, /*bracketed=*/true);
      if (!context.HasRoom(size++)) return false;
      fn(MemberName(key), item);
      return true;
    });
  }
  if (value.form != ProtoForm::kOne || value.wire != ProtoWire::kBytes || value.message == nullptr)
    return WrongType(context, "a message", value), false;
  return proto_internal::WalkMembers(context, value.bytes, *value.message, fn);
}

template <class Fn>
bool ForEachItem(Context& context, const ProtoValue& value, Fn&& fn) {
  if (context.broken()) return false;
  if (value.form != ProtoForm::kList) return WrongType(context, "a list", value), false;
  At at(context, size_t{0});
  size_t index = 0;
  return proto_internal::WalkRepeated(context, value, [&](const ProtoValue& item) {
    at.SetIndex(index);
    if (!context.HasRoom(index++)) return false;
    fn(item);
    return true;
  });
}

}  // namespace berth
