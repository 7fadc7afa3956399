// SPDX-License-Identifier: Apache-2.0
// Any bytes as an object of a peer, and as a file's object when they are valid JSON. What decodes without complaint in
// file mode must decode in peer mode too.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/decode.h"
#include "api/json_scan.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto peer = berth::DecodeDocument(text, berth::DecodeMode::kPeer);
  const berth::Result<size_t> end = berth::ScanJsonValue(text, 0);
  if (!end.ok() || *end != size || !berth::CheckUtf8(text).ok()) return 0;
  const auto file = berth::DecodeDocument(text, berth::DecodeMode::kFile);
  // Items of a typed list that claim another kind are unrolled in file mode only.
  for (size_t i = 0; peer.size() == file.size() && i < file.size(); ++i) {
    if (file[i].errors.empty() && !peer[i].errors.empty()) std::abort();
  }
  return 0;
}
