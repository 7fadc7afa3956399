// SPDX-License-Identifier: Apache-2.0
// Base64 with padding, the form in which JSON carries bytes.
#pragma once

#include <string>
#include <string_view>

#include "berth/error.h"

namespace berth {

// Line breaks are passed over; anything else that is not base64 is an Error that says where.
Result<std::string> DecodeBase64(std::string_view text);
std::string EncodeBase64(std::string_view bytes);

}  // namespace berth
