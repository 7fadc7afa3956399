// SPDX-License-Identifier: Apache-2.0
// Pods and nodes inside other messages.
#include "api/decode_value.h"

#include "api/decode_internal.h"
#include "berth/host/share_lists.h"

namespace berth {

Pod DecodePodValue(Context& context, JsonValue value) {
  const ObjectScope scope(context);
  DecodedPod decoded = DecodeAs<Pod>(context, value);
  decoded.pod.resources = ComputePodResources(decoded.pod);
  ShareLists(decoded.pod);
  return std::move(decoded.pod);
}

}  // namespace berth
