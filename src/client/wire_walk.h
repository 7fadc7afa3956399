// SPDX-License-Identifier: Apache-2.0
// What wire*.cc share: an answer, in either encoding, opened. Pulls in simdjson: include it there only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/decode_value.h"
#include "api/json_scan.h"
#include "api/proto_schema.h"
#include "client/wire.h"
#include "util/text.h"

namespace berth::client::wire {

// What a server writes may be of any length.
inline std::string Shortened(std::string_view text) { return util::Shortened(text, 1000); }

// The first of these, if there is one.
inline Error FirstError(const std::vector<LoadError>& errors) {
  return errors.empty() ? Error::Ok() : Error(Shortened(errors.front().Text()));
}

// Hands the one object in `text` to fn(context, object, kind), the kind as a view, which is empty. Errors stop at the
// first.
template <class Fn>
Error WalkJson(std::string& text, Fn&& fn) {
  // A parser keeps its buffers; those of a huge answer are given back.
  constexpr size_t kKeep = size_t{16} << 20;
  thread_local simdjson::ondemand::parser kept;
  std::unique_ptr<simdjson::ondemand::parser> large;
  simdjson::ondemand::parser* parser = &kept;
  if (text.size() > kKeep) {
    large = std::make_unique<simdjson::ondemand::parser>();
    parser = large.get();
  }
  const auto malformed = [](simdjson::error_code error) {
    return Error(std::string("malformed JSON: ") + simdjson::error_message(error));
  };
  if (text.capacity() < text.size() + simdjson::SIMDJSON_PADDING)
    text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  simdjson::ondemand::document document;
  if (auto error = parser->iterate(text.data(), text.size(), text.capacity()).get(document)) return malformed(error);
  simdjson::ondemand::json_type type;
  if (auto error = document.type().get(type)) return malformed(error);
  if (type != simdjson::ondemand::json_type::object) return Error("must be a JSON object");
  JsonValue root;
  if (auto error = document.get_value().get(root)) return malformed(error);
  std::vector<LoadError> errors;
  Context context(DecodeMode::kPeer, errors);
  context.StopAtFirstError();
  fn(context, root, std::string_view());
  return FirstError(errors);
}

// What RepairUtf8 makes of it: itself, nearly always. `store` is for the other case.
inline std::string_view Repaired(std::string_view text, std::string& store) {
  if (IsAscii(text)) return text;
  store = RepairUtf8(text);
  return store;
}

// The same as WalkJson with the kind that the envelope names. What is read of the object says schema(kind).
template <class Schema, class Fn>
Error WalkProtobuf(std::string_view bytes, Schema&& schema, Fn&& fn) {
  std::vector<LoadError> errors;
  Context context(DecodeMode::kPeer, errors);
  context.StopAtFirstError();
  if (const std::optional<ProtoEnvelope> envelope = OpenEnvelope(context, bytes)) {
    std::string repaired;
    fn(context, ProtoValue::Of(envelope->raw, schema(envelope->kind)), Repaired(envelope->kind, repaired));
  }
  return FirstError(errors);
}

template <class Fn>
Error Walk(std::string& text, Encoding encoding, Fn&& fn) {
  if (encoding == Encoding::kJson) return WalkJson(text, fn);
  return WalkProtobuf(text, ProtoMessageOf, fn);
}

// kind and apiVersion need not be there. `envelope`: the kind that protobuf's names.
bool IsKind(Context& context, std::string_view found, std::string_view wanted);
bool HasKind(Context& context, const ProtoValue& value, std::string_view envelope, std::string_view kind);
bool HasKind(Context& context, JsonValue value, std::string_view envelope, std::string_view kind);

}  // namespace berth::client::wire
