// SPDX-License-Identifier: Apache-2.0
#include "serving/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <memory>

namespace berth::serving {
namespace {

constexpr int kGzipOnly = 15 + 16;  // the largest window, and gzip's head
constexpr int kMemory = 8;          // zlib's usual

struct Ending {
  void operator()(z_stream* stream) const { deflateEnd(stream); }
};

}  // namespace

std::string Gzip(std::string_view text) {
  z_stream stream = {};
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzipOnly, kMemory, Z_DEFAULT_STRATEGY) != Z_OK) return "";
  const std::unique_ptr<z_stream, Ending> end(&stream);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  size_t room = out.size();
  for (int status = Z_OK; status != Z_STREAM_END;) {
    const auto given = static_cast<uInt>(std::min<size_t>(text.size(), UINT32_MAX / 2));
    const auto space = static_cast<uInt>(std::min<size_t>(room, UINT32_MAX / 2));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // zlib does not write there
    stream.avail_in = given;
    stream.avail_out = space;
    status = deflate(&stream, text.size() == given ? Z_FINISH : Z_NO_FLUSH);
    text.remove_prefix(given - stream.avail_in);
    room -= space - stream.avail_out;
    if (status != Z_OK && status != Z_STREAM_END) return "";
  }
  out.resize(out.size() - room);
  return out;
}

}  // namespace berth::serving
