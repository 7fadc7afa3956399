// SPDX-License-Identifier: Apache-2.0
// The code of texts in heads of HTTP/2 (RFC 7541, appendix B).
#pragma once

#include <cstddef>
#include <string_view>

namespace berth::net {

// Bytes of text that so many bytes of code are at the most: the shortest code has five bits.
constexpr size_t MostHuffmanText(size_t code_bytes) { return code_bytes * 8 / 5; }

// Writes the text, and returns its end. Null: that is not a code, or not filled up as it has to be. REQUIRES: there is
// room for MostHuffmanText, of which anything may be written in that case.
char* DecodeHuffman(std::string_view code, char* to);

}  // namespace berth::net
