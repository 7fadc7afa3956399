// SPDX-License-Identifier: Apache-2.0
#include "util/secret_text.h"

#include <gtest/gtest.h>

#include <utility>

namespace berth::util {
namespace {

TEST(SecretTextTest, WhatLooksLikeASecretIsNotShown) {
  const std::pair<const char*, const char*> cases[] = {
      {"", ""},
      {"plain: \"web-1\" must be - a number", "plain: \"web-1\" must be - a number"},
      {"a \"-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----\\n\": b", "a \"***\\n\": b"},
      {"-----BEGIN RSA PRIVATE KEY----- MIIE", "***"},
      {"-----BEGIN A----- x -----END A----- and -----BEGIN B----- y -----END B-----.", "*** and ***."},
      {"-----BEGIN A----- x -----END", "***"},
      {"key LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1JSUU= end", "key *** end"},
      {"token eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln_-, more", "token ***, more"},
      {"eyJ is short", "eyJ is short"},
      {"Authorization: Bearer abcdef0123456789abcdef", "Authorization: Bearer ***"},
      {"Bearer of news", "Bearer of news"},
  };
  for (const auto& [text, want] : cases) EXPECT_EQ(WithoutSecrets(text), want);
}

}  // namespace
}  // namespace berth::util
