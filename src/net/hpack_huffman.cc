// SPDX-License-Identifier: Apache-2.0
#include "net/hpack_huffman.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace berth::net {
namespace {

// How many bits each byte's code has. Codes are in order of their length, and then of their byte, so that nothing else
// needs to be known. The one after the last is the end of a text (EOS), which is never sent.
constexpr int kLeastBits = 5, kMostBits = 30;
constexpr std::array<uint8_t, 256> kCodeBits = {
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,  //
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,  //
    6,  10, 10, 12, 13, 6,  8,  11, 10, 10, 8,  11, 8,  6,  6,  6,   //
    5,  5,  5,  6,  6,  6,  6,  6,  6,  6,  7,  8,  15, 6,  12, 10,  //
    13, 6,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,   //
    7,  7,  7,  7,  7,  7,  7,  7,  8,  7,  8,  13, 19, 13, 14, 6,   //
    15, 5,  6,  5,  6,  5,  6,  6,  6,  5,  7,  7,  6,  6,  6,  5,   //
    6,  7,  6,  5,  5,  6,  7,  7,  7,  7,  7,  15, 11, 14, 13, 28,  //
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,  //
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,  //
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,  //
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,  //
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,  //
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,  //
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,  //
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
};

struct HuffmanCode {
  char byte = 0;
  uint8_t bits = 0;
};

struct HuffmanTables {
  // Codes of up to eight bits, which all that is usual in a head has, by the first eight bits that come. No bits: the
  // code is longer. Half a KiB; tables that find two codes at once would have 8 to 16, of the processor's cache.
  std::array<HuffmanCode, 256> brief{};
  // By bits of a code, in 32 bits that begin with it: the first one, and what is behind the last one; and the place of
  // the first one in order.
  std::array<uint64_t, kMostBits + 1> first{}, end{};
  std::array<uint16_t, kMostBits + 1> place{};
  std::array<char, 256> ordered{};
};

constexpr HuffmanTables kHuffman = [] {
  HuffmanTables made;
  uint64_t code = 0;
  size_t place = 0;
  for (size_t bits = kLeastBits; bits <= kMostBits; ++bits) {
    made.first[bits] = code;
    made.place[bits] = static_cast<uint16_t>(place);
    for (size_t byte = 0; byte < kCodeBits.size(); ++byte) {
      if (kCodeBits[byte] != bits) continue;
      const uint64_t next = code + (uint64_t{1} << (32 - bits));
      for (size_t i = code >> 24; bits <= 8 && i < next >> 24; ++i)
        made.brief[i] = {static_cast<char>(byte), static_cast<uint8_t>(bits)};
      made.ordered[place++] = static_cast<char>(byte);
      code = next;
    }
    made.end[bits] = code;
  }
  return made;
}();
// The lengths leave one code, the end's, of thirty bits.
static_assert(kHuffman.end[kMostBits] == (uint64_t{1} << 32) - 4);

uint64_t BigEndianWord(const uint8_t* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof(word));
  return std::endian::native == std::endian::little ? __builtin_bswap64(word) : word;
}

// The code with which the window's first 32 bits begin, not a brief one. More than kMostBits: it is the end's.
HuffmanCode LongCode(uint64_t window) {
  const uint64_t begin = window >> 32;
  size_t bits = 9;
  while (bits <= kMostBits && begin >= kHuffman.end[bits]) ++bits;
  if (bits > kMostBits) return {0, kMostBits + 1};
  const size_t place = kHuffman.place[bits] + ((begin - kHuffman.first[bits]) >> (32 - bits));
  return {kHuffman.ordered[place], static_cast<uint8_t>(bits)};
}

}  // namespace

char* DecodeHuffman(std::string_view code, char* to) {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(code.data());
  size_t bit = 0;
  // As long as there are eight bytes, of whose bits at least 57 are still to be read: seven brief codes, or a long one.
  while (bit / 8 + 8 <= code.size()) {
    const uint64_t window = BigEndianWord(bytes + bit / 8) << bit % 8;
    // Behind the 57 bits is a one, whose place says in the end how many of them were used.
    constexpr int kUnused = 7;
    uint64_t rest = (window >> kUnused << kUnused) | uint64_t{1} << (kUnused - 1);
    HuffmanCode next;
#pragma GCC unroll 7
    for (int i = 0; i < 7; ++i) {
      next = kHuffman.brief[rest >> 56];
      to[i] = next.byte;
      rest <<= next.bits;
    }
    if (next.bits != 0) [[likely]] {
      to += 7;
      bit += static_cast<size_t>(std::countr_zero(rest)) - (kUnused - 1);
      continue;
    }
    // They got stuck at a long one: one at a time until that is read.
    next = kHuffman.brief[window >> 56];
    if (next.bits == 0) next = LongCode(window);
    if (next.bits > kMostBits) return nullptr;
    *to++ = next.byte;
    bit += next.bits;
  }
  size_t left = code.size() * 8 - bit;
  if (left == 0) return to;
  // The last bytes, less than eight, and zeros after them.
  const size_t count = code.size() - bit / 8;
  uint64_t window = 0;
  if (code.size() >= 8) {
    window = BigEndianWord(bytes + code.size() - 8) << (64 - 8 * count);
  } else {
    for (size_t i = 0; i < count; ++i) window |= uint64_t{bytes[bit / 8 + i]} << (56 - 8 * i);
  }
  window <<= bit % 8;
  while (left > 0) {
    HuffmanCode next = kHuffman.brief[window >> 56];
    if (next.bits == 0) {
      next = LongCode(window);
      if (next.bits > kMostBits) break;
    }
    if (next.bits > left) break;
    *to++ = next.byte;
    window <<= next.bits;
    left -= next.bits;
  }
  if (left == 0) return to;
  // What fills the last byte up is the beginning of the end's code, which is ones. Of a whole one too many are left.
  return left < 8 && window >> (64 - left) == (uint64_t{1} << left) - 1 ? to : nullptr;
}

}  // namespace berth::net
