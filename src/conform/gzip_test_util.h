// SPDX-License-Identifier: Apache-2.0
// Gzip for tests.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

namespace berth::conform {

inline std::string Gzipped(const std::string& text) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string data(deflateBound(&stream, static_cast<uLong>(text.size())) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // zlib does not write there
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(data.data());
  stream.avail_out = static_cast<uInt>(data.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  data.resize(stream.total_out);
  deflateEnd(&stream);
  return data;
}

}  // namespace berth::conform
