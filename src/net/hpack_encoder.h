// SPDX-License-Identifier: Apache-2.0
// HpackEncoder: the heads of requests as HTTP/2 sends them (RFC 7541).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/common_headers.h"
#include "net/http.h"

namespace berth::net {

// One request's head, for the time of a call. Names in `further` in any case; those that are the client's own are left
// out.
struct RequestHead {
  std::string_view method, authority, prefix, path;    // the path goes after the prefix
  const std::shared_ptr<const CommonHeaders>& common;  // may be null
  const Headers& further;
  std::string_view content_length;  // empty: none
};

// The heads of a client's requests differ in little but the path. What is the same goes into the table that the server
// keeps, once; after that a head is a few numbers and the path as it is. Nothing is ever pushed out of the table: when
// it is full of what is not sent any more (tokens change), it begins anew.
//
// Credentials are in the table, as Go's client has them: nobody else's text is on the connection, from whose length
// they could be guessed.
//
// Thread safety: none.
class HpackEncoder {
 public:
  // The largest table that the server keeps. Until it says so it is 4096 bytes, more than which is never used.
  void set_table_size(uint32_t bytes);
  // The block of a head, after what is in `out`. Blocks are sent in the order in which they are made.
  void Append(const RequestHead& head, std::string& out);

 private:
  // A field, or all of one CommonHeaders, as it was written when the table had `entries`.
  struct Written {
    std::shared_ptr<const CommonHeaders> common;
    size_t entries = 0;
    std::string bytes;
  };

  void AppendUpdate(std::string& out);
  void AppendCommon(const std::shared_ptr<const CommonHeaders>& common, std::string& out);
  void AppendField(std::string_view name, std::string_view value, std::string& out);
  void Begin();

  std::vector<std::pair<std::string, std::string>> entries_;  // of the table, oldest first
  size_t used_ = 0, most_ = kMostBytes;                       // bytes as the table counts them
  bool update_ = false;                                       // the next block says how large the table is
  size_t left_out_ = 0;                                       // fields for which there was no room, since it began
  std::vector<Written> written_;
  static constexpr uint32_t kMostBytes = 4096;
};

}  // namespace berth::net
