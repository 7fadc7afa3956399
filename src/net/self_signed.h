// SPDX-License-Identifier: Apache-2.0
// A certificate for a server that was given none.
#pragma once

#include <string>
#include <vector>

#include "berth/clock.h"
#include "berth/error.h"

namespace berth::net {

struct SelfSigned {
  std::string certificate_pem;  // the server's, and the authority's that signed it
  std::string key_pem;          // the server's; the authority's is forgotten
};

// RSA of 2048 bits, valid from an hour before `now` for 365 days: an authority HOST-ca@SECONDS, and HOST@SECONDS for
// `host`, the other names and the addresses. Takes a few tenths of a second. REQUIRES: addresses are numeric.
Result<SelfSigned> MakeSelfSigned(const std::string& host, const std::vector<std::string>& other_names,
                                  const std::vector<std::string>& addresses, Time now);

}  // namespace berth::net
