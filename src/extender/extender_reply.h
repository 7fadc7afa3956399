// SPDX-License-Identifier: Apache-2.0
// What an extender answers, and its JSON as Go's encoding/json writes k8s.io/kube-scheduler/extender/v1: field names as
// they are, nothing left out, null where a list or map is absent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "extender/extender_args.h"

namespace berth::extender {

// Places are positions in the request's list of nodes.
struct FilterResult {
  struct Failed {
    size_t place;
    uint32_t text;      // into `texts`
    bool unresolvable;  // evicting pods cannot help
  };
  std::string error;           // not empty: nothing else counts
  std::vector<size_t> passed;  // ascending
  std::vector<Failed> failed;  // each name once
  std::vector<std::string> texts;

  static FilterResult Fail(std::string error) {
    FilterResult result;
    result.error = std::move(error);
    return result;
  }
};

struct HostPriority {
  std::string_view host;  // the request's
  int64_t score = 0;
  bool operator==(const HostPriority&) const = default;
};

// The nodes that passed are answered in the kind of list that the request has; complete nodes are the bytes that came.
// REQUIRES: the body that `args` was read from is still there.
std::string FilterResultJson(const ExtenderArgs& args, const FilterResult& result);
// The same, made in the body's own memory where that goes; the body and the nodes' texts are used up.
// REQUIRES: `body` is the one that `args` was read from.
std::string FilterResultJsonFrom(std::string& body, const ExtenderArgs& args, const FilterResult& result);
std::string HostPriorityListJson(const std::vector<HostPriority>& list);
std::string PreemptionResultJson(const VictimMap& victims);
std::string BindingResultJson(std::string_view error);

}  // namespace berth::extender
