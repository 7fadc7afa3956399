// SPDX-License-Identifier: Apache-2.0
// Objects that are part of a larger message, out of a document that somebody else walks. Pulls in simdjson: include it
// in decoder .cc files only.
#pragma once

#include <string_view>

#include "api/decode.h"
#include "api/json_reader.h"
#include "berth/node.h"
#include "berth/pod.h"

namespace berth {

// As DecodeObject gives them in the context's mode, without a look at kind and apiVersion, which may be absent. A pod
// is ready to use. REQUIRES: peer mode.
Pod DecodePodValue(Context& context, JsonValue value);
Node DecodeNodeValue(Context& context, JsonValue value);
// The same for any kind; monostate if it is one that is not read.
AnyObject DecodeAnyValue(Context& context, JsonValue value, std::string_view kind);

// The text of the value, which can still be read afterwards. REQUIRES: it is an object or an array. False: malformed
// JSON, which is recorded.
bool RawText(Context& context, JsonValue value, std::string_view& text);

}  // namespace berth
