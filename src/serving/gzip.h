// SPDX-License-Identifier: Apache-2.0
// Gzip: a body made small for a client that asks for it.
#pragma once

#include <string>
#include <string_view>

namespace berth::serving {

// Quickly rather than as small as can be. Empty: there is no memory for it.
std::string Gzip(std::string_view text);

}  // namespace berth::serving
