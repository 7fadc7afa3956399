// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of documents: every document that is handed over is valid JSON in valid UTF-8.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "api/json_scan.h"
#include "api/yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto check = [](std::string json) {
    const berth::Result<size_t> end = berth::ScanJsonValue(json, 0);
    if (!end.ok() || *end != json.size() || !berth::CheckUtf8(json).ok()) std::abort();
    return berth::Error::Ok();
  };
  (void)berth::ForEachDocument(text, check).ok();
  (void)berth::ForEachYamlDocument(text, check).ok();
  return 0;
}
