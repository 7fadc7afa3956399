// SPDX-License-Identifier: Apache-2.0
// HpackDecoder and nghttp2 read the same of whatever they both take, and take the same.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "net/hpack_test_util.h"

namespace berth::net {
namespace {

// Up to so many of what `item` makes. RapidCheck's own containers are far larger than these tests have time for.
template <class Item>
rc::Gen<std::vector<Item>> UpTo(size_t most, rc::Gen<Item> item) {
  return rc::gen::mapcat(rc::gen::inRange<size_t>(0, most + 1),
                         [=](size_t size) { return rc::gen::container<std::vector<Item>>(size, item); });
}

rc::Gen<std::string> HeadText(size_t most) {
  const auto usual = rc::gen::elementOf(std::string("0123456789abcdef-/ ,:.ABCX"));
  return rc::gen::map(UpTo<char>(most, rc::gen::weightedOneOf<char>({{20, usual}, {1, rc::gen::arbitrary<char>()}})),
                      [](const std::vector<char>& text) { return std::string(text.begin(), text.end()); });
}

rc::Gen<std::string> LongText() {
  return rc::gen::map(rc::gen::pair(HeadText(20), rc::gen::inRange(1, 400)), [](const auto& what) {
    std::string text;
    for (int i = 0; i < what.second; ++i) text += what.first;
    return text;
  });
}

// Few names, so that they come again, and values that come again.
rc::Gen<FieldList> FieldsOfAHead() {
  const auto name = rc::gen::weightedOneOf<std::string>(
      {{5,
        rc::gen::elementOf(std::vector<std::string>{":status", "date", "content-length", "audit-id", "s-1", "etag"})},
       {1, HeadText(30)},
       {1, LongText()}});
  const auto value = rc::gen::weightedOneOf<std::string>(
      {{5, rc::gen::elementOf(std::vector<std::string>{"200", "no-cache, private", "", std::string(1500, 'e')})},
       {3, HeadText(40)},
       {2, LongText()}});
  return UpTo(12, rc::gen::pair(name, value));
}

rc::Gen<std::vector<FieldList>> HeadsOfAConnection() { return UpTo(24, FieldsOfAHead()); }

// One connection: the same blocks to both, ours in pieces. After an error there is nothing more.
void ExpectSame(const std::vector<std::string>& blocks) {
  HpackDecoder decoder;
  OtherInflater other;
  for (const std::string& block : blocks) {
    const size_t first = *rc::gen::inRange<size_t>(0, block.size() + 1);
    const ReadHead head = ReadWith(decoder, block, {first, *rc::gen::inRange<size_t>(1, 50)});
    const ReadHead theirs = other.Read(block);
    RC_ASSERT(head.fine == theirs.fine);
    RC_ASSERT(head.fields == theirs.fields);
    if (!head.fine) return;
    RC_ASSERT(decoder.entries() == other.entries());
    RC_ASSERT(decoder.table_bytes() == other.table_bytes());
  }
}

std::vector<std::string> BlocksOfAConnection(OtherDeflater& deflater) {
  std::vector<std::string> blocks;
  for (const FieldList& fields : *HeadsOfAConnection()) {
    if (*rc::gen::inRange(0, 5) == 0) deflater.Resize(*rc::gen::inRange<size_t>(0, 4097));
    blocks.push_back(deflater.Block(fields, *rc::gen::arbitrary<bool>()));
  }
  return blocks;
}

RC_GTEST_PROP(HpackDecoderProperty, BlocksSayWhatWasMeant, ()) {
  OtherDeflater deflater;
  HpackDecoder decoder;
  for (const FieldList& fields : *HeadsOfAConnection()) {
    const ReadHead head = ReadWith(decoder, deflater.Block(fields));
    RC_ASSERT(head.fine);
    RC_ASSERT(head.fields == fields);
  }
}

RC_GTEST_PROP(HpackDecoderProperty, Nghttp2ReadsTheSame, ()) {
  OtherDeflater deflater;
  ExpectSame(BlocksOfAConnection(deflater));
}

// No field is long enough for the one difference: nghttp2 takes names and values of 64 KiB each.
RC_GTEST_PROP(HpackDecoderProperty, Nghttp2ReadsTheSameOfWrongBlocks, ()) {
  OtherDeflater deflater;
  std::vector<std::string> blocks = BlocksOfAConnection(deflater);
  for (std::string& block : blocks) {
    for (int changes = *rc::gen::inRange(0, 4); changes > 0 && !block.empty(); --changes) {
      const size_t at = *rc::gen::inRange<size_t>(0, block.size());
      switch (*rc::gen::inRange(0, 5)) {
        case 0:
          block[at] = *rc::gen::arbitrary<char>();
          break;
        case 1:
          block[at] = static_cast<char>(block[at] ^ (1 << *rc::gen::inRange(0, 8)));
          break;
        case 2:
          block.erase(at, *rc::gen::inRange<size_t>(1, 4));
          break;
        case 3:
          block.insert(at, *rc::gen::arbitrary<std::string>());
          break;
        default:
          block.resize(at);
      }
    }
  }
  ExpectSame(blocks);
}

RC_GTEST_PROP(HpackDecoderProperty, Nghttp2ReadsTheSameOfAnyBytes, (const std::vector<std::string>& blocks)) {
  ExpectSame(blocks);
}

}  // namespace
}  // namespace berth::net
