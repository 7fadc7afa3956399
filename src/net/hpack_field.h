// SPDX-License-Identifier: Apache-2.0
// HpackField: a field of a head as HTTP/2 has it, and the fields that both sides know beforehand (RFC 7541).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace berth::net {

// Names that a client acts upon. Found once, when a name is read, and kept with it: what comes from a table is not
// compared again.
enum class FieldKind : uint8_t { kOther, kStatus, kContentLength, kContentType, kRetryAfter };

struct HpackField {
  std::string_view name, value;
  FieldKind kind = FieldKind::kOther;
};

FieldKind KindOfField(std::string_view name);

// Of an entry of a table, beside its text; and of a field, where heads have a limit.
constexpr size_t kHpackFieldOverhead = 32;
// Appendix A. The first one is number 1.
extern const std::array<HpackField, 61> kHpackStaticTable;

}  // namespace berth::net
