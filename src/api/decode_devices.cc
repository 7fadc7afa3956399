// SPDX-License-Identifier: Apache-2.0
// Dynamic resource allocation: claims, slices, device classes.
#include "api/decode_internal.h"

namespace berth {

template <>
ResourceClaim DecodeAs<ResourceClaim>(Context& context, JsonValue value) {
  ResourceClaim claim;
  ForEachMember(context, value, [&](std::string_view key, JsonValue item) {
    if (key == "metadata") {
      claim.meta = DecodeMeta(context, item, /*keep_annotations=*/false);
    } else if (key == "status") {
      ForEachMember(context, item, [&](std::string_view member, JsonValue part) {
        if (member == "allocation") claim.allocated = !IsNull(context, part);
      });
    }
  });
  return claim;
}

template <>
ResourceSlice DecodeAs<ResourceSlice>(Context& context, JsonValue value) {
  ResourceSlice slice;
  ForEachMember(context, value, [&](std::string_view key, JsonValue item) {
    if (key == "metadata") {
      slice.meta = DecodeMeta(context, item, /*keep_annotations=*/false);
    } else if (key == "spec") {
      ForEachMember(context, item, [&](std::string_view member, JsonValue part) {
        if (member == "driver") {
          Read(context, part, slice.driver);
        } else if (member == "nodeName") {
          Read(context, part, slice.node_name);
        } else if (member == "pool") {
          ForEachMember(context, part, [&](std::string_view pool, JsonValue text) {
            if (pool == "name") Read(context, text, slice.pool);
          });
        }
      });
    }
  });
  if (context.strict()) {
    At spec(context, "spec");
    CheckForm(context, "driver", slice.driver, CheckDnsSubdomain);
    if (slice.pool.empty()) {
      At pool(context, "pool");
      At at(context, "name");
      context.Required();
    }
  }
  return slice;
}

template <>
DeviceClass DecodeAs<DeviceClass>(Context& context, JsonValue value) {
  DeviceClass device_class;
  ForEachMember(context, value, [&](std::string_view key, JsonValue item) {
    if (key == "metadata") {
      device_class.meta = DecodeMeta(context, item, /*keep_annotations=*/false);
    } else if (key == "spec") {
      ForEachMember(context, item, [&](std::string_view member, JsonValue part) {
        if (member == "extendedResourceName") Read(context, part, device_class.extended_resource_name);
      });
    }
  });
  return device_class;
}

}  // namespace berth
