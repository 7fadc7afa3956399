// SPDX-License-Identifier: Apache-2.0
#include "net/hpack_field.h"

namespace berth::net {
namespace {

constexpr FieldKind KindOfName(std::string_view name) {
  switch (name.size()) {
    case 7:
      return name == ":status" ? FieldKind::kStatus : FieldKind::kOther;
    case 11:
      return name == "retry-after" ? FieldKind::kRetryAfter : FieldKind::kOther;
    case 12:
      return name == "content-type" ? FieldKind::kContentType : FieldKind::kOther;
    case 14:
      return name == "content-length" ? FieldKind::kContentLength : FieldKind::kOther;
    default:
      return FieldKind::kOther;
  }
}

constexpr std::array<HpackField, 61> WithKinds(std::array<HpackField, 61> fields) {
  for (HpackField& field : fields) field.kind = KindOfName(field.name);
  return fields;
}

}  // namespace

FieldKind KindOfField(std::string_view name) { return KindOfName(name); }

constinit const std::array<HpackField, 61> kHpackStaticTable = WithKinds({{
    {":authority", ""},
    {":method", "GET"},
    {":method", "POST"},
    {":path", "/"},
    {":path", "/index.html"},
    {":scheme", "http"},
    {":scheme", "https"},
    {":status", "200"},
    {":status", "204"},
    {":status", "206"},
    {":status", "304"},
    {":status", "400"},
    {":status", "404"},
    {":status", "500"},
    {"accept-charset", ""},
    {"accept-encoding", "gzip, deflate"},
    {"accept-language", ""},
    {"accept-ranges", ""},
    {"accept", ""},
    {"access-control-allow-origin", ""},
    {"age", ""},
    {"allow", ""},
    {"authorization", ""},
    {"cache-control", ""},
    {"content-disposition", ""},
    {"content-encoding", ""},
    {"content-language", ""},
    {"content-length", ""},
    {"content-location", ""},
    {"content-range", ""},
    {"content-type", ""},
    {"cookie", ""},
    {"date", ""},
    {"etag", ""},
    {"expect", ""},
    {"expires", ""},
    {"from", ""},
    {"host", ""},
    {"if-match", ""},
    {"if-modified-since", ""},
    {"if-none-match", ""},
    {"if-range", ""},
    {"if-unmodified-since", ""},
    {"last-modified", ""},
    {"link", ""},
    {"location", ""},
    {"max-forwards", ""},
    {"proxy-authenticate", ""},
    {"proxy-authorization", ""},
    {"range", ""},
    {"referer", ""},
    {"refresh", ""},
    {"retry-after", ""},
    {"server", ""},
    {"set-cookie", ""},
    {"strict-transport-security", ""},
    {"transfer-encoding", ""},
    {"user-agent", ""},
    {"vary", ""},
    {"via", ""},
    {"www-authenticate", ""},
}});

}  // namespace berth::net
