// SPDX-License-Identifier: Apache-2.0
#include "net/http.h"

#include "net/http_text.h"

namespace berth::net {

const std::string* Headers::Find(std::string_view name) const {
  for (const auto& [key, value] : list_) {
    if (EqualIgnoringCase(key, name)) return &value;
  }
  return nullptr;
}

}  // namespace berth::net
