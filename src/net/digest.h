// SPDX-License-Identifier: Apache-2.0
// KeyedDigest: what stands for a secret, or for a long text of a stranger's, in a table.
#pragma once

#include <string>
#include <string_view>

namespace berth::net {

// HMAC with SHA-256 and a key that is drawn once and never shown: nobody finds two texts with the same digest, and
// nobody who sees a digest learns the text.
//
// Thread safety: Of from any thread.
class KeyedDigest {
 public:
  KeyedDigest();
  // 32 bytes.
  std::string Of(std::string_view text) const;

 private:
  std::string key_;
};

}  // namespace berth::net
