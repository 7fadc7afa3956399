// SPDX-License-Identifier: Apache-2.0
// Who else can read a file that holds a secret.
#pragma once

#include <string>

namespace berth::util {

// "group and others can read it (mode 0644)", as the end of a sentence about the file; empty: nobody but its owner can,
// or there is no such file. Links are followed.
std::string WhoElseReads(const std::string& path);

}  // namespace berth::util
