// SPDX-License-Identifier: Apache-2.0
// Names that nobody else has.
#pragma once

#include <cstdint>
#include <string>

namespace berth::util {

// The 128 bits as a UUID of version 4, which keeps 122 of them: "3f37c114-16ba-4b3d-a652-c695a1ec5046".
std::string UuidOf(uint64_t high, uint64_t low);

// From the system's randomness: two processes that start at the same moment have different ones.
std::string NewUuid();

// The machine's name, which in a pod is the pod's; "localhost" when it has none.
std::string HostName();

}  // namespace berth::util
