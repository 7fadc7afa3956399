// SPDX-License-Identifier: Apache-2.0
// PlainReply: reads the answers of extenders as nearly all of them are written, in one pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "extender_client/extender_reply.h"

namespace berth::extender_client {

// Answers name hundreds of nodes, so reading them costs more than all else that is done about a pod. What is out of the
// ordinary (an escape in a text that matters, a field that comes twice, null for a name, a number that is not whole,
// anything malformed) ends it, and the answer is read by who knows all of Go's rules; both come to the same where this
// one comes to an end. What is skipped is checked just as strictly.
class PlainReply {
 public:
  // REQUIRES: text outlives it.
  explicit PlainReply(std::string_view text) : text_(text) {}

  // False: read it otherwise; what is in `reply` means nothing then. Called once.
  bool ReadFilter(FilterReply& reply);
  bool ReadScores(ScoreReply& reply);

 private:
  using Reasons = std::map<std::string, std::string, std::less<>>;
  bool Names(std::vector<std::string_view>& names);
  bool NodeList(std::vector<std::string_view>& names);
  bool NodeName(std::string_view& name);
  bool Score(ScoreReply& reply);
  bool ReasonMap(Reasons& reasons);

  // Each goes over white space and what it reads; after false the place is anywhere.
  bool Take(char c);
  bool TakeNull();
  bool Text(std::string_view& text);
  bool Whole(int64_t& number);
  bool Pass(int depth);
  // fn(key) has to read the value; fn() one item.
  template <class Fn>
  bool Members(Fn&& fn);
  template <class Fn>
  bool Items(Fn&& fn);

  const std::string_view text_;
  size_t at_ = 0;
};

}  // namespace berth::extender_client
