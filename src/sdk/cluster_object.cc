// SPDX-License-Identifier: Apache-2.0
// Copies and versions of objects of any kind.
#include "berth/host/cluster_object.h"

#include <charconv>
#include <utility>

namespace berth {
inline namespace v1 {

ClusterObject WithMeta(const ClusterObject& object, ObjectMeta meta) {
  return std::visit(
      [&meta]<class T>(const std::shared_ptr<const T>& ptr) -> ClusterObject {
        auto copy = std::make_shared<T>(*ptr);
        copy->meta = std::move(meta);
        return Ptr<T>(std::move(copy));
      },
      object);
}

uint64_t VersionNumber(std::string_view resource_version) {
  // Every event of a watch is asked for its version several times, so that the usual lengths have a way of their own.
  constexpr size_t kAlwaysFits = 19;  // digits
  uint64_t number = 0;
  if (resource_version.size() <= kAlwaysFits) {
    for (const char c : resource_version) {
      const auto digit = static_cast<unsigned char>(c - '0');
      if (digit > 9) return 0;
      number = 10 * number + digit;
    }
    return number;
  }
  const char* end = resource_version.data() + resource_version.size();
  const auto [stop, error] = std::from_chars(resource_version.data(), end, number);
  return error == std::errc() && stop == end ? number : 0;
}

}  // namespace v1
}  // namespace berth
