// SPDX-License-Identifier: Apache-2.0
// FitError: the sentence that says why no node fits, byte for byte as kube-scheduler builds it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace berth {
inline namespace v1 {

// How many nodes gave each reason.
using ReasonCounts = std::map<std::string, size_t>;

struct FitErrorParts {
  size_t nodes = 0;
  std::string pre_filter;  // the PreFilter rejection; replaces the counts
  ReasonCounts reasons;
  std::string post_filter;  // what PostFilter said; empty after a successful preemption
};

// `0/5 nodes are available: 2 Insufficient cpu, 3 node(s) were unschedulable. <post filter>`; the counted reasons are
// sorted as texts, so "10 x" comes before "2 y".
std::string FitErrorText(const FitErrorParts& parts);

}  // namespace v1
}  // namespace berth
