// SPDX-License-Identifier: Apache-2.0
// Which field of a protobuf message is which member of the JSON object: the field numbers of Kubernetes' messages, as
// far as anybody reads them. To read another kind as protobuf: its messages here, its decoder a template as DecodePod
// is.
#pragma once

#include <optional>
#include <string_view>

#include "api/proto_value.h"

namespace berth {

// What is read of a message, by the kind that its envelope names: a kind that has a decoder, its list, a Status. Of
// others it is the metadata.
const ProtoMessage& ProtoMessageOf(std::string_view kind);
// `metadata` of any object, and nothing else.
const ProtoMessage& ProtoMetadata();

// What every object on the wire is wrapped in: four bytes and a runtime.Unknown.
struct ProtoEnvelope {
  std::string_view api_version, kind, raw;
};
// No value, and recorded: it is none.
std::optional<ProtoEnvelope> OpenEnvelope(Context& context, std::string_view bytes);

// One event of a watch, which has no envelope; its object, with one, is `object`.
struct ProtoWatchEvent {
  std::string_view type, object;
};
std::optional<ProtoWatchEvent> OpenWatchEvent(Context& context, std::string_view bytes);

}  // namespace berth
