// SPDX-License-Identifier: Apache-2.0
// What an extender answers, read as Go's encoding/json reads it into k8s.io/kube-scheduler/extender/v1: keys in any
// case, unknown ones ignored, null told apart from an empty list, U+FFFD for what is no character, and nothing after
// the first value looked at.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/error.h"
#include "framework/extender.h"

namespace berth::extender_client {

// Names point into the body that was read, or into `kept`; so these can be moved, not copied.
struct FilterReply {
  FilterReply() = default;
  FilterReply(FilterReply&&) = default;
  FilterReply& operator=(FilterReply&&) = default;

  std::optional<std::vector<std::string_view>> nodes;       // the names of complete nodes; no value: null or absent
  std::optional<std::vector<std::string_view>> node_names;  // the same
  std::map<std::string, std::string, std::less<>> failed, unresolvable;
  std::string error;
  std::vector<std::vector<std::string>> kept;
};
struct ScoreReply {
  ScoreReply() = default;
  ScoreReply(ScoreReply&&) = default;
  ScoreReply& operator=(ScoreReply&&) = default;

  std::vector<std::pair<std::string_view, int64_t>> scores;  // node and score as answered
  std::vector<std::string> kept;
};

// What is kept of an extender's reason for rejecting a node: it may be of any length.
std::string ShortReason(std::string_view reason);

// Errors are one sentence; those about JSON are in our words, except for a body that is empty or ends too early, which
// Go calls EOF and unexpected EOF. `body` may grow by what the reader wants behind its end. REQUIRES: it outlives the
// reply, unchanged.
// Thread safety: any thread.
Result<FilterReply> ReadFilterReply(std::string& body);
Result<ScoreReply> ReadPrioritizeReply(std::string& body);
// A node that is mapped to null, or a null among the pods, is an error: kube-scheduler crashes there.
Result<framework::Extender::VictimMap> ReadPreemptReply(std::string& body);
// The `Error` of the answer.
Result<std::string> ReadBindReply(std::string& body);

}  // namespace berth::extender_client
