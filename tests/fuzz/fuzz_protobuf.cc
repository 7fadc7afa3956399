// SPDX-License-Identifier: Apache-2.0
// Any bytes as an object of a peer in protobuf: as a pod and as a node, in an envelope of their own or in ours. What is
// read does not depend on what was read before, nor on whether that is remembered.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "api/decode.h"
#include "api/decode_value.h"
#include "api/pod_parts.h"
#include "api/proto_schema.h"

namespace {

void AppendVarint(size_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  out += static_cast<char>(value);
}

// An object of that kind in its envelope.
std::string Wrapped(std::string_view kind, std::string_view object) {
  std::string bytes("k8s\0", 4);
  bytes += '\x0a';
  AppendVarint(kind.size() + 2, bytes);
  bytes += '\x12';
  AppendVarint(kind.size(), bytes);
  bytes += kind;
  bytes += '\x12';
  AppendVarint(object.size(), bytes);
  bytes += object;
  return bytes;
}

void Decode(std::string_view bytes) {
  const berth::AnnotationKeys keep{{"a"}, {"a"}};
  const berth::DecodedObject once = berth::DecodeProtobuf(bytes, keep);
  const berth::DecodedObject again = berth::DecodeProtobuf(bytes, keep);
  if (once.errors.size() != again.errors.size()) std::abort();
  if (const auto* pod = std::get_if<berth::DecodedPod>(&once.object)) {
    if (pod->pod != std::get<berth::DecodedPod>(again.object).pod) std::abort();
  }
  if (const auto* node = std::get_if<berth::Node>(&once.object)) {
    if (*node != std::get<berth::Node>(again.object)) std::abort();
  }
}

std::string PodWith(berth::PodParts* parts, std::string_view bytes, berth::Pod& pod) {
  std::vector<berth::LoadError> errors;
  berth::Context context(berth::DecodeMode::kPeer, errors);
  context.UseParts(parts);
  context.StopAtFirstError();
  pod = *berth::DecodeSharedPod(context, berth::ProtoValue::Of(bytes, berth::ProtoMessageOf("Pod")));
  return errors.empty() ? "" : errors.front().Text();
}

void DecodeWithParts(std::string_view bytes) {
  static berth::PodParts parts;
  berth::Pod plain, first, again;
  const std::string error = PodWith(nullptr, bytes, plain);
  if (PodWith(&parts, bytes, first) != error || first != plain) std::abort();
  if (PodWith(&parts, bytes, again) != error || again != plain) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Decode(bytes);
  Decode(Wrapped("Pod", bytes));
  Decode(Wrapped("Node", bytes));
  DecodeWithParts(bytes);
  return 0;
}
