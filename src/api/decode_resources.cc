// SPDX-License-Identifier: Apache-2.0
// `resources` of containers, pods and their statuses.
#include "api/decode_internal.h"
#include "api/resource_rules.h"

namespace berth {

std::optional<Requirements> DecodeRequirements(Context& context, JsonValue value) {
  Requirements requirements;
  const bool there = ForEachMember(context, value, [&](std::string_view key, JsonValue item) {
    if (key == "requests" || key == "limits") {
      auto& list = key == "requests" ? requirements.requests : requirements.limits;
      list.reset();
      if (!IsNull(context, item)) list = DecodeResourceList(context, item);
    }
  });
  if (!there) return std::nullopt;
  return requirements;
}

}  // namespace berth
