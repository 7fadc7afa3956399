// SPDX-License-Identifier: Apache-2.0
// The small words of HTTP: what may stand in a header, what a status is called.
#pragma once

#include <string>
#include <string_view>

#include "net/http.h"

namespace berth::net {

// ASCII letters alone, as HTTP has it.
bool EqualIgnoringCase(std::string_view a, std::string_view b);
// "Not Found" for 404; "Status" for one without a name.
std::string_view StatusText(int status);
// Whether `name` may be a header's name (or a method), and `value` its value: a line break in either would let whoever
// chose it write headers, or messages, of their own.
bool IsToken(std::string_view name);
bool IsHeaderValue(std::string_view value);
// Appends "Name: value" and a line break.
void AppendHeader(std::string* out, std::string_view name, std::string_view value);
// How often a header of that name is there.
int CountHeader(const Headers& headers, std::string_view name);

}  // namespace berth::net
