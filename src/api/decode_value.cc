// SPDX-License-Identifier: Apache-2.0
// Pods and nodes inside other messages, and alone in an envelope of protobuf.
#include "api/decode_value.h"

#include "api/decode_internal.h"
#include "api/json_scan.h"
#include "api/pod_parts.h"
#include "api/proto_schema.h"
#include "berth/host/share_lists.h"

namespace berth {

namespace {

template <class Value>
std::shared_ptr<Pod> DecodeReadyPod(Context& context, const Value& value) {
  const ObjectScope scope(context);
  const size_t errors = context.error_count();
  PodSpecs* specs = context.parts() ? &context.parts()->specs : nullptr;
  if (specs) specs->Begin();
  PodExtras extras;
  std::shared_ptr<Pod> pod = DecodePod(context, value, extras);
  const bool known = specs && specs->found();
  if (!known || !HasPlainResources(*pod)) pod->resources = ComputePodResources(*pod);
  if (known) {
    ShareStatusLists(*pod);
  } else {
    ShareLists(*pod);
  }
  if (specs && context.error_count() == errors && context.items() <= KnownParts<Pod>::kMaxPartItems) specs->Keep(*pod);
  return pod;
}

}  // namespace

std::shared_ptr<Pod> DecodeSharedPod(Context& context, JsonValue value) { return DecodeReadyPod(context, value); }
std::shared_ptr<Pod> DecodeSharedPod(Context& context, const ProtoValue& value) {
  return DecodeReadyPod(context, value);
}
Pod DecodePodValue(Context& context, JsonValue value) { return std::move(*DecodeReadyPod(context, value)); }

DecodedObject DecodeProtobuf(std::string_view bytes, const AnnotationKeys& keep) {
  DecodedObject decoded;
  Context context(DecodeMode::kPeer, decoded.errors);
  context.KeepAnnotations(&keep);
  if (const std::optional<ProtoEnvelope> envelope = OpenEnvelope(context, bytes)) {
    decoded.kind = RepairUtf8(envelope->kind);
    decoded.api_version = RepairUtf8(envelope->api_version);
    const ProtoValue value = ProtoValue::Of(envelope->raw, ProtoMessageOf(envelope->kind));
    if (envelope->kind == ToString(Kind::kPod)) {
      decoded.object = DecodedPod{std::move(*DecodeSharedPod(context, value)), {}};
    } else if (envelope->kind == ToString(Kind::kNode)) {
      decoded.object = DecodeNodeValue(context, value);
    }
  }
  for (LoadError& error : decoded.errors) {
    error.kind = decoded.kind;
    if (decoded.known()) error.name = FullName(MetaOf(decoded.object));
  }
  return decoded;
}

}  // namespace berth
