// SPDX-License-Identifier: Apache-2.0
// Descriptors 0 to 2 are what everybody takes them for, whoever started the program.
#pragma once

namespace berth::util {

// Puts /dev/null where standard input, output or error are closed. Else the next socket or file that is opened would be
// one of them, and whoever writes an error message would write it there. Reading such an input and writing such an
// output still fails, so that a result that goes nowhere is noticed; messages are just gone. Called before anything is
// opened.
void OpenStandardFiles();

}  // namespace berth::util
