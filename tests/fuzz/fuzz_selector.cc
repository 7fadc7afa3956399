// SPDX-License-Identifier: Apache-2.0
// Any bytes as a v1.NodeAffinity: decoded in both modes and matched. A term that cannot be parsed matches nothing.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "api/decode.h"
#include "api/json_scan.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const berth::Labels labels({{"zone", "a"}, {"cores", "16"}, {"kubernetes.io/hostname", "node"}});
  std::vector<berth::LoadError> errors;
  const berth::NodeAffinity affinity = berth::DecodeNodeAffinity(text, berth::DecodeMode::kPeer, errors);
  if (affinity.required) {
    for (const auto& term : affinity.required->terms) {
      if (term.Matches("node", labels) && !term.invalid.empty()) std::abort();
    }
    (void)affinity.required->Matches("node", labels);
  }
  for (const auto& weighted : affinity.preferred) (void)weighted.preference.Matches("node", labels);
  const berth::Result<size_t> end = berth::ScanJsonValue(text, 0);
  if (!end.ok() || *end != size) return 0;
  errors.clear();
  (void)berth::DecodeNodeAffinity(text, berth::DecodeMode::kFile, errors);
  return 0;
}
