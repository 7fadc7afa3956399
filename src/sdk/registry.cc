// SPDX-License-Identifier: Apache-2.0
// Registry: the map behind Add and Find.
#include "berth/registry.h"

#include <utility>

namespace berth {
inline namespace v1 {

void Registry::Add(PluginDescriptor descriptor) {
  std::string name = descriptor.name;
  const auto [it, inserted] = by_name_.try_emplace(name, std::move(descriptor));
  if (!inserted) duplicates_.push_back(std::move(name));
}

const PluginDescriptor* Registry::Find(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : &it->second;
}

}  // namespace v1
}  // namespace berth
