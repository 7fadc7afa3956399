// SPDX-License-Identifier: Apache-2.0
// `resources` of containers, pods and their statuses.
#include "api/decode_internal.h"
#include "api/resource_rules.h"

namespace berth {

template <class Value>
std::optional<Requirements> DecodeRequirements(Context& context, Value value) {
  Requirements requirements;
  const bool there = ForEachMember(context, value, [&](std::string_view key, Value item) {
    if (key == "requests" || key == "limits") {
      auto& list = key == "requests" ? requirements.requests : requirements.limits;
      list.reset();
      if (!IsNull(context, item)) list = DecodeResourceList(context, item);
    }
  });
  if (!there) return std::nullopt;
  return requirements;
}

// For either encoding.
template std::optional<Requirements> DecodeRequirements(Context&, JsonValue);
template std::optional<Requirements> DecodeRequirements(Context&, ProtoValue);

}  // namespace berth
