// SPDX-License-Identifier: Apache-2.0
// Gunzip: what a body in gzip says.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "berth/error.h"

namespace berth::conform {

// One member or several, as Go's reader takes them. An Error: it is not gzip, or damaged, or cut, or says more than
// `max_bytes`, of which no more are made.
Result<std::string> Gunzip(std::string_view data, uint64_t max_bytes);

}  // namespace berth::conform
