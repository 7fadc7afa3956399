// SPDX-License-Identifier: Apache-2.0
#include "net/hpack_encoder.h"

#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::net {
namespace {

using HpackFields = std::vector<std::pair<std::string, std::string>>;

struct HeadToSend {
  std::string method = "GET", authority = "cluster.example:6443", prefix = {}, path = "/api/v1/pods";
  std::shared_ptr<const CommonHeaders> common = nullptr;
  HpackFields further = {};
  std::string content_length = {};
};

std::shared_ptr<const CommonHeaders> CommonOf(const HpackFields& fields) {
  Headers headers;
  for (const auto& [name, value] : fields) headers.Add(name, value);
  return std::make_shared<CommonHeaders>(headers);
}

HeadToSend WithFurther(HpackFields further) {
  HeadToSend head;
  head.further = std::move(further);
  return head;
}

// Encodes heads, and reads them as a server does that knows nothing but the bytes.
class HpackEncoderTest : public ::testing::Test {
 protected:
  HpackEncoderTest() { nghttp2_hd_inflate_new(&inflater_); }
  ~HpackEncoderTest() override { nghttp2_hd_inflate_del(inflater_); }

  // The server announces it, and the client has heard of it.
  void TableSize(uint32_t bytes) {
    ASSERT_EQ(nghttp2_hd_inflate_change_table_size(inflater_, bytes), 0);
    encoder_.set_table_size(bytes);
  }

  std::string Encoded(const HeadToSend& head) {
    Headers further;
    for (const auto& [name, value] : head.further) further.Add(name, value);
    std::string block = "before";
    encoder_.Append({head.method, head.authority, head.prefix, head.path, head.common, further, head.content_length},
                    block);
    EXPECT_TRUE(block.starts_with("before"));
    return block.substr(6);
  }

  HpackFields Read(std::string_view block) {
    HpackFields fields;
    const auto* data = reinterpret_cast<const uint8_t*>(block.data());
    size_t size = block.size();
    for (int flags = 0; (flags & NGHTTP2_HD_INFLATE_FINAL) == 0;) {
      nghttp2_nv field = {};
      const ssize_t used = nghttp2_hd_inflate_hd2(inflater_, &field, &flags, data, size, 1);
      if (used < 0) {
        ADD_FAILURE() << "the server cannot read it: " << nghttp2_strerror(static_cast<int>(used));
        break;
      }
      data += used;
      size -= static_cast<size_t>(used);
      if ((flags & NGHTTP2_HD_INFLATE_EMIT) == 0) continue;
      EXPECT_EQ(field.flags & NGHTTP2_NV_FLAG_NO_INDEX, 0);
      fields.emplace_back(std::string(reinterpret_cast<const char*>(field.name), field.namelen),
                          std::string(reinterpret_cast<const char*>(field.value), field.valuelen));
    }
    EXPECT_EQ(size, 0u);
    nghttp2_hd_inflate_end_headers(inflater_);
    return fields;
  }

  // Its size, when the server has read what was meant.
  size_t Send(const HeadToSend& head) {
    HpackFields meant = {{":method", head.method},
                         {":scheme", "https"},
                         {":authority", head.authority},
                         {":path", head.prefix + head.path}};
    if (head.common) {
      for (const auto& field : head.common->fields()) meant.emplace_back(field.lower_name, field.value);
    }
    for (const auto& [name, value] : head.further) {
      if (!IsClientsOwn(LowerName(name))) meant.emplace_back(LowerName(name), value);
    }
    if (!head.content_length.empty()) meant.emplace_back("content-length", head.content_length);
    const std::string block = Encoded(head);
    EXPECT_EQ(Read(block), meant);
    return block.size();
  }

  // Without those of the static table.
  size_t Entries() const { return nghttp2_hd_inflate_get_num_table_entries(inflater_) - 61; }
  size_t TableBytes() const { return nghttp2_hd_inflate_get_dynamic_table_size(inflater_); }

  HpackEncoder encoder_;
  nghttp2_hd_inflater* inflater_ = nullptr;
};

TEST_F(HpackEncoderTest, AHeadIsWhatTheRequestSays) {
  struct Case {
    std::string what;
    HeadToSend head;
  };
  std::vector<Case> cases = {{"nothing more", {}}};
  for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "X"})
    cases.push_back({method, {.method = method}});
  cases.push_back({"a prefix", {.prefix = "/k8s/clusters/c-1", .path = "/api"}});
  cases.push_back({"a prefix alone", {.prefix = "/only", .path = ""}});
  cases.push_back({"a length", {.method = "POST", .content_length = "0"}});
  cases.push_back({"a long length", {.method = "PUT", .content_length = "18446744073709551615"}});
  cases.push_back({"common headers", {.common = CommonOf({{"Accept", "application/json"}, {"User-Agent", "berth"}})}});
  cases.push_back({"no common headers after all", {.common = CommonOf({})}});
  cases.push_back({"the same name twice", WithFurther({{"a", "1"}, {"A", "2"}, {"a", "1"}})});
  cases.push_back({"an empty value", WithFurther({{"a", ""}})});
  cases.push_back({"bytes of all kinds", WithFurther({{"a", "\x01\x7f\x80\xff \t"}})});
  cases.push_back({"a name of the static table", WithFurther({{"Accept", "x"}, {"authorization", "Bearer y"}})});
  // Twice: the second time from the table.
  for (int time = 0; time < 2; ++time) {
    for (const Case& each : cases) {
      SCOPED_TRACE(each.what);
      Send(each.head);
    }
  }
}

TEST_F(HpackEncoderTest, NumbersOfEveryLengthAreRead) {
  for (const size_t size : {0, 1, 14, 15, 16, 126, 127, 128, 254, 255, 256, 4000, 4096, 5000, 16510, 16511, 60'000}) {
    SCOPED_TRACE(size);
    HeadToSend head = WithFurther({{"long-value", std::string(size, 'v')}});
    head.path = "/" + std::string(size, 'p');
    head.authority = std::string(size, 'a');
    head.method = "M" + std::string(size, 'M');
    Send(head);
    Send(head);
    Send(WithFurther({{"n" + std::string(size, 'n'), "value"}}));
  }
}

TEST_F(HpackEncoderTest, TheClientsOwnHeadersAreNotTakenFromOthers) {
  const auto common = CommonOf({{"HOST", "elsewhere"}, {"Kept", "1"}, {"Transfer-Encoding", "chunked"}});
  HeadToSend head = WithFurther({{"Content-Length", "77"},
                                 {"connection", "close"},
                                 {"Keep-Alive", "1"},
                                 {"Proxy-Connection", "x"},
                                 {"UPGRADE", "h2c"},
                                 {"TE", "gzip"},
                                 {"X-Kept", "2"}});
  head.common = common;
  head.content_length = "5";
  const HpackFields fields = Read(Encoded(head));
  EXPECT_EQ(fields, (HpackFields{{":method", "GET"},
                                 {":scheme", "https"},
                                 {":authority", "cluster.example:6443"},
                                 {":path", "/api/v1/pods"},
                                 {"kept", "1"},
                                 {"x-kept", "2"},
                                 {"content-length", "5"}}));
}

TEST_F(HpackEncoderTest, WhatIsTheSameIsSentOnce) {
  HeadToSend head;
  head.common = CommonOf({{"Authorization", "Bearer " + std::string(900, 't')},
                          {"Accept", "application/vnd.kubernetes.protobuf"},
                          {"User-Agent", "berth/1.0"}});
  EXPECT_GT(Send(head), 1000u);
  const size_t entries = Entries();
  EXPECT_EQ(entries, 4u);
  // A byte for each field, and the path: its form, its length and itself.
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Send(head), 3 + 2 + head.path.size() + 3);
  // Nothing but the path is another's.
  head.path = "/api/v1/namespaces/default/pods/another-1";
  EXPECT_EQ(Send(head), 3 + 2 + head.path.size() + 3);
  EXPECT_EQ(Entries(), entries);
  // The same words in other headers are the same entries.
  head.common = CommonOf({{"user-agent", "berth/1.0"}});
  EXPECT_EQ(Send(head), 3 + 2 + head.path.size() + 1);
  EXPECT_EQ(Entries(), entries);
}

TEST_F(HpackEncoderTest, CommonHeadersAreRightAlsoWhenTheTableHasGrownSince) {
  std::vector<std::shared_ptr<const CommonHeaders>> all;
  for (int i = 0; i < 11; ++i)  // more than the encoder keeps in written form
    all.push_back(CommonOf({{"Accept", "application/json"}, {"Number", std::to_string(i)}, {"Number", "0"}}));
  for (int round = 0; round < 4; ++round) {
    for (size_t i = 0; i < all.size(); ++i) {
      HeadToSend head;
      head.common = all[i];
      Send(head);
      Send(head);
      // New entries come between them and what was written.
      if (round == 2) head.further = {{"Further", std::to_string(i)}};
      Send(head);
    }
  }
}

TEST_F(HpackEncoderTest, WhatIsLargerThanTheTableIsSentInFull) {
  HeadToSend head;
  head.common = CommonOf({{"Large", std::string(5000, 'x')}, {"Small", "1"}});
  Send(head);
  const size_t usual = Send(head);
  for (int i = 0; i < 200; ++i) {
    const size_t size = Send(head);
    EXPECT_GT(size, 5000u);
    EXPECT_EQ(Entries(), 2u);
    ASSERT_EQ(size, usual) << "nothing has to make room for it";
  }
  // As large as the table, and by a byte larger.
  TableSize(100);
  for (const size_t size : {100 - 32 - 4, 100 - 32 - 4 + 1}) {
    SCOPED_TRACE(size);
    head = WithFurther({{"name", std::string(size, 'y')}});
    head.authority = std::string(100, 'a');
    Send(head);
    Send(head);
  }
  EXPECT_EQ(TableBytes(), 100u);
}

TEST_F(HpackEncoderTest, AFullTableBeginsAnewWhenTooMuchHadNoRoomInIt) {
  HeadToSend head;
  head.common = CommonOf({{"Authorization", "Bearer old"}});
  int number = 0;
  const auto further = [&] { return HpackFields{{"Number", std::to_string(++number) + std::string(100, '-')}}; };
  const auto grow = [&] {
    head.further = further();
    Send(head);
  };
  while (TableBytes() + 140 <= 4096) grow();  // what an entry with a number of two digits counts
  const size_t full = Entries();
  EXPECT_GT(full, 20u);
  // Those without room leave what is there as it is.
  for (int i = 0; i < 64; ++i) {
    ASSERT_EQ(Entries(), full) << i;
    grow();
  }
  EXPECT_EQ(Entries(), full);
  head.further.clear();
  Send(head);
  EXPECT_EQ(Entries(), 2u) << "the authority and the token";
  const size_t usual = Send(head);
  EXPECT_EQ(usual, 3 + 2 + head.path.size() + 1);
  // Again and again, also with other tokens.
  for (int i = 0; i < 500; ++i) {
    if (i % 50 == 0) head.common = CommonOf({{"Authorization", "Bearer " + std::to_string(i)}});
    grow();
    ASSERT_LE(TableBytes(), 4096u);
  }
}

TEST_F(HpackEncoderTest, WhatWasWrittenIsForgottenWithTheTable) {
  HeadToSend head;
  head.common = CommonOf({{"First", "1"}, {"Second", "2"}});
  for (int i = 0; i < 3; ++i) Send(head);
  const size_t entries = Entries();
  TableSize(3000);
  // As many entries as there were, in another order.
  HeadToSend other;
  other.common = CommonOf({{"Second", "2"}, {"First", "1"}});
  other.authority = "a";
  for (int i = 0; i < 3; ++i) Send(other);
  EXPECT_EQ(Entries(), entries);
  head.authority = "a";
  for (int i = 0; i < 3; ++i) Send(head);
}

TEST_F(HpackEncoderTest, ATableThatIsNeverTooSmallIsNeverBegunAnew) {
  HeadToSend head;
  head.common = CommonOf({{"Accept", "application/json"}});
  Send(head);
  const std::string usual = Encoded(head);
  Read(usual);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(Encoded(head), usual);
}

TEST_F(HpackEncoderTest, TheServerSaysHowLargeTheTableMayBe) {
  HeadToSend head = WithFurther({{"Number", std::string(30, '1')}});
  head.common = CommonOf({{"Accept", "application/json"}, {"User-Agent", "berth/1.0"}});
  Send(head);
  const size_t usual = Send(head);
  struct Case {
    std::string what;
    std::vector<uint32_t> sizes;  // one after the other, before the next head
    bool begins_anew;
    size_t most;  // bytes that the table may have then
  };
  const Case cases[] = {
      {"what it is anyway", {4096}, false, 4096},
      {"more than is used", {65536}, false, 4096},
      {"the most there is", {UINT32_MAX, 4096}, false, 4096},
      {"smaller", {100}, true, 100},
      {"the same once more", {100}, false, 100},
      {"none", {0}, true, 0},
      {"none still", {0}, false, 0},
      {"back", {4096}, true, 4096},
      {"none and back at once", {0, 4096}, true, 4096},
      {"several", {50, 3000, 200}, true, 200},
      {"larger", {300}, true, 300},
      {"room for a byte", {1}, true, 1},
      {"more than there was", {1 << 20}, true, 4096},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    const size_t entries = Entries();
    for (const uint32_t size : each.sizes) TableSize(size);
    const std::string block = Encoded(head);
    // A new size is said at the beginning of a block: 001.
    EXPECT_EQ((static_cast<uint8_t>(block[0]) & 0xe0) == 0x20, each.begins_anew);
    EXPECT_EQ((static_cast<uint8_t>(block[1]) & 0xe0) == 0x20, each.begins_anew && each.most > 0) << "0 is said once";
    Read(block);
    if (!each.begins_anew) {
      EXPECT_EQ(Entries(), entries);
    }
    EXPECT_LE(TableBytes(), each.most);
    for (int i = 0; i < 100; ++i) {
      const size_t size = Send(head);
      if (each.most >= 300) {
        ASSERT_EQ(size, usual);
      }
    }
    EXPECT_LE(TableBytes(), each.most);
    if (each.most == 0) {
      EXPECT_EQ(Entries(), 0u);
    }
  }
}

TEST_F(HpackEncoderTest, ASmallTableBeginsAnewAsALargeOneDoes) {
  TableSize(200);
  HeadToSend head;
  for (int i = 0; i < 400; ++i) {
    head.common =
        i % 7 == 0 ? CommonOf({{"Accept", std::to_string(i)}, {"Large", std::string(300, 'x')}}) : head.common;
    head.further = {{"Further", std::to_string(i % 3)}};
    Send(head);
    ASSERT_LE(TableBytes(), 200u);
    if (i == 200) TableSize(0);
    if (i == 250) TableSize(120);
  }
}

}  // namespace
}  // namespace berth::net
