// SPDX-License-Identifier: Apache-2.0
// Registry: the map behind Add and Find.
#include "berth/registry.h"

#include <utility>

namespace berth {
inline namespace v1 {

void Registry::Add(PluginDescriptor descriptor) {
  const std::string name = descriptor.name;
  if (by_name_.contains(name)) {
    duplicates_.push_back(name);
  } else {
    by_name_.emplace(name, std::move(descriptor));
  }
}

const PluginDescriptor* Registry::Find(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : &it->second;
}

}  // namespace v1
}  // namespace berth
