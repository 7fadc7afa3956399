// SPDX-License-Identifier: Apache-2.0
// Any bytes as a set of objects: read, validated, defaulted and admitted.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/load.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto result = berth::LoadObjectsFromText(std::string_view(reinterpret_cast<const char*>(data), size));
  for (const berth::LoadError& error : result.errors) {
    if (error.message.empty()) std::abort();
  }
  for (const auto& pod : result.objects.of<berth::Pod>()) {
    if (pod->meta.uid.empty() || pod->meta.namespace_.empty()) std::abort();
  }
  return 0;
}
