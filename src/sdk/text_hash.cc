// SPDX-License-Identifier: Apache-2.0
#include "berth/text_hash.h"

#include "util/secret_hash.h"

namespace berth {
inline namespace v1 {

size_t TextHash::operator()(std::string_view text) const { return static_cast<size_t>(SecretHash64(text)); }

}  // namespace v1
}  // namespace berth
