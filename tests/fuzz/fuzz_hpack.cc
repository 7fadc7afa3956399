// SPDX-License-Identifier: Apache-2.0
// Any bytes as heads of answers. How they are cut does not matter, what is held is bounded, and the texts of fields are
// there until the next one.
//
// The first byte chooses how the bytes are cut. The rest is blocks, each with its length in front; with lengths above
// 240 the block is doubled, once for each that it is more.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/hpack_decoder.h"

namespace {

using berth::net::HpackDecoder;
using berth::net::HpackField;

constexpr size_t kMostOfATable = 4096, kOverhead = 32, kMostHeld = size_t{128} << 10;
// A name that the table keeps, and a text in Huffman's code, whose shortest letters have five bits.
constexpr size_t kMostText = kMostOfATable + (size_t{64} << 10) * 8 / 5;

void Insist(bool holds) {
  if (!holds) std::abort();
}

std::vector<std::string> BlocksOf(std::string_view input) {
  std::vector<std::string> blocks;
  while (!input.empty()) {
    const auto length = static_cast<uint8_t>(input[0]);
    const std::string_view block = input.substr(1, length);
    blocks.emplace_back(block);
    for (int i = 240; i < length && blocks.back().size() < 70'000; ++i) blocks.back() += std::string(blocks.back());
    input.remove_prefix(1 + block.size());
  }
  return blocks;
}

void CheckTable(const HpackDecoder& decoder) {
  Insist(decoder.table_bytes() <= kMostOfATable && decoder.entries() * kOverhead <= decoder.table_bytes());
  Insist(decoder.held_bytes() <= kMostHeld);
}

// What was heard, for a comparison: all of short texts, and of long ones what they are made of.
void Hear(const HpackField& field, std::string& heard) {
  Insist(field.name.size() + field.value.size() <= kMostText);
  Insist(field.kind == berth::net::KindOfField(field.name));
  for (const std::string_view text : {field.name, field.value}) {
    uint64_t sum = text.size();
    for (const char c : text) sum = sum * 31 + static_cast<uint8_t>(c);
    heard.append(text.substr(0, 20)).append("=").append(std::to_string(sum)).append(" ");
  }
}

// `rhythm`: 0, the blocks are not cut.
std::string RunHeads(const std::vector<std::string>& blocks, uint8_t rhythm) {
  HpackDecoder decoder;
  std::string heard;
  uint8_t turn = rhythm;
  for (const std::string& block : blocks) {
    std::string_view rest = block;
    for (bool last = false; !last;) {
      turn = static_cast<uint8_t>(turn * 5 + 3);
      const size_t size = rhythm == 0 ? rest.size() : std::min<size_t>(rest.size(), turn % 32 == 31 ? 5000 : turn % 32);
      // Memory of its own, and no more of it: nothing else may be looked at.
      const auto piece = std::make_unique<char[]>(size);
      std::ranges::copy(rest.substr(0, size), piece.get());
      rest.remove_prefix(size);
      last = rest.empty() && (turn & 1) == 0;  // it may also end with an empty piece
      decoder.Give({piece.get(), size}, last);
      for (;;) {
        HpackField field;
        const HpackDecoder::Step step = decoder.Next(field);
        CheckTable(decoder);
        if (step == HpackDecoder::Step::kBroken) return heard + "broken";
        if (step == HpackDecoder::Step::kDone) break;
        Hear(field, heard);
      }
    }
    heard += "\n" + std::to_string(decoder.entries()) + " " + std::to_string(decoder.table_bytes()) + "\n";
  }
  return heard;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::vector<std::string> blocks = BlocksOf({reinterpret_cast<const char*>(data) + 1, size - 1});
  const std::string whole = RunHeads(blocks, 0);
  Insist(RunHeads(blocks, data[0] | 1) == whole);
  Insist(RunHeads(blocks, static_cast<uint8_t>((data[0] ^ 0x55) | 1)) == whole);
  return 0;
}
