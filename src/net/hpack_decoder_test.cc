// SPDX-License-Identifier: Apache-2.0
#include "net/hpack_decoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/hpack_test_util.h"

namespace berth::net {
namespace {

std::string FromHex(std::string_view hex) {
  std::string bytes;
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (size_t i = 0; i + 1 < hex.size(); i += 2) bytes += static_cast<char>(digit(hex[i]) << 4 | digit(hex[i + 1]));
  return bytes;
}

std::string NumberBytes(uint8_t first, int bits, size_t number) {
  const size_t most = (size_t{1} << bits) - 1;
  if (number < most) return {static_cast<char>(first | number)};
  std::string bytes(1, static_cast<char>(first | most));
  for (number -= most; number >= 0x80; number >>= 7) bytes += static_cast<char>(0x80 | (number & 0x7f));
  return bytes + static_cast<char>(number);
}
std::string PlainText(std::string_view text) { return NumberBytes(0, 7, text.size()) + std::string(text); }
// Fields as a server writes them: into the table, or not; with the name of an entry, or their own.
std::string Into(std::string_view name, std::string_view value) { return "\x40" + PlainText(name) + PlainText(value); }
std::string Into(size_t name, std::string_view value) { return NumberBytes(0x40, 6, name) + PlainText(value); }
std::string Beside(std::string_view name, std::string_view value) {
  return std::string(1, '\0') + PlainText(name) + PlainText(value);
}
std::string Beside(size_t name, std::string_view value) { return NumberBytes(0, 4, name) + PlainText(value); }
std::string OfTable(size_t number) { return NumberBytes(0x80, 7, number); }
std::string TableOf(size_t bytes) { return NumberBytes(0x20, 5, bytes); }

struct DocumentHead {
  std::string hex;
  FieldList fields;
  size_t entries, bytes;  // of the table, after it
};

void ExpectHeads(const std::string& first, const std::vector<DocumentHead>& heads) {
  // Cut at every byte, each by a decoder that has read the heads before.
  for (size_t i = 0; i < heads.size(); ++i) {
    const std::string block = FromHex(heads[i].hex);
    for (size_t cut = 0; cut <= block.size(); ++cut) {
      HpackDecoder decoder;
      for (size_t before = 0; before < i; ++before)
        ReadWith(decoder, (before == 0 ? first : "") + FromHex(heads[before].hex));
      if (i == 0 && !first.empty()) {
        decoder.Give(first, false);
        HpackField none;
        ASSERT_EQ(decoder.Next(none), HpackDecoder::Step::kDone);
      }
      const ReadHead head = ReadWith(decoder, block, {cut, block.size()});
      ASSERT_TRUE(head.fine) << i << " cut at " << cut;
      ASSERT_EQ(head.fields, heads[i].fields) << i << " cut at " << cut;
      ASSERT_EQ(decoder.entries(), heads[i].entries) << i;
      ASSERT_EQ(decoder.table_bytes(), heads[i].bytes) << i;
      ASSERT_LE(decoder.held_bytes(), 4096u);
    }
  }
}

// RFC 7541, appendix C.
TEST(HpackDecoder, FieldsOfTheDocumentAreRead) {
  ExpectHeads("", {{"400a637573746f6d2d6b65790d637573746f6d2d686561646572", {{"custom-key", "custom-header"}}, 1, 55}});
  ExpectHeads("", {{"040c2f73616d706c652f70617468", {{":path", "/sample/path"}}, 0, 0}});
  ExpectHeads("", {{"100870617373776f726406736563726574", {{"password", "secret"}}, 0, 0}});
  ExpectHeads("", {{"82", {{":method", "GET"}}, 0, 0}});
}

TEST(HpackDecoder, RequestsOfTheDocumentAreRead) {
  const FieldList first = {{":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {":authority", "www.example.com"}};
  FieldList second = first;
  second.emplace_back("cache-control", "no-cache");
  const FieldList third = {{":method", "GET"},
                           {":scheme", "https"},
                           {":path", "/index.html"},
                           {":authority", "www.example.com"},
                           {"custom-key", "custom-value"}};
  ExpectHeads("", {{"828684410f7777772e6578616d706c652e636f6d", first, 1, 57},
                   {"828684be58086e6f2d6361636865", second, 2, 110},
                   {"828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565", third, 3, 164}});
  ExpectHeads("", {{"828684418cf1e3c2e5f23a6ba0ab90f4ff", first, 1, 57},
                   {"828684be5886a8eb10649cbf", second, 2, 110},
                   {"828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf", third, 3, 164}});
}

TEST(HpackDecoder, AnswersOfTheDocumentAreReadWhileTheTablePushesOut) {
  const FieldList first = {{":status", "302"},
                           {"cache-control", "private"},
                           {"date", "Mon, 21 Oct 2013 20:13:21 GMT"},
                           {"location", "https://www.example.com"}};
  FieldList second = first;
  second[0].second = "307";
  const FieldList third = {{":status", "200"},
                           {"cache-control", "private"},
                           {"date", "Mon, 21 Oct 2013 20:13:22 GMT"},
                           {"location", "https://www.example.com"},
                           {"content-encoding", "gzip"},
                           {"set-cookie", "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"}};
  ExpectHeads(TableOf(256),
              {{"4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d546e1768747470"
                "733a2f2f7777772e6578616d706c652e636f6d",
                first, 4, 222},
               {"4803333037c1c0bf", second, 4, 222},
               {"88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a69707738666f6f3d4153444a"
                "4b48514b425a584f5157454f50495541585157454f49553b206d61782d6167653d333630303b2076657273696f6e3d31",
                third, 3, 215}});
  ExpectHeads(TableOf(256),
              {{"488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82"
                "ae43d3",
                first, 4, 222},
               {"4883640effc1c0bf", second, 4, 222},
               {"88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd5b3960"
                "d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007",
                third, 3, 215}});
}

TEST(HpackDecoder, EveryEntryIsWhereOthersHaveIt) {
  for (size_t i = 1; i <= 61; ++i) {
    HpackDecoder decoder;
    OtherInflater other;
    const std::string block = OfTable(i) + Beside(i, "x") + Into(i, "y") + OfTable(62);
    const ReadHead head = ReadWith(decoder, block);
    ASSERT_TRUE(head.fine);
    EXPECT_EQ(head, other.Read(block)) << i;
    EXPECT_EQ(head.fields[0].first, head.fields[3].first) << i;
  }
}

TEST(HpackDecoder, NamesThatMatterAreKnownWhereverTheyComeFrom) {
  const std::pair<const char*, FieldKind> cases[] = {{":status", FieldKind::kStatus},
                                                     {"content-length", FieldKind::kContentLength},
                                                     {"content-type", FieldKind::kContentType},
                                                     {"retry-after", FieldKind::kRetryAfter},
                                                     {":statuz", FieldKind::kOther},
                                                     {"Retry-after", FieldKind::kOther},
                                                     {"content-typo", FieldKind::kOther},
                                                     {"content_length", FieldKind::kOther},
                                                     {"date", FieldKind::kOther},
                                                     {"", FieldKind::kOther}};
  for (const auto& [name, kind] : cases) {
    SCOPED_TRACE(name);
    HpackDecoder decoder;
    std::string block =
        Beside(name, "1") + Into(name, "2") + OfTable(62) + Beside(62, "3") + Into(62, "4") + OfTable(62);
    size_t count = 6;
    for (size_t i = 1; i <= kHpackStaticTable.size(); ++i) {
      if (kHpackStaticTable[i - 1].name != name) continue;
      block += OfTable(i) + Beside(i, "5") + Into(i, "6") + OfTable(62);
      count += 4;
    }
    decoder.Give(block, true);
    HpackField field;
    for (; decoder.Next(field) == HpackDecoder::Step::kField; --count) {
      EXPECT_EQ(field.name, name);
      EXPECT_EQ(field.kind, kind) << count;
    }
    EXPECT_EQ(count, 0u);
  }
}

TEST(HpackDecoder, WhatIsNotHpackIsAnError) {
  const std::string zero(1, '\0'), one = Into("a", "b");
  const std::string five = "\x80\x80\x80\x80";
  struct Case {
    std::string what, block;
    size_t fields = 0;  // that are read before
  };
  const Case cases[] = {
      {"entry 0", "\x80"},
      {"an entry behind the table", OfTable(62)},
      {"an entry behind the table with something in it", one + OfTable(62) + OfTable(63), 2},
      {"an entry far behind", OfTable(5'000'000)},
      {"the last number there is", OfTable(UINT32_MAX)},
      {"a name of no entry", Beside(62, "x")},
      {"a name of no entry, kept", Into(62, "x")},
      {"a name from far behind", Into(300, "x")},
      {"a number of 33 bits", "\xff\xff\xff\xff\xff\x1f"},
      {"a number that is too large by one", "\xff\x81\xff\xff\xff\x0f"},
      {"a number that would be 2 in 32 bits", "\xff\x83\xff\xff\xff\x0f"},
      {"a number of six further bytes", "\xff" + five + "\x80" + zero},
      {"a length of six further bytes", "\x40\x01n\x7f" + five + "\x80" + zero + std::string(127, 'v')},
      {"a name's length of six further bytes", "\x40\x7f" + five + "\x80" + zero},
      {"a length beyond everything", "\x40\x01n" + NumberBytes(0, 7, UINT32_MAX)},
      {"a name of more than 64 KiB", "\x40" + PlainText(std::string(65536, 'n')) + PlainText("")},
      {"a value of more than 64 KiB", Into(28, std::string(65536, 'v'))},
      {"both together", Beside(std::string(40'000, 'n'), std::string(30'000, 'v'))},
      {"a table of more than 4096 bytes", TableOf(4097)},
      {"a table of far more", TableOf(UINT32_MAX)},
      {"the table's size after a field", "\x82" + TableOf(100), 1},
      {"the table's size after a field that is kept", TableOf(4096) + one + TableOf(4096), 1},
      {"the table's size after a field beside it", Beside("a", "b") + TableOf(0), 1},
      {"a wrong text", "\x40\x01n\x81" + zero},
      {"a wrong name", "\x40\x81" + zero + PlainText("v")},
      {"a wrong name behind an entry", "\x82\x40\x81\xff" + PlainText("v"), 1},
      {"the end within a text", "\x40\x01n\x84\xff\xff\xff\xff"},
      {"half a number", "\xff\x80"},
      {"half a size", "\x3f"},
      {"a field's beginning", "\x40"},
      {"a name's beginning", "\x40\x05nam"},
      {"a name alone", "\x40\x01n"},
      {"a value's beginning", "\x40\x01n\x03va", 0},
      {"a known name alone", "\x82\x5c", 1},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    HpackDecoder decoder;
    const ReadHead head = ReadWith(decoder, each.block);
    EXPECT_FALSE(head.fine);
    EXPECT_EQ(head.fields.size(), each.fields);
    for (size_t cut = 0; cut <= each.block.size(); cut += each.block.size() < 100 ? 1 : 997) {
      HpackDecoder again;
      ASSERT_EQ(ReadWith(again, each.block, {cut, each.block.size() + 1}), head) << cut;
    }
    HpackDecoder slow;
    ASSERT_EQ(ReadWith(slow, each.block, {each.block.size() < 100 ? size_t{1} : size_t{100}}), head);
  }
}

TEST(HpackDecoder, WhatIsUnusualIsNotAnError) {
  const std::string zero(1, '\0');
  const struct {
    std::string what, block;
    FieldList fields;
  } cases[] = {
      {"an empty block", "", {}},
      {"nothing but sizes", TableOf(0) + TableOf(100) + TableOf(4096), {}},
      {"an empty name and value", "\x40" + zero + zero, {{"", ""}}},
      {"empty texts in the code", "\x40\x80\x80", {{"", ""}}},
      {"a number with more bytes than it needs", "\x0f\x8d\x80\x80\x80" + zero + "\x01x", {{"content-length", "x"}}},
      {"never to be kept", "\x1f\x0d\x01x", {{"content-length", "x"}}},
      {"as long as a field may be", Beside("", std::string(65'530, 'v')), {{"", std::string(65'530, 'v')}}},
      {"that, kept",
       Into("", std::string(65'530, 'v')) + Into("a", "b") + OfTable(62),
       {{"", std::string(65'530, 'v')}, {"a", "b"}, {"a", "b"}}},
      {"long names",
       Beside(std::string(30'000, 'n'), std::string(30'000, 'v')),
       {{std::string(30'000, 'n'), std::string(30'000, 'v')}}},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.what);
    const ReadHead expected = {each.fields, true};
    HpackDecoder decoder;
    EXPECT_EQ(ReadWith(decoder, each.block), expected);
    HpackDecoder slow;
    EXPECT_EQ(ReadWith(slow, each.block, {1}), expected);
  }
}

TEST(HpackDecoder, ABlockMayEndWithAnEmptyPiece) {
  for (const std::string& part : {std::string("\x40\x01n"), Into("a", "b")}) {
    HpackDecoder decoder;
    HpackField field;
    for (const char* const nothing : {"", ""}) {
      decoder.Give(nothing, false);
      EXPECT_EQ(decoder.Next(field), HpackDecoder::Step::kDone);
    }
    decoder.Give(part, false);
    const bool whole = part.size() > 3;
    EXPECT_EQ(decoder.Next(field), whole ? HpackDecoder::Step::kField : HpackDecoder::Step::kDone);
    if (whole) {
      EXPECT_EQ(decoder.Next(field), HpackDecoder::Step::kDone);
    }
    decoder.Give("", true);
    EXPECT_EQ(decoder.Next(field), whole ? HpackDecoder::Step::kDone : HpackDecoder::Step::kBroken);
  }
}

TEST(HpackDecoder, ANewEntryPushesOutTheOldest) {
  HpackDecoder decoder;
  // Each counts 32 + 1 + 99; 31 of them are 4092.
  for (int i = 0; i < 100; ++i) {
    const std::string value = std::to_string(i) + std::string(97, 'v');
    const std::string padded = value + std::string(99 - value.size(), 'w');
    ASSERT_TRUE(ReadWith(decoder, Into("n", padded)).fine);
    const size_t entries = std::min(i + 1, 31);
    ASSERT_EQ(decoder.entries(), entries);
    ASSERT_EQ(decoder.table_bytes(), entries * 132);
    ASSERT_EQ(ReadWith(decoder, OfTable(62)).fields, (FieldList{{"n", padded}}));
    // The oldest.
    const auto oldest = ReadWith(decoder, OfTable(61 + entries));
    ASSERT_TRUE(oldest.fine);
    ASSERT_TRUE(oldest.fields[0].second.starts_with(std::to_string(i + 1 - static_cast<int>(entries)) + "v"));
  }
  // Four bytes are left: entries count 32 at the least, so that one that is empty pushes out one.
  ASSERT_TRUE(ReadWith(decoder, Into("", "")).fine);
  EXPECT_EQ(decoder.table_bytes(), 30 * 132 + 32u);
  EXPECT_FALSE(ReadWith(decoder, OfTable(61 + 32)).fine);
}

TEST(HpackDecoder, ATableOfEmptyEntriesIsFull) {
  HpackDecoder decoder;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(ReadWith(decoder, Into("", "")).fine);
    ASSERT_EQ(decoder.entries(), std::min<size_t>(static_cast<size_t>(i) + 1, 128));
  }
  EXPECT_EQ(decoder.table_bytes(), 4096u);
  EXPECT_TRUE(ReadWith(decoder, OfTable(61 + 128)).fine);
  EXPECT_FALSE(ReadWith(decoder, OfTable(61 + 129)).fine);
}

TEST(HpackDecoder, WhatIsLargerThanTheTableEmptiesIt) {
  for (const size_t size : {4096 - 32, 4096 - 32 + 1, 5000, 20'000}) {
    SCOPED_TRACE(size);
    HpackDecoder decoder;
    ASSERT_TRUE(ReadWith(decoder, Into("a", "1") + Into("b", "2")).fine);
    const FieldList field = {{"n", std::string(size - 1, 'v')}};
    EXPECT_EQ(ReadWith(decoder, Into("n", field[0].second)).fields, field);
    const bool fits = size == 4096 - 32;
    EXPECT_EQ(decoder.entries(), fits ? 1u : 0u);
    EXPECT_EQ(decoder.table_bytes(), fits ? 4096u : 0u);
    if (fits) {
      EXPECT_EQ(ReadWith(decoder, OfTable(62)).fields, field);
    }
    EXPECT_EQ(ReadWith(decoder, Into("c", "3") + OfTable(62)).fields, (FieldList{{"c", "3"}, {"c", "3"}}));
    EXPECT_EQ(decoder.table_bytes(), 34u);
  }
}

// The code may be longer than the table although the text is not, and the other way round.
TEST(HpackDecoder, WhetherAFieldFitsSaysItsText) {
  // 28 bits each, but with so many short ones that the code is the shorter form.
  const std::string rare(500, '\x02'), common(3500, 'a');
  const std::vector<std::string> values = {rare + common, common, std::string(4050, 'e'), std::string(4070, 'e'),
                                           rare + common};
  HpackDecoder plain, coded;
  OtherInflater plain_too, coded_too;
  OtherDeflater deflater;
  const auto expect_same = [](HpackDecoder& decoder, OtherInflater& other, const std::string& block) {
    const ReadHead head = ReadWith(decoder, block);
    EXPECT_EQ(head, other.Read(block));
    EXPECT_TRUE(head.fine);
    EXPECT_EQ(decoder.entries(), other.entries());
    EXPECT_EQ(decoder.table_bytes(), other.table_bytes());
  };
  for (const std::string& value : values) {
    expect_same(plain, plain_too, Into("n", value));
    expect_same(coded, coded_too, deflater.Block({{"n", value}, {"more", "y"}}));
  }
}

TEST(HpackDecoder, ANameIsRightThoughItsEntryIsPushedOut) {
  const std::string name(1000, 'n');
  HpackDecoder decoder;
  std::string value(2500, 'a');
  ASSERT_TRUE(ReadWith(decoder, Into(name, value)).fine);
  // There is room for one of them.
  for (int i = 0; i < 50; ++i) {
    value = std::string(2500, static_cast<char>('a' + i % 26)) + std::to_string(i);
    const FieldList field = {{name, value}};
    EXPECT_EQ(ReadWith(decoder, Into(62, value)).fields, field);
    EXPECT_EQ(decoder.entries(), 1u);
    EXPECT_EQ(ReadWith(decoder, OfTable(62)).fields, field);
    // Nor does the one beside the table take it away, nor one that is not decoded in the table's memory.
    EXPECT_EQ(ReadWith(decoder, Beside(62, std::string(4000, 'z'))).fields,
              (FieldList{{name, std::string(4000, 'z')}}));
    EXPECT_EQ(ReadWith(decoder, OfTable(62)).fields, field);
  }
  EXPECT_EQ(ReadWith(decoder, Into(62, std::string(4000, 'z'))).fields, (FieldList{{name, std::string(4000, 'z')}}));
  EXPECT_EQ(decoder.entries(), 0u);
}

// Wherever in the table's memory texts are by then, and although others are decoded beside them.
TEST(HpackDecoder, EntriesStayAsTheyAreUntilTheyArePushedOut) {
  HpackDecoder decoder;
  FieldList table;  // newest first
  size_t bytes = 0;
  for (size_t i = 0; i < 400; ++i) {
    const size_t size = (i * 397) % (i % 3 == 0 ? 2000 : 1000);
    const std::string name = "n" + std::to_string(i), value(size, static_cast<char>('a' + i % 26));
    ASSERT_TRUE(ReadWith(decoder, Into(name, value)).fine);
    table.insert(table.begin(), {name, value});
    for (bytes += 32 + name.size() + value.size(); bytes > 4096; table.pop_back())
      bytes -= 32 + table.back().first.size() + table.back().second.size();
    ASSERT_EQ(decoder.table_bytes(), bytes);
    // As long as a field may be that is decoded there, and longer.
    for (const size_t beside : {4096, 4097}) ASSERT_TRUE(ReadWith(decoder, Beside("", std::string(beside, '.'))).fine);
    ASSERT_EQ(decoder.entries(), table.size());
    for (size_t entry = 0; entry < table.size(); ++entry)
      ASSERT_EQ(ReadWith(decoder, OfTable(62 + entry)).fields, (FieldList{table[entry]})) << i << " " << entry;
  }
}

TEST(HpackDecoder, TheTableIsAsLargeAsTheServerSays) {
  HpackDecoder decoder;
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(ReadWith(decoder, Into("n", std::to_string(i))).fine);
  EXPECT_EQ(decoder.entries(), 10u);
  // 34 bytes each; the newest stay.
  EXPECT_EQ(ReadWith(decoder, TableOf(34 * 4 + 33) + OfTable(62) + OfTable(65)).fields,
            (FieldList{{"n", "9"}, {"n", "6"}}));
  EXPECT_EQ(decoder.entries(), 4u);
  EXPECT_EQ(ReadWith(decoder, Into("n", "x") + OfTable(62) + OfTable(65)).fields,
            (FieldList{{"n", "x"}, {"n", "x"}, {"n", "7"}}));
  // It stays so for other blocks, also where that is nothing.
  EXPECT_EQ(ReadWith(decoder, TableOf(0) + TableOf(4096) + OfTable(8)).fields, (FieldList{{":status", "200"}}));
  EXPECT_EQ(decoder.entries(), 0u);
  EXPECT_TRUE(ReadWith(decoder, TableOf(0)).fine);
  EXPECT_EQ(ReadWith(decoder, Into("n", "x") + Into("", "")).fields, (FieldList{{"n", "x"}, {"", ""}}));
  EXPECT_EQ(decoder.entries(), 0u);
  EXPECT_TRUE(ReadWith(decoder, TableOf(32) + Into("", "") + OfTable(62)).fine);
  EXPECT_EQ(decoder.entries(), 1u);
  EXPECT_TRUE(ReadWith(decoder, TableOf(31)).fine);
  EXPECT_EQ(decoder.entries(), 0u);
  // A block's beginning may come in pieces.
  EXPECT_EQ(ReadWith(decoder, TableOf(4096) + Into("n", "x") + OfTable(62), {1}).fields,
            (FieldList{{"n", "x"}, {"n", "x"}}));
}

TEST(HpackDecoder, MemoryForWhatIsNotCompleteIsGivenBack) {
  const size_t none = HpackDecoder().held_bytes();
  HpackDecoder decoder;
  HpackField field;
  const std::string block = Beside("n", std::string(65'000, 'v'));
  // Nothing is kept of what may be read at once, nor more of the rest than a field may have.
  const std::string begin = Into("a", "b") + block.substr(0, 10);
  decoder.Give(begin, false);
  EXPECT_EQ(decoder.Next(field), HpackDecoder::Step::kField);
  EXPECT_EQ(decoder.Next(field), HpackDecoder::Step::kDone);
  EXPECT_LE(decoder.held_bytes(), 100u);
  for (size_t at = 10; at < block.size(); ++at) {
    decoder.Give(std::string_view(block).substr(at, 1), at + 1 == block.size());
    const auto step = decoder.Next(field);
    ASSERT_EQ(step, at + 1 == block.size() ? HpackDecoder::Step::kField : HpackDecoder::Step::kDone);
    ASSERT_LE(decoder.held_bytes(), size_t{128} << 10);
  }
  EXPECT_EQ(field.value.size(), 65'000u);
  EXPECT_EQ(decoder.held_bytes(), none);
  EXPECT_EQ(decoder.Next(field), HpackDecoder::Step::kDone);
}

}  // namespace
}  // namespace berth::net
