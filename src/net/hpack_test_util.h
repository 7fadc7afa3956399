// SPDX-License-Identifier: Apache-2.0
// What the tests of HpackDecoder share: heads read in pieces, and the other opinion on them.
#pragma once

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/hpack_decoder.h"

namespace berth::net {

using FieldList = std::vector<std::pair<std::string, std::string>>;

// What a block says, and whether it could be read to its end.
struct ReadHead {
  FieldList fields;
  bool fine = true;

  bool operator==(const ReadHead&) const = default;
  // For a failure's message.
  friend std::ostream& operator<<(std::ostream& out, const ReadHead& head) {
    for (const auto& [name, value] : head.fields) out << name << "=" << value << "; ";
    return out << (head.fine ? "fine" : "broken");
  }
};

// The block in pieces of these sizes, the last of which is used again and again; none: in one piece.
inline ReadHead ReadWith(HpackDecoder& decoder, std::string_view block, const std::vector<size_t>& sizes = {}) {
  ReadHead head;
  size_t turn = 0;
  for (bool last = false; !last;) {
    const size_t size = sizes.empty() ? block.size() : sizes[std::min(turn++, sizes.size() - 1)];
    // Nothing but the piece may be looked at, and only now.
    const std::string piece(block.substr(0, size));
    block.remove_prefix(piece.size());
    last = block.empty();
    decoder.Give(piece, last);
    HpackField field;
    for (;;) {
      const HpackDecoder::Step step = decoder.Next(field);
      if (step == HpackDecoder::Step::kDone) break;
      if (step == HpackDecoder::Step::kBroken) {
        head.fine = false;
        return head;
      }
      head.fields.emplace_back(field.name, field.value);
    }
  }
  return head;
}

// nghttp2 reads the same blocks.
class OtherInflater {
 public:
  OtherInflater() { nghttp2_hd_inflate_new(&inflater_); }
  ~OtherInflater() { nghttp2_hd_inflate_del(inflater_); }
  OtherInflater(const OtherInflater&) = delete;
  OtherInflater& operator=(const OtherInflater&) = delete;

  ReadHead Read(std::string_view block) {
    ReadHead head;
    const auto* data = reinterpret_cast<const uint8_t*>(block.data());
    size_t size = block.size();
    for (int flags = 0; (flags & NGHTTP2_HD_INFLATE_FINAL) == 0;) {
      nghttp2_nv field = {};
      const ssize_t used = nghttp2_hd_inflate_hd2(inflater_, &field, &flags, data, size, 1);
      if (used < 0) {
        head.fine = false;
        return head;
      }
      data += used;
      size -= static_cast<size_t>(used);
      if ((flags & NGHTTP2_HD_INFLATE_EMIT) == 0) continue;
      head.fields.emplace_back(std::string(reinterpret_cast<const char*>(field.name), field.namelen),
                               std::string(reinterpret_cast<const char*>(field.value), field.valuelen));
    }
    nghttp2_hd_inflate_end_headers(inflater_);
    return head;
  }
  size_t entries() const { return nghttp2_hd_inflate_get_num_table_entries(inflater_) - 61; }
  size_t table_bytes() const { return nghttp2_hd_inflate_get_dynamic_table_size(inflater_); }

 private:
  nghttp2_hd_inflater* inflater_ = nullptr;
};

// nghttp2 writes blocks.
class OtherDeflater {
 public:
  OtherDeflater() { nghttp2_hd_deflate_new(&deflater_, 4096); }
  ~OtherDeflater() { nghttp2_hd_deflate_del(deflater_); }
  OtherDeflater(const OtherDeflater&) = delete;
  OtherDeflater& operator=(const OtherDeflater&) = delete;

  void Resize(size_t bytes) { nghttp2_hd_deflate_change_table_size(deflater_, bytes); }
  // `secret`: fields whose names begin with an s are never put into a table.
  std::string Block(FieldList fields, bool secret = false) {
    std::vector<nghttp2_nv> list;
    for (auto& [name, value] : fields) {
      list.push_back({reinterpret_cast<uint8_t*>(name.data()), reinterpret_cast<uint8_t*>(value.data()), name.size(),
                      value.size(),
                      static_cast<uint8_t>(secret && name.starts_with('s') ? NGHTTP2_NV_FLAG_NO_INDEX : 0)});
    }
    std::string block(nghttp2_hd_deflate_bound(deflater_, list.data(), list.size()), '\0');
    const ssize_t size = nghttp2_hd_deflate_hd(deflater_, reinterpret_cast<uint8_t*>(block.data()), block.size(),
                                               list.data(), list.size());
    block.resize(static_cast<size_t>(std::max<ssize_t>(size, 0)));
    return block;
  }

 private:
  nghttp2_hd_deflater* deflater_ = nullptr;
};

}  // namespace berth::net
