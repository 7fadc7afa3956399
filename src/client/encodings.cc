// SPDX-License-Identifier: Apache-2.0
#include "client/encodings.h"

#include <algorithm>

#include "api/decode.h"

namespace berth::client {
namespace {

constexpr std::string_view kJsonType = "application/json";
constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";
constexpr std::string_view kEither = "application/vnd.kubernetes.protobuf, application/json";

// Whether a media type, with parameters or without, is protobuf's.
bool IsProtobuf(std::string_view type) {
  if (type == kProtobufType) return true;
  if (type == kJsonType) return false;
  type = type.substr(0, type.find(';'));
  while (!type.empty() && (type.front() == ' ' || type.front() == '\t')) type.remove_prefix(1);
  while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) type.remove_suffix(1);
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(type.begin(), type.end(), kProtobufType.begin(), kProtobufType.end(),
                    [&](char a, char b) { return lower(a) == b; });
}

Encoding FirstOf(std::string_view types) { return EncodingOf(types.substr(0, types.find(','))); }

}  // namespace

Encoding EncodingOf(std::string_view content_type) {
  return IsProtobuf(content_type) ? Encoding::kProtobuf : Encoding::kJson;
}

std::string_view AcceptOf(Encoding encoding) { return encoding == Encoding::kProtobuf ? kEither : kJsonType; }
std::string_view ContentTypeOf(Encoding encoding) {
  return encoding == Encoding::kProtobuf ? kProtobufType : kJsonType;
}

EncodingOptions EncodingOptions::From(std::string_view accept_content_types, std::string_view content_type) {
  EncodingOptions options;
  options.bodies = content_type.empty() ? Encoding::kProtobuf : EncodingOf(content_type);
  options.answers = accept_content_types.empty() ? options.bodies : FirstOf(accept_content_types);
  return options;
}

Encoding Encodings::Of(Kind kind) const {
  if (options_.answers == Encoding::kJson || json_kinds_[static_cast<size_t>(kind)]) return Encoding::kJson;
  return HasProtobuf(kind) ? Encoding::kProtobuf : Encoding::kJson;
}

Encoding Encodings::Of(Written what) const {
  return json_bodies_[static_cast<size_t>(what)] ? Encoding::kJson : options_.bodies;
}

Encoding Encodings::AnswerTo(Written what) const {
  return json_bodies_[static_cast<size_t>(what)] ? Encoding::kJson : options_.answers;
}

}  // namespace berth::client
