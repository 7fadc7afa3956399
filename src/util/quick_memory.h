// SPDX-License-Identifier: Apache-2.0
// The program's operator new and delete: small pieces that are given back are kept for the next who ask.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BERTH_QUICK_MEMORY 0
#elif defined(__has_feature)
#define BERTH_QUICK_MEMORY (!__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer))
#else
#define BERTH_QUICK_MEMORY 1
#endif

namespace berth::util {

// A pod takes and gives back some ninety pieces on its way, which cost the C library an eighth of all instructions: it
// keeps seven of a size at hand, and a crowd of pods is more than seven. Here a thread keeps up to 2 MiB of
// pieces of up to 2 KiB (twice that if all are the smallest, for what the C library adds to each), and taking and
// giving back is a few instructions. A thread's pieces go back with it.
//
// Every program that links Berth has them, unless it brings operators new and delete of its own, the sized one
// included. A sanitizer is to see what is used after its end, so its builds have the sanitizer's.

inline constexpr bool kQuickMemory = BERTH_QUICK_MEMORY != 0;

// How many bytes the calling thread keeps. For tests.
size_t QuickMemoryKept();

}  // namespace berth::util
