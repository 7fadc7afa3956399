// SPDX-License-Identifier: Apache-2.0
#include "api/proto_value.h"

#include <limits>

#include "api/json_scan.h"

namespace berth {
namespace {

constexpr uint32_t kEntryKey = 1, kEntryValue = 2;
constexpr uint32_t kSeconds = 1, kNanos = 2;  // of Time and MicroTime
constexpr uint32_t kQuantityText = 1;
constexpr int64_t kYearOne = -62'135'596'800;  // 0001-01-01T00:00:00Z: Go's zero time, which is none

std::string_view NameOf(ProtoWire wire) {
  switch (wire) {
    case ProtoWire::kVarint:
      return "a varint";
    case ProtoWire::kFixed64:
      return "64 bits";
    case ProtoWire::kBytes:
      return "bytes";
    case ProtoWire::kFixed32:
      return "32 bits";
  }
  return "unknown";
}

bool IsText(Context& context, const ProtoValue& value, std::string_view expected) {
  if (context.broken()) return false;
  if (value.wire == ProtoWire::kBytes && value.form == ProtoForm::kOne) return true;
  WrongType(context, expected, value);
  return false;
}

bool IsVarint(Context& context, const ProtoValue& value, std::string_view expected) {
  if (context.broken()) return false;
  if (value.wire == ProtoWire::kVarint && value.form == ProtoForm::kOne) return true;
  WrongType(context, expected, value);
  return false;
}

void AssignText(std::string_view text, std::string& out) {
  // Not assigned: that is ready for a text that is part of `out`, which costs more than the copy of a short one.
  out = IsAscii(text) ? std::string(text) : RepairUtf8(text);
}

template <class T>
bool ReadOptionalProto(Context& context, const ProtoValue& value, std::optional<T>& out) {
  T read{};
  out.reset();
  if (!Read(context, value, read)) return false;
  out = std::move(read);
  return true;
}

}  // namespace

void WrongType(Context& context, std::string_view expected, const ProtoValue& value) {
  const bool repeated = value.form == ProtoForm::kList || value.form == ProtoForm::kMap;
  context.MustBe(expected, repeated ? "a repeated field" : NameOf(value.wire));
}

void BrokenMessage(Context& context) { context.Malformed("a field is cut off or has no type", "protobuf"); }

namespace proto_internal {

bool ReadEntry(Context& context, const ProtoValue& entry, std::string& key, ProtoValue& value) {
  if (entry.wire != ProtoWire::kBytes) return WrongType(context, "an entry of a map", entry), false;
  key.clear();
  value.message = entry.message;
  ProtoFields fields(entry.bytes);
  while (fields.Next()) {
    if (fields.number() == kEntryKey) {
      if (fields.wire() != ProtoWire::kBytes) return context.MustBe("a key of a map", NameOf(fields.wire())), false;
      AssignText(fields.bytes(), key);
    } else if (fields.number() == kEntryValue) {
      value.bytes = fields.bytes();
      value.varint = fields.varint();
      value.wire = fields.wire();
    }
  }
  if (fields.broken()) return BrokenMessage(context), false;
  return true;
}

}  // namespace proto_internal

bool Read(Context& context, const ProtoValue& value, std::string& out) {
  if (!IsText(context, value, "a string")) return false;
  AssignText(value.bytes, out);
  return true;
}

bool ReadBytes(Context& context, const ProtoValue& value, std::string_view& out) {
  if (!IsText(context, value, "a string")) return false;
  out = value.bytes;
  return true;
}

bool Read(Context& context, const ProtoValue& value, bool& out) {
  if (!IsVarint(context, value, "a boolean")) return false;
  out = value.varint != 0;
  return true;
}

bool Read(Context& context, const ProtoValue& value, int64_t& out) {
  if (!IsVarint(context, value, "an int64")) return false;
  out = static_cast<int64_t>(value.varint);
  return true;
}

bool Read(Context& context, const ProtoValue& value, int32_t& out) {
  if (!IsVarint(context, value, "an int32")) return false;
  const auto read = static_cast<int64_t>(value.varint);
  if (read < std::numeric_limits<int32_t>::min() || read > std::numeric_limits<int32_t>::max())
    return context.InvalidNumber(read, "out of range for an int32"), false;
  out = static_cast<int32_t>(read);
  return true;
}

bool Read(Context& context, const ProtoValue& value, std::optional<Time>& out) {
  out.reset();
  if (!IsText(context, value, "a time")) return false;
  if (value.bytes.empty()) return false;  // Go's zero time: null in JSON
  int64_t seconds = 0, nanos = 0;
  ProtoFields fields(value.bytes);
  while (fields.Next()) {
    if (fields.number() != kSeconds && fields.number() != kNanos) continue;
    if (fields.wire() != ProtoWire::kVarint) return context.MustBe("a time", NameOf(fields.wire())), false;
    (fields.number() == kSeconds ? seconds : nanos) = static_cast<int64_t>(fields.varint());
  }
  if (fields.broken()) return BrokenMessage(context), false;
  // Upstream's JSON has whole seconds, and microseconds, and so it reads no more of protobuf.
  if (!value.micros || nanos < 0 || nanos >= 1'000'000'000) nanos = 0;
  if (seconds == kYearOne && nanos == 0) return false;
  out = TimeOfUnix(seconds, nanos - nanos % 1000);
  return true;
}

bool Read(Context& context, const ProtoValue& value, Quantity& out) {
  if (!IsText(context, value, "a quantity")) return false;
  std::string_view text = "0";
  ProtoFields fields(value.bytes);
  while (fields.Next()) {
    if (fields.number() != kQuantityText) continue;
    if (fields.wire() != ProtoWire::kBytes) return context.MustBe("a quantity", NameOf(fields.wire())), false;
    text = fields.bytes();
  }
  if (fields.broken()) return BrokenMessage(context), false;
  const Result<Quantity> parsed = Quantity::Parse(text);
  if (!parsed.ok()) return context.Invalid(text, parsed.error().text()), false;
  out = *parsed;
  return true;
}

bool Read(Context& context, const ProtoValue& value, std::vector<std::string>& out) {
  out.clear();
  return ForEachItem(context, value, [&](const ProtoValue& item) {
    std::string text;
    if (Read(context, item, text)) out.push_back(std::move(text));
  });
}

bool Read(Context& context, const ProtoValue& value, std::optional<std::string>& out) {
  return ReadOptionalProto(context, value, out);
}
bool Read(Context& context, const ProtoValue& value, std::optional<bool>& out) {
  return ReadOptionalProto(context, value, out);
}
bool Read(Context& context, const ProtoValue& value, std::optional<int32_t>& out) {
  return ReadOptionalProto(context, value, out);
}

}  // namespace berth
