// SPDX-License-Identifier: Apache-2.0
#include "conform/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace berth::conform {
namespace {

constexpr int kGzipOnly = 15 + 16;  // the largest window, and gzip's head

struct Ending {
  void operator()(z_stream* stream) const { inflateEnd(stream); }
};

}  // namespace

Result<std::string> Gunzip(std::string_view data, uint64_t max_bytes) {
  z_stream stream = {};
  if (inflateInit2(&stream, kGzipOnly) != Z_OK) return Error("gzip: no memory");
  const std::unique_ptr<z_stream, Ending> end(&stream);
  std::string text;
  std::array<char, size_t{64} << 10> piece;
  const char* next = data.data();
  size_t left = data.size();
  for (bool over = false; !over || left > 0;) {
    if (over && inflateReset(&stream) != Z_OK) return Error("gzip: cannot begin again");
    const auto given = static_cast<uInt>(std::min<size_t>(left, UINT32_MAX / 2));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(next));  // zlib does not write there
    stream.avail_in = given;
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    const int status = inflate(&stream, Z_NO_FLUSH);
    next += given - stream.avail_in;
    left -= given - stream.avail_in;
    const size_t made = piece.size() - stream.avail_out;
    if (made > max_bytes - text.size())
      return Error("gzip: says more than " + std::to_string(max_bytes) + " bytes", ErrorKind::kTooLarge);
    text.append(piece.data(), made);
    over = status == Z_STREAM_END;
    if (over || (status == Z_OK && (left > 0 || made > 0))) continue;
    if (status == Z_OK || status == Z_BUF_ERROR) return Error("gzip: it ends too early");
    return Error(std::string("gzip: ") + (stream.msg != nullptr ? stream.msg : "damaged"));
  }
  return text;
}

}  // namespace berth::conform
