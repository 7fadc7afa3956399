// SPDX-License-Identifier: Apache-2.0
// What is to be checked, and how.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/clock.h"
#include "conform/samples.h"
#include "net/tls.h"

namespace berth::conform {

// kAuto: both are tried, one that is not served is a warning. The others must be served.
enum class Shapes : uint8_t { kAuto, kBoth, kNodes, kNames };

struct Options {
  std::string url;  // urlPrefix, as kube-scheduler's configuration has it
  net::TlsClientOptions tls;
  // As in kube-scheduler's configuration; an empty one is not checked.
  std::string filter_verb = "filter", prioritize_verb = "prioritize", preempt_verb, bind_verb;
  Shapes shapes = Shapes::kAuto;
  size_t big_nodes = 5000;
  Duration timeout = Duration::Seconds(5);  // of one request, kube-scheduler's default
  std::vector<std::string> skip;            // names of checks, of groups ("filter", "filter.names") or endings ("big")

  // Objects to ask about; made up where there are none.
  std::string pod;
  std::vector<SampleNode> nodes;
  Labels node_labels;  // of nodes that are made up
};

}  // namespace berth::conform
