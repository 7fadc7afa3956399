// SPDX-License-Identifier: Apache-2.0
// MessageParser: heads and chunked bodies of HTTP/1.1. Beast's parser is behind it and seen in http_parser.cc alone;
// bodies of known length never pass through it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/http.h"

namespace berth::net {

struct MessageHead {
  std::string method;  // requests
  std::string target;
  int status = 0;  // responses
  int minor_version = 1;
  Headers headers;
  bool keep_alive = false;
  bool chunked = false;
  std::optional<uint64_t> content_length;
};

// One message; take a new one for the next.
class MessageParser {
 public:
  enum class Kind { kRequest, kResponse };
  enum class Progress { kMore, kDone, kTooLarge, kBad };
  // Returns false when it wants no more: the message is then kTooLarge.
  using Sink = std::function<bool(std::string_view)>;

  MessageParser(Kind kind, size_t max_header_bytes);
  ~MessageParser();
  MessageParser(MessageParser&&) = delete;

  // Takes what it can from `data` and says how much in `used`; the rest is to be offered again, with more behind it.
  Progress ReadHead(std::string_view data, size_t* used);
  // REQUIRES: ReadHead was kDone and head().chunked. Trailers are read and dropped.
  Progress ReadChunks(std::string_view data, size_t* used, const Sink& sink);

  MessageHead& head();
  // What is wrong, after kBad and kTooLarge.
  const std::string& problem() const { return problem_; }

 private:
  template <bool is_request>
  class Impl;
  class Base;
  std::unique_ptr<Base> impl_;
  const size_t max_header_bytes_;
  size_t header_bytes_ = 0;
  std::string problem_;
};

}  // namespace berth::net
