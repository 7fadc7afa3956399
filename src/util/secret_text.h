// SPDX-License-Identifier: Apache-2.0
// What looks like a secret is not shown, whoever put it where.
#pragma once

#include <string>
#include <string_view>

namespace berth::util {

// The text with *** in the place of PEM blocks (also in base64, and without their end), JSON Web Tokens and what
// follows "Bearer ". For sentences about files of others: a key or token that was mistaken for something else stays
// unseen. Not a reason to quote what no sentence needs: a password looks like any word.
std::string WithoutSecrets(std::string_view text);

}  // namespace berth::util
