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
#include "api/proto_fields.h"
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
  berth::Pod plain;
  const std::string error = PodWith(nullptr, bytes, plain);
  // Kept, then found, then found as the one that was found last.
  for (int i = 0; i < 3; ++i) {
    berth::Pod pod;
    if (PodWith(&parts, bytes, pod) != error || pod != plain) std::abort();
  }
}

// The pod with its spec's node names, field 10, left out, and another one before the field with that place: 0 is the
// first.
std::string WithNodeName(std::string_view pod, size_t place, std::string_view name) {
  constexpr uint32_t kSpec = 2, kNodeName = 10;
  std::string bytes;
  berth::ProtoFields fields(pod);
  while (fields.Next()) {
    if (fields.number() != kSpec || fields.wire() != berth::ProtoWire::kBytes) {
      bytes += fields.field();
      continue;
    }
    std::string spec;
    berth::ProtoFields inner(fields.bytes());
    size_t at = 0;
    const auto add_name = [&] {
      spec += '\x52';
      AppendVarint(name.size(), spec);
      spec += name;
    };
    while (inner.Next()) {
      if (at++ == place) add_name();
      if (inner.number() != kNodeName) spec += inner.field();
    }
    if (at <= place) add_name();
    if (inner.broken()) spec += inner.from_here();
    bytes += '\x12';
    AppendVarint(spec.size(), bytes);
    bytes += spec;
  }
  if (fields.broken()) bytes += fields.from_here();
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Decode(bytes);
  Decode(Wrapped("Pod", bytes));
  Decode(Wrapped("Node", bytes));
  DecodeWithParts(bytes);
  // The same spec on another node, wherever that is said, and on the first again.
  for (const size_t place : {size_t{0}, size_t{3}, SIZE_MAX}) {
    DecodeWithParts(WithNodeName(bytes, place, "n"));
    DecodeWithParts(bytes);
  }
  return 0;
}
