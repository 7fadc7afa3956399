// SPDX-License-Identifier: Apache-2.0
// Objects that are part of a larger message, out of a document that somebody else walks. Pulls in simdjson: include it
// in decoder .cc files only.
#pragma once

#include <memory>

#include "api/decode.h"
#include "api/json_reader.h"
#include "api/proto_value.h"
#include "berth/node.h"
#include "berth/pod.h"

namespace berth {

// As DecodeObject gives them in the context's mode, without a look at kind and apiVersion, which may be absent. A pod
// is ready to use; a shared one, which is never null, is made where it stays. REQUIRES: peer mode.
Pod DecodePodValue(Context& context, JsonValue value);
std::shared_ptr<Pod> DecodeSharedPod(Context& context, JsonValue value);
std::shared_ptr<Pod> DecodeSharedPod(Context& context, const ProtoValue& value);
// `with_images` false: without images, which are not even looked at.
Node DecodeNodeValue(Context& context, JsonValue value, bool with_images = true);
Node DecodeNodeValue(Context& context, const ProtoValue& value);
// The same for any kind.
AnyObject DecodeAnyValue(Context& context, JsonValue value, Kind kind);

}  // namespace berth
