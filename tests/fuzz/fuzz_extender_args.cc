// SPDX-License-Identifier: Apache-2.0
// Any bytes as each request to an extender. Read with a cache, one that fills and one that is full, a request must be
// the same; a reply made in the body must be the one made beside it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "api/json_scan.h"
#include "extender/extender_args.h"
#include "extender/extender_reply.h"
#include "extender/node_cache.h"

namespace {

using namespace berth::extender;

bool Same(const ExtenderArgs& a, const ExtenderArgs& b) {
  if (a.pod.has_value() != b.pod.has_value() || a.nodes.has_value() != b.nodes.has_value() ||
      a.node_names != b.node_names) {
    return false;
  }
  if (!a.nodes) return true;
  if (a.nodes->size() != b.nodes->size()) return false;
  for (size_t i = 0; i < a.nodes->size(); ++i) {
    if ((*a.nodes)[i].json != (*b.nodes)[i].json || (*a.nodes)[i].node->name() != (*b.nodes)[i].node->name() ||
        !((*a.nodes)[i].node->meta.labels == (*b.nodes)[i].node->meta.labels)) {
      return false;
    }
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::string body = text;
  (void)DecodePreemptionArgs(body);
  (void)DecodeBindingArgs(body);
  const berth::Result<ExtenderArgs> plain = DecodeExtenderArgs(body);
  NodeCache cache;
  for (int round = 0; round < 2; ++round) {
    std::string copy = text;
    const berth::Result<ExtenderArgs> cached = DecodeExtenderArgs(copy, &cache);
    if (cached.ok() != plain.ok() || (plain.ok() && !Same(*cached, *plain))) std::abort();
    if (!plain.ok()) continue;
    FilterResult result;
    result.texts = {"no"};
    for (size_t i = 0; i < cached->node_count(); ++i) {
      if ((i + static_cast<size_t>(round)) % 3 == 0) {
        result.failed.push_back({i, 0, i % 2 == 0});
      } else {
        result.passed.push_back(i);
      }
    }
    const std::string want = FilterResultJson(*cached, result);
    if (FilterResultJsonFrom(copy, *cached, result) != want) std::abort();
    const berth::Result<size_t> end = berth::ScanJsonValue(want, 0);
    if (!end.ok() || *end != want.size()) std::abort();
  }
  return 0;
}
