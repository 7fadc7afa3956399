// SPDX-License-Identifier: Apache-2.0
#include "client/encodings.h"

#include <gtest/gtest.h>

namespace berth::client {
namespace {

constexpr char kProtobufName[] = "application/vnd.kubernetes.protobuf";

TEST(EncodingsTest, AContentTypeNamesAnEncoding) {
  EXPECT_EQ(EncodingOf(kProtobufName), Encoding::kProtobuf);
  EXPECT_EQ(EncodingOf("Application/Vnd.Kubernetes.Protobuf ;stream=watch"), Encoding::kProtobuf);
  for (const char* other : {"", "application/json", "text/html", "application/vnd.kubernetes.protobuffer", "x"})
    EXPECT_EQ(EncodingOf(other), Encoding::kJson) << other;
}

TEST(EncodingsTest, ClientConnectionDecidesAsItDoesForClientGo) {
  const struct {
    const char *accept, *type;
    Encoding answers, bodies;
  } cases[] = {
      {"", kProtobufName, Encoding::kProtobuf, Encoding::kProtobuf},
      {"", "", Encoding::kProtobuf, Encoding::kProtobuf},
      {"", "application/json", Encoding::kJson, Encoding::kJson},
      {"", "application/cbor", Encoding::kJson, Encoding::kJson},
      {"application/json", kProtobufName, Encoding::kJson, Encoding::kProtobuf},
      {"application/vnd.kubernetes.protobuf,application/json", "application/json", Encoding::kProtobuf,
       Encoding::kJson},
  };
  for (const auto& c : cases) {
    const EncodingOptions options = EncodingOptions::From(c.accept, c.type);
    EXPECT_EQ(options.answers, c.answers) << c.accept << " " << c.type;
    EXPECT_EQ(options.bodies, c.bodies) << c.accept << " " << c.type;
  }
}

TEST(EncodingsTest, ProtobufIsForKindsThatHaveADecoderUntilItIsGivenUp) {
  Encodings encodings((EncodingOptions()));
  EXPECT_EQ(encodings.Of(Kind::kPod), Encoding::kProtobuf);
  EXPECT_EQ(encodings.Of(Kind::kNode), Encoding::kProtobuf);
  EXPECT_EQ(encodings.Of(Kind::kService), Encoding::kJson);
  EXPECT_TRUE(encodings.GiveUp(Kind::kPod));
  EXPECT_FALSE(encodings.GiveUp(Kind::kPod));
  EXPECT_EQ(encodings.Of(Kind::kPod), Encoding::kJson);
  EXPECT_EQ(encodings.Of(Kind::kNode), Encoding::kProtobuf);
  EXPECT_TRUE(encodings.GiveUp(Written::kBinding));
  EXPECT_FALSE(encodings.GiveUp(Written::kBinding));
  EXPECT_EQ(encodings.Of(Written::kBinding), Encoding::kJson);
  EXPECT_EQ(encodings.AnswerTo(Written::kBinding), Encoding::kJson);
  EXPECT_EQ(encodings.Of(Written::kEvent), Encoding::kProtobuf);
}

}  // namespace
}  // namespace berth::client
