// SPDX-License-Identifier: Apache-2.0
// The version that a program of fuzz_old.cc is about: all that the programs differ in.
#include "legacy/version.h"

extern const berth::legacy::Version kFuzzedVersion;
const berth::legacy::Version kFuzzedVersion = berth::legacy::Version::BERTH_FUZZED_VERSION;
